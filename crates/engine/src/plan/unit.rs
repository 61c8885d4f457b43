//! A unit: changes of one hostname that go together or not at all.
//!
//! Invariant: never split over batches; a record and its ownership TXT are always in one unit.

use std::collections::BTreeSet;

use crate::effect::Change;
use crate::value::dns_name::RecordName;
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

/// Names a unit: a hostname has at most one for each part.
pub type UnitKey = (HostnameKey, Part);

impl Unit {
    /// Its key.
    pub fn key(&self) -> UnitKey {
        (self.hostname.clone(), self.part.clone())
    }

    /// The names it touches.
    pub fn names(&self) -> BTreeSet<&RecordName> {
        self.changes.iter().map(|change| &change.set().name).collect()
    }

    /// By how many record sets the zone grows; negative if it shrinks.
    pub fn growth(&self) -> i64 {
        growth(&self.changes)
    }
}

/// By how many record sets a zone grows with these changes.
pub fn growth(changes: &[Change]) -> i64 {
    let one = |change: &Change| match change {
        Change::Create(_) => 1,
        Change::Delete(_) => -1,
    };
    changes.iter().map(one).sum()
}
