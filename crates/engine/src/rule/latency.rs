//! The sets of a shared name under latency routing.
