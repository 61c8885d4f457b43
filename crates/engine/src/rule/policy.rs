//! Auto's table, and forced policies.
//!
//! Invariant: the clusters that are selected decide, not those that are ready, and no drain or MemberCluster's weight
//! ever changes the policy (DESIGN.md, section 5).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use super::failover;
use super::shared::SharedInput;
use crate::reason::Problem;
use crate::value::dns_name::RecordName;
use crate::value::ids::ClusterName;
use crate::value::owned::is_placeholder;
use crate::value::record::{FailoverRole, RecordData, Routing};
use crate::value::region::Region;
use crate::world::hostnames::{HostnameSpec, Policy};

/// The policy of a hostname, with its reason in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The policy.
    pub policy: Policy,
    /// Why, in words.
    pub reason: String,
    /// What of the spec has no effect.
    pub notes: Vec<Problem>,
}

/// The first three rows of Auto's table: what can lay out a name, or one role under failover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupPolicy {
    /// Every cluster has a region of its own.
    Latency,
    /// All in one region, or a split was asked for.
    Weighted,
    /// Some share a region.
    LatencyWeighted,
}

impl From<GroupPolicy> for Policy {
    fn from(policy: GroupPolicy) -> Self {
        match policy {
            GroupPolicy::Latency => Self::Latency,
            GroupPolicy::Weighted => Self::Weighted,
            GroupPolicy::LatencyWeighted => Self::LatencyWeighted,
        }
    }
}

/// One of the first three rows, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The row.
    pub policy: GroupPolicy,
    /// Why, in words.
    pub reason: String,
}

/// The policy for the selected clusters. Fails if the policy asked for cannot serve them.
pub fn choose(input: &SharedInput<'_>) -> Result<Choice, Problem> {
    let spec = input.spec;
    let regions = selected_regions(input);
    let standbys: Vec<&ClusterName> = selected_standbys(input);
    let (policy, reason) = match spec.policy {
        None if regions.is_empty() => (Policy::Latency, "no cluster is selected".to_owned()),
        None if !standbys.is_empty() && standbys.len() < regions.len() => (
            Policy::Failover,
            format!(
                "{} {} standby, the others are not",
                list(standbys.clone()),
                is_or_are(standbys.len())
            ),
        ),
        None => {
            let Layout { policy, reason } = layout(&regions, &spec.weights, now(input));
            (policy.into(), reason)
        }
        Some(policy) => {
            possible(policy, spec, &regions, &standbys)?;
            (policy, "routing.policy asks for it".to_owned())
        }
    };
    let mut notes = Vec::new();
    notes.extend(weight_ignored(input, policy, &regions));
    if policy == Policy::Failover {
        notes.extend(role_notes(spec, &regions, &standbys));
        notes.extend(failover::inert(input));
    }
    Ok(Choice { policy, reason, notes })
}

/// A cluster's role under failover: `primary` decides if it is set, else `standby`.
pub fn role(spec: &HostnameSpec, cluster: &ClusterName, standby: bool) -> FailoverRole {
    let primary = match (spec.policy, &spec.primary) {
        (Some(Policy::Failover), Some(primary)) => primary == cluster,
        _ => !standby,
    };
    if primary {
        FailoverRole::Primary
    } else {
        FailoverRole::Secondary
    }
}

/// The first three rows of the table. `now` is the policy that stands: a weight of 0 beside one that is not asks for no
/// other policy than that.
pub fn layout(
    regions: &BTreeMap<&ClusterName, Region>,
    weights: &BTreeMap<ClusterName, u8>,
    now: Option<Policy>,
) -> Layout {
    let asked: Vec<(&ClusterName, u8)> = weights
        .iter()
        .filter(|(name, _)| regions.contains_key(name))
        .map(|(name, weight)| (name, *weight))
        .collect();
    let positive: BTreeSet<u8> = asked
        .iter()
        .map(|(_, weight)| *weight)
        .filter(|weight| *weight > 0)
        .collect();
    let drained = asked.iter().any(|(_, weight)| *weight == 0);
    if positive.len() > 1 {
        let split: Vec<String> = asked.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
        return Layout {
            policy: GroupPolicy::Weighted,
            reason: format!("weights ask for a split: {}", list(split)),
        };
    }
    if drained && !positive.is_empty() && now == Some(Policy::Weighted) {
        return Layout {
            policy: GroupPolicy::Weighted,
            reason: "a weight of 0 does not change the policy".to_owned(),
        };
    }
    let (policy, reason) = by_region(regions);
    Layout { policy, reason }
}

