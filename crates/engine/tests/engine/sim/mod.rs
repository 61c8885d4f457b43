//! A small world around the engine: the hub's objects, members with Services and DNSEndpoints, one hosted zone, and a
//! model of ExternalDNS 0.22.
//!
//! Everything is stepped by hand on virtual time. Every version of the zone is kept. Here: time, and the way of an
//! effect; what each part of the world answers has a file of its own.

use std::collections::BTreeMap;

use serde_json::Value;
use truce_engine::effect::{Change, Effect, EffectId, ZoneEffect};
use truce_engine::event::{Class, Event, Failure, Success};
use truce_engine::time::{Mono, Now, Timings, Wall};
use truce_engine::value::ids::HubId;
use truce_engine::value::record::{RecordSet, SetKey};
use truce_engine::{Config, Engine};

use crate::fake::Fake;

mod external_dns;
mod hub;
mod member;
mod people;

pub(crate) use external_dns::txt_name;
pub(crate) use member::Member;

/// The world.
pub(crate) struct Sim {
    pub(crate) engine: Engine,
    pub(crate) now: Now,
    pub(crate) zone: Fake,
    pub(crate) objects: Objects,
    pub(crate) members: BTreeMap<String, Member>,
    /// Every version of the zone, each with who made it.
    pub(crate) versions: Vec<(String, Vec<RecordSet>)>,
    pub(crate) user_events: Vec<String>,
    pub(crate) status_writes: usize,
    pub(crate) hub_batches: usize,
    /// What is looked at whenever the zone changes, a batch is sent or the engine is asked.
    pub(crate) watch: Option<Box<dyn Observer>>,
    /// Where the operator dies, or an answer gets lost: at the so-manieth effect.
    pub(crate) fault: Option<(usize, Fault)>,
    /// Effects that were carried out.
    pub(crate) effects: usize,
    /// In which order effects of one poll are carried out: 0 as they come, else rotated by so many.
    pub(crate) rotate: usize,
    config: Config,
    created: i64,
    next_sync: Mono,
    lose_answer: bool,
}

/// What happens at an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The operator dies before the effect.
    KilledBefore,
    /// The operator dies after the effect, before the answer.
    KilledAfter,
    /// The effect is carried out, the answer gets lost.
    AnswerLost,
}

/// Who looks at everything that happens.
pub(crate) trait Observer {
    /// Before the engine is asked.
    fn asked(&mut self, engine: &Engine, now: Now);
    /// A batch is sent.
    fn batch(&mut self, changes: &[Change]);
    /// The zone has changed.
    fn version(&mut self, who: &str, sets: &BTreeMap<SetKey, RecordSet>, objects: &Objects, now: Now);
}

/// Kind, namespace, name.
pub(crate) type ObjectKey = (String, String, String);

/// The hub's objects as JSON.
pub(crate) type Objects = BTreeMap<ObjectKey, Value>;

/// Between two runs of a member's ExternalDNS, milliseconds.
const SYNC: u64 = 3_000;
pub(crate) fn timings() -> Timings {
    Timings {
        drain_grace: std::time::Duration::from_secs(10),
        ..Timings::default()
    }
}

impl Sim {
    pub(crate) fn new() -> Self {
        Self::with(timings())
    }

    pub(crate) fn with(timings: Timings) -> Self {
        let config = Config {
            hub: HubId::parse("demo").unwrap(),
            namespace: "truce-system".to_owned(),
            timings,
            status_writes_per_second: 1000,
        };
        let mut sim = Self {
            engine: Engine::new(config.clone()),
            now: Now {
                mono: Mono(1_000),
                wall: Wall::from_second(1_800_000_000).unwrap(),
            },
            zone: Fake::new(),
            objects: BTreeMap::new(),
            members: BTreeMap::new(),
            versions: Vec::new(),
            user_events: Vec::new(),
            status_writes: 0,
            hub_batches: 0,
            watch: None,
            fault: None,
            effects: 0,
            rotate: 0,
            config,
            created: 0,
            next_sync: Mono(SYNC),
            lose_answer: false,
        };
        sim.greet();
        sim
    }

    fn greet(&mut self) {
        let keys: Vec<_> = self.objects.keys().cloned().collect();
        self.greet_with(&keys);
    }

    /// The operator is killed and started again: the engine forgets everything.
    pub(crate) fn restart(&mut self) {
        let keys: Vec<_> = self.objects.keys().cloned().collect();
        self.restart_with(&keys);
    }

    /// As `restart`; the objects are listed in this order.
    pub(crate) fn restart_with(&mut self, objects: &[ObjectKey]) {
        self.engine = Engine::new(self.config.clone());
        for member in self.members.values_mut() {
            member.session = None;
            member.watches.clear();
        }
        self.greet_with(objects);
    }

