//! Statuses that count hostnames: those of MemberClusters and ClusterDrains.
//!
//! Invariant: counted from what the hostnames' plans found out (`Progress`), never from the zone directly.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use truce_api::{
    ClusterDrainCondition, ClusterDrainStatus, MemberClusterCondition as Kind, MemberClusterStatus, Reason,
};

use super::accept::first;
use super::condition::{ConditionStatus, FIRST_READ, Stated, merge};
use crate::event::Failure;
use crate::reason::Problem;
use crate::time::{Now, Wall};
use crate::value::ids::{ClusterName, HostnameKey};
use crate::world::Member;
use crate::world::drains::Drain;
use crate::world::seen::Session;

/// How far one cluster is out of one hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Whether the hostname selects it.
    pub selected: bool,
    /// Whether it is drained from it, safely.
    pub drained: bool,
    /// When that will be (or was) safe, if known.
    pub safe_at: Option<Wall>,
    /// Why it is not withdrawn, if it is the last that serves.
    pub last_serving: bool,
    /// Whether it has a set of the shared name.
    pub in_zone: bool,
    /// What else of the cluster is left: cluster name, DNSEndpoint.
    pub left: Vec<String>,
}

/// The sum over the hostnames of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// Hostnames that select it.
    pub hostnames: usize,
    /// Of those, drained.
    pub drained: usize,
    /// When all will be safe; `None` while one is not known.
    pub safe_at: Option<Wall>,
    /// Hostnames that it is the last to serve.
    pub last_serving: Vec<HostnameKey>,
    /// What is left of it, by hostname.
    pub left: Vec<String>,
}

/// Sums the progress of a cluster's hostnames.
pub fn sum<'a>(progress: impl IntoIterator<Item = (&'a HostnameKey, &'a Progress)>) -> Sum {
    let mut sum = Sum::default();
    let mut unknown = false;
    for (
        key,
        Progress {
            selected,
            drained,
            safe_at,
            last_serving,
            in_zone,
            left,
        },
    ) in progress
    {
        let set = in_zone.then_some("a set of the shared name");
        let left = left.iter().map(String::as_str).chain(set);
        sum.left.extend(left.map(|left| format!("{key}: {left}")));
        if *last_serving {
            sum.last_serving.push(key.clone());
        }
        if !selected {
            continue;
        }
        sum.hostnames += 1;
        sum.drained += usize::from(*drained);
        unknown |= safe_at.is_none() && !drained;
        sum.safe_at = sum.safe_at.max(*safe_at);
    }
    if unknown {
        sum.safe_at = None;
    }
    sum
}

fn count(number: usize) -> Option<i32> {
    Some(i32::try_from(number).unwrap_or(i32::MAX))
}

fn counted(hostnames: usize) -> String {
    match hostnames {
        1 => "1 hostname".to_owned(),
        _ => format!("{hostnames} hostnames"),
    }
}

/// The condition Drained of a cluster that somebody drains.
fn drained(type_: &'static str, sum: &Sum) -> Stated {
    let Sum {
        hostnames,
        drained,
        safe_at,
        last_serving,
        left: _,
    } = sum;
    if let Some(first) = last_serving.first() {
        let all: Vec<_> = last_serving.iter().take(10).map(ToString::to_string).collect();
        let message = format!(
            "no other cluster serves {}; bring another one, or delete the GlobalHostname {first}",
            all.join(", ")
        );
        return Stated::new(type_, ConditionStatus::False, Reason::LastServing, message);
    }
    if drained == hostnames {
        return Stated::new(
            type_,
            ConditionStatus::True,
            Reason::Drained,
            format!("out of the answers of {}", counted(*hostnames)),
        );
    }
    let when = safe_at.map(|at| format!("; safe at {at}")).unwrap_or_default();
    let message = format!("drained from {drained} of {}{when}", counted(*hostnames));
    Stated::new(type_, ConditionStatus::False, Reason::Draining, message)
}

