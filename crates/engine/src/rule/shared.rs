//! What a shared name's record sets shall be: the one entry to the routing rules.
//!
//! Invariant: a function of its input alone; the answer does not depend on the order of anything. Deliberately absent:
//! how the zone gets there (`plan/diff.rs`, `zone/`), who may (`rule/claim.rs`), when a drain is safe
//! (`rule/drained.rs`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use super::family::{self, Family, Member};
use super::last_serving::{self, Candidate, Published};
use super::policy::{self, Choice};
use super::{failover, latency, latency_weighted, placeholder, simple, weighted};
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::address::{Address, AddressKind};
use crate::value::ids::{ClusterName, HostedZoneId, HubId, SetIdentifier};
use crate::value::owned::is_placeholder;
use crate::value::record::{FailoverRole, RecordSet, RecordType, Routing};
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
    match policy::choose(input).and_then(|choice| scene.plan(choice)) {
        Ok(plan) => plan,
        Err(problem) => scene.refused(problem),
    }
}

/// A cluster with what the zone has of it.
struct Standing {
    input: ClusterInput,
    published: Published,
    /// The address that counts: the one seen, else, while it is in the zone, the one it has there.
    address: Option<Address>,
}

impl Standing {
    /// Whether nothing but its group decides that it is an answer.
    fn live(&self) -> bool {
        self.input.selected && self.input.draining.is_none() && self.input.address.is_some()
    }
}

/// The input, with every cluster that it or the zone names.
struct Scene<'a> {
    input: &'a SharedInput<'a>,
    clusters: BTreeMap<ClusterName, Standing>,
}

impl<'a> Scene<'a> {
    fn new(input: &'a SharedInput<'a>) -> Self {
        let mut published = last_serving::published(input);
        let mut clusters = BTreeMap::new();
        for (name, cluster) in input.clusters {
            let published = published.remove(name).unwrap_or_default();
            clusters.insert(name.clone(), standing(input, name, cluster.clone(), published));
        }
        // What is left is in the zone, but its MemberCluster is gone: it may have been the last that serves.
        for (name, published) in published {
            let others = input.clusters.values().map(|cluster| cluster.region).min();
            // Alone in its family, it answers everybody whatever its region.
            let Some(region) = published.region.or(others).or_else(|| Region::known("us-east-1")) else {
                continue;
            };
            let gone = ClusterInput {
                selected: false,
                region,
                standby: false,
                weight: 1,
                draining: None,
                window_over: true,
                address: None,
            };
            clusters.insert(name.clone(), standing(input, &name, gone, published));
        }
        Self { input, clusters }
    }

    fn plan(&self, choice: Choice) -> Result<SharedPlan, Problem> {
        let Choice { policy, reason, notes } = self.in_force(choice);
        let cname = self.cname();
        if let (Some(name), true) = (cname, self.input.apex) {
            return Err(self.cname_at_apex(name));
        }
        let mut kept: BTreeMap<ClusterName, BTreeSet<RecordType>> = BTreeMap::new();
        let mut sets = Vec::new();
        for record_type in family::types(cname.is_some()) {
            let (family, keeps) = self.family(*record_type, policy);
            if let Some(name) = keeps {
                kept.entry(name.clone()).or_default().insert(*record_type);
            }
            let live = self.clusters.values().any(Standing::live);
            let named = |name| self.clusters.get(name).is_some_and(|s: &Standing| s.published.named);
            let apart = policy == Policy::Simple && keeps.is_some_and(|name| live || named(name));
            // A simple set does not tell whose it is; one that is kept beside another cluster's must.
            sets.extend(family_sets(&family, if apart { Policy::Latency } else { policy })?);
        }
        if sets.is_empty() {
            // Nobody that the input or the zone names could be the last that serves, yet something answers.
            sets.extend(self.input.published.iter().filter(|set| !is_placeholder(set)).cloned());
            for (name, standing) in &self.clusters {
                let families: BTreeSet<RecordType> = standing.published.serves_in().collect();
                if !families.is_empty() {
                    kept.insert(name.clone(), families);
                }
            }
        }
        sets.sort();
        let claim = placeholder::claim_may_stand(self.input, &sets);
        let clusters = self.states(&sets, &kept, policy);
        let mut problems = notes;
        problems.extend(self.family_mismatch(cname.is_some()));
        sets.extend(placeholder::set(self.input, &sets));
        Ok(SharedPlan {
            policy,
            policy_reason: reason,
            sets,
            claim,
            clusters,
            problems,
            refused: false,
        })
    }