fn by_region(regions: &BTreeMap<&ClusterName, Region>) -> (GroupPolicy, String) {
    let mut by_region: BTreeMap<Region, Vec<&ClusterName>> = BTreeMap::new();
    for (name, region) in regions {
        by_region.entry(*region).or_default().push(name);
    }
    match (regions.len(), by_region.len()) {
        (0, _) => (GroupPolicy::Latency, "no cluster is selected".to_owned()),
        (1, _) => (
            GroupPolicy::Latency,
            format!("{} is the only cluster", list(regions.keys())),
        ),
        (clusters, distinct) if clusters == distinct => (
            GroupPolicy::Latency,
            "every cluster is in a region of its own".to_owned(),
        ),
        (_, 1) => (
            GroupPolicy::Weighted,
            format!("all clusters are in {}", list(by_region.keys())),
        ),
        _ => (GroupPolicy::LatencyWeighted, sharing(regions)),
    }
}

/// Which clusters share which regions, as in "east and east2 share us-east-1".
fn sharing(regions: &BTreeMap<&ClusterName, Region>) -> String {
    let mut by_region: BTreeMap<Region, Vec<&ClusterName>> = BTreeMap::new();
    for (name, region) in regions {
        by_region.entry(*region).or_default().push(name);
    }
    let shared = by_region.iter().filter(|(_, names)| names.len() > 1);
    let texts = shared.map(|(region, names)| format!("{} share {region}", list(names)));
    texts.take(LISTED).collect::<Vec<_>>().join("; ")
}

/// Whether a forced policy can serve the selected clusters.
fn possible(
    policy: Policy,
    spec: &HostnameSpec,
    regions: &BTreeMap<&ClusterName, Region>,
    standbys: &[&ClusterName],
) -> Result<(), Problem> {
    let not_possible = |message: String| Err(Problem::new(Reason::PolicyNotPossible, message));
    let distinct = regions.values().collect::<BTreeSet<_>>().len();
    match policy {
        Policy::Latency if distinct < regions.len() => not_possible(format!(
            "routing.policy Latency takes one cluster a region, but {}; write Auto or LatencyWeighted",
            sharing(regions)
        )),
        Policy::Simple if regions.len() > 1 => not_possible(format!(
            "routing.policy Simple takes one cluster, but {} are selected; write Auto, or select one",
            list(regions.keys())
        )),
        Policy::Failover if spec.primary.is_none() && standbys.is_empty() && regions.len() > 1 => Err(Problem::new(
            Reason::PrimaryMissing,
            format!(
                "routing.policy Failover needs to know who of {} comes first; write routing.primary, or spec.standby: \
                 true on some of the MemberClusters",
                list(regions.keys())
            ),
        )),
        Policy::Simple | Policy::Latency | Policy::Weighted | Policy::LatencyWeighted | Policy::Failover => Ok(()),
    }
}

/// What of `primary` and `standby` has no effect.
fn role_notes(
    spec: &HostnameSpec,
    regions: &BTreeMap<&ClusterName, Region>,
    standbys: &[&ClusterName],
) -> Vec<Problem> {
    let (Some(Policy::Failover), Some(primary)) = (spec.policy, &spec.primary) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    if !standbys.is_empty() {
        let message = format!(
            "routing.primary is {primary}, so standby of {} has no effect; remove one of the two",
            list(standbys)
        );
        notes.push(Problem::new(Reason::StandbyIgnored, message));
    }
    if !regions.is_empty() && !regions.contains_key(primary) {
        let message = format!(
            "routing.primary names {primary}, which is not selected, so the others serve; select it, or name one of {}",
            list(regions.keys())
        );
        notes.push(Problem::new(Reason::PrimaryMissing, message));
    }
    notes
}