/// The status of a ClusterDrain.
pub fn cluster_drain(drain: &Drain, cluster_exists: bool, sum: &Sum, now: Now) -> ClusterDrainStatus {
    let type_ = ClusterDrainCondition::Drained.as_str();
    let expired = drain.expires_at.is_some_and(|at| at <= now.wall);
    let cluster = drain.cluster.as_ref().map(ToString::to_string).unwrap_or_default();
    let condition = if expired {
        let message = "expiresAt has passed; delete this object, or create another";
        Stated::new(type_, ConditionStatus::False, Reason::Expired, message)
    } else if !cluster_exists {
        let message = format!("there is no MemberCluster {cluster}; create it, or delete this ClusterDrain");
        Stated::new(type_, ConditionStatus::False, Reason::ClusterNotFound, message)
    } else {
        drained(type_, sum)
    };
    ClusterDrainStatus {
        observed_generation: Some(drain.generation),
        hostnames: count(sum.hostnames),
        drained: count(sum.drained),
        progress: Some(format!("{}/{}", sum.drained, sum.hostnames)),
        safe_at: sum.safe_at.filter(|_| !expired).map(Time),
        conditions: merge(&drain.status.conditions, vec![condition], drain.generation, now.wall),
    }
}

/// What else stands in a MemberCluster's status.
#[derive(Debug, Clone, Default)]
pub struct MemberFindings {
    /// What is wrong with its ExternalDNS.
    pub external_dns: Vec<Problem>,
    /// What stands in its way: another member of the same cluster, an ambiguous name.
    pub problems: Vec<Problem>,
    /// Whether anybody drains the whole cluster: weight 0, or a ClusterDrain.
    pub draining: bool,
}

/// The status of a MemberCluster. `sum` is absent while hostnames of it wait for their zone to be read, and `Reachable`
/// is told only once the member answered or failed since the start: until then what was told before stands.
pub fn member_cluster(
    name: &ClusterName,
    member: &Member,
    findings: &MemberFindings,
    sum: Option<&Sum>,
    now: Now,
) -> MemberClusterStatus {
    let facts = &member.facts;
    let old = &facts.status;
    let reachable = reachable(name, member);
    let is_reachable = reachable.status == ConditionStatus::True;
    let first_read = reachable.reason == Reason::Pending;
    let ready = ready(member, findings, &reachable, sum.unwrap_or(&Sum::default()));
    let drained = match (findings.draining, sum) {
        (true, Some(sum)) => Some(drained(Kind::Drained.as_str(), sum)),
        (true, None) => None,
        (false, _) => Some(Stated::new(
            Kind::Drained.as_str(),
            ConditionStatus::False,
            Reason::NotDraining,
            "",
        )),
    };
    let keep_ready = first_read && ready.reason == Reason::Pending;
    let stated = [
        (Kind::Reachable, Some(reachable).filter(|_| !first_read)),
        (Kind::ExternalDNSReady, Some(external_dns(member, findings))),
        (Kind::Drained, drained),
        (Kind::Ready, Some(ready).filter(|_| !keep_ready)),
    ];
    let (uid, version) = match &member.seen.session {
        Session::Open {
            cluster_uid,
            server_version,
            ..
        } if member.seen.trusted => (Some(cluster_uid.clone()), Some(server_version.clone())),
        _ => (old.cluster_uid.clone(), old.server_version.clone()),
    };
    let spec = facts.spec.as_ref().ok();
    MemberClusterStatus {
        observed_generation: Some(facts.generation),
        server_version: version,
        cluster_uid: uid,
        latency_region: spec
            .filter(|s| s.region_mapped_from.is_some())
            .map(|s| s.region.to_string()),
        last_seen: match first_read {
            true => old.last_seen.clone(),
            false => member.seen.last_seen.filter(|_| !is_reachable).map(Time),
        },
        hostnames: sum.map_or(old.hostnames, |sum| count(sum.hostnames)),
        drained: sum.map_or(old.drained, |sum| count(sum.drained)),
        safe_at: match sum {
            Some(sum) => sum.safe_at.filter(|_| findings.draining).map(Time),
            None => old.safe_at.clone(),
        },
        conditions: keep_or_merge(&old.conditions, stated, facts.generation, now.wall),
    }
}

