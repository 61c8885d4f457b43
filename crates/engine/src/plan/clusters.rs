//! The clusters of a hostname: addresses, weights, drains.
//!
//! Invariant: not knowing changes nothing: a cluster whose member is unknown counts with what the zone has of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use truce_api::{GlobalHostnameStatus, Reason};

use super::input::HostnamePlan;
use super::memory::{ClusterMemory, HostnameMemory};
use super::progress::failure_problem;
use super::share;
use super::view::{ClusterView, NotFresh};
use crate::event::{MemberKind, WatchKey};
use crate::reason::Problem;
use crate::rule::drained::{self, DrainFacts};
use crate::rule::last_serving::{published_address, published_simple};
use crate::rule::service_address::About;
use crate::rule::shared::ClusterInput;
use crate::rule::usable_address::{self, Memory};
use crate::rule::weight;
use crate::time::{Now, Timings, Wall};
use crate::value::address::{Address, AddressKind};
use crate::value::ids::{ClusterName, HubId};
use crate::value::record::{RecordSet, Routing};
use crate::value::shared_name::SharedName;
use crate::world::hostnames::{HostnameSpec, Policy, Source};
use crate::world::seen::Touched;
use crate::world::{Member, World};

/// What the look at one hostname's clusters needs.
pub struct Look<'a> {
    /// The own hub.
    pub hub: &'a HubId,
    /// Facts.
    pub world: &'a World,
    /// Timings.
    pub timings: &'a Timings,
    /// The hostname's spec.
    pub spec: &'a HostnameSpec,
    /// Its status as it was last written.
    pub told: &'a GlobalHostnameStatus,
    /// Its shared name.
    pub shared: &'a SharedName,
    /// Its sets in the zone.
    pub published: &'a [RecordSet],
    /// Whether every change of it is INSYNC.
    pub insync: bool,
    /// This moment.
    pub now: Now,
}

/// What is found of one cluster.
#[derive(Debug, Clone)]
pub struct Found {
    /// For the rules.
    pub input: ClusterInput,
    /// For the status.
    pub view: ClusterView,
    /// The last address, even if it is gone: what the cluster name keeps.
    pub last_address: Option<Address>,
}

