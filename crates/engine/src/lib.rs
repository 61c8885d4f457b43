//! Every decision of Truce: events in, effects out.
//!
//! Invariant: pure, total and deterministic: no clock, no randomness, no I/O, ordered maps only. The way of one event:
//! `handle` changes facts and marks the names that depend on them; `poll` plans the marked names and asks for what the
//! plans, the members and the zones need next. Modules import leftwards only, which `tests/imports.rs` checks:
//! `value, time, reason -> intake -> world -> rule -> plan -> pace -> zone -> drive -> lib`, with `event` and `effect`
//! as the vocabulary beside `value`. `intake` may name the types that stand in `world`, whose `apply` calls it. `pace`
//! (budgets, backoff, the queue of wishes) knows nothing of zones; each zone asks it when it may go on.

pub mod drive;
pub mod effect;
pub mod event;
pub mod intake;
pub mod pace;
pub mod plan;
pub mod reason;
pub mod rule;
pub mod time;
pub mod value;
pub mod world;
pub mod zone;

use drive::hostnames::{Plans, Sinks};
use drive::members::{self, Wanted};
use drive::statuses::{self, Tell};
use drive::zones::Zones;
use effect::{Effect, EffectId, HubEffect, Sink};
use event::{Event, Failure, MemberKind, Outcome};
use pace::queue::{InFlight, Queue, Rate};
pub use plan::input::Config;
use time::{Mono, Now};
use value::ids::ClusterName;
use world::dirty::{Dirty, Index};
use world::{World, apply};

/// Most status writes under way at once (DESIGN.md, section 8).
const STATUSES_AT_ONCE: usize = 8;

/// All decisions, and all that they rest on.
#[derive(Debug, Clone)]
pub struct Engine {
    config: Config,
    world: World,
    index: Index,
    dirty: Dirty,
    plans: Plans,
    zones: Zones,
    wanted: Wanted,
    queue: Queue,
    rate: Rate,
    in_flight: InFlight,
    looked_at: Option<time::Wall>,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(config: Config) -> Self {
        Self {
            rate: Rate::new(config.status_writes_per_second),
            config,
            world: World::default(),
            index: Index::default(),
            dirty: Dirty::default(),
            plans: Plans::default(),
            zones: Zones::default(),
            wanted: Wanted::default(),
            queue: Queue::default(),
            in_flight: InFlight::default(),
            looked_at: None,
        }
    }

    /// Takes note of something that happened.
    pub fn handle(&mut self, event: Event, now: Now) {
        match event {
            Event::Hub(event) => {
                for sink in statuses_seen(&event) {
                    self.queue.seen(&sink);
                }
                apply::hub(&mut self.world, &mut self.dirty, &self.index, event);
            }
            Event::Member {
                cluster,
                session,
                event,
            } => self.member(&cluster, session, event, now),
            Event::Done(id, outcome) => {
                if let Some(effect) = self.in_flight.settle(id) {
                    self.settled(id, effect, outcome, now);
                }
            }
        }
    }

    /// Asks for what is to be done, and tells when to ask again if nothing happens.
    pub fn poll(&mut self, now: Now) -> (Vec<(EffectId, Effect)>, Option<Mono>) {
        let mut out = Vec::new();
        if !self.world.synced || self.world.instance.is_none() || self.superseded() {
            return (out, None);
        }
        self.prepare(now);
        let Self {
            config,
            world,
            index,
            dirty,
            plans,
            zones,
            wanted,
            queue,
            in_flight,
            ..
        } = self;
        plans.replan(
            world,
            config,
            dirty,
            &mut Sinks {
                zones,
                index,
                wanted,
                queue,
            },
            now,
        );
        Tell {
            world,
            plans,
            index,
            now,
        }
        .all(dirty, zones, queue);
        let members = members::next(world, wanted, &config.timings, in_flight, now, &mut out);
        let zones_wake = zones.next(in_flight, now, &mut out);
        zones.heed(index, dirty, now);
        let objects = self.objects(now, &mut out);
        // What the zones found while they looked for work is planned at once.
        let again = (!self.dirty.is_clean()).then_some(now.mono);
        let wake = [
            members,
            zones_wake,
            objects,
            self.plans.wake(),
            self.next_expiry(now),
            again,
        ]
        .into_iter()
        .flatten()
        .min();
        (out, wake)
    }

    /// Whether a newer process of this hub writes: this one has to end (DESIGN.md, section 2).
    pub fn superseded(&self) -> bool {
        self.zones.superseded()
    }

    /// What is known, for tests and for looking on.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The plans, for tests and for looking on.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// Marks everything to be planned anew, as a restart would (law 13).
    pub fn mark_all(&mut self) {
        self.dirty.all = true;
    }

