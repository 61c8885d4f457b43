//! What a shared name's record sets shall be: the one entry to the routing rules.
//!
//! Invariant: a function of its input alone; the answer does not depend on the order of anything. Deliberately absent:
//! how the zone gets there (`plan/diff.rs`, `zone/`), who may (`rule/claim.rs`), when a drain is safe
//! (`rule/drained.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::reason::Problem;
use crate::time::Wall;
use crate::value::address::Address;
use crate::value::ids::{ClusterName, HostedZoneId, HubId};
use crate::value::record::{RecordSet, RecordType};
use crate::value::region::Region;
use crate::value::shared_name::SharedName;
use crate::world::hostnames::{HostnameSpec, Policy};

/// All that the shared name's sets depend on.
#[derive(Debug, Clone)]
pub struct SharedInput<'a> {
    /// The own hub.
    pub hub: &'a HubId,
    /// The name and what hangs on it.
    pub shared: &'a SharedName,
    /// The zone: aliases to groups point into it.
    pub hosted_zone: &'a HostedZoneId,
    /// Whether the name is the zone's own.
    pub apex: bool,
    /// The hostname's spec.
    pub spec: &'a HostnameSpec,
    /// The selected clusters, and those no longer selected that the zone still has.
    pub clusters: &'a BTreeMap<ClusterName, ClusterInput>,
    /// The hostname's sets in the zone now: shared name and groups, owned by this hub; without claim.
    pub published: &'a [RecordSet],
    /// The policy in force until now.
    pub in_force: Option<Policy>,
    /// Whether any cluster ever had an address under this name.
    pub ever_live: bool,
    /// Whether the zone holds this hostname's claim.
    pub claimed: bool,
    /// Whether a wildcard record of the zone, of somebody else, answers for the name today (RFC 4592).
    pub wildcard_answers: bool,
}

/// One cluster as the shared name sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterInput {
    /// Whether the hostname selects it now.
    pub selected: bool,
    /// Its region.
    pub region: Region,
    /// Whether it is a standby.
    pub standby: bool,
    /// What it weighs while nobody drains it, 1 to 255 (a draining cluster: what it weighed, or 1).
    pub weight: u8,
    /// When its drain began, if it is being drained.
    pub draining: Option<Wall>,
    /// Whether the TTL window since its weight became 0 is over (INSYNC of weight 0, plus twice the longest TTL).
    pub window_over: bool,
    /// Its address: usable, or the last one while the member is unknown. `None`: none yet, or gone for good.
    pub address: Option<Address>,
}

/// What shall be, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPlan {
    /// The policy in force after this plan.
    pub policy: Policy,
    /// Why, in words.
    pub policy_reason: String,
    /// All sets under shared name and groups, sorted; without claim.
    pub sets: Vec<RecordSet>,
    /// What becomes of each cluster of the input.
    pub clusters: BTreeMap<ClusterName, SharedState>,
    /// What is wrong with the hostname as a whole, or noteworthy. `refused` tells whether it stops publishing changes.
    pub problems: Vec<Problem>,
    /// Whether the spec cannot be served as asked: then `sets` is what is published now, unchanged.
    pub refused: bool,
}

/// A cluster under the shared name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedState {
    /// Its place.
    pub place: Place,
    /// What is wrong or noteworthy.
    pub problems: Vec<Problem>,
}

/// A cluster's place in the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In no set: no address, drained, or not selected.
    Out,
    /// In the answers.
    Live,
    /// In the zone with weight 0, until the TTL window is over.
    Zero,
    /// Kept although it should leave, in these record types, because nobody else serves them.
    LastServing(BTreeSet<RecordType>),
}