    fn tell(&mut self, event: Event) {
        self.engine.handle(event, self.now);
    }

    /// Runs until the engine asks for nothing now.
    pub(crate) fn settle(&mut self) -> Option<Mono> {
        for _ in 0..1_000 {
            if let Some(watch) = &mut self.watch {
                watch.asked(&self.engine, self.now);
            }
            let (mut effects, wake) = self.engine.poll(self.now);
            if effects.is_empty() {
                match wake {
                    Some(at) if at <= self.now.mono => continue,
                    other => return other,
                }
            }
            let by = self.rotate % effects.len();
            effects.rotate_left(by);
            for (id, effect) in effects {
                if !self.carry_out(id, effect) {
                    break;
                }
            }
        }
        panic!("the engine never comes to rest: {:?}", self.status());
    }

    /// Settles, looking after every single effect.
    pub(crate) fn settle_watching(&mut self, look: impl Fn(&Self)) {
        loop {
            let (effects, _) = self.engine.poll(self.now);
            if effects.is_empty() {
                return;
            }
            for (id, effect) in effects {
                self.execute(id, effect);
                look(self);
            }
        }
    }

    /// Lets time pass, with ExternalDNS running every three seconds.
    pub(crate) fn run(&mut self, seconds: u64) {
        let end = Mono(self.now.mono.0 + seconds * 1_000);
        loop {
            let wake = self.settle();
            if self.now.mono >= end {
                return;
            }
            let next = wake.into_iter().chain([end, self.next_sync]).min().unwrap_or(end);
            self.pass(next.0.saturating_sub(self.now.mono.0));
            if self.now.mono >= self.next_sync {
                self.next_sync = Mono(self.now.mono.0 + SYNC);
                self.external_dns();
            }
        }
    }

    /// Runs until a condition holds; fails after a minute of virtual time... or `seconds`.
    pub(crate) fn until(&mut self, what: &str, seconds: u64, done: impl Fn(&Self) -> bool) {
        for _ in 0..seconds {
            self.run(1);
            if done(self) {
                return;
            }
        }
        panic!(
            "{what}: not within {seconds} s\n{}\n{}",
            self.lines().join("\n"),
            serde_json::to_string_pretty(&self.status()).unwrap()
        );
    }

    fn pass(&mut self, millis: u64) {
        let wall = self.now.wall.as_millisecond() + i64::try_from(millis).unwrap();
        self.now = Now {
            mono: Mono(self.now.mono.0 + millis),
            wall: Wall::from_millisecond(wall).unwrap(),
        };
    }

    fn done(&mut self, id: EffectId, outcome: Result<Success, Failure>) {
        let lost = Failure {
            class: Class::Retry,
            code: "ConnectionReset".to_owned(),
            message: "the answer got lost".to_owned(),
            ambiguous: true,
        };
        let outcome = if self.lose_answer { Err(lost) } else { outcome };
        self.tell(Event::Done(id, outcome));
    }

    /// Carries an effect out, or what the fault makes of it; false: the operator was started anew.
    fn carry_out(&mut self, id: EffectId, effect: Effect) -> bool {
        self.effects += 1;
        let fault = self.fault.filter(|(at, _)| *at == self.effects).map(|(_, fault)| fault);
        match fault {
            None => self.execute(id, effect),
            Some(Fault::KilledBefore) => self.restart(),
            Some(Fault::KilledAfter) => {
                self.execute(id, effect);
                self.restart();
            }
            Some(Fault::AnswerLost) => {
                self.lose_answer = true;
                self.execute(id, effect);
                self.lose_answer = false;
            }
        }
        matches!(fault, None | Some(Fault::AnswerLost))
    }

    fn execute(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::Hub(effect) => self.hub(id, effect),
            Effect::Member(cluster, effect) => self.in_member(id, &cluster, effect),
            Effect::Zone(_, effect) => {
                if let (ZoneEffect::Submit { changes, .. }, Some(watch)) = (&effect, &mut self.watch) {
                    watch.batch(changes);
                }
                let outcome = self.zone.answer(&effect, self.now.wall);
                if matches!(effect, ZoneEffect::Submit { .. }) && outcome.is_ok() {
                    self.hub_batches += 1;
                    self.record("hub");
                }
                self.done(id, outcome);
            }
        }
    }

    /// Notes a version of the zone, and who made it.
    pub(crate) fn record(&mut self, who: &str) {
        if let Some(watch) = &mut self.watch {
            watch.version(who, &self.zone.sets, &self.objects, self.now);
            return;
        }
        let sets = self.zone.sets.values().cloned().collect();
        self.versions.push((who.to_owned(), sets));
    }
}
