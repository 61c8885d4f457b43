//! Zones: their runtimes, their budgets, what their news mean for hostnames.
//!
//! Invariant: zones of one AWS account share one budget. Deliberately absent: what a zone does next (`zone/`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::DNSZoneStatus;

use crate::effect::{Effect, EffectId, ZoneEffect};
use crate::event::Outcome;
use crate::pace::budget::Budget;
use crate::pace::queue::InFlight;
use crate::plan::input::{Config, ZoneView};
use crate::plan::unit::Part;
use crate::rule::hold::{Guard, Kept, Past};
use crate::rule::holder::Reservations;
use crate::time::{Mono, Now};
use crate::value::dns_name::RecordName;
use crate::value::ids::{HostnameKey, ZoneRef};
use crate::world::World;
use crate::world::dirty::{Dirty, Index};
use crate::zone::runtime::{Step, ZoneNews, ZoneRuntime};

/// Most names whose last point read is remembered for a zone; beyond that the oldest are forgotten and read again.
const MAX_READS: usize = 10_000;

/// One zone at work.
#[derive(Debug, Clone)]
pub struct Zone {
    /// Its state machine.
    pub runtime: ZoneRuntime,
    /// Who wants which of its names.
    pub reservations: Reservations,
    /// Hostnames without a claim below a wildcard: whatever changes, they look again whether it answers for them.
    pub behind_wildcard: BTreeSet<HostnameKey>,
    /// The guard on withdrawals.
    pub guard: Guard,
    /// When point reads were sent that brought what is known.
    pub read_at: BTreeMap<RecordName, Mono>,
    account: String,
    /// The confirmation that was used up: it works once, though the annotation stands.
    used: Option<String>,
    /// The point read in flight.
    reading: Option<(RecordName, Mono)>,
}

/// All zones at work.
#[derive(Debug, Clone, Default)]
pub struct Zones {
    by_name: BTreeMap<ZoneRef, Zone>,
    budgets: BTreeMap<String, Budget>,
    /// The zone that was asked last: the next one goes first, so that none starves when a budget is short.
    last: Option<ZoneRef>,
}

impl Zones {
    /// One zone.
    pub fn get(&self, zone: &ZoneRef) -> Option<&Zone> {
        self.by_name.get(zone)
    }

    /// One zone, to change.
    pub fn get_mut(&mut self, zone: &ZoneRef) -> Option<&mut Zone> {
        self.by_name.get_mut(zone)
    }

    /// Whether a newer process of this hub writes one of the zones: this one has to end.
    pub fn superseded(&self) -> bool {
        self.by_name.values().any(|zone| zone.runtime.superseded())
    }

    /// Makes a runtime for every valid DNSZone, and follows changed specs.
    pub fn follow(&mut self, world: &World, config: &Config, now: Now) {
        let Some(instance) = &world.instance else { return };
        self.by_name.retain(|name, _| world.zones.contains_key(name));
        for (name, facts) in &world.zones {
            let Ok(spec) = &facts.spec else { continue };
            match self.by_name.get_mut(name) {
                Some(zone) => {
                    zone.account = spec.account.clone();
                    zone.runtime.update_spec(spec.as_ref().clone(), &config.timings);
                }
                None => {
                    let (hub, spec) = (config.hub.clone(), spec.as_ref().clone());
                    let account = spec.account.clone();
                    let runtime =
                        ZoneRuntime::new(name.clone(), hub, instance.clone(), spec, &config.timings, now.mono);
                    let zone = Zone {
                        runtime,
                        reservations: Reservations::default(),
                        behind_wildcard: BTreeSet::new(),
                        guard: Guard::restored(kept(&facts.status), now),
                        read_at: BTreeMap::new(),
                        account,
                        used: None,
                        reading: None,
                    };
                    self.by_name.insert(name.clone(), zone);
                }
            }
        }
        self.follow_budgets(world, now.mono);
    }

    /// Hands confirmations of DNSZones to whoever waits for one; returns the zones where one fitted.
    pub fn confirm(&mut self, world: &World) -> Vec<ZoneRef> {
        let mut confirmed = Vec::new();
        for (name, zone) in &mut self.by_name {
            let hash = world.zones.get(name).and_then(|facts| facts.confirm.as_deref());
            if zone.used.as_deref() == hash {
                continue;
            }
            zone.used = None;
            if let Some(hash) = hash.filter(|hash| zone.guard.confirm(hash) || zone.runtime.confirm(hash)) {
                zone.used = Some(hash.to_owned());
                confirmed.push(name.clone());
            }
        }
        confirmed
    }

    /// An account's rates are the smallest of its zones.
    fn follow_budgets(&mut self, world: &World, now: Mono) {
        let mut rates: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for spec in world.zones.values().filter_map(|zone| zone.spec.as_ref().ok()) {
            let limits = &spec.limits;
            let rate = rates.entry(&spec.account).or_insert((u32::MAX, u32::MAX));
            *rate = (
                rate.0.min(limits.requests_per_second),
                rate.1.min(limits.changes_per_second),
            );
        }
        self.budgets.retain(|account, _| rates.contains_key(account.as_str()));
        for (account, (requests, changes)) in rates {
            match self.budgets.get_mut(account) {
                Some(budget) => budget.set_rates(requests, changes, now),
                None => drop(
                    self.budgets
                        .insert(account.to_owned(), Budget::new(requests, changes, now)),
                ),
            }
        }
    }