impl Look<'_> {
    /// Looks at one cluster whose MemberCluster is valid. Asks in `plan` for what has to be watched and read, and
    /// remembers in `memory`.
    pub fn cluster(
        &self,
        name: &ClusterName,
        member: &Member,
        selected: bool,
        memory: &mut HostnameMemory,
        plan: &mut HostnamePlan,
    ) -> Option<Found> {
        let spec = member.spec()?;
        let longest_ttl = memory.ttls.longest(self.now.wall).unwrap_or(self.spec.ttl);
        let in_zone = self.in_zone(name, memory);
        let own = memory.clusters.entry(name.clone()).or_default();
        let (used, view) = self.address(name, member, selected, in_zone.as_ref(), own, plan);
        let weight = weight::weight(name, self.spec, Some(spec.weight), &self.world.drains, self.now);
        plan.wake_at(weight.wake);
        let draining = !weight.drainers.is_empty() && selected;
        let drain = self.drain(name, own, draining, in_zone.is_some(), longest_ttl, plan);
        let window = Duration::from_secs(u64::from(longest_ttl) * 2);
        let window_ends = match own.silent {
            super::memory::Silence::Since(at) => Some(later(at, window)),
            super::memory::Silence::Always => Some(Wall::MIN),
            super::memory::Silence::No => None,
        };
        if let Some(ends) = window_ends.filter(|ends| in_zone.is_some() && *ends > self.now.wall) {
            plan.wake_at(Some(self.now.mono_at(ends)));
        }
        Some(Found {
            input: ClusterInput {
                selected,
                region: spec.region,
                standby: spec.standby,
                weight: weight.undrained,
                draining: own.drain_started.filter(|_| draining),
                window_over: window_ends.is_some_and(|ends| ends <= self.now.wall),
                address: used.address,
                maybe_name: used.maybe_name,
            },
            view: ClusterView {
                selected,
                region: Some(spec.region),
                weight: weight.undrained,
                drained_by: if selected {
                    weight.drainers.iter().map(ToString::to_string).collect()
                } else {
                    vec![]
                },
                drain,
                ..view
            },
            last_address: used.last,
        })
    }

    /// The address that the zone has for a cluster; under simple routing the only one there is, if that is known to be
    /// this cluster's.
    fn in_zone(&self, name: &ClusterName, memory: &HostnameMemory) -> Option<Address> {
        let simple = || {
            let simple = memory.policy == Some(Policy::Simple);
            let address = simple
                .then(|| published_simple(self.published, self.shared))
                .flatten()?;
            let mut told = self.told.clusters.iter().filter(|told| told.name == name.as_str());
            let own = memory.clusters.get(name).and_then(|own| own.source.as_ref());
            let known = told.any(|told| told.addresses == address.display())
                || own.is_some_and(|(_, memory)| memory.last() == Some(&address));
            known.then_some(address)
        };
        in_zone(self.published, self.shared, self.hub, name).or_else(simple)
    }

    fn address(
        &self,
        name: &ClusterName,
        member: &Member,
        selected: bool,
        in_zone: Option<&Address>,
        own: &mut ClusterMemory,
        plan: &mut HostnamePlan,
    ) -> (Used, ClusterView) {
        let mut view = ClusterView {
            starting: selected
                && !member.seen.fresh()
                && member.seen.failure().is_none()
                && member.seen.stale_since().is_none(),
            not_fresh: not_fresh(member),
            ..ClusterView::default()
        };
        let Some(source) = self.spec.source_of(name).filter(|_| selected) else {
            let address = in_zone.cloned();
            return (
                Used {
                    address: address.clone(),
                    last: address,
                    maybe_name: false,
                },
                view,
            );
        };
        let Source::Service {
            namespace,
            name: object,
        } = source;
        let watch = WatchKey {
            kind: MemberKind::Service,
            namespace: namespace.to_string(),
        };
        let touched = Touched {
            kind: watch.kind,
            namespace: namespace.clone(),
            name: object.clone(),
        };
        plan.depends.objects.insert(Arc::new((name.clone(), touched)));
        let remembered = own.source.take().filter(|(before, _)| before == source);
        own.seen_in_use &= remembered.is_some();
        let remembered = remembered
            .map(|(_, memory)| memory)
            .or_else(|| in_zone.cloned().map(Memory::in_use))
            .unwrap_or_default();
        let seen = member.seen.service(namespace, object);
        let listed_at = member.seen.listed_at(MemberKind::Service, namespace);
        let about = About { cluster: name, source };
        let outcome = usable_address::look(about, &seen, listed_at, &remembered, self.now.mono, self.timings);
        plan.wake_at(outcome.wake);
        if outcome.wants_read {
            plan.relists.insert((name.clone(), watch));
        }
        let memory = outcome.memory;
        // A source that has no address yet does not take away what another one, or an earlier process, published.
        let address = match (memory.usable(), memory.is_gone()) {
            (Some(address), _) => Some(address.clone()),
            (None, true) => None,
            (None, false) => in_zone.cloned(),
        };
        view.address = address.clone();
        view.address_problem = outcome.problem;
        // What was only taken from the shared name is no news for the cluster name, which may know better.
        own.seen_in_use |= seen.fresh().is_some() && view.address_problem.is_none();
        let last = memory.last().cloned().filter(|_| own.seen_in_use);
        let unread = seen.fresh().is_none() && memory.last().is_none();
        let maybe_name = unread || memory.settles_to(AddressKind::Name);
        own.source = Some((source.clone(), memory));
        let used = Used {
            address,
            last,
            maybe_name,
        };
        (used, view)
    }

    fn drain(
        &self,
        name: &ClusterName,
        memory: &mut ClusterMemory,
        draining: bool,
        in_zone: bool,
        longest_ttl: u32,
        plan: &mut HostnamePlan,
    ) -> Option<(Wall, drained::DrainClock)> {
        let answers = share::answers(self.published, self.hub, name).unwrap_or(in_zone);
        memory.silent = memory.silent.observed(answers, self.insync, self.now.wall);
        if !draining {
            memory.drain_started = None;
            memory.safe_at = None;
            return None;
        }
        let started_at = *memory.drain_started.get_or_insert(self.now.wall);
        let facts = DrainFacts {
            started_at,
            silent_since: memory.silent.since(),
            longest_ttl,
            safe_at: memory.safe_at,
            withdrawn: !in_zone && self.insync,
        };
        let clock = drained::clock(&facts, self.timings, self.now.wall);
        memory.safe_at = clock.safe_at;
        if let Some(at) = clock.safe_at.filter(|at| *at > self.now.wall) {
            plan.wake_at(Some(self.now.mono_at(at)));
        }
        Some((started_at, clock))
    }
}

