//! Facts about member clusters: the checked spec, the session, what was seen in the cluster.
//!
//! Invariant: written by `world/apply.rs` alone. An object that is missing from `seen` is absent only if its watch is
//! fresh.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use truce_api::MemberClusterStatus;

use crate::effect::Access;
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::ids::{ClusterName, ZoneRef};
use crate::value::region::Region;

/// One MemberCluster object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberFacts {
    /// `metadata.name`; that it is a cluster name is checked with the spec.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.creationTimestamp`.
    pub created: Wall,
    /// Whether `metadata.deletionTimestamp` is set: then it counts as deselected everywhere.
    pub deleting: bool,
    /// Whether it carries Truce's finalizer.
    pub finalizer: bool,
    /// `metadata.labels`, for `clusterSelector`.
    pub labels: BTreeMap<String, String>,
    /// `dns.truce.dev/confirm`.
    pub confirm: Option<String>,
    /// `dns.truce.dev/abandon`.
    pub abandon: Option<ClusterName>,
    /// The spec, or what is wrong with it.
    pub spec: Result<Arc<MemberSpec>, Vec<Problem>>,
    /// The status as the API server has it.
    pub status: MemberClusterStatus,
}

impl AsRef<MemberFacts> for MemberFacts {
    fn as_ref(&self) -> &MemberFacts {
        self
    }
}

/// A MemberCluster's spec, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberSpec {
    /// The region of its latency records.
    pub region: Region,
    /// The region as written, if Route 53 lacks it and `region` is the nearest.
    pub region_mapped_from: Option<String>,
    /// Serves only while no other selected cluster can.
    pub standby: bool,
    /// How it is reached.
    pub access: Access,
    /// Its ExternalDNS instances that Truce can work with; if this and `external_dns_problems` are empty, the hub
    /// writes the cluster names.
    pub external_dns: Vec<ExternalDns>,
    /// What is wrong with the others. While there is anything, nothing new is done for the member's cluster names;
    /// the shared names go on (DESIGN.md, section 4).
    pub external_dns_problems: Vec<Problem>,
    /// Default weight; 0 drains the whole cluster.
    pub weight: u8,
}

/// What an ExternalDNS does with records that lost their source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ExternalDnsPolicy {
    /// Deletes them.
    Sync,
    /// Leaves them.
    UpsertOnly,
}

/// One ExternalDNS of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalDns {
    /// `--txt-owner-id`.
    pub owner_id: String,
    /// The DNSZones it serves; `None`: all.
    pub zones: Option<BTreeSet<ZoneRef>>,
    /// Where its DNSEndpoints are written.
    pub namespace: String,
    /// Labels put on them.
    pub labels: BTreeMap<String, String>,
    /// How it names its ownership TXTs.
    pub dialect: Dialect,
    /// `--policy`.
    pub policy: ExternalDnsPolicy,
    /// `--interval`.
    pub interval: Duration,
    /// The larger of `--txt-cache-interval` and `--provider-cache-time`.
    pub record_cache: Duration,
}

/// The flags and the version that decide name and text of an ownership TXT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// The version; more are added as they are understood.
    pub version: DialectVersion,
    /// `--txt-prefix` or `--txt-suffix`.
    pub affix: Affix,
    /// `--txt-wildcard-replacement`.
    pub wildcard_replacement: Option<String>,
}

/// Versions of ExternalDNS that write ownership TXTs alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DialectVersion {
    /// 0.22: `a-` for alias A records.
    V0_22,
}

/// What stands before or after the first label of an ownership TXT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Affix {
    /// Neither.
    None,
    /// `--txt-prefix`, lower case.
    Prefix(Arc<str>),
    /// `--txt-suffix`, lower case.
    Suffix(Arc<str>),
}
