//! What one plan found out, before it is told: the input of `status.rs`.
//!
//! Invariant: no decisions; plain findings of the steps in `hostname.rs`.

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Adoption;

use super::share::{self, Share};
use crate::reason::Problem;
use crate::rule::drained::DrainClock;
use crate::rule::shared::Place;
use crate::time::{Mono, Wall};
use crate::value::address::Address;
use crate::value::dns_name::RecordName;
use crate::value::ids::{ClusterName, HostedZoneId, HubId, ZoneRef};
use crate::value::record::RecordSet;
use crate::value::region::Region;
use crate::value::shared_name::SharedName;
use crate::world::hostnames::Policy;

/// One hostname as a plan sees it.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Its zone, once chosen.
    pub zone: Option<(ZoneRef, HostedZoneId)>,
    /// Why it is not accepted, if it is not.
    pub refused: Option<Problem>,
    /// The policy in force and why.
    pub policy: Option<(Policy, String)>,
    /// Its clusters: selected, or still holding something.
    pub clusters: BTreeMap<ClusterName, ClusterView>,
    /// Whether it asks for cluster names.
    pub cluster_hostnames: bool,
    /// Noteworthy things of the hostname as a whole.
    pub problems: Vec<Problem>,
    /// Whether the zone's record sets are known.
    pub zone_read: bool,
    /// Its shared name, once it is in a zone that was read.
    pub shared: Option<SharedName>,
    /// Its sets in the zone: shared name and groups.
    pub published: Vec<RecordSet>,
    /// Whether the placeholder stands.
    pub placeholder: bool,
    /// How the zone stands to the plan.
    pub programmed: Programmed,
    /// Whether it is being deleted, and what is left.
    pub deleting: Option<Vec<String>>,
    /// The longest TTL that counts, and until when.
    pub max_ttl: Option<(u32, Wall)>,
    /// The last change of Route 53.
    pub last_change: Option<String>,
    /// The confirmation that was carried out last.
    pub last_confirmed: Option<String>,
}

/// One cluster of a hostname.
#[derive(Debug, Clone, Default)]
pub struct ClusterView {
    /// Whether the hostname selects it.
    pub selected: bool,
    /// Its region.
    pub region: Option<Region>,
    /// Its cluster name.
    pub cluster_hostname: Option<RecordName>,
    /// Who writes that.
    pub adoption: Option<Adoption>,
    /// Whether the hub is to write it for good: the member has no ExternalDNS for the zone.
    pub hub_writes: bool,
    /// What its member publishes, or is known to.
    pub address: Option<Address>,
    /// Its place under the shared name.
    pub place: Option<Place>,
    /// What it weighs if nobody drains it; 0: drained.
    pub weight: u8,
    /// Who drains it, in words; empty: nobody.
    pub drained_by: Vec<String>,
    /// The clock of its drain.
    pub drain: Option<(Wall, DrainClock)>,
    /// Whether its member is being read for the first time since the start.
    pub starting: bool,
    /// When it was last seen, while it is not fresh.
    pub not_fresh: Option<NotFresh>,
    /// What is wrong with its address.
    pub address_problem: Option<Problem>,
    /// What is wrong with its place under the shared name, or noteworthy.
    pub place_problems: Vec<Problem>,
    /// What is wrong with its cluster name.
    pub name_problems: Vec<Problem>,
    /// What its release waits for.
    pub left: Vec<String>,
}

/// A member that is not fresh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFresh {
    /// Since when; `None`: it never was since the start.
    pub since: Option<Mono>,
    /// When it was last seen.
    pub last_seen: Option<Wall>,
    /// Why.
    pub problem: Problem,
}

/// How the zone stands to the plan.
#[derive(Debug, Clone, Default)]
pub struct Programmed {
    /// Whether changes wait to be sent or are under way.
    pub pending: bool,
    /// Since when the oldest of them waits to be INSYNC.
    pub since: Option<Mono>,
    /// What Route 53 refused.
    pub refused: Option<Problem>,
    /// What holds changes back.
    pub held: Option<Problem>,
}

impl View {
    /// A cluster's part of the answers; `None`: it has no set.
    pub fn share(&self, hub: &HubId, cluster: &ClusterName) -> Option<Share> {
        let shared = self.shared.as_ref()?;
        share::of(&self.published, shared, hub, cluster).or_else(|| {
            let place = self.clusters.get(cluster)?.place.as_ref()?;
            let alone = matches!(place, Place::Live | Place::LastServing(_));
            alone.then(|| share::of_simple(&self.published, shared)).flatten()
        })
    }
}

impl ClusterView {
    /// The record types in which it is kept because nobody else serves.
    pub fn last_serving(&self) -> Option<&BTreeSet<crate::value::record::RecordType>> {
        match &self.place {
            Some(Place::LastServing(types)) => Some(types),
            _ => None,
        }
    }

    /// Whether somebody drains it.
    pub fn draining(&self) -> bool {
        !self.drained_by.is_empty()
    }
}