/// The hostname's weights that change no share under a policy.
fn weight_ignored(
    input: &SharedInput<'_>,
    policy: Policy,
    regions: &BTreeMap<&ClusterName, Region>,
) -> Option<Problem> {
    let asked = input.spec.weights.iter().filter(|(_, weight)| **weight > 0);
    let ignored: Vec<&ClusterName> = asked
        .map(|(name, _)| name)
        .filter(|name| !weight_counts(input, policy, regions, name))
        .collect();
    (!ignored.is_empty()).then(|| {
        let message = format!(
            "the weights of {} have no effect under {}; write routing.policy: Weighted, or remove them",
            list(ignored),
            policy.as_str()
        );
        Problem::new(Reason::WeightIgnored, message)
    })
}

fn weight_counts(
    input: &SharedInput<'_>,
    policy: Policy,
    regions: &BTreeMap<&ClusterName, Region>,
    cluster: &ClusterName,
) -> bool {
    let Some(region) = regions.get(cluster) else {
        return false;
    };
    match policy {
        Policy::Simple | Policy::Latency => false,
        Policy::Weighted => regions.len() > 1,
        Policy::LatencyWeighted => regions.values().filter(|other| *other == region).count() > 1,
        Policy::Failover => {
            let standby = input.clusters.get(cluster).is_some_and(|c| c.standby);
            let role = role(input.spec, cluster, standby);
            let inside = failover::role_regions(input, role);
            let layout = failover::role_layout(input, role, &inside);
            weight_counts(input, layout.policy.into(), &inside, cluster)
        }
    }
}

/// The policy in force: remembered, or else read off the zone.
pub fn now(input: &SharedInput<'_>) -> Option<Policy> {
    input.in_force.or_else(|| standing(input, input.shared.name()))
}

/// The policy that the sets published at a name follow now; `None` if there are none.
pub fn standing(input: &SharedInput<'_>, at: &RecordName) -> Option<Policy> {
    let sets = input
        .published
        .iter()
        .filter(|set| set.name == *at && !is_placeholder(set));
    sets.filter_map(|set| match &set.routing {
        Routing::Simple => Some(Policy::Simple),
        Routing::Weighted { .. } => Some(Policy::Weighted),
        Routing::Failover { .. } => Some(Policy::Failover),
        Routing::Latency { .. } => match &set.data {
            RecordData::Alias { zone, .. } if zone == input.hosted_zone => Some(Policy::LatencyWeighted),
            RecordData::Alias { .. } | RecordData::Values { .. } | RecordData::Opaque => Some(Policy::Latency),
        },
        Routing::Foreign { .. } => None,
    })
    .min()
}

fn selected_regions<'a>(input: &'a SharedInput<'_>) -> BTreeMap<&'a ClusterName, Region> {
    let selected = input.clusters.iter().filter(|(_, cluster)| cluster.selected);
    selected.map(|(name, cluster)| (name, cluster.region)).collect()
}

fn selected_standbys<'a>(input: &'a SharedInput<'_>) -> Vec<&'a ClusterName> {
    let standbys = input
        .clusters
        .iter()
        .filter(|(_, cluster)| cluster.selected && cluster.standby);
    standbys.map(|(name, _)| name).collect()
}

/// At most this many names stand in a message.
const LISTED: usize = 8;

/// Names as a sentence lists them; the first few, and how many more.
pub fn list(names: impl IntoIterator<Item = impl ToString>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [front @ .., last] if names.len() <= LISTED => format!("{} and {last}", front.join(", ")),
        all => {
            let shown: Vec<&str> = all.iter().take(LISTED).map(String::as_str).collect();
            format!("{} and {} more", shown.join(", "), all.len() - LISTED)
        }
    }
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
