//! Planning the dirty hostnames, and handing on what their plans bring.
//!
//! Invariant: a plan is handed on whole: units, DNSEndpoints, reads, watches, status and memory are of one moment.

use std::collections::{BTreeMap, BTreeSet};

use super::members::Wanted;
use super::zones::{Zone, Zones};
use crate::effect::{Effect, HubEffect, MemberEffect, Sink, Status};
use crate::event::HubRef;
use crate::pace::queue::Queue;
use crate::plan::accept::{self, Placed};
use crate::plan::input::{Config, HostnamePlan, PlanInput};
use crate::plan::memory::HostnameMemory;
use crate::plan::{diff, hostname};
use crate::reason::Problem;
use crate::rule::ambiguous;
use crate::rule::dialect;
use crate::rule::hold::Stand;
use crate::rule::holder::Wishes;
use crate::time::{Mono, Now};
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};
use crate::world::World;
use crate::world::dirty::{Depends, Dirty, Index};
use crate::world::hostnames::{Hostname, Selection};

/// The plans of all hostnames, with what they need between them.
#[derive(Debug, Clone, Default)]
pub struct Plans {
    by_key: BTreeMap<HostnameKey, Box<HostnamePlan>>,
    wakes: BTreeSet<(Mono, HostnameKey)>,
    /// MemberClusters whose name is refused.
    ambiguous: BTreeMap<ClusterName, Problem>,
    /// MemberClusters whose ExternalDNS cannot be worked with.
    external_dns: BTreeMap<ClusterName, Vec<Problem>>,
    /// Hostnames whose zone was not read yet.
    waiting: BTreeSet<HostnameKey>,
    /// Sets that are Truce's, and live ones, by zone.
    owned: BTreeMap<ZoneRef, (usize, usize)>,
}

/// What planning hands on to.
pub struct Sinks<'a> {
    /// Zones.
    pub zones: &'a mut Zones,
    /// Who reads what.
    pub index: &'a mut Index,
    /// Watches.
    pub wanted: &'a mut Wanted,
    /// Wishes for objects.
    pub queue: &'a mut Queue,
}

impl Plans {
    /// The plan of a hostname.
    pub fn get(&self, key: &HostnameKey) -> Option<&HostnamePlan> {
        self.by_key.get(key).map(AsRef::as_ref)
    }

    /// All plans.
    pub fn iter(&self) -> impl Iterator<Item = (&HostnameKey, &HostnamePlan)> {
        self.by_key.iter().map(|(key, plan)| (key, plan.as_ref()))
    }

    /// Why a MemberCluster's name is refused.
    pub fn ambiguous(&self, cluster: &ClusterName) -> Option<&Problem> {
        self.ambiguous.get(cluster)
    }

    /// Why a MemberCluster's ExternalDNS cannot be worked with.
    pub fn external_dns(&self, cluster: &ClusterName) -> &[Problem] {
        self.external_dns.get(cluster).map_or(&[], Vec::as_slice)
    }

    /// Whether a hostname that may have something of a cluster waits for its zone to be read: then nobody can say how
    /// far the cluster is out of the answers.
    pub fn unread(&self, world: &World, cluster: &ClusterName) -> bool {
        let touches = |hostname: &Hostname| {
            let told = hostname
                .status
                .clusters
                .iter()
                .any(|status| status.name == cluster.as_str());
            told || hostname.spec.as_ref().is_ok_and(|spec| match &spec.selection {
                Selection::Clusters(listed) => listed.contains_key(cluster),
                Selection::Selector(_) => true,
            })
        };
        self.waiting
            .iter()
            .filter_map(|key| world.hostnames.get(key))
            .any(touches)
    }

    /// Sets of a zone that are Truce's, and live ones.
    pub fn owned(&self, zone: &ZoneRef) -> (usize, usize) {
        self.owned.get(zone).copied().unwrap_or_default()
    }

    /// Marks the hostnames whose time has come; tells when the next one's comes.
    pub fn due(&mut self, dirty: &mut Dirty, now: Mono) {
        while let Some((at, key)) = self.wakes.first().cloned() {
            if at > now {
                return;
            }
            self.wakes.remove(&(at, key.clone()));
            dirty.hostnames.insert(key);
        }
    }

    /// When the next hostname wants to be planned by time alone.
    pub fn wake(&self) -> Option<Mono> {
        self.wakes.first().map(|(at, _)| *at)
    }

