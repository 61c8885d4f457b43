//! Facts about member clusters: the checked spec, the session, what was seen in the cluster.
//!
//! Invariant: written by `world/apply.rs` alone. An object that is missing from `seen` is absent only if its watch is
//! fresh.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::effect::Access;
use crate::value::ids::ZoneRef;
use crate::value::region::Region;

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
    /// Its ExternalDNS instances; empty: the hub writes the cluster names.
    pub external_dns: Vec<ExternalDns>,
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