    /// What every zone does next. Returns when to look again.
    pub fn next(&mut self, in_flight: &mut InFlight, now: Now, out: &mut Vec<(EffectId, Effect)>) -> Option<Mono> {
        let mut wake: Option<Mono> = None;
        let after = |name: &ZoneRef| self.last.as_ref().is_some_and(|last| name > last);
        let (mut order, first): (Vec<ZoneRef>, Vec<ZoneRef>) =
            self.by_name.keys().cloned().partition(|name| !after(name));
        order.splice(0..0, first);
        for name in &order {
            let Some(zone) = self.by_name.get_mut(name) else {
                continue;
            };
            let Some(budget) = self.budgets.get_mut(&zone.account) else {
                continue;
            };
            match zone.runtime.next(now, budget) {
                Step::Wait(at) => wake = wake.into_iter().chain(at).min(),
                Step::Do(effect) => {
                    if let ZoneEffect::ReadName { name, .. } = &effect {
                        zone.reading = Some((name.clone(), now.mono));
                    }
                    self.last = Some(name.clone());
                    let effect = Effect::Zone(name.clone(), effect);
                    out.push((in_flight.start(&effect), effect));
                }
            }
        }
        wake
    }

    /// An effect of a zone ended: marks whoever has to be planned or told anew.
    pub fn settled(&mut self, name: &ZoneRef, outcome: Outcome, index: &Index, dirty: &mut Dirty, now: Now) {
        let Some(zone) = self.by_name.get_mut(name) else { return };
        if let (Some((read, sent)), true) = (zone.reading.take(), outcome.is_ok()) {
            dirty.mark(&zone.wanting(&read, index, name));
            zone.read_at.insert(read, sent);
            while zone.read_at.len() > MAX_READS {
                let oldest = zone
                    .read_at
                    .iter()
                    .min_by_key(|(_, sent)| **sent)
                    .map(|(name, _)| name.clone());
                if let Some(name) = oldest {
                    zone.read_at.remove(&name);
                }
            }
        }
        for news in zone.runtime.done(outcome, now) {
            zone.heed(name, news, index, dirty, now);
        }
    }

    /// What a look at the units found (a limit, an old plan), outside any effect.
    pub fn heed(&mut self, index: &Index, dirty: &mut Dirty, now: Now) {
        for (name, zone) in &mut self.by_name {
            for news in zone.runtime.news() {
                zone.heed(name, news, index, dirty, now);
            }
        }
    }
}

/// What the status of a DNSZone tells of its guard.
fn kept(status: &DNSZoneStatus) -> Kept {
    let count = |number: i32| usize::try_from(number).unwrap_or(0);
    let past = status.withdrawn.as_ref().map(|withdrawn| Past {
        until: withdrawn.until.0,
        sets: count(withdrawn.sets),
        live: count(withdrawn.live),
    });
    Kept {
        past,
        spent: status.last_confirmed.clone(),
    }
}

impl Zone {
    /// The hostnames for which a name matters: those that want it, still hold it or wait to see it read, or whose group
    /// it is, or, for a wildcard, that live below its parent.
    fn wanting(&self, name: &RecordName, index: &Index, zone: &ZoneRef) -> Vec<HostnameKey> {
        let parent = name.name().parent();
        let around = parent
            .iter()
            .filter(|_| name.name().first_label().starts_with("_truce"));
        let around = around.flat_map(|parent| [parent.to_string(), format!("*.{parent}")]);
        let names = [name.clone()]
            .into_iter()
            .chain(around.map(|text| RecordName::listed(&text)));
        let mut keys: BTreeSet<HostnameKey> = names
            .flat_map(|name| self.reservations.wanting(&name))
            .cloned()
            .collect();
        keys.extend(index.of_name(name).cloned());
        if name.name().is_wildcard() {
            keys.extend(index.of_zone(zone).cloned());
        }
        keys.into_iter().collect()
    }

    fn heed(&mut self, name: &ZoneRef, news: ZoneNews, index: &Index, dirty: &mut Dirty, now: Now) {
        match news {
            ZoneNews::Changed(record) => {
                dirty.mark(&self.wanting(&record, index, name));
                dirty.mark(&self.behind_wildcard);
            }
            ZoneNews::Applied { hostname, part, .. } => {
                if part == Part::Shared {
                    self.guard.applied(&hostname, now);
                }
                dirty.hostnames.insert(hostname);
            }
            ZoneNews::Insync { hostnames, .. } => dirty.hostnames.extend(hostnames),
            ZoneNews::Refused { hostname, .. } => drop(dirty.hostnames.insert(hostname)),
            ZoneNews::Problem => dirty.mark(index.of_zone(name)),
        }
        dirty.zones.insert(name.clone());
    }

    /// The zone as one hostname sees it.
    pub fn view<'a>(&'a self, hostname: &HostnameKey) -> ZoneView<'a> {
        let change = self.runtime.last_change(hostname);
        ZoneView {
            records: self.runtime.records(),
            read_at: &self.read_at,
            ready: self.runtime.ready(),
            problem: self.runtime.problem(),
            change: change.map(|change| (change.change_id.clone(), change.pending_since)),
            refusals: self.runtime.refusals(hostname),
        }
    }
}
