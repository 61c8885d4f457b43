//! The sets of a shared name under simple routing.