    /// What the MemberClusters' names and owner ids allow; to be asked again when any of them changes.
    pub fn follow_members(&mut self, world: &World, config: &Config) {
        let clusters: Vec<_> = world
            .members
            .iter()
            .map(|(name, member)| (name, member.facts.created))
            .collect();
        let shared: Vec<_> = world
            .hostnames
            .values()
            .filter_map(|hostname| accept::shared(world, hostname))
            .collect();
        let refused = |(name, created): &(&ClusterName, _)| {
            let problem = ambiguous::cluster(name, *created, clusters.iter().copied(), shared.iter().copied())?;
            Some(((*name).clone(), problem))
        };
        self.ambiguous = clusters.iter().filter_map(refused).collect();
        let specs = world
            .members
            .iter()
            .filter_map(|(name, member)| Some((name, member.facts.created, member.spec()?)));
        self.external_dns = dialect::refuse_members(&config.hub, specs);
        for (name, member) in &world.members {
            let own = member
                .spec()
                .map(|spec| spec.external_dns_problems.as_slice())
                .unwrap_or_default();
            if !own.is_empty() {
                self.external_dns
                    .entry(name.clone())
                    .or_default()
                    .extend(own.iter().cloned());
            }
        }
    }

    /// Plans what is dirty, until planning marks nothing more.
    pub fn replan(&mut self, world: &World, config: &Config, dirty: &mut Dirty, sinks: &mut Sinks<'_>, now: Now) {
        if std::mem::take(&mut dirty.all) {
            self.follow_members(world, config);
            dirty.hostnames.extend(world.hostnames.keys().cloned());
            dirty.members.extend(world.members.keys().cloned());
            dirty.drains.extend(world.drains.keys().cloned());
            dirty.zones.extend(world.zones.keys().cloned());
        }
        // Every name is entered before any is planned, so that the older of two has it whatever the order.
        let mut entered = BTreeSet::new();
        while !dirty.hostnames.is_subset(&entered) {
            let batch: Vec<_> = dirty.hostnames.difference(&entered).cloned().collect();
            for key in batch {
                dirty.hostnames.extend(self.enter(&key, world, config, sinks));
                entered.insert(key);
            }
        }
        for key in std::mem::take(&mut dirty.hostnames) {
            match world.hostnames.get(&key) {
                Some(hostname) => self.one(hostname, world, config, dirty, sinks, now),
                None => self.forget(&key, dirty, sinks),
            }
        }
    }

    /// Enters what a hostname wants into the reservations of its zone; returns whose standing that changes.
    fn enter(
        &mut self,
        key: &HostnameKey,
        world: &World,
        config: &Config,
        sinks: &mut Sinks<'_>,
    ) -> BTreeSet<HostnameKey> {
        let placed = world
            .hostnames
            .get(key)
            .and_then(|hostname| Some((hostname, accept::place(world, hostname).ok()?)));
        let mut touched = BTreeSet::new();
        let before = sinks.index.depends(key).and_then(|depends| depends.zone.clone());
        if let Some(before) = before.filter(|zone| placed.as_ref().is_none_or(|(_, placed)| placed.zone != *zone)) {
            touched.extend(
                sinks
                    .zones
                    .get_mut(&before)
                    .map(|zone| zone.reservations.replace(key, None))
                    .into_iter()
                    .flatten(),
            );
        }
        let Some((hostname, placed)) = placed else {
            return touched;
        };
        let Some(zone) = sinks.zones.get_mut(&placed.zone).filter(|zone| zone.runtime.ready()) else {
            return touched;
        };
        let held = diff::claim(zone.runtime.records(), &placed.names.shared, &config.hub, key).is_some();
        let allowed = held || accept::refused(config, world, hostname, &placed).is_none();
        let wishes = allowed.then(|| {
            let mut clusters = accept::selection(world, hostname, &placed.spec).clusters;
            clusters.extend(
                hostname
                    .status
                    .clusters
                    .iter()
                    .filter_map(|status| ClusterName::parse(&status.name).ok()),
            );
            accept::wishes(hostname, &placed, &clusters, held)
        });
        if zone.reservations.of(key) == wishes.as_ref() {
            return touched;
        }
        let records = zone.runtime.records();
        let wishes = wishes.map(|Wishes { created, names }| Wishes {
            created,
            names: names
                .into_iter()
                .map(|(name, held)| (records.share(name), held))
                .collect(),
        });
        touched.extend(zone.reservations.replace(key, wishes));
        touched
    }