    fn prepare(&mut self, now: Now) {
        for cluster in members::identities(&mut self.world) {
            self.dirty.mark(self.index.of_cluster(&cluster));
            let member = self.world.members.get(&cluster);
            self.dirty
                .hostnames
                .extend(member.iter().flat_map(|member| member.seen.hostnames()));
            self.dirty.members.insert(cluster);
        }
        self.zones.follow(&self.world, &self.config, now);
        for zone in self.zones.confirm(&self.world) {
            self.dirty.mark(self.index.of_zone(&zone));
            self.dirty.zones.insert(zone);
        }
        self.plans.due(&mut self.dirty, now.mono);
        self.expire(now);
    }

    /// Marks ClusterDrains that ceased to count since the last look.
    fn expire(&mut self, now: Now) {
        let before = self.looked_at.replace(now.wall);
        for (name, drain) in &self.world.drains {
            let fresh = |at: &time::Wall| *at <= now.wall && before.is_none_or(|before| *at > before);
            if drain.expires_at.as_ref().is_some_and(fresh) {
                self.dirty.drains.insert(name.clone());
                self.dirty.members.extend(drain.cluster.clone());
            }
        }
    }

    /// When the next ClusterDrain ceases to count.
    fn next_expiry(&self, now: Now) -> Option<Mono> {
        let ends = self.world.drains.values().filter_map(|drain| drain.expires_at);
        ends.filter(|at| *at > now.wall).min().map(|at| now.mono_at(at))
    }

    fn member(&mut self, cluster: &ClusterName, session: EffectId, event: event::MemberEvent, now: Now) {
        let Some(member) = self.world.members.get_mut(cluster) else {
            return;
        };
        if member.seen.session_id() != Some(session) {
            return;
        }
        for touched in apply::member(member, &mut self.dirty, &self.index, cluster, event, now) {
            if touched.kind == MemberKind::DnsEndpoint {
                self.queue.seen(&Sink::Endpoint(
                    cluster.clone(),
                    touched.namespace.to_string(),
                    touched.name.to_string(),
                ));
            }
        }
    }

    fn settled(&mut self, id: EffectId, effect: Effect, outcome: Outcome, now: Now) {
        match &effect {
            Effect::Zone(zone, _) => {
                let zone = zone.clone();
                self.zones.settled(&zone, outcome, &self.index, &mut self.dirty, now);
            }
            Effect::Member(cluster, member_effect) => match effect.sink() {
                Sink::Session(_) => {
                    if let Some(member) = self.world.members.get_mut(cluster) {
                        members::settled(member, id, member_effect, &outcome, now);
                        self.dirty.mark(self.index.of_cluster(cluster));
                        self.dirty.members.insert(cluster.clone());
                    }
                }
                _ => {
                    self.dirty.mark(self.index.of_cluster(cluster));
                    self.object_settled(effect, outcome.err(), now.mono);
                }
            },
            Effect::Hub(_) => self.object_settled(effect, outcome.err(), now.mono),
        }
    }

    fn object_settled(&mut self, effect: Effect, failure: Option<Failure>, now: Mono) {
        self.queue.settled(effect, failure, now);
    }

    /// DNSEndpoints, finalizers, statuses with their events: whatever is due and allowed now.
    fn objects(&mut self, now: Now, out: &mut Vec<(EffectId, Effect)>) -> Option<Mono> {
        let mut wake = None;
        let mut statuses = true;
        loop {
            let full = self.in_flight.statuses() >= STATUSES_AT_ONCE;
            let open = |sink: &Sink| match sink {
                Sink::Status(_) => statuses && !full,
                Sink::Endpoint(cluster, ..) => self
                    .world
                    .members
                    .get(cluster)
                    .is_some_and(|m| m.seen.session_id().is_some() && m.seen.trusted),
                _ => true,
            };
            let effect = match self.queue.next(now.mono, &self.in_flight, open) {
                Ok(effect) => effect,
                Err(later) => return [wake, later].into_iter().flatten().min(),
            };
            if let Effect::Hub(HubEffect::WriteStatus(_)) = &effect
                && let Err(at) = self.rate.take(now.mono)
            {
                self.queue.want(&effect.sink(), Some(effect), false);
                statuses = false;
                wake = Some(at);
                continue;
            }
            if let Effect::Hub(HubEffect::WriteStatus(status)) = &effect {
                for event in statuses::events(&self.world, status) {
                    out.push((self.in_flight.start(&event), event));
                }
            }
            out.push((self.in_flight.start(&effect), effect));
        }
    }
}

/// The sinks of an object of the hub that was seen: what was written there may have been undone.
fn statuses_seen(event: &event::HubEvent) -> Vec<Sink> {
    let object = match event {
        event::HubEvent::Applied(object) => object.reference(),
        event::HubEvent::Gone(object) => Some(object.clone()),
        event::HubEvent::Identity { .. } | event::HubEvent::Synced => None,
    };
    object
        .into_iter()
        .flat_map(|object| [Sink::Status(object.clone()), Sink::Finalizer(object)])
        .collect()
}
