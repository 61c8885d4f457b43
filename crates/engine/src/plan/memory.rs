//! What must be remembered of a hostname between plans.
//!
//! Invariant: written by the plan of that hostname alone. What outlives a restart is in its status, from which
//! `restored` begins; what is missing there is assumed at its worst (DESIGN.md, section 6).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use truce_api::{ClusterState, ClusterStatus};

use crate::rule::cluster_name::ClusterNameMemory;
use crate::rule::confirm::Words;
use crate::rule::drained::TtlMemory;
use crate::rule::usable_address;
use crate::time::{Now, Timings, Wall};
use crate::value::ids::ClusterName;
use crate::world::hostnames::{Hostname, Policy, Source};

/// Of one hostname.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostnameMemory {
    /// By cluster.
    pub clusters: BTreeMap<ClusterName, ClusterMemory>,
    /// TTLs of the last hour.
    pub ttls: TtlMemory,
    /// TTLs that its sets had in the zone at the last plan.
    pub ttls_in_zone: BTreeSet<u32>,
    /// Whether any cluster ever had an address.
    pub ever_live: bool,
    /// The policy in force.
    pub policy: Option<Policy>,
    /// What a person agreed to.
    pub words: Words,
}

/// Of one cluster of a hostname.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterMemory {
    /// When its drain began.
    pub drain_started: Option<Wall>,
    /// When that drain is safe, as announced.
    pub safe_at: Option<Wall>,
    /// Since when Route 53 cannot give its address any more.
    pub silent: Silence,
    /// Of the source that it was looked for last. Not shared with other hostnames: what an earlier process published
    /// under one name says nothing of another.
    pub source: Option<(Source, usable_address::Memory)>,
    /// Whether this process has seen an address at that source and used it.
    pub seen_in_use: bool,
    /// Of its cluster name.
    pub name: ClusterNameMemory,
}

/// Since when a cluster is in no answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Silence {
    /// It never was in one, as far as anybody can remember.
    #[default]
    Always,
    /// It is, or the change that took it out is not INSYNC yet.
    No,
    /// Since then.
    Since(Wall),
}

impl Silence {
    /// The moment; `None`: it still is in the answers.
    pub fn since(self) -> Option<Wall> {
        match self {
            Self::Always => Some(Wall::MIN),
            Self::No => None,
            Self::Since(at) => Some(at),
        }
    }

    /// After another look at the zone: `answers` tells whether the cluster can be in an answer, `insync` whether every
    /// change of the hostname is on all of Route 53's servers.
    pub fn observed(self, answers: bool, insync: bool, now: Wall) -> Self {
        match self {
            _ if answers => Self::No,
            Self::No if insync => Self::Since(now),
            other => other,
        }
    }
}

impl HostnameMemory {
    /// From the status that an earlier process left.
    pub fn restored(hostname: &Hostname, timings: &Timings, now: Now) -> Self {
        let status = &hostname.status;
        let ttls = status
            .max_ttl
            .as_ref()
            .map(|ttl| TtlMemory::restored(u32::try_from(ttl.seconds).unwrap_or(0), ttl.until.0))
            .unwrap_or_default();
        let longest = ttls
            .longest(now.wall)
            .unwrap_or(hostname.spec.as_ref().map_or(60, |spec| spec.ttl));
        let clusters = status.clusters.iter().filter_map(|cluster| {
            let name = ClusterName::parse(&cluster.name).ok()?;
            Some((name, ClusterMemory::restored(cluster, longest, timings, now)))
        });
        Self {
            clusters: clusters.collect(),
            ttls,
            ttls_in_zone: BTreeSet::new(),
            ever_live: status.clusters.iter().any(|cluster| !cluster.addresses.is_empty()),
            policy: status.policy.and_then(|policy| Policy::parse(policy.as_str())),
            words: Words::restored(status.last_confirmed.clone()),
        }
    }
}

impl ClusterMemory {
    fn restored(status: &ClusterStatus, longest_ttl: u32, timings: &Timings, now: Now) -> Self {
        let drain = status.drain.as_ref();
        let safe_at = drain.and_then(|drain| drain.safe_at.as_ref()).map(|time| time.0);
        let window = Duration::from_secs(u64::from(longest_ttl) * 2) + timings.drain_grace;
        let silent = match (safe_at, status.state) {
            (Some(safe_at), _) => Silence::Since(safe_at.checked_sub(window).unwrap_or(Wall::MIN)),
            (None, Some(ClusterState::Live | ClusterState::Draining | ClusterState::LastServing)) => {
                // The change that took it out may not be INSYNC yet; nobody can say any more when it was sent.
                Silence::Since(now.wall.checked_add(timings.insync_patience).unwrap_or(Wall::MAX))
            }
            (None, _) => Silence::Always,
        };
        Self {
            drain_started: drain.map(|drain| drain.started_at.0),
            safe_at,
            silent,
            source: None,
            seen_in_use: false,
            name: ClusterNameMemory::default(),
        }
    }
}
