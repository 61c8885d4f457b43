//! The conditions of a GlobalHostname, one function each.
//!
//! Invariant: a condition carries the generation it speaks of; while a change is on its way, the conditions that depend
//! on the zone keep what they said of the generation before, so that `kubectl wait` right after an edit waits.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use truce_api::{GlobalHostnameCondition as Kind, Reason};

use super::condition::{ConditionStatus, Stated, merge};
use super::status::{serves, state};
use super::view::{ClusterView, View};
use crate::time::{Mono, Now, Timings};
use crate::value::ids::HubId;
use crate::world::hostnames::Hostname;

/// All of them, in their order.
pub(super) fn conditions(hostname: &Hostname, view: &View, hub: &HubId, timings: &Timings, now: Now) -> Vec<Condition> {
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
        Stated::new(
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

/// `None`: the zone has not been read, so it is not known yet.
fn accepted(view: &View) -> Option<Stated> {
    let type_ = Kind::Accepted.as_str();
    let noted: Vec<_> = view.problems.iter().map(|problem| problem.message.as_str()).collect();
    match &view.refused {
        Some(problem) => Some(Stated::problem(type_, ConditionStatus::False, problem)),
        None => Some(Stated::new(
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
            Some(_) => Some(Stated::new(type_, ConditionStatus::True, Reason::Resolved, "")),
            None => Some(Stated::new(
                type_,
                ConditionStatus::False,
                Reason::NoClusters,
                "no MemberCluster is selected: list one in clusters, or label one for clusterSelector",
            )),
        };
    };
    let messages: Vec<_> = says.iter().map(|(_, message)| message.as_str()).collect();
    Some(Stated::new(type_, ConditionStatus::False, *reason, messages.join("; ")))
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
        return Some(Stated::problem(type_, ConditionStatus::False, problem));
    }
    if !view.programmed.pending {
        return Some(Stated::new(type_, ConditionStatus::True, Reason::Programmed, ""));
    }
    let late = view
        .programmed
        .since
        .is_some_and(|since| now.mono - since >= timings.insync_patience);
    let message = format!(
        "Route 53 has not made the change known everywhere after {} s; wait",
        timings.insync_patience.as_secs()
    );
    late.then(|| Stated::new(type_, ConditionStatus::False, Reason::NotInSync, message))
}

/// `None`: a change is on its way, so what was said before stands.
fn ready(view: &View, hub: &HubId, timings: &Timings, now: Now) -> Option<Stated> {
    let type_ = Kind::Ready.as_str();
    if let Some(left) = &view.deleting {
        let message = format!("being deleted; left: {}", left.join(", "));
        return Some(Stated::new(type_, ConditionStatus::False, Reason::Deleting, message));
    }
    if let Some(problem) = &view.refused {
        return Some(Stated::problem(type_, ConditionStatus::False, problem));
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
            Some(problem) => Stated::problem(type_, ConditionStatus::False, problem),
            None if view.placeholder => {
                let message = "192.0.2.1 stands in until a selected cluster's source has an address";
                Stated::new(type_, ConditionStatus::False, Reason::PlaceholderOnly, message)
            }
            None => Stated::new(
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
    Some(Stated::new(type_, ConditionStatus::True, reason, missing.join(", ")))
}

fn cluster_hostnames_ready(view: &View) -> Option<Stated> {
    use truce_api::Adoption::{Adopted, Hub, NotPublishing, Offered};
    let type_ = Kind::ClusterHostnamesReady.as_str();
    let selected = || view.clusters.iter().filter(|(_, cluster)| cluster.selected);
    if !view.cluster_hostnames {
        return Some(Stated::new(
            type_,
            ConditionStatus::True,
            Reason::NoClusterHostnames,
            "",
        ));
    }
    if selected().all(|(_, cluster)| cluster.cluster_hostname.is_none() && cluster.name_problems.is_empty()) {
        let (reason, message) = match &view.refused {
            Some(problem) => (problem.reason, problem.message.as_str()),
            None => (Reason::Pending, "no selected cluster has a cluster name yet"),
        };
        return Some(Stated::new(type_, ConditionStatus::False, reason, message));
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
        Some((reason, _)) => Some(Stated::new(type_, ConditionStatus::False, *reason, messages.join("; "))),
        None if !selected().any(|(_, cluster)| cluster.adoption == Some(Adopted)) => {
            Some(Stated::new(type_, ConditionStatus::True, Reason::HubWrites, ""))
        }
        None => Some(Stated::new(type_, ConditionStatus::True, Reason::Adopted, "")),
    }
}

fn members_fresh(view: &View, timings: &Timings, now: Now) -> Option<Stated> {
    let type_ = Kind::MembersFresh.as_str();
    let late = |since: Option<Mono>| since.is_none_or(|since| now.mono - since >= timings.member_fresh);
    let stale: Vec<_> = view
        .clusters
        .iter()
        .filter_map(|(name, cluster)| Some((name, cluster.not_fresh.as_ref().filter(|_| cluster.selected)?)))
        .filter(|(_, not_fresh)| late(not_fresh.since))
        .map(|(name, not_fresh)| format!("{name}: {}", not_fresh.problem.message))
        .collect();
    match stale.is_empty() {
        true => Some(Stated::new(type_, ConditionStatus::True, Reason::Fresh, "")),
        false => Some(Stated::new(
            type_,
            ConditionStatus::Unknown,
            Reason::Unknown,
            stale.join("; "),
        )),
    }
}
