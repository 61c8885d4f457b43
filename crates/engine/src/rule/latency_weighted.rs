//! The sets of a shared name under latency between regions, weight inside each.
