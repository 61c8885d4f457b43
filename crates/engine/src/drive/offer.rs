//! Offering a status to be written.
//!
//! Invariant: a status is written only when something but a time changed. Deliberately absent: what it says (`plan/`).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use truce_api::{ClusterStatus, GlobalHostnameStatus, MaxTTL};

use crate::effect::{Effect, HubEffect, Sink, Status};
use crate::pace::queue::Queue;
use crate::time::Wall;

/// Offers a status: it is written if it says more than what is `known` to be written.
pub fn offer(queue: &mut Queue, status: Status, known: impl FnOnce() -> Status, urgent: bool) {
    let sink = Sink::Status(status.object());
    let same = match queue.written(&sink) {
        Some(Effect::Hub(HubEffect::WriteStatus(written))) => is_same(written, &status),
        _ => is_same(&known(), &status),
    };
    let effect = (!same).then(|| Effect::Hub(HubEffect::WriteStatus(Box::new(status))));
    queue.want(&sink, effect, urgent);
}

/// Whether two statuses of one object say the same but for times.
fn is_same(one: &Status, other: &Status) -> bool {
    match (one, other) {
        (Status::GlobalHostname { status: one, .. }, Status::GlobalHostname { status: other, .. }) => {
            same_hostname(one, other)
        }
        _ => without_times(one) == without_times(other),
    }
}

/// A status without what changes by time alone.
fn without_times(status: &Status) -> Status {
    let still = |conditions: &mut Vec<Condition>| {
        conditions
            .iter_mut()
            .for_each(|condition| condition.last_transition_time = epoch());
    };
    let mut status = status.clone();
    match &mut status {
        // See `same_hostname`.
        Status::GlobalHostname { .. } => {}
        Status::MemberCluster { status, .. } => {
            still(&mut status.conditions);
            status.last_seen = status.last_seen.as_ref().map(|_| epoch());
        }
        Status::ClusterDrain { status, .. } => still(&mut status.conditions),
        Status::DnsZone { status, .. } => {
            still(&mut status.conditions);
            status
                .withdrawn
                .iter_mut()
                .for_each(|withdrawn| withdrawn.until = epoch());
        }
    }
    status
}

/// There are many hostnames, which are told again and again: compared without a copy.
fn same_hostname(one: &GlobalHostnameStatus, other: &GlobalHostnameStatus) -> bool {
    let GlobalHostnameStatus {
        observed_generation,
        zone,
        policy,
        policy_reason,
        ready,
        clusters,
        max_ttl,
        last_change_id,
        last_confirmed,
        conditions,
    } = one;
    let seconds = |ttl: &Option<MaxTTL>| ttl.as_ref().map(|ttl| ttl.seconds);
    *observed_generation == other.observed_generation
        && *zone == other.zone
        && *policy == other.policy
        && *policy_reason == other.policy_reason
        && *ready == other.ready
        && seconds(max_ttl) == seconds(&other.max_ttl)
        && *last_change_id == other.last_change_id
        && *last_confirmed == other.last_confirmed
        && all_same(clusters, &other.clusters, same_cluster)
        && all_same(conditions, &other.conditions, same_condition)
}

fn same_cluster(one: &ClusterStatus, other: &ClusterStatus) -> bool {
    let still = |status: &ClusterStatus| ClusterStatus {
        observed_at: status.observed_at.as_ref().map(|_| epoch()),
        ..status.clone()
    };
    one == other || still(one) == still(other)
}

fn same_condition(one: &Condition, other: &Condition) -> bool {
    let still = |condition: &Condition| Condition {
        last_transition_time: epoch(),
        ..condition.clone()
    };
    one == other || still(one) == still(other)
}

fn all_same<T>(ones: &[T], others: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
}

fn epoch() -> Time {
    Time(Wall::UNIX_EPOCH)
}
