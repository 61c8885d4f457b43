//! What a plan reads, and what it brings.
//!
//! Invariant: a plan is a function of `PlanInput` and of the hostname's own memory.

use std::collections::{BTreeMap, BTreeSet};

use truce_api::GlobalHostnameStatus;

use super::memory::HostnameMemory;
use super::progress::Progress;
use super::unit::{Part, Unit};
use crate::effect::MemberEffect;
use crate::event::{Failure, WatchKey};
use crate::reason::Problem;
use crate::rule::hold::Withdrawal;
use crate::rule::holder::Reservations;
use crate::time::{Mono, Now, Timings};
use crate::value::dns_name::RecordName;
use crate::value::ids::{ClusterName, HubId, ZoneRef};
use crate::world::World;
use crate::world::dirty::Depends;
use crate::world::zones::Records;

/// What does not change while the process lives.
#[derive(Debug, Clone)]
pub struct Config {
    /// `--hub-id`.
    pub hub: HubId,
    /// The operator's own namespace.
    pub namespace: String,
    /// How long things take before they are believed or done.
    pub timings: Timings,
    /// `--status-writes-per-second`.
    pub status_writes_per_second: u32,
}

/// A zone as one hostname's plan sees it.
#[derive(Debug, Clone)]
pub struct ZoneView<'a> {
    /// The record sets as read.
    pub records: &'a Records,
    /// When the last point read of a name was sent.
    pub read_at: &'a BTreeMap<RecordName, Mono>,
    /// Whether the records are known and may be changed.
    pub ready: bool,
    /// What is wrong with the zone.
    pub problem: Option<Problem>,
    /// The last change of this hostname: its id, and since when one is pending.
    pub change: Option<(String, Option<Mono>)>,
    /// What Route 53 refused of this hostname.
    pub refusals: Vec<(Part, Problem)>,
}

/// What one plan reads.
pub struct PlanInput<'a> {
    /// Configuration.
    pub config: &'a Config,
    /// Facts.
    pub world: &'a World,
    /// Zones, as this hostname sees them.
    pub zone: &'a dyn Fn(&ZoneRef) -> Option<ZoneView<'a>>,
    /// Who wants which names of the hostname's zone.
    pub reservations: &'a Reservations,
    /// MemberClusters whose name is refused.
    pub ambiguous: &'a BTreeMap<ClusterName, Problem>,
    /// MemberClusters whose ExternalDNS cannot be worked with.
    pub external_dns: &'a BTreeMap<ClusterName, Vec<Problem>>,
    /// Why the last write of a DNSEndpoint failed, if it did.
    pub endpoint_failure: &'a dyn Fn(&ClusterName, &str, &str) -> Option<Failure>,
    /// Whether withdrawals that nobody asked for are held.
    pub hold: Option<Problem>,
    /// This moment.
    pub now: Now,
}

/// What one plan brings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostnamePlan {
    /// Its zone.
    pub zone: Option<ZoneRef>,
    /// For the zone.
    pub units: Vec<Unit>,
    /// For the members: at most one object each.
    pub endpoints: BTreeMap<ClusterName, MemberEffect>,
    /// Names to read, not before a moment.
    pub reads: Vec<(RecordName, Mono)>,
    /// A finalizer to set or to drop.
    pub finalizer: Option<bool>,
    /// Whether it has no claim and lies below a wildcard: any change of the zone may begin or end that the wildcard answers
    /// for its name.
    pub behind_wildcard: bool,
    /// What is told.
    pub status: GlobalHostnameStatus,
    /// Whether the status is urgent: something is drained.
    pub urgent: bool,
    /// When to plan again if nothing happens.
    pub wake: Option<Mono>,
    /// What it read.
    pub depends: Depends,
    /// Complete reads that are wanted.
    pub relists: BTreeSet<(ClusterName, WatchKey)>,
    /// Clusters that leave without anybody having asked for it, and how many sets that takes.
    pub withdrawal: (Withdrawal, usize),
    /// How far each cluster is.
    pub progress: BTreeMap<ClusterName, Progress>,
    /// Sets of the zone that are this hostname's, and those of them that are live.
    pub owned: (usize, usize),
    /// Whether something is to be done because a person agreed to it.
    pub confirms: bool,
    /// Whether it lives in a zone that was not read yet: then `progress` is not known.
    pub waits_for_zone: bool,
    /// For the next plan.
    pub memory: HostnameMemory,
}

impl HostnamePlan {
    /// Asks for another plan at a moment.
    pub fn wake_at(&mut self, at: Option<Mono>) {
        self.wake = match (self.wake, at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}
