//! Statuses, finalizers and user events of the hub's objects.
//!
//! Invariant: an event tells a transition once: it goes out with the status write that makes the transition known.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use truce_api::Reason;

use super::hostnames::Plans;
use super::offer::offer;
use super::zone_status::zone_status;
use super::zones::Zones;
use crate::effect::{Effect, HubEffect, Sink, Status, UserEvent};
use crate::event::HubRef;
use crate::pace::queue::Queue;
use crate::plan::condition::ConditionStatus;
use crate::plan::progress::{self, MemberFindings, Sum};
use crate::rule::weight;
use crate::time::Now;
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};
use crate::world::World;
use crate::world::dirty::{Dirty, Index};

/// What telling reads.
pub struct Tell<'a> {
    /// Facts.
    pub world: &'a World,
    /// Plans.
    pub plans: &'a Plans,
    /// Who reads what.
    pub index: &'a Index,
    /// This moment.
    pub now: Now,
}

impl Tell<'_> {
    /// Offers the statuses and finalizers of everything but hostnames that is dirty.
    pub fn all(&self, dirty: &mut Dirty, zones: &mut Zones, queue: &mut Queue) {
        for cluster in std::mem::take(&mut dirty.members) {
            self.member(&cluster, queue);
            let drains = self
                .world
                .drains
                .iter()
                .filter(|(_, drain)| drain.cluster.as_ref() == Some(&cluster));
            dirty.drains.extend(drains.map(|(name, _)| name.clone()));
        }
        for name in std::mem::take(&mut dirty.drains) {
            self.drain(&name, queue);
        }
        for name in std::mem::take(&mut dirty.zones) {
            self.zone(&name, zones, queue);
        }
    }

    fn sum(&self, cluster: &ClusterName) -> Sum {
        let hostnames: Vec<&HostnameKey> = self.index.of_cluster(cluster).collect();
        let progress = hostnames
            .into_iter()
            .filter_map(|key| Some((key, self.plans.get(key)?.progress.get(cluster)?)));
        progress::sum(progress)
    }

    fn member(&self, cluster: &ClusterName, queue: &mut Queue) {
        let object = HubRef::MemberCluster {
            name: cluster.to_string(),
        };
        let Some(member) = self.world.members.get(cluster) else {
            queue.forget(&Sink::Status(object.clone()));
            queue.forget(&Sink::Finalizer(object));
            return;
        };
        let sum = self.sum(cluster);
        let unread = self.plans.unread(self.world, cluster);
        let weight_zero = member.spec().is_some_and(|spec| spec.weight == 0);
        let live = |drain: &&crate::world::drains::Drain| {
            drain.cluster.as_ref() == Some(cluster) && weight::is_live(drain, self.now.wall)
        };
        let findings = MemberFindings {
            external_dns: self.plans.external_dns(cluster).to_vec(),
            problems: self.plans.ambiguous(cluster).cloned().into_iter().collect(),
            draining: weight_zero || self.world.drains.values().find(live).is_some(),
        };
        let known_sum = Some(&sum).filter(|_| !unread);
        let status = progress::member_cluster(cluster, member, &findings, known_sum, self.now);
        let name = cluster.to_string();
        let known = || Status::MemberCluster {
            name: cluster.to_string(),
            status: member.facts.status.clone(),
        };
        offer(queue, Status::MemberCluster { name, status }, known, findings.draining);
        let told = |hostname: &crate::world::hostnames::Hostname| {
            hostname
                .status
                .clusters
                .iter()
                .any(|status| status.name == cluster.as_str() && status.adoption.is_some())
        };
        let unreadable = member.spec().is_none() && self.world.hostnames.values().any(told);
        let in_use = unread || unreadable || sum.hostnames > 0 || !sum.left.is_empty();
        let finalizer = finalizer(member.facts.deleting, member.facts.finalizer, in_use);
        want_finalizer(queue, object, finalizer);
    }

    fn drain(&self, name: &str, queue: &mut Queue) {
        let object = HubRef::ClusterDrain { name: name.to_owned() };
        let Some(drain) = self.world.drains.get(name) else {
            queue.forget(&Sink::Status(object));
            return;
        };
        let sum = drain
            .cluster
            .as_ref()
            .map(|cluster| self.sum(cluster))
            .unwrap_or_default();
        let exists = drain
            .cluster
            .as_ref()
            .is_some_and(|cluster| self.world.members.contains_key(cluster));
        let status = progress::cluster_drain(drain, exists, &sum, self.now);
        let known = || Status::ClusterDrain {
            name: name.to_owned(),
            status: drain.status.clone(),
        };
        offer(
            queue,
            Status::ClusterDrain {
                name: name.to_owned(),
                status,
            },
            known,
            true,
        );
    }

    fn zone(&self, name: &ZoneRef, zones: &mut Zones, queue: &mut Queue) {
        let object = HubRef::DnsZone { name: name.to_string() };
        let Some(facts) = self.world.zones.get(name) else {
            queue.forget(&Sink::Status(object.clone()));
            queue.forget(&Sink::Finalizer(object));
            return;
        };
        let living: Vec<&HostnameKey> = self.index.of_zone(name).collect();
        let zone = zones.get_mut(name);
        // While the zone is being read for the first time, what was told before stands.
        let first_read = zone
            .as_ref()
            .is_some_and(|zone| !zone.runtime.ready() && zone.runtime.problem().is_none());
        if !first_read || facts.deleting {
            let status = zone_status(facts, zone.as_deref(), &living, self.plans.owned(name).0, self.now);
            let of = |status| Status::DnsZone {
                name: name.to_string(),
                status,
            };
            offer(queue, of(status), || of(facts.status.clone()), false);
        }
        let mut in_use = !living.is_empty();
        if let Some(zone) = zone {
            if facts.deleting && living.is_empty() {
                zone.runtime.release_fence();
            }
            in_use |= !zone.runtime.fence_gone();
        }
        want_finalizer(queue, object, finalizer(facts.deleting, facts.finalizer, in_use));
    }
}

