//! A unit: changes of one hostname that go together or not at all.
//!
//! Invariant: never split over batches; a record and its ownership TXT are always in one unit.

use crate::effect::Change;
use crate::value::ids::{ClusterName, HostnameKey};

/// Which part of a hostname.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Shared name, groups, claim.
    Shared,
    /// The cluster name of one cluster with its ownership TXTs.
    ClusterHostname(ClusterName),
}

/// What goes first (DESIGN.md, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Drains and failovers.
    Drain,
    /// Changes of addresses, weights, policy.
    Address,
    /// New names, and names that go.
    Onboarding,
}

/// Changes that go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Whose.
    pub hostname: HostnameKey,
    /// Which part.
    pub part: Part,
    /// How urgent.
    pub priority: Priority,
    /// What; order has no meaning here (`zone/order.rs` puts it in order).
    pub changes: Vec<Change>,
}
