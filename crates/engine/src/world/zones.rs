//! Facts about zones: the objects and their checked specs.
//!
//! Invariant: written by `world/apply.rs` alone. What is known of their records is in `records.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use truce_api::DNSZoneStatus;

use super::hostnames::LabelSelector;
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::dns_name::DnsName;
use crate::value::ids::{HostedZoneId, ZoneRef};

pub use super::records::Records;

/// One DNSZone object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ZoneFacts {
    /// Its name.
    pub name: ZoneRef,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.creationTimestamp`.
    pub created: Wall,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// Whether it carries Truce's finalizer.
    pub finalizer: bool,
    /// `dns.truce.dev/confirm`.
    pub confirm: Option<String>,
    /// `dns.truce.dev/paused: "true"`.
    pub paused: bool,
    /// The spec, or what is wrong with it.
    pub spec: Result<Arc<ZoneSpec>, Vec<Problem>>,
    /// The status as the API server has it.
    pub status: DNSZoneStatus,
}

impl AsRef<ZoneFacts> for ZoneFacts {
    fn as_ref(&self) -> &ZoneFacts {
        self
    }
}

/// A DNSZone's spec, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSpec {
    /// The zone's own name.
    pub domain: DnsName,
    /// The hosted zone.
    pub hosted_zone: HostedZoneId,
    /// The account it must be in.
    pub account: String,
    /// Who may declare which names.
    pub claims: Vec<Claim>,
    /// Names nobody may declare.
    pub protected: Vec<NamePattern>,
    /// Rates and sizes.
    pub limits: Limits,
    /// Percent of the live sets that derived withdrawals may take within the guard's window.
    pub max_withdraw_percent: u8,
}

/// One claim of a DNSZone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Whose.
    pub namespaces: Namespaces,
    /// Which names.
    pub hostnames: Vec<NamePattern>,
    /// Namespaces of sources in members; `None`: the GlobalHostname's own only.
    pub source_namespaces: Option<BTreeSet<String>>,
}

/// Namespaces by name or by labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Namespaces {
    /// By name.
    Names(BTreeSet<String>),
    /// By labels.
    Selector(LabelSelector),
}

/// A name, or `*.` and a name: any number of labels below that, and the wildcard itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamePattern(DnsName);

impl NamePattern {
    /// From the checked name.
    pub fn new(name: DnsName) -> Self {
        Self(name)
    }

    /// Whether it covers `name`.
    pub fn covers(&self, name: &DnsName) -> bool {
        if !self.0.is_wildcard() {
            return self.0 == *name;
        }
        self.0
            .parent()
            .is_some_and(|parent| name.is_within(&parent) && *name != parent)
    }
}

/// Rates per AWS account and sizes of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Requests a second.
    pub requests_per_second: u32,
    /// Record changes a second.
    pub changes_per_second: u32,
    /// Record sets that the zone may hold.
    pub record_sets: u32,
    /// Between two complete reads.
    pub audit_interval: Duration,
}
