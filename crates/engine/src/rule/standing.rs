//! Who stands under a shared name: what is asked of each cluster, and what the zone has of it.
//!
//! Invariant: a cluster that nobody drains and that has an address stands; another only as the last that serves, or with
//! weight 0 for the TTL window. Deliberately absent: where it stands, which the policy lays out.

use std::collections::{BTreeMap, BTreeSet};

use super::family::{self, Family, Member};
use super::last_serving::{self, Candidate, Published};
use super::policy::{self, Choice};
use super::shared::{ClusterInput, SharedInput};
use crate::value::address::{Address, AddressKind};
use crate::value::ids::ClusterName;
use crate::value::owned::is_placeholder;
use crate::value::record::{FailoverRole, RecordSet, RecordType};
use crate::value::region::Region;
use crate::world::hostnames::Policy;

/// A cluster with what the zone has of it.
pub struct Standing {
    /// As the input has it.
    pub input: ClusterInput,
    /// What the zone has of it.
    pub published: Published,
    /// The address that counts: the one seen, else, while it is in the zone, the one it has there.
    pub address: Option<Address>,
}

impl Standing {
    /// Whether nothing but its group decides that it is an answer.
    pub fn live(&self) -> bool {
        self.input.selected && self.input.draining.is_none() && self.input.address.is_some()
    }
}

/// The input, with every cluster that it or the zone names.
pub struct Scene<'a> {
    /// What is planned.
    pub input: &'a SharedInput<'a>,
    /// By name; also those that only the zone names.
    pub clusters: BTreeMap<ClusterName, Standing>,
}

impl<'a> Scene<'a> {
    /// Looks at the input and the zone.
    pub fn new(input: &'a SharedInput<'a>) -> Self {
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
                maybe_name: false,
                address: None,
            };
            clusters.insert(name.clone(), standing(input, &name, gone, published));
        }
        Self { input, clusters }
    }

    /// Whether any selected cluster could be an answer.
    pub fn any_live(&self) -> bool {
        self.clusters.values().any(Standing::live)
    }

    /// Whether the sets of a cluster in the zone carry its name.
    pub fn is_named(&self, cluster: &ClusterName) -> bool {
        self.clusters
            .get(cluster)
            .is_some_and(|standing| standing.published.named)
    }

    /// The clusters that the zone answers with now, and the types.
    pub fn serving(&self) -> impl Iterator<Item = (ClusterName, BTreeSet<RecordType>)> {
        let serving = self
            .clusters
            .iter()
            .map(|(name, s)| (name.clone(), s.published.serves_in().collect()));
        serving.filter(|(_, types): &(_, BTreeSet<_>)| !types.is_empty())
    }

    /// The policy chosen; or, while nobody selected could answer, the one under which the last that served stands.
    pub fn in_force(&self, choice: Choice) -> Choice {
        let answers = self.input.published.iter().any(|set| !is_placeholder(set));
        if self.any_live() || !answers {
            return choice;
        }
        match policy::now(self.input) {
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
    /// or the one that is kept while nobody selected could answer. What is a CNAME stays one while a selected cluster may
    /// turn out to have a plain name: not knowing changes nothing.
    pub fn cname(&self) -> Option<&ClusterName> {
        let plain = |s: &Standing| s.address.as_ref().is_some_and(|a| a.kind() == AddressKind::Name);
        let selected = |s: &Standing| s.input.selected && s.input.address.is_some();
        if let Some((name, _)) = self.clusters.iter().find(|(_, s)| selected(s) && plain(s)) {
            return Some(name);
        }
        let is_cname = |set: &RecordSet| set.record_type == RecordType::Cname;
        let maybe = |s: &Standing| s.input.selected && s.input.address.is_none() && s.input.maybe_name;
        if self.input.published.iter().any(is_cname)
            && let Some((name, _)) = self.clusters.iter().find(|(_, s)| maybe(s))
        {
            return Some(name);
        }
        if self.any_live() {
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
    pub fn family(&self, record_type: RecordType, policy: Policy) -> (Family<'a>, Option<&ClusterName>) {
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