struct Used {
    address: Option<Address>,
    last: Option<Address>,
    maybe_name: bool,
}

fn later(wall: Wall, by: Duration) -> Wall {
    wall.checked_add(by).unwrap_or(Wall::MAX)
}

/// Why what is known of a member is not fresh, if it is not: it failed, or what was seen is stale. A member that is being
/// read for the first time is neither.
fn not_fresh(member: &Member) -> Option<NotFresh> {
    if member.seen.fresh() {
        return None;
    }
    let (failure, since) = (member.seen.failure(), member.seen.stale_since());
    let problem = match (failure, since) {
        (Some(failure), _) => failure_problem(failure),
        (None, Some(_)) => Problem::new(Reason::Unknown, "it is being read again after an interruption"),
        (None, None) => return None,
    };
    Some(NotFresh {
        since,
        last_seen: member.seen.last_seen,
        problem,
    })
}

/// The address that the zone has for a cluster by its set identifier.
pub fn in_zone(published: &[RecordSet], shared: &SharedName, hub: &HubId, name: &ClusterName) -> Option<Address> {
    published_address(published, shared, hub, name)
}

/// The clusters that have sets in the zone.
pub fn published_clusters(published: &[RecordSet], hub: &HubId) -> BTreeSet<ClusterName> {
    published
        .iter()
        .filter_map(|set| set.routing.id()?.cluster(hub))
        .collect()
}

/// Notes the TTLs that the hostname is answered under now, and those that it was until now.
pub fn note_ttls(memory: &mut HostnameMemory, published: &[RecordSet], insync: bool, timings: &Timings, now: Now) {
    let in_zone: BTreeSet<u32> = published.iter().map(RecordSet::cache_seconds).collect();
    for ttl in &in_zone {
        memory.ttls.note(*ttl, true, now.wall, timings.ttl_memory);
    }
    let gone: Vec<u32> = memory.ttls_in_zone.difference(&in_zone).copied().collect();
    if insync {
        for ttl in gone {
            memory.ttls.note(ttl, false, now.wall, timings.ttl_memory);
        }
        memory.ttls_in_zone = in_zone;
    } else {
        memory.ttls_in_zone.extend(in_zone);
    }
}

/// How many sets of the zone answer with each cluster's address.
pub fn live_sets(published: &[RecordSet], hub: &HubId) -> BTreeMap<ClusterName, usize> {
    let mut live = BTreeMap::new();
    for set in published {
        let zero = matches!(set.routing, Routing::Weighted { weight: 0, .. });
        if let Some(cluster) = set.routing.id().and_then(|id| id.cluster(hub)).filter(|_| !zero) {
            *live.entry(cluster).or_default() += 1;
        }
    }
    live
}