/// The conditions in their order: stated anew, or as they were, or unknown if they never were.
fn keep_or_merge(old: &[Condition], stated: [(Kind, Option<Stated>); 4], generation: i64, now: Wall) -> Vec<Condition> {
    let one = |(kind, stated): (Kind, Option<Stated>)| {
        let kept = old.iter().find(|condition| condition.type_ == kind.as_str()).cloned();
        match (stated, kept) {
            (None, Some(kept)) => kept,
            (stated, _) => {
                let unknown = || Stated::new(kind.as_str(), ConditionStatus::Unknown, Reason::Pending, FIRST_READ);
                merge(old, vec![stated.unwrap_or_else(unknown)], generation, now).remove(0)
            }
        }
    };
    stated.into_iter().map(one).collect()
}

/// The reason of a failure to reach a member: its code if that is one of ours, else by what kind it is.
pub fn failure_problem(failure: &Failure) -> Problem {
    let reason = Reason::ALL
        .iter()
        .copied()
        .find(|reason| reason.as_str() == failure.code);
    Problem::new(reason.unwrap_or(Reason::MemberUnreachable), &failure.message)
}

fn reachable(name: &ClusterName, member: &Member) -> Stated {
    let type_ = Kind::Reachable.as_str();
    if let Err(problems) = &member.facts.spec {
        return Stated::problem(type_, ConditionStatus::Unknown, &first(problems));
    }
    if let Some(failure) = member.seen.failure() {
        let problem = failure_problem(failure);
        return Stated::problem(type_, ConditionStatus::False, &problem);
    }
    match &member.seen.session {
        Session::Open { cluster_uid, .. } if !member.seen.trusted => {
            let hash = crate::rule::identity::confirm_hash(cluster_uid);
            let known = member.facts.status.cluster_uid.as_deref().unwrap_or_default();
            let message = format!(
                "another cluster answers: its kube-system has the UID {cluster_uid}, not {known}; correct access, or \
                 confirm: kubectl annotate mcl {name} --overwrite dns.truce.dev/confirm={hash}"
            );
            Stated::new(type_, ConditionStatus::False, Reason::ClusterReplaced, message)
        }
        Session::Open { .. } if member.seen.fresh() => Stated::new(type_, ConditionStatus::True, Reason::Reachable, ""),
        _ => Stated::new(type_, ConditionStatus::Unknown, Reason::Pending, FIRST_READ),
    }
}

fn external_dns(member: &Member, findings: &MemberFindings) -> Stated {
    let type_ = Kind::ExternalDNSReady.as_str();
    if let Some(first) = findings.external_dns.first() {
        let all: Vec<_> = findings
            .external_dns
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        return Stated::new(type_, ConditionStatus::False, first.reason, all.join("; "));
    }
    match &member.facts.spec {
        Ok(spec) if spec.external_dns.is_empty() => Stated::new(
            type_,
            ConditionStatus::True,
            Reason::NoExternalDNS,
            "the hub writes its cluster names",
        ),
        Ok(_) => Stated::new(type_, ConditionStatus::True, Reason::Ready, ""),
        Err(problems) => Stated::problem(type_, ConditionStatus::Unknown, &first(problems)),
    }
}

fn ready(member: &Member, findings: &MemberFindings, reachable: &Stated, sum: &Sum) -> Stated {
    let type_ = Kind::Ready.as_str();
    if member.facts.deleting {
        let left: Vec<_> = sum.left.iter().take(20).map(String::as_str).collect();
        let name = &member.facts.name;
        let message = match left.is_empty() {
            true => "being deleted".to_owned(),
            false => format!(
                "being deleted; goes when nothing is left of: {}; to leave that behind: kubectl annotate mcl {name} \
                 --overwrite {}={name}",
                left.join(", "),
                truce_api::ABANDON
            ),
        };
        return Stated::new(type_, ConditionStatus::False, Reason::Deleting, message);
    }
    let invalid = member.facts.spec.as_ref().err().map(|problems| first(problems));
    if let Some(problem) = findings.problems.first().or(invalid.as_ref()) {
        return Stated::problem(type_, ConditionStatus::False, problem);
    }
    if reachable.status == ConditionStatus::True {
        return Stated::new(type_, ConditionStatus::True, Reason::Ready, "");
    }
    Stated::new(type_, reachable.status, reachable.reason, reachable.message.clone())
}