    /// Nothing changes, because the spec cannot be served as asked.
    fn refused(&self, problem: Problem) -> SharedPlan {
        let input = self.input;
        let mut sets = input.published.to_vec();
        sets.sort();
        let policy = input.in_force.or_else(|| policy::standing(input, input.shared.name()));
        let policy = policy.or(input.spec.policy).unwrap_or(Policy::Latency);
        SharedPlan {
            policy,
            policy_reason: "what is published stays as it is".to_owned(),
            clusters: self.states(&sets, &BTreeMap::new(), policy),
            sets,
            claim: input.claimed,
            problems: vec![problem],
            refused: true,
        }
    }

    /// The policy chosen; or, while nobody selected could answer, the one under which the last that served stands.
    fn in_force(&self, choice: Choice) -> Choice {
        let answers = self.input.published.iter().any(|set| !is_placeholder(set));
        if self.clusters.values().any(Standing::live) || !answers {
            return choice;
        }
        let input = self.input;
        let in_force = input.in_force.or_else(|| policy::standing(input, input.shared.name()));
        match in_force {
            Some(policy) if policy != choice.policy => Choice {
                policy,
                reason: format!(
                    "stays in force until another cluster serves; then {}",
                    choice.policy.as_str()
                ),
                notes: choice.notes,
            },
            Some(_) | None => choice,
        }
    }

    /// The cluster because of which every set is a CNAME, if there is one: a selected one whose address is a plain name,
    /// or the one that is kept while nobody selected could answer.
    fn cname(&self) -> Option<&ClusterName> {
        let plain = |s: &Standing| s.address.as_ref().is_some_and(|a| a.kind() == AddressKind::Name);
        let selected = |s: &Standing| s.input.selected && s.input.address.is_some();
        if let Some((name, _)) = self.clusters.iter().find(|(_, s)| selected(s) && plain(s)) {
            return Some(name);
        }
        if self.clusters.values().any(Standing::live) {
            return None;
        }
        let candidates = self
            .clusters
            .iter()
            .filter(|(_, s)| s.address.is_some() && s.published.is_published());
        let kept = last_serving::keep(
            candidates.map(|(name, s)| candidate(name, s, s.published.serves_in().next().is_some())),
        )?;
        self.clusters.get(kept).filter(|s| plain(s)).map(|_| kept)
    }

    /// Who stands in a family, and who of them only because nobody else would.
    fn family(&self, record_type: RecordType, policy: Policy) -> (Family<'a>, Option<&ClusterName>) {
        let role = |name: &ClusterName, s: &Standing| policy::role(self.input.spec, name, s.input.standby);
        let leaning = policy == Policy::Failover
            && self
                .clusters
                .iter()
                .any(|(name, s)| s.live() && role(name, s) == FailoverRole::Primary);
        // A family that a serving PRIMARY lacks is not published from SECONDARY.
        let eligible: Vec<(&ClusterName, &Standing, &Address)> = self
            .clusters
            .iter()
            .filter_map(|(name, s)| Some((name, s, s.address.as_ref()?)))
            .filter(|(_, _, address)| family::has(address, record_type))
            .collect();
        let primary_has = eligible
            .iter()
            .any(|(name, s, _)| s.live() && role(name, s) == FailoverRole::Primary);
        let out =
            |name: &ClusterName, s: &Standing| leaning && !primary_has && role(name, s) == FailoverRole::Secondary;
        let eligible: Vec<_> = eligible.into_iter().filter(|(name, s, _)| !out(name, s)).collect();
        let kept = if eligible.iter().any(|(_, s, _)| s.live()) {
            None
        } else {
            let in_zone = eligible.iter().filter(|(_, s, _)| s.published.has(record_type));
            last_serving::keep(in_zone.map(|(name, s, _)| candidate(name, s, s.published.serves(record_type))))
        };
        let members = eligible.into_iter().filter_map(|(name, s, address)| {
            let zero = s.input.selected && s.published.has(record_type) && !s.input.window_over;
            let weight = if s.live() || kept == Some(name) {
                s.input.weight.max(1)
            } else if zero {
                0
            } else {
                return None;
            };
            Some(Member {
                cluster: name.clone(),
                region: s.input.region,
                role: role(name, s),
                weight,
                address: address.clone(),
            })
        });
        let family = Family {
            input: self.input,
            record_type,
            members: members.collect(),
        };
        (family, kept)
    }

