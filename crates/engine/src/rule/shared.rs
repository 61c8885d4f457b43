//! What a shared name's record sets shall be: the one entry to the routing rules.
//!
//! Invariant: a function of its input alone; the answer does not depend on the order of anything. Deliberately absent:
//! how the zone gets there (`plan/diff.rs`, `zone/`), who may (`rule/claim.rs`), when a drain is safe
//! (`rule/drained.rs`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use super::confirm::Confirm;
use super::family::{self, Family, Member};
use super::policy::{self, Choice};
use super::standing::{Scene, Standing};
use super::{failover, last_serving, latency, latency_weighted, placeholder, simple, weighted};
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::address::Address;
use crate::value::ids::{ClusterName, HostedZoneId, HubId, SetIdentifier};
use crate::value::owned::is_placeholder;
use crate::value::record::{RecordSet, RecordType, Routing};
use crate::value::region::Region;
use crate::value::shared_name::{Group, SharedName};
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
    /// What a person agreed to.
    pub confirm: Confirm<'a>,
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
    /// Whether the TTL window since its weight became 0 is over (INSYNC of weight 0, plus twice the longest TTL); counts
    /// for every cluster that stands with weight 0, drained or without address. False while it has another weight.
    pub window_over: bool,
    /// Whether it may yet turn out to have a plain name as address: its member has not been read, or a plain name has
    /// not held long enough. Sets that are CNAMEs stay so until that is known.
    pub maybe_name: bool,
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
    /// Whether the claim shall stand.
    pub claim: bool,
    /// What becomes of each cluster of the input, and of one that only the zone knows, if it is kept.
    pub clusters: BTreeMap<ClusterName, SharedState>,
    /// What is wrong with the hostname as a whole, or noteworthy. `refused` tells whether it stops publishing changes.
    pub problems: Vec<Problem>,
    /// Whether the spec cannot be served as asked: then `sets` is what is published now, unchanged.
    pub refused: bool,
    /// Whether a family is given up because a person agreed to it.
    pub gives_up: bool,
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

/// What the shared name's sets shall be.
pub fn plan(input: &SharedInput<'_>) -> SharedPlan {
    let scene = Scene::new(input);
    match policy::choose(input).and_then(|choice| compose(&scene, choice)) {
        Ok(plan) => plan,
        Err(problem) => refused(&scene, problem),
    }
}

/// Who is kept, in which types.
type Kept = BTreeMap<ClusterName, BTreeSet<RecordType>>;

fn compose(scene: &Scene<'_>, choice: Choice) -> Result<SharedPlan, Problem> {
    let input = scene.input;
    let Choice { policy, reason, notes } = scene.in_force(choice);
    let cname = scene.cname();
    if let (Some(name), true) = (cname, input.apex) {
        return Err(cname_at_apex(scene, name));
    }
    let mut kept = Kept::new();
    let mut sets = Vec::new();
    let mut gives_up = false;
    for record_type in family::types(cname.is_some()) {
        let (mut family, mut keeps) = scene.family(*record_type, policy);
        if let Some(name) = keeps.filter(|name| last_serving::given_up(input, scene.any_live(), name, *record_type)) {
            family.members.clear();
            keeps = None;
            gives_up |= scene.clusters.get(name).is_some_and(|s| s.published.has(*record_type));
        }
        if let Some(name) = keeps {
            kept.entry(name.clone()).or_default().insert(*record_type);
        }
        // A simple set does not tell whose it is; one that is kept beside another cluster's must.
        let apart = policy == Policy::Simple && keeps.is_some_and(|name| scene.any_live() || scene.is_named(name));
        sets.extend(family_sets(&family, if apart { Policy::Latency } else { policy })?);
    }
    if sets.is_empty() {
        // Nobody that the input or the zone names could be the last that serves, yet something answers.
        sets.extend(input.published.iter().filter(|set| !is_placeholder(set)).cloned());
        kept.extend(scene.serving());
    }
    sets.sort();
    let mut problems = notes;
    problems.extend(family::mismatch(input, cname.is_some()));
    let placeholder = placeholder::set(input, &sets);
    Ok(SharedPlan {
        policy,
        policy_reason: reason,
        claim: placeholder::claim_may_stand(input, &sets),
        clusters: states(scene, &sets, &kept, policy),
        sets: if let Some(placeholder) = placeholder {
            vec![placeholder]
        } else {
            sets
        },
        problems,
        refused: false,
        gives_up,
    })
}

