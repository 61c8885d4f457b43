//! A cluster name from the hub to its member, step by step.
