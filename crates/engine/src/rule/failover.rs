//! The sets of a shared name under failover routing.