/// Which finalizer is to be set: one that is missing while the object lives, or none any more once nothing is left.
fn finalizer(deleting: bool, present: bool, in_use: bool) -> Option<bool> {
    match (deleting, present) {
        (false, false) => Some(true),
        (true, true) if !in_use => Some(false),
        _ => None,
    }
}

fn want_finalizer(queue: &mut Queue, object: HubRef, present: Option<bool>) {
    let sink = Sink::Finalizer(object.clone());
    queue.want(
        &sink,
        present.map(|present| Effect::Hub(HubEffect::SetFinalizer { object, present })),
        false,
    );
}

/// Reasons of False conditions that are no cause for a warning: somebody asked for it, or it passes by itself.
const ON_ITS_WAY: [Reason; 6] = [
    Reason::NotDraining,
    Reason::Draining,
    Reason::AdoptionPending,
    Reason::PlaceholderOnly,
    Reason::Releasing,
    Reason::Deleting,
];

/// The events that go out with a status write: one for each condition that tells something else than the API server
/// has.
pub fn events(world: &World, status: &Status) -> Vec<Effect> {
    let (known, new, uid): (&[Condition], &[Condition], &str) = match status {
        Status::GlobalHostname {
            namespace,
            name,
            status,
        } => {
            let Some(object) = world.hostnames.get(&HostnameKey::new(namespace, name)) else {
                return Vec::new();
            };
            (&object.status.conditions, &status.conditions, &object.uid)
        }
        Status::MemberCluster { name, status } => {
            let member = ClusterName::parse(name).ok().and_then(|name| world.members.get(&name));
            let Some(object) = member else { return Vec::new() };
            (&object.facts.status.conditions, &status.conditions, &object.facts.uid)
        }
        Status::ClusterDrain { name, status } => {
            let Some(object) = world.drains.get(name) else {
                return Vec::new();
            };
            (&object.status.conditions, &status.conditions, &object.uid)
        }
        Status::DnsZone { name, status } => {
            let Some(object) = world.zones.get(&ZoneRef::new(name)) else {
                return Vec::new();
            };
            (&object.status.conditions, &status.conditions, &object.uid)
        }
    };
    let is =
        |condition: &Condition, reasons: &[Reason]| reasons.iter().any(|reason| condition.reason == reason.as_str());
    let told = |condition: &&Condition| {
        let same = |old: &&Condition| old.type_ == condition.type_;
        let before = known.iter().find(same).map(|old| (&old.status, &old.reason));
        let passing = is(condition, &[Reason::Pending, Reason::AddressSettling]);
        let unknown = condition.status == ConditionStatus::Unknown.as_str();
        before != Some((&condition.status, &condition.reason)) && !unknown && !passing
    };
    let event = |condition: &Condition| {
        Effect::Hub(HubEffect::EmitEvent(UserEvent {
            object: status.object(),
            uid: uid.to_owned(),
            warning: condition.status == ConditionStatus::False.as_str() && !is(condition, &ON_ITS_WAY),
            reason: condition.reason.clone(),
            note: match condition.message.is_empty() {
                true => format!("{} is {}", condition.type_, condition.status),
                false => format!("{} is {}: {}", condition.type_, condition.status, condition.message),
            },
        }))
    };
    new.iter().filter(told).map(event).collect()
}
