//! What is known, in checked values.
//!
//! Invariant: written by `apply.rs` alone. Deliberately absent: what follows from it (`rule/`, `plan/`), and the
//! records of zones, which lie with the zone's own runtime (`zone/`).

pub mod apply;
pub mod dirty;
pub mod drains;
pub mod hostnames;
pub mod keys;
pub mod members;
mod objects;
pub mod records;
pub mod seen;
pub mod zones;

use std::collections::BTreeMap;
use std::sync::Arc;

use members::MemberSpec;

use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};

/// A member: its object, and what was seen in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The MemberCluster.
    pub facts: members::MemberFacts,
    /// Its last spec that was valid: a mistake changes nothing of what is published.
    pub last_valid: Option<Arc<MemberSpec>>,
    /// The cluster.
    pub seen: seen::Seen,
}

impl AsRef<members::MemberFacts> for Member {
    fn as_ref(&self) -> &members::MemberFacts {
        &self.facts
    }
}

impl Member {
    /// Its spec: as it is if it is valid, else as it was when it last was.
    pub fn spec(&self) -> Option<&MemberSpec> {
        self.facts
            .spec
            .as_ref()
            .ok()
            .or(self.last_valid.as_ref())
            .map(AsRef::as_ref)
    }
}

/// All that is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct World {
    /// UID of the hub's kube-system namespace.
    pub instance: Option<String>,
    /// Whether every kind of the hub was listed completely once.
    pub synced: bool,
    /// Namespaces of the hub with their labels.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// GlobalHostnames.
    pub hostnames: BTreeMap<HostnameKey, hostnames::Hostname>,
    /// MemberClusters.
    pub members: BTreeMap<ClusterName, Member>,
    /// ClusterDrains by name.
    pub drains: BTreeMap<String, drains::Drain>,
    /// DNSZones.
    pub zones: BTreeMap<ZoneRef, zones::ZoneFacts>,
}
