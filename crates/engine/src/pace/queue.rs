//! What is wanted of objects: the newest wish per sink, urgent ones first, one in flight each, retries by class.
//!
//! Invariant: a wish that was fulfilled is not repeated until the object was seen again; the newest wish of a sink
//! replaces the one that waits (so the queue holds at most one entry an object). Deliberately absent: zones, which have
//! their own pace (`zone/runtime.rs`), and sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::backoff;
use crate::effect::{Effect, EffectId, Sink};
use crate::event::Failure;
use crate::time::Mono;

/// Effects that were asked for and have not ended.
#[derive(Debug, Clone, Default)]
pub struct InFlight {
    next: u64,
    by_id: BTreeMap<EffectId, Effect>,
    busy: BTreeSet<Sink>,
}

impl InFlight {
    /// Whether an effect to this sink is under way.
    pub fn is_busy(&self, sink: &Sink) -> bool {
        self.busy.contains(sink)
    }

    /// Numbers an effect and remembers it until it ends.
    pub fn start(&mut self, effect: &Effect) -> EffectId {
        let id = EffectId(self.next);
        self.next += 1;
        let sink = effect.sink();
        if sink != Sink::Events {
            self.busy.insert(sink);
            self.by_id.insert(id, effect.clone());
        }
        id
    }

    /// An effect ended; `None` if it is unknown or was settled before.
    pub fn settle(&mut self, id: EffectId) -> Option<Effect> {
        let effect = self.by_id.remove(&id)?;
        self.busy.remove(&effect.sink());
        Some(effect)
    }

    /// How many status writes are under way.
    pub fn statuses(&self) -> usize {
        self.busy.iter().filter(|sink| matches!(sink, Sink::Status(_))).count()
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

#[derive(Debug, Clone)]
struct Wish {
    effect: Effect,
    urgent: bool,
    number: u64,
}

#[derive(Debug, Clone)]
struct Retry {
    failures: u32,
    at: Mono,
    failure: Failure,
}

/// Wishes for objects.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    wishes: BTreeMap<Sink, Wish>,
    order: BTreeSet<(bool, u64, Sink)>,
    done: BTreeMap<Sink, Effect>,
    retries: BTreeMap<Sink, Retry>,
    next: u64,
}

impl Queue {
    /// The newest wish for a sink; `None`: nothing is wanted any more.
    pub fn want(&mut self, sink: &Sink, effect: Option<Effect>, urgent: bool) {
        let fulfilled = effect.is_some() && self.done.get(sink) == effect.as_ref();
        let before = self.wishes.remove(sink);
        if let Some(before) = &before {
            self.order.remove(&(!before.urgent, before.number, sink.clone()));
        }
        let Some(effect) = effect.filter(|_| !fulfilled) else {
            return;
        };
        let number = before.as_ref().map_or(self.next, |wish| wish.number);
        self.next += u64::from(before.is_none());
        let urgent = urgent || before.is_some_and(|wish| wish.urgent);
        self.order.insert((!urgent, number, sink.clone()));
        self.wishes.insert(sink.clone(), Wish { effect, urgent, number });
    }

    /// The object of this sink was seen: what was done before may have been undone.
    pub fn seen(&mut self, sink: &Sink) {
        self.done.remove(sink);
    }

    /// What was written last, until the object is seen again.
    pub fn written(&self, sink: &Sink) -> Option<&Effect> {
        self.done.get(sink)
    }

    /// Why the last try failed, if it did.
    pub fn failure(&self, sink: &Sink) -> Option<&Failure> {
        self.retries.get(sink).map(|retry| &retry.failure)
    }

    /// Takes the next effect whose sink is free and whose time has come, of those that `allowed` lets through;
    /// else tells when the next one's time comes.
    pub fn next(
        &mut self,
        now: Mono,
        in_flight: &InFlight,
        allowed: impl Fn(&Sink) -> bool,
    ) -> Result<Effect, Option<Mono>> {
        let mut wake: Option<Mono> = None;
        let mut found = None;
        for (_, _, sink) in &self.order {
            if in_flight.is_busy(sink) || !allowed(sink) {
                continue;
            }
            match self.retries.get(sink).map(|retry| retry.at).filter(|at| *at > now) {
                Some(at) => wake = Some(wake.map_or(at, |w| w.min(at))),
                None => {
                    found = Some(sink.clone());
                    break;
                }
            }
        }
        let wish = found.and_then(|sink| {
            let wish = self.wishes.remove(&sink)?;
            self.order.remove(&(!wish.urgent, wish.number, sink));
            Some(wish)
        });
        wish.map(|wish| wish.effect).ok_or(wake)
    }

    /// An effect of this queue ended; a failed one is wanted again, unless something newer is.
    pub fn settled(&mut self, effect: Effect, failure: Option<Failure>, now: Mono) {
        let sink = effect.sink();
        let Some(failure) = failure else {
            self.retries.remove(&sink);
            if self.wishes.get(&sink).is_some_and(|wish| wish.effect == effect) {
                self.want(&sink, None, false);
            }
            self.done.insert(sink, effect);
            return;
        };
        let failures = self
            .retries
            .get(&sink)
            .map_or(0, |retry| retry.failures)
            .saturating_add(1);
        let at = now + backoff::wait(failure.class, failures, &format!("{sink:?}"));
        self.done.remove(&sink);
        self.retries.insert(sink.clone(), Retry { failures, at, failure });
        if !self.wishes.contains_key(&sink) {
            self.want(&sink, Some(effect), false);
        }
    }

    /// Forgets a sink whose object is gone.
    pub fn forget(&mut self, sink: &Sink) {
        self.want(sink, None, false);
        self.done.remove(sink);
        self.retries.remove(sink);
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.wishes.is_empty()
    }
}

/// At most so many a second, in a bucket of one second's worth.
#[derive(Debug, Clone)]
pub struct Rate {
    per_second: u32,
    next: Mono,
}

impl Rate {
    /// `per_second` is at least 1.
    pub fn new(per_second: u32) -> Self {
        Self {
            per_second: per_second.max(1),
            next: Mono::default(),
        }
    }

    /// Takes one, or tells when there is one again.
    pub fn take(&mut self, now: Mono) -> Result<(), Mono> {
        let step = Duration::from_millis(u64::from(1000 / self.per_second.min(1000)));
        let burst = step * self.per_second;
        // `next` is when the bucket would be full again; it may lie a burst ahead.
        let full_at = self.next.max(now);
        if full_at - now >= burst {
            return Err(now + step);
        }
        self.next = full_at + step;
        Ok(())
    }
}
