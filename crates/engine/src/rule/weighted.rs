//! The sets of a shared name under weighted routing.
