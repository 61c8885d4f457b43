//! Sessions with members and the watches in them.
//!
//! Invariant: a member that fails is tried again by itself, at growing intervals, and never delays another. A cluster
//! whose identity changed is not trusted until a person confirms it (`ClusterReplaced`; DESIGN.md, section 6).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::effect::{Access, Effect, EffectId, MemberEffect, Sink};
use crate::event::{Class, Failure, MemberKind, Outcome, Success, WatchKey};
use crate::pace::backoff;
use crate::pace::queue::InFlight;
use crate::rule::identity;
use crate::time::{Mono, Now, Timings};
use crate::value::ids::ClusterName;
use crate::world::seen::Session;
use crate::world::{Member, World};

/// The longest time between two tries to open a session.
const OPEN_AGAIN: Duration = Duration::from_secs(15);

/// How many hostnames want each watch.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    count: BTreeMap<ClusterName, BTreeMap<WatchKey, usize>>,
    relist: BTreeSet<(ClusterName, WatchKey)>,
    /// Members that a session was opened with: it is closed also when their MemberCluster is gone.
    opened: BTreeSet<ClusterName>,
}

impl Wanted {
    /// A hostname wants these watches instead of those.
    pub fn change(&mut self, before: &BTreeSet<(ClusterName, WatchKey)>, after: &BTreeSet<(ClusterName, WatchKey)>) {
        for (cluster, key) in after.difference(before) {
            *self
                .count
                .entry(cluster.clone())
                .or_default()
                .entry(key.clone())
                .or_default() += 1;
        }
        for (cluster, key) in before.difference(after) {
            let Some(keys) = self.count.get_mut(cluster) else {
                continue;
            };
            let left = keys.get_mut(key).map(|count| {
                *count -= 1;
                *count
            });
            if left == Some(0) {
                keys.remove(key);
            }
        }
    }

    /// Another complete read is wanted.
    pub fn relist(&mut self, cluster: ClusterName, key: WatchKey) {
        self.relist.insert((cluster, key));
    }

    fn of(&self, cluster: &ClusterName, member: &Member) -> BTreeSet<WatchKey> {
        let sources = self.count.get(cluster).into_iter().flat_map(BTreeMap::keys).cloned();
        let external_dns = member.facts.spec.iter().flat_map(|spec| &spec.external_dns);
        let endpoints = external_dns.map(|external_dns| WatchKey {
            kind: MemberKind::DnsEndpoint,
            namespace: external_dns.namespace.clone(),
        });
        sources.chain(endpoints).collect()
    }
}

/// What members need next: at most one effect each. Returns when to look again.
pub fn next(
    world: &mut World,
    wanted: &mut Wanted,
    timings: &Timings,
    in_flight: &mut InFlight,
    now: Now,
    out: &mut Vec<(EffectId, Effect)>,
) -> Option<Mono> {
    let mut wake: Option<Mono> = None;
    for (cluster, member) in &mut world.members {
        if in_flight.is_busy(&Sink::Session(cluster.clone())) {
            continue;
        }
        let access = member.facts.spec.as_ref().ok().map(|spec| spec.access.clone());
        match step(member, cluster, access, wanted, timings, now) {
            Step::Nothing => {}
            Step::Wait(at) => wake = Some(wake.map_or(at, |w| w.min(at))),
            Step::Do(effect) => {
                let effect = Effect::Member(cluster.clone(), effect);
                let id = in_flight.start(&effect);
                started(member, id, &effect, now.mono);
                wanted.opened.insert(cluster.clone());
                out.push((id, effect));
            }
        }
    }
    let left = |cluster: &ClusterName| {
        !world.members.contains_key(cluster) && !in_flight.is_busy(&Sink::Session(cluster.clone()))
    };
    let left: Vec<_> = wanted.opened.iter().filter(|cluster| left(cluster)).cloned().collect();
    for cluster in left {
        wanted.opened.remove(&cluster);
        let effect = Effect::Member(cluster, MemberEffect::Close);
        out.push((in_flight.start(&effect), effect));
    }
    wake
}

enum Step {
    Nothing,
    Wait(Mono),
    Do(MemberEffect),
}

fn step(
    member: &mut Member,
    cluster: &ClusterName,
    access: Option<Access>,
    wanted: &mut Wanted,
    timings: &Timings,
    now: Now,
) -> Step {
    match (&member.seen.session, access) {
        (Session::Closed { .. }, None) | (Session::Opening { .. }, _) => Step::Nothing,
        (Session::Closed { retry_at, .. }, Some(_)) if *retry_at > now.mono => Step::Wait(*retry_at),
        (Session::Closed { .. }, Some(access)) => Step::Do(MemberEffect::Open(access)),
        (Session::Open { .. }, None) => Step::Do(MemberEffect::Close),
        (Session::Open { access: open, .. }, Some(access)) if *open != access => Step::Do(MemberEffect::Open(access)),
        (Session::Open { .. }, Some(_)) => watches(member, cluster, wanted, timings, now.mono),
    }
}

