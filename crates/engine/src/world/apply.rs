//! Events to facts and dirty marks: the only writer of the world.
//!
//! Invariant: every change of a fact marks whoever reads it. Deliberately absent: outcomes of effects, which belong to
//! whoever asked for them.

use truce_api::Reason;

use super::dirty::{Dirty, Index};
use super::{Member, World};
use crate::event::{HubEvent, HubObject, HubRef, MemberEvent, MemberKind};
use crate::intake;
use crate::time::Now;
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};

use super::seen::{Seen, Touched};

/// Something happened on the hub.
pub fn hub(world: &mut World, dirty: &mut Dirty, index: &Index, event: HubEvent) {
    match event {
        HubEvent::Identity { uid } => {
            world.instance = Some(uid);
            dirty.all = true;
        }
        HubEvent::Synced => {
            world.synced = true;
            dirty.all = true;
        }
        HubEvent::Applied(object) => applied(world, dirty, index, *object),
        HubEvent::Gone(object) => gone(world, dirty, index, object),
    }
}

fn applied(world: &mut World, dirty: &mut Dirty, index: &Index, object: HubObject) {
    match object {
        HubObject::GlobalHostname(object) => {
            let hostname = intake::hostname::hostname(&object);
            dirty.hostnames.insert(hostname.key.clone());
            world.hostnames.insert(hostname.key.clone(), hostname);
        }
        HubObject::MemberCluster(object) => {
            let facts = intake::member::member(&object);
            let Ok(name) = ClusterName::parse(&facts.name) else {
                return;
            };
            let seen = world
                .members
                .get(&name)
                .map_or_else(Seen::default, |member| member.seen.clone());
            let same = world.members.get(&name).is_some_and(|member| {
                let before = &member.facts;
                before.spec == facts.spec
                    && before.labels == facts.labels
                    && before.deleting == facts.deleting
                    && before.confirm == facts.confirm
                    && before.abandon == facts.abandon
            });
            dirty.all |= !same;
            dirty.members.insert(name.clone());
            let last_valid = facts
                .spec
                .as_ref()
                .ok()
                .cloned()
                .or_else(|| world.members.get(&name)?.last_valid.clone());
            world.members.insert(
                name,
                Member {
                    facts,
                    last_valid,
                    seen,
                },
            );
        }
        HubObject::ClusterDrain(object) => {
            let name = object.metadata.name.clone().unwrap_or_default();
            let drain = intake::drain::drain(&object);
            let before = world.drains.insert(name.clone(), drain.clone());
            let clusters = [before.and_then(|drain| drain.cluster), drain.cluster];
            clusters
                .iter()
                .flatten()
                .for_each(|cluster| mark_drained(dirty, index, cluster));
            dirty.drains.insert(name);
        }
        HubObject::DnsZone(object) => {
            let facts = intake::zone::zone(&object);
            let name = facts.name.clone();
            let same = world.zones.get(&name).is_some_and(|before| {
                before.spec == facts.spec && before.paused == facts.paused && before.deleting == facts.deleting
            });
            dirty.all |= !same;
            dirty.zones.insert(name.clone());
            world.zones.insert(name, facts);
        }
        HubObject::Namespace { name, labels } => {
            let before = world.namespaces.insert(name.clone(), labels.clone());
            if before != Some(labels) {
                let in_it = world.hostnames.keys().filter(|key| *key.namespace == *name);
                dirty.mark(in_it);
            }
        }
    }
}

fn gone(world: &mut World, dirty: &mut Dirty, index: &Index, object: HubRef) {
    match object {
        HubRef::GlobalHostname { namespace, name } => {
            let key = HostnameKey::new(&namespace, &name);
            world.hostnames.remove(&key);
            dirty.hostnames.insert(key);
        }
        HubRef::MemberCluster { name } => {
            if let Ok(name) = ClusterName::parse(&name) {
                world.members.remove(&name);
                dirty.members.insert(name);
                dirty.all = true;
            }
        }
        HubRef::ClusterDrain { name } => {
            if let Some(cluster) = world.drains.remove(&name).and_then(|drain| drain.cluster) {
                mark_drained(dirty, index, &cluster);
            }
            dirty.drains.insert(name);
        }
        HubRef::DnsZone { name } => {
            let name = ZoneRef::new(&name);
            world.zones.remove(&name);
            dirty.zones.insert(name);
            dirty.all = true;
        }
        HubRef::Namespace { name } => {
            world.namespaces.remove(&name);
            let in_it = world.hostnames.keys().filter(|key| *key.namespace == *name);
            dirty.mark(in_it);
        }
    }
}

fn mark_drained(dirty: &mut Dirty, index: &Index, cluster: &ClusterName) {
    dirty.mark(index.of_cluster(cluster));
    dirty.members.insert(cluster.clone());
}

/// Something happened in the open session of a member. Returns the objects that changed.
pub fn member(
    member: &mut Member,
    dirty: &mut Dirty,
    index: &Index,
    cluster: &ClusterName,
    event: MemberEvent,
    now: Now,
) -> Vec<Touched> {
    let was = (member.seen.fresh(), member.seen.failure().cloned());
    let touched = match event {
        MemberEvent::Listed { watch, objects } => {
            let was = member
                .seen
                .watches
                .get(&watch)
                .is_some_and(|w| w.listed_at.is_some() && w.stale_since.is_none());
            let touched = member.seen.listed(&watch, objects, now);
            if !was {
                dirty.mark(index.of_cluster(cluster));
                dirty.hostnames.extend(member.seen.hostnames());
            }
            // A second complete read is what an absence waits for.
            dirty.mark(index.of_namespace(cluster, watch.kind, &watch.namespace));
            touched
        }
        MemberEvent::Applied(object) => member.seen.applied(object, now).into_iter().collect(),
        MemberEvent::Gone { watch, name } => vec![member.seen.gone(&watch, &name, now)],
        MemberEvent::WatchFailed { watch, failure } => {
            member.seen.watch_failed(&watch, failure.clone(), now);
            if failure.code == Reason::ClusterReplaced.as_str() {
                // The session speaks of a cluster that is gone. A new one tells who answers now, and whether it is
                // trusted.
                member.seen.session_lost(failure, now.mono);
            }
            Vec::new()
        }
    };
    for object in &touched {
        dirty.mark(index.of_object(cluster, object));
        if object.kind == MemberKind::DnsEndpoint {
            // Its hostname may not have known that it holds something here.
            dirty.hostnames.extend(member.seen.hostname_of(object));
        }
        if object.kind == MemberKind::DnsEndpoint {
            dirty.members.insert(cluster.clone());
        }
    }
    if was != (member.seen.fresh(), member.seen.failure().cloned()) {
        dirty.mark(index.of_cluster(cluster));
        dirty.members.insert(cluster.clone());
    }
    touched
}
