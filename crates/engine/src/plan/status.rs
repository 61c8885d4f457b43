//! Status and conditions of a GlobalHostname.
//!
//! Invariant: a condition carries the generation it speaks of; while a change is on its way, the conditions that depend
//! on the zone keep what they said of the generation before, so that `kubectl wait` right after an edit waits.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use truce_api::{
    ClusterState, ClusterStatus, DrainStatus, GlobalHostnameCondition as Kind, GlobalHostnameStatus, MaxTTL, Reason,
    ZoneStatus,
};

use super::condition::{ConditionStatus, Stated, merge, truncate};
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
        conditions: conditions(hostname, view, hub, timings, now),
    }
}

/// The status while the zone is not known: what was told before stands, for drains rest on it after a restart. Only what
/// is wrong is told.
fn unread(hostname: &Hostname, view: &View, now: Now) -> GlobalHostnameStatus {
    let mut status = hostname.status.clone();
    let Some(problem) = &view.refused else { return status };
    status.observed_generation = Some(hostname.generation);
    let stated = [Kind::Accepted, Kind::Ready]
        .map(|kind| stated_as(kind.as_str(), ConditionStatus::False, problem.reason, &problem.message));
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
fn serves(cluster: &ClusterView) -> bool {
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
pub fn state(cluster: &ClusterView, view: &View, in_zone: bool) -> ClusterState {
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

fn conditions(hostname: &Hostname, view: &View, hub: &HubId, timings: &Timings, now: Now) -> Vec<Condition> {
    let old = &hostname.status.conditions;
    let stated = [
        accepted(view),
        resolved_refs(view),
        programmed(view, timings, now),
        ready(view, hub, timings, now),
        cluster_hostnames_ready(view),
        members_fresh(view, timings, now),
    ];
    let kinds = Kind::ALL.iter().map(|kind| kind.as_str());
    let keep = |kind: &'static str| old.iter().find(|c| c.type_ == kind).cloned();
    let first = |kind| {
        stated_as(
            kind,
            ConditionStatus::Unknown,
            Reason::Pending,
            "on its way to Route 53",
        )
    };
    kinds
        .zip(stated)
        .flat_map(|(kind, stated)| match stated {
            Some(stated) => merge(old, vec![stated], hostname.generation, now.wall),
            None => keep(kind)
                .map(|condition| vec![condition])
                .unwrap_or_else(|| merge(old, vec![first(kind)], hostname.generation, now.wall)),
        })
        .collect()
}

fn stated_as(type_: &'static str, status: ConditionStatus, reason: Reason, message: impl Into<String>) -> Stated {
    Stated {
        type_,
        status,
        reason,
        message: message.into(),
    }
}

/// `None`: the zone has not been read, so it is not known yet.
fn accepted(view: &View) -> Option<Stated> {
    let type_ = Kind::Accepted.as_str();
    let noted: Vec<_> = view.problems.iter().map(|problem| problem.message.as_str()).collect();
    match &view.refused {
        Some(problem) => Some(stated_as(
            type_,
            ConditionStatus::False,
            problem.reason,
            &problem.message,
        )),
        None => Some(stated_as(
            type_,
            ConditionStatus::True,
            Reason::Accepted,
            noted.join("; "),
        )),
    }
}

/// `None`: a member is being read for the first time since the start, so what was said before stands.
fn resolved_refs(view: &View) -> Option<Stated> {
    let type_ = Kind::ResolvedRefs.as_str();
    let selected = || view.clusters.iter().filter(|(_, cluster)| cluster.selected);
    if view.clusters.values().any(|cluster| cluster.starting) {
        return None;
    }
    let missing = selected().filter(|(_, cluster)| cluster.address.is_none() || cluster.address_problem.is_some());
    let says: Vec<(Reason, String)> = missing
        .map(|(name, cluster)| match (&cluster.address_problem, &cluster.not_fresh) {
            (Some(problem), _) => (problem.reason, format!("{name}: {}", problem.message)),
            (None, Some(not_fresh)) => (
                not_fresh.problem.reason,
                format!("{name}: {}", not_fresh.problem.message),
            ),
            (None, None) => (Reason::Pending, format!("{name}: not read yet")),
        })
        .collect();
    let Some((reason, _)) = says.first() else {
        return match selected().next() {
            Some(_) => Some(stated_as(type_, ConditionStatus::True, Reason::Resolved, "")),
            None => Some(stated_as(
                type_,
                ConditionStatus::False,
                Reason::NoClusters,
                "no MemberCluster is selected: list one in clusters, or label one for clusterSelector",
            )),
        };
    };
    let messages: Vec<_> = says.iter().map(|(_, message)| message.as_str()).collect();
    Some(stated_as(type_, ConditionStatus::False, *reason, messages.join("; ")))
}

/// `None`: a change is on its way and nothing is wrong yet, so what was said before stands.
fn programmed(view: &View, timings: &Timings, now: Now) -> Option<Stated> {
    let type_ = Kind::Programmed.as_str();
    let problem = view
        .refused
        .as_ref()
        .or(view.programmed.refused.as_ref())
        .or(view.programmed.held.as_ref());
    if let Some(problem) = problem {
        return Some(stated_as(
            type_,
            ConditionStatus::False,
            problem.reason,
            &problem.message,
        ));
    }
    if !view.programmed.pending {
        return Some(stated_as(type_, ConditionStatus::True, Reason::Programmed, ""));
    }
    let late = view
        .programmed
        .since
        .is_some_and(|since| now.mono - since >= timings.insync_patience);
    let message = format!(
        "Route 53 has not made the change known everywhere after {} s; wait",
        timings.insync_patience.as_secs()
    );
    late.then(|| stated_as(type_, ConditionStatus::False, Reason::NotInSync, message))
}

/// `None`: a change is on its way, so what was said before stands.
fn ready(view: &View, hub: &HubId, timings: &Timings, now: Now) -> Option<Stated> {
    let type_ = Kind::Ready.as_str();
    if let Some(left) = &view.deleting {
        let message = format!("being deleted; left: {}", left.join(", "));
        return Some(stated_as(type_, ConditionStatus::False, Reason::Deleting, message));
    }
    if let Some(problem) = &view.refused {
        return Some(stated_as(
            type_,
            ConditionStatus::False,
            problem.reason,
            &problem.message,
        ));
    }
    let answers = view
        .clusters
        .keys()
        .any(|name| view.share(hub, name).is_some_and(|s| s.answers));
    let settling = view.programmed.pending && programmed(view, timings, now).is_none();
    if !answers {
        if settling {
            return None;
        }
        let problem = view.programmed.refused.as_ref().or(view.programmed.held.as_ref());
        return Some(match problem {
            Some(problem) => stated_as(type_, ConditionStatus::False, problem.reason, &problem.message),
            None if view.placeholder => {
                let message = "192.0.2.1 stands in until a selected cluster's source has an address";
                stated_as(type_, ConditionStatus::False, Reason::PlaceholderOnly, message)
            }
            None => stated_as(
                type_,
                ConditionStatus::False,
                Reason::Pending,
                "no selected cluster has an address yet",
            ),
        });
    }
    if settling {
        return None;
    }
    let mut missing: Vec<String> = view
        .clusters
        .iter()
        .filter(|(_, cluster)| cluster.selected && !serves(cluster))
        .map(|(name, cluster)| format!("{name} is {:?}", state(cluster, view, false)))
        .collect();
    let kept = view
        .clusters
        .iter()
        .filter(|(_, cluster)| cluster.last_serving().is_some());
    missing.extend(kept.map(|(name, _)| format!("{name} is kept because no other cluster serves")));
    let reason = if missing.is_empty() {
        Reason::Serving
    } else {
        Reason::ServingPartly
    };
    Some(stated_as(type_, ConditionStatus::True, reason, missing.join(", ")))
}

fn cluster_hostnames_ready(view: &View) -> Option<Stated> {
    use truce_api::Adoption::{Adopted, Hub, NotPublishing, Offered};
    let type_ = Kind::ClusterHostnamesReady.as_str();
    let selected = || view.clusters.iter().filter(|(_, cluster)| cluster.selected);
    if !view.cluster_hostnames {
        return Some(stated_as(type_, ConditionStatus::True, Reason::NoClusterHostnames, ""));
    }
    if selected().all(|(_, cluster)| cluster.cluster_hostname.is_none() && cluster.name_problems.is_empty()) {
        let (reason, message) = match &view.refused {
            Some(problem) => (problem.reason, problem.message.as_str()),
            None => (Reason::Pending, "no selected cluster has a cluster name yet"),
        };
        return Some(stated_as(type_, ConditionStatus::False, reason, message));
    }
    let open = |cluster: &ClusterView| match cluster.adoption {
        Some(Adopted) => false,
        Some(Hub) => !cluster.hub_writes || cluster.address.is_none() || !cluster.name_problems.is_empty(),
        Some(Offered | NotPublishing) | None => true,
    };
    let waiting: Vec<(Reason, String)> = selected()
        .filter(|(_, cluster)| match cluster.cluster_hostname {
            Some(_) => open(cluster),
            None => !cluster.name_problems.is_empty(),
        })
        .map(|(name, cluster)| match cluster.name_problems.first() {
            Some(problem) => (problem.reason, format!("{name}: {}", problem.message)),
            None => (Reason::AdoptionPending, format!("{name}: not yet with its writer")),
        })
        .collect();
    let messages: Vec<_> = waiting.iter().map(|(_, message)| message.as_str()).collect();
    match waiting.first() {
        Some((reason, _)) => Some(stated_as(type_, ConditionStatus::False, *reason, messages.join("; "))),
        None if !selected().any(|(_, cluster)| cluster.adoption == Some(Adopted)) => {
            Some(stated_as(type_, ConditionStatus::True, Reason::HubWrites, ""))
        }
        None => Some(stated_as(type_, ConditionStatus::True, Reason::Adopted, "")),
    }
}

fn members_fresh(view: &View, timings: &Timings, now: Now) -> Option<Stated> {
    let type_ = Kind::MembersFresh.as_str();
    let late = |since: Option<crate::time::Mono>| since.is_none_or(|since| now.mono - since >= timings.member_fresh);
    let stale: Vec<_> = view
        .clusters
        .iter()
        .filter_map(|(name, cluster)| Some((name, cluster.not_fresh.as_ref().filter(|_| cluster.selected)?)))
        .filter(|(_, not_fresh)| late(not_fresh.since))
        .map(|(name, not_fresh)| format!("{name}: {}", not_fresh.problem.message))
        .collect();
    match stale.is_empty() {
        true => Some(stated_as(type_, ConditionStatus::True, Reason::Fresh, "")),
        false => Some(stated_as(
            type_,
            ConditionStatus::Unknown,
            Reason::Unknown,
            stale.join("; "),
        )),
    }
}
