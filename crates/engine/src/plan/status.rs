//! The status of a GlobalHostname: what is told of the whole and of each cluster.
//!
//! Invariant: while the zone has not been read, what was told before stands. Deliberately absent: the conditions
//! (`hostname_conditions.rs`).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use truce_api::{
    ClusterState, ClusterStatus, DrainStatus, GlobalHostnameCondition as Kind, GlobalHostnameStatus, MaxTTL, Reason,
    ZoneStatus,
};

use super::condition::{ConditionStatus, Stated, merge, truncate};
use super::hostname_conditions;
use super::view::{ClusterView, View};
use crate::reason::Problem;
use crate::rule::shared::Place;
use crate::time::{Now, Timings};
use crate::value::ids::{ClusterName, HubId};
use crate::world::hostnames::{Hostname, Policy};

/// The status that a plan tells.
pub fn status(hostname: &Hostname, view: &View, hub: &HubId, timings: &Timings, now: Now) -> GlobalHostnameStatus {
    if !view.zone_read {
        return unread(hostname, view, now);
    }
    let selected = view.clusters.values().filter(|cluster| cluster.selected).count();
    let live = view
        .clusters
        .values()
        .filter(|cluster| cluster.selected && serves(cluster))
        .count();
    let clusters = view
        .clusters
        .iter()
        .map(|(name, cluster)| cluster_status(name, cluster, view, hub))
        .collect();
    GlobalHostnameStatus {
        observed_generation: Some(hostname.generation),
        zone: view.zone.as_ref().map(|(name, id)| ZoneStatus {
            name: name.to_string(),
            id: id.to_string(),
        }),
        policy: view.policy.as_ref().map(|(policy, _)| shown(*policy)),
        policy_reason: view.policy.as_ref().map(|(_, reason)| reason.clone()),
        ready: Some(format!("{live}/{selected}")),
        clusters,
        max_ttl: view.max_ttl.map(|(seconds, until)| MaxTTL {
            seconds: i32::try_from(seconds).unwrap_or(i32::MAX),
            until: Time(until),
        }),
        last_change_id: view.last_change.clone(),
        last_confirmed: view.last_confirmed.clone(),
        conditions: hostname_conditions::conditions(hostname, view, hub, timings, now),
    }
}

/// The status while the zone is not known: what was told before stands, for drains rest on it after a restart. Only what
/// is wrong is told.
fn unread(hostname: &Hostname, view: &View, now: Now) -> GlobalHostnameStatus {
    let mut status = hostname.status.clone();
    let Some(problem) = &view.refused else { return status };
    status.observed_generation = Some(hostname.generation);
    let stated =
        [Kind::Accepted, Kind::Ready].map(|kind| Stated::problem(kind.as_str(), ConditionStatus::False, problem));
    let told = merge(&status.conditions, stated.into(), hostname.generation, now.wall);
    status
        .conditions
        .retain(|old| told.iter().all(|new| new.type_ != old.type_));
    status.conditions.extend(told);
    status
}

/// A policy as the API has it.
fn shown(policy: Policy) -> truce_api::Policy {
    match policy {
        Policy::Simple => truce_api::Policy::Simple,
        Policy::Latency => truce_api::Policy::Latency,
        Policy::Weighted => truce_api::Policy::Weighted,
        Policy::LatencyWeighted => truce_api::Policy::LatencyWeighted,
        Policy::Failover => truce_api::Policy::Failover,
    }
}

/// Whether a cluster is in the answers now: its set is in the zone.
pub(super) fn serves(cluster: &ClusterView) -> bool {
    matches!(cluster.place, Some(Place::Live | Place::LastServing(_)))
}

fn cluster_status(name: &ClusterName, cluster: &ClusterView, view: &View, hub: &HubId) -> ClusterStatus {
    let in_zone = view.share(hub, name);
    let state = state(cluster, view, in_zone.is_some());
    let said = said(cluster, state);
    ClusterStatus {
        name: name.to_string(),
        region: cluster.region.map(|region| region.to_string()),
        cluster_hostname: cluster.cluster_hostname.as_ref().map(ToString::to_string),
        adoption: cluster.adoption,
        state: Some(state),
        reason: said.as_ref().map(|problem| problem.reason.to_string()),
        message: said.map(|mut problem| {
            truncate(&mut problem.message, 256);
            problem.message
        }),
        weight: cluster.selected.then(|| {
            if cluster.draining() {
                0
            } else {
                i32::from(cluster.weight)
            }
        }),
        effective_weight: in_zone
            .as_ref()
            .map(|share| i32::from(share.weight.unwrap_or(cluster.weight))),
        share_percent: in_zone.as_ref().map(|share| i32::from(share.percent)),
        addresses: in_zone.map(|share| share.addresses).unwrap_or_default(),
        observed_at: cluster
            .not_fresh
            .as_ref()
            .and_then(|not_fresh| not_fresh.last_seen)
            .map(Time),
        drain: cluster.drain.as_ref().map(|(started_at, clock)| DrainStatus {
            started_at: Time(*started_at),
            safe_at: clock.safe_at.map(Time),
        }),
    }
}

/// What a cluster is under the shared name.
pub(super) fn state(cluster: &ClusterView, view: &View, in_zone: bool) -> ClusterState {
    let blocked = cluster
        .name_problems
        .iter()
        .any(|problem| problem.reason == Reason::ReleaseBlocked);
    match &cluster.place {
        _ if !cluster.selected && blocked => ClusterState::Blocked,
        Some(Place::LastServing(_)) => ClusterState::LastServing,
        Some(Place::Live) if in_zone => ClusterState::Live,
        Some(Place::Zero) => ClusterState::Draining,
        _ if !cluster.selected => ClusterState::Releasing,
        _ if cluster.draining() => match &cluster.drain {
            Some((_, clock)) if clock.drained => ClusterState::Drained,
            _ => ClusterState::Draining,
        },
        _ if view.placeholder => ClusterState::Placeholder,
        _ => ClusterState::Pending,
    }
}

/// What there is to say of a cluster: the most important of its problems, or of its drain.
fn said(cluster: &ClusterView, state: ClusterState) -> Option<Problem> {
    let drain = || cluster.drained_by.join("; ");
    let last_serving = cluster.last_serving().map(|types| {
        let types: Vec<_> = types.iter().map(|t| t.as_str()).collect();
        Problem::new(
            Reason::LastServing,
            match cluster.draining() {
                true => format!("kept in {}: no other cluster serves; {}", types.join(" and "), drain()),
                false => format!("kept in {}: no other cluster serves", types.join(" and ")),
            },
        )
    });
    let draining = (state == ClusterState::Draining).then(|| Problem::new(Reason::Draining, drain()));
    let drained = (state == ClusterState::Drained).then(|| Problem::new(Reason::Drained, drain()));
    let left = (!cluster.left.is_empty())
        .then(|| Problem::new(Reason::Releasing, format!("left: {}", cluster.left.join(", "))));
    let problems = [&cluster.place_problems, &cluster.name_problems].into_iter().flatten();
    let unknown = cluster.not_fresh.as_ref().map(|not_fresh| &not_fresh.problem);
    let first = cluster
        .address_problem
        .iter()
        .chain(unknown)
        .chain(problems)
        .next()
        .cloned();
    last_serving.or(draining).or(drained).or(first).or(left)
}