    fn one(
        &mut self,
        hostname: &Hostname,
        world: &World,
        config: &Config,
        dirty: &mut Dirty,
        sinks: &mut Sinks<'_>,
        now: Now,
    ) {
        let key = &hostname.key;
        let mut before = self.by_key.remove(key);
        let memory = match &mut before {
            Some(before) => std::mem::take(&mut before.memory),
            None => HostnameMemory::restored(hostname, &config.timings, now),
        };
        let placed = accept::place(world, hostname);
        let mut plan = self.make(hostname, &placed, memory.clone(), world, config, sinks, None, now);
        if let Some(problem) = self.held(hostname, &plan, world, config, sinks.zones, now) {
            plan = self.make(hostname, &placed, memory, world, config, sinks, Some(problem), now);
        }
        let before = before.unwrap_or_default();
        self.hand_on(hostname, &before, &mut plan, dirty, sinks);
        self.by_key.insert(key.clone(), Box::new(plan));
    }

    #[expect(clippy::too_many_arguments, reason = "each is one of the plan's inputs")]
    fn make(
        &mut self,
        hostname: &Hostname,
        placed: &Result<Placed, Problem>,
        memory: HostnameMemory,
        world: &World,
        config: &Config,
        sinks: &Sinks<'_>,
        hold: Option<Problem>,
        now: Now,
    ) -> HostnamePlan {
        let none = crate::rule::holder::Reservations::default();
        let zone = placed.as_ref().ok().and_then(|placed| sinks.zones.get(&placed.zone));
        let queue = &*sinks.queue;
        let failure = |cluster: &ClusterName, namespace: &str, name: &str| {
            queue
                .failure(&Sink::Endpoint(cluster.clone(), namespace.to_owned(), name.to_owned()))
                .cloned()
        };
        let input = PlanInput {
            config,
            world,
            zone: &|name| sinks.zones.get(name).map(|zone| zone.view(&hostname.key)),
            reservations: zone.map_or(&none, |zone| &zone.reservations),
            ambiguous: &self.ambiguous,
            external_dns: &self.external_dns,
            endpoint_failure: &failure,
            hold,
            now,
        };
        hostname::plan(&input, hostname, placed, memory)
    }

    /// Whether the guard of the zone holds the plan's withdrawals; then what is told of it.
    fn held(
        &self,
        hostname: &Hostname,
        plan: &HostnamePlan,
        world: &World,
        config: &Config,
        zones: &mut Zones,
        now: Now,
    ) -> Option<Problem> {
        let name = plan.zone.as_ref()?;
        let zone: &mut Zone = zones.get_mut(name)?;
        let spec = world.zones.get(name)?.spec.as_ref().ok()?;
        let (withdrawal, sets) = &plan.withdrawal;
        let live = self.owned(name).1;
        let stand = Stand {
            live,
            deletion: hostname.deleting,
            max_percent: spec.max_withdraw_percent,
            window: config.timings.guard_window,
        };
        if zone.guard.passes(&hostname.key, withdrawal, *sets, stand, now.mono) {
            return None;
        }
        let hash = zone.guard.hash().unwrap_or_default();
        Some(Problem::new(
            truce_api::Reason::HeldWithdrawal,
            format!(
                "{sets} live sets would be withdrawn without anybody having asked for it, too many at once for DNSZone \
                 {name}; repair the cause, or agree to all that is held: kubectl annotate dz {name} --overwrite {}={hash}",
                truce_api::CONFIRM
            ),
        ))
    }