fn watches(member: &mut Member, cluster: &ClusterName, wanted: &mut Wanted, timings: &Timings, now: Mono) -> Step {
    let mut later: Option<Mono> = None;
    for key in wanted.of(cluster, member) {
        let asked_at = member.seen.watches.entry(key.clone()).or_default().asked_at;
        let again = (cluster.clone(), key.clone());
        // Complete reads come a reread apart, so that a burst of absences asks for one.
        let due = match asked_at {
            None => now,
            Some(asked) if wanted.relist.contains(&again) => asked + timings.absence_reread,
            Some(_) => continue,
        };
        if due <= now {
            wanted.relist.remove(&again);
            return Step::Do(MemberEffect::Watch(key));
        }
        later = later.into_iter().chain([due]).min();
    }
    let keep = wanted.of(cluster, member);
    let unwanted = member.seen.watches.iter().find(|(key, _)| !keep.contains(key));
    match unwanted.map(|(key, watch)| (key.clone(), watch.asked_at)) {
        Some((key, Some(_))) => Step::Do(MemberEffect::Unwatch(key)),
        Some((key, None)) => {
            member.seen.watches.remove(&key);
            Step::Nothing
        }
        None => later.map_or(Step::Nothing, Step::Wait),
    }
}

/// Notes that an effect was sent.
fn started(member: &mut Member, id: EffectId, effect: &Effect, now: Mono) {
    let Effect::Member(_, effect) = effect else { return };
    match effect {
        MemberEffect::Open(access) => {
            let (failures, failure) = match &member.seen.session {
                Session::Closed { failures, failure, .. } => (*failures, failure.clone()),
                Session::Opening { .. } | Session::Open { .. } => (0, None),
            };
            member.seen.session_ended(now);
            member.seen.session = Session::Opening {
                id,
                access: access.clone(),
                failures,
                failure,
            };
        }
        MemberEffect::Close => {
            member.seen.session_ended(now);
            member.seen.session = Session::Closed {
                retry_at: now,
                failures: 0,
                failure: None,
            };
        }
        MemberEffect::Watch(key) => {
            member.seen.watches.entry(key.clone()).or_default().asked_at = Some(now);
        }
        MemberEffect::Unwatch(key) => drop(member.seen.watches.remove(key)),
        MemberEffect::ApplyEndpoint(_) | MemberEffect::DeleteEndpoint { .. } | MemberEffect::DropFinalizer { .. } => {}
    }
}

/// A session effect ended.
pub fn settled(member: &mut Member, id: EffectId, effect: &MemberEffect, outcome: &Outcome, now: Now) {
    let seen = &mut member.seen;
    match (effect, outcome) {
        (
            MemberEffect::Open(access),
            Ok(Success::Opened {
                cluster_uid,
                server_version,
            }),
        ) => {
            seen.session = Session::Open {
                id,
                access: access.clone(),
                cluster_uid: cluster_uid.clone(),
                server_version: server_version.clone(),
            };
            seen.last_seen = Some(now.wall);
        }
        (MemberEffect::Open(_), Err(failure)) => {
            let failures = match &seen.session {
                Session::Closed { failures, .. } | Session::Opening { failures, .. } => failures.saturating_add(1),
                Session::Open { .. } => 1,
            };
            // Whatever the class: what is missing or wrong is mended elsewhere, and asking costs one small read.
            let pause = backoff::wait(Class::Retry, failures, &member.facts.name).min(OPEN_AGAIN);
            let retry_at = now.mono + pause;
            seen.session = Session::Closed {
                retry_at,
                failures,
                failure: Some(failure.clone()),
            };
        }
        (MemberEffect::Watch(key), Err(failure)) => watch_refused(member, key, failure, now),
        _ => {}
    }
}

/// The executor could not even start a watch: its session is gone, so it is opened anew.
fn watch_refused(member: &mut Member, key: &WatchKey, failure: &Failure, now: Now) {
    member.seen.watch_failed(key, failure.clone(), now);
    member.seen.session_ended(now.mono);
    let retry_at = now.mono + backoff::wait(failure.class, 1, "watch");
    member.seen.session = Session::Closed {
        retry_at,
        failures: 1,
        failure: Some(failure.clone()),
    };
}

/// Decides whether each member's identity is trusted: its UID is the one in its status, or there is none yet, or a
/// person confirmed the new one. Returns the members for which that changed.
pub fn identities(world: &mut World) -> Vec<ClusterName> {
    let mut changed = Vec::new();
    for (cluster, member) in &mut world.members {
        let trusted = match &member.seen.session {
            Session::Open { cluster_uid, .. } => {
                let known = member.facts.status.cluster_uid.as_deref();
                identity::trusted(cluster_uid, known, member.facts.confirm.as_deref())
            }
            Session::Closed { .. } | Session::Opening { .. } => member.seen.trusted,
        };
        if trusted != member.seen.trusted {
            member.seen.trusted = trusted;
            changed.push(cluster.clone());
        }
    }
    changed
}