    /// What becomes of each cluster, read off the sets.
    fn states(
        &self,
        sets: &[RecordSet],
        kept: &BTreeMap<ClusterName, BTreeSet<RecordType>>,
        policy: Policy,
    ) -> BTreeMap<ClusterName, SharedState> {
        let known = |name: &ClusterName| self.input.clusters.contains_key(name) || kept.contains_key(name);
        let clusters = self.clusters.iter().filter(|(name, _)| known(name));
        let state = |name: &ClusterName, standing: &Standing| match kept.get(name) {
            Some(families) => SharedState {
                place: Place::LastServing(families.clone()),
                problems: vec![last_serving_problem(name, families, standing)],
            },
            None => SharedState {
                place: self.place(name, standing, sets, policy),
                problems: Vec::new(),
            },
        };
        clusters
            .map(|(name, standing)| (name.clone(), state(name, standing)))
            .collect()
    }

    fn place(&self, name: &ClusterName, standing: &Standing, sets: &[RecordSet], policy: Policy) -> Place {
        let id = SetIdentifier::of_cluster(self.input.hub, name);
        let own = sets.iter().filter(|set| set.routing.id() == Some(&id));
        let zero = |set: &RecordSet| matches!(set.routing, Routing::Weighted { weight: 0, .. });
        match own.map(zero).min() {
            Some(false) => Place::Live,
            Some(true) => Place::Zero,
            None if policy == Policy::Simple && standing.live() => Place::Live,
            None => Place::Out,
        }
    }

    /// Clusters without a family that others have.
    fn family_mismatch(&self, cname: bool) -> Option<Problem> {
        if cname {
            return None;
        }
        let seen = self.clusters.iter().filter(|(_, s)| s.input.selected);
        let seen: Vec<(&ClusterName, &Address)> = seen
            .filter_map(|(name, s)| Some((name, s.input.address.as_ref()?)))
            .collect();
        let texts = [(RecordType::A, "IPv4 (A)"), (RecordType::Aaaa, "IPv6 (AAAA)")].map(|(record_type, words)| {
            let (with, without): (Vec<_>, Vec<_>) = seen.iter().partition(|(_, address)| address.has(record_type));
            let names = |side: Vec<&(&'_ ClusterName, &Address)>| policy::list(side.iter().map(|(name, _)| *name));
            (!with.is_empty() && !without.is_empty()).then(|| {
                format!(
                    "{words} is published from {} but not from {}",
                    names(with),
                    names(without)
                )
            })
        });
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        (!texts.is_empty()).then(|| {
            let message = format!(
                "{}; give all clusters' load balancers the same families",
                texts.join("; ")
            );
            Problem::new(Reason::AddressFamilyMismatch, message)
        })
    }

    fn cname_at_apex(&self, cluster: &ClusterName) -> Problem {
        let address = self.clusters.get(cluster).and_then(|s| s.address.as_ref());
        let target = address.map_or_else(String::new, |a| a.display().join(", "));
        let message = format!(
            "the address of {cluster} is {target}, for which {} would need a CNAME, and the zone's own name cannot have \
             one; give {cluster} an AWS load balancer or IPs, or choose a hostname below the zone's name",
            self.input.shared.name()
        );
        Problem::new(Reason::CNAMEAtApex, message)
    }
}

fn standing(input: &SharedInput<'_>, name: &ClusterName, cluster: ClusterInput, published: Published) -> Standing {
    let in_zone = || {
        let own = last_serving::published_address(input.published, input.shared, input.hub, name);
        own.or_else(|| last_serving::published_simple(input.published, input.shared))
    };
    let address = cluster
        .address
        .clone()
        .or_else(|| published.is_published().then(in_zone).flatten());
    Standing {
        input: cluster,
        published,
        address,
    }
}

fn candidate<'c>(cluster: &'c ClusterName, standing: &Standing, serves: bool) -> Candidate<'c> {
    Candidate {
        cluster,
        serves,
        draining: standing.input.draining,
        addressed: standing.input.address.is_some(),
        standby: standing.input.standby,
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

fn last_serving_problem(name: &ClusterName, families: &BTreeSet<RecordType>, standing: &Standing) -> Problem {
    let cause = match &standing.input {
        ClusterInput { selected: false, .. } => "it is not selected any more",
        ClusterInput { draining: Some(_), .. } => "it is being drained",
        ClusterInput { .. } => "its address is gone",
    };
    let message = format!(
        "{name} is kept in {} although {cause}: no other selected, undrained cluster has an address there; bring one, or \
         delete the GlobalHostname",
        policy::list(families)
    );
    Problem::new(Reason::LastServing, message)
}