    fn hand_on(
        &mut self,
        hostname: &Hostname,
        before: &HostnamePlan,
        plan: &mut HostnamePlan,
        dirty: &mut Dirty,
        sinks: &mut Sinks<'_>,
    ) {
        let key = &hostname.key;
        self.wakes.remove(&(before.wake.unwrap_or_default(), key.clone()));
        self.wakes.extend(plan.wake.map(|at| (at, key.clone())));
        self.count(before, plan);
        match plan.waits_for_zone {
            true => self.waiting.insert(key.clone()),
            false => self.waiting.remove(key),
        };
        if before.waits_for_zone != plan.waits_for_zone {
            dirty.members.extend(plan.depends.clusters.iter().cloned());
        }
        let known = sinks.index.depends(key);
        if known != Some(&plan.depends) {
            let watched = known.map(Depends::watches).unwrap_or_default();
            sinks.wanted.change(&watched, &plan.depends.watches());
        }
        // The index and the API server keep these two; a copy of each for every hostname would double the world.
        sinks.index.update(key, std::mem::take(&mut plan.depends));
        for (cluster, watch) in &plan.relists {
            sinks.wanted.relist(cluster.clone(), watch.clone());
        }
        if let Some(zone) = plan.zone.as_ref().and_then(|zone| sinks.zones.get_mut(zone)) {
            zone.runtime.set_units(key, plan.units.clone());
            match plan.behind_wildcard {
                true => zone.behind_wildcard.insert(key.clone()),
                false => zone.behind_wildcard.remove(key),
            };
            for (name, at) in &plan.reads {
                zone.runtime.want_read(name.clone(), *at);
            }
        }
        self.objects(before, plan, sinks.queue);
        let object = reference(key);
        let finalizer = plan.finalizer.map(|present| {
            Effect::Hub(HubEffect::SetFinalizer {
                object: object.clone(),
                present,
            })
        });
        sinks.queue.want(&Sink::Finalizer(object.clone()), finalizer, true);
        super::offer::offer(
            sinks.queue,
            hostname_status(key, plan),
            || hostname_known(hostname),
            plan.urgent,
        );
        if before.progress != plan.progress {
            let clusters: BTreeSet<_> = before.progress.keys().chain(plan.progress.keys()).cloned().collect();
            dirty.members.extend(clusters);
        }
        if before.owned != plan.owned {
            dirty.zones.extend(before.zone.iter().chain(&plan.zone).cloned());
        }
    }

    fn objects(&self, before: &HostnamePlan, plan: &HostnamePlan, queue: &mut Queue) {
        let sink =
            |cluster: &ClusterName, effect: &MemberEffect| Effect::Member(cluster.clone(), effect.clone()).sink();
        let wanted: BTreeMap<Sink, Effect> = plan
            .endpoints
            .iter()
            .map(|(cluster, effect)| (sink(cluster, effect), Effect::Member(cluster.clone(), effect.clone())))
            .collect();
        for (cluster, effect) in &before.endpoints {
            let sink = sink(cluster, effect);
            if !wanted.contains_key(&sink) {
                queue.want(&sink, None, false);
            }
        }
        for (sink, effect) in wanted {
            queue.want(&sink, Some(effect), false);
        }
    }

    fn count(&mut self, before: &HostnamePlan, plan: &HostnamePlan) {
        for (zone, (owned, live), sign) in [(&before.zone, before.owned, false), (&plan.zone, plan.owned, true)] {
            let Some(zone) = zone else { continue };
            let sum = self.owned.entry(zone.clone()).or_default();
            *sum = match sign {
                true => (sum.0 + owned, sum.1 + live),
                false => (sum.0.saturating_sub(owned), sum.1.saturating_sub(live)),
            };
        }
    }

    fn forget(&mut self, key: &HostnameKey, dirty: &mut Dirty, sinks: &mut Sinks<'_>) {
        let Some(before) = self.by_key.remove(key) else { return };
        self.wakes.remove(&(before.wake.unwrap_or_default(), key.clone()));
        self.count(&before, &HostnamePlan::default());
        self.waiting.remove(key);
        let watched = sinks.index.depends(key).map(Depends::watches).unwrap_or_default();
        sinks.wanted.change(&watched, &BTreeSet::new());
        sinks.index.update(key, Depends::default());
        self.objects(&before, &HostnamePlan::default(), sinks.queue);
        if let Some(zone) = before.zone.as_ref().and_then(|zone| sinks.zones.get_mut(zone)) {
            zone.runtime.forget(key);
            zone.guard.release(key);
            zone.behind_wildcard.remove(key);
            dirty.mark(&zone.reservations.replace(key, None));
        }
        let object = reference(key);
        sinks.queue.forget(&Sink::Finalizer(object.clone()));
        sinks.queue.forget(&Sink::Status(object));
        dirty.members.extend(before.progress.into_keys());
        dirty.zones.extend(before.zone);
    }
}

/// The object of a hostname.
pub fn reference(key: &HostnameKey) -> HubRef {
    HubRef::GlobalHostname {
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
    }
}

fn hostname_status(key: &HostnameKey, plan: &mut HostnamePlan) -> Status {
    Status::GlobalHostname {
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
        status: std::mem::take(&mut plan.status),
    }
}

fn hostname_known(hostname: &Hostname) -> Status {
    Status::GlobalHostname {
        namespace: hostname.key.namespace.to_string(),
        name: hostname.key.name.to_string(),
        status: hostname.status.clone(),
    }
}