/// Nothing changes, because the spec cannot be served as asked.
fn refused(scene: &Scene<'_>, problem: Problem) -> SharedPlan {
    let input = scene.input;
    let mut sets = input.published.to_vec();
    sets.sort();
    let place = |standing: &Standing| match standing.published.serves_in().next() {
        Some(_) => Place::Live,
        None if standing.published.is_published() => Place::Zero,
        None => Place::Out,
    };
    let state = |(name, standing): (&ClusterName, &Standing)| {
        let problems = Vec::new();
        (
            name.clone(),
            SharedState {
                place: place(standing),
                problems,
            },
        )
    };
    let known = scene
        .clusters
        .iter()
        .filter(|(name, _)| input.clusters.contains_key(*name));
    SharedPlan {
        policy: policy::now(input).or(input.spec.policy).unwrap_or(Policy::Latency),
        policy_reason: "what is published stays as it is".to_owned(),
        clusters: known.map(state).collect(),
        sets,
        claim: input.claimed,
        problems: vec![problem],
        refused: true,
        gives_up: false,
    }
}

/// All sets of a family, with the addresses behind its CNAMEs.
fn family_sets(family: &Family<'_>, policy: Policy) -> Result<Vec<RecordSet>, Problem> {
    let at = family.input.shared.name();
    let all: Vec<&Member> = family.members.iter().collect();
    let mut sets = match policy {
        Policy::Simple => simple::sets(family)?,
        Policy::Latency => latency::sets(family, at, all)?,
        Policy::Weighted => weighted::sets(family, at, &all)?,
        Policy::LatencyWeighted => latency_weighted::sets(family, at, &all, Group::Region)?,
        Policy::Failover => failover::sets(family)?,
    };
    if family.record_type == RecordType::Cname {
        let stands = |member: &&Member| {
            let id = family.cluster_id(&member.cluster);
            let simple = policy == Policy::Simple && member.serves();
            simple || sets.iter().any(|set| set.routing.id() == Some(&id))
        };
        let members: Vec<&Member> = family.members.iter().filter(stands).collect();
        for member in members {
            sets.extend(family.ip_targets(member)?);
        }
    }
    Ok(sets)
}

/// What becomes of each cluster, read off the sets.
fn states(scene: &Scene<'_>, sets: &[RecordSet], kept: &Kept, policy: Policy) -> BTreeMap<ClusterName, SharedState> {
    let input = scene.input;
    let known = |name: &ClusterName| input.clusters.contains_key(name) || kept.contains_key(name);
    let state = |name: &ClusterName, standing: &Standing| match kept.get(name) {
        Some(families) => SharedState {
            place: Place::LastServing(families.clone()),
            problems: vec![last_serving::problem(
                input,
                scene.any_live(),
                name,
                families,
                &standing.input,
            )],
        },
        None => SharedState {
            place: place(input.hub, name, standing, sets, policy),
            problems: Vec::new(),
        },
    };
    let clusters = scene.clusters.iter().filter(|(name, _)| known(name));
    clusters
        .map(|(name, standing)| (name.clone(), state(name, standing)))
        .collect()
}

fn place(hub: &HubId, name: &ClusterName, standing: &Standing, sets: &[RecordSet], policy: Policy) -> Place {
    let id = SetIdentifier::of_cluster(hub, name);
    let own = sets.iter().filter(|set| set.routing.id() == Some(&id));
    let zero = |set: &RecordSet| matches!(set.routing, Routing::Weighted { weight: 0, .. });
    match own.map(zero).min() {
        Some(false) => Place::Live,
        Some(true) => Place::Zero,
        None if policy == Policy::Simple && standing.live() => Place::Live,
        None => Place::Out,
    }
}

fn cname_at_apex(scene: &Scene<'_>, cluster: &ClusterName) -> Problem {
    let address = scene.clusters.get(cluster).and_then(|s| s.address.as_ref());
    let target = address.map_or_else(String::new, |a| a.display().join(", "));
    let message = format!(
        "the address of {cluster} is {target}, for which {} would need a CNAME, and the zone's own name cannot have one; \
         give {cluster} an AWS load balancer or IPs, or choose a hostname below the zone's name",
        scene.input.shared.name()
    );
    Problem::new(Reason::CNAMEAtApex, message)
}
