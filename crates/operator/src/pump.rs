//! The one loop: events in, the engine, effects out, sleep until it wants to be woken.
//!
//! Invariant: the engine is called from here only, one call at a time, and nothing here waits for the world: effects
//! run in tasks of their own. It beats at least every few seconds, which is what `/livez` looks at.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinError;
use truce_engine::Engine;
use truce_engine::effect::{Effect, EffectId};
use truce_engine::event::{Event, HubEvent};
use truce_engine::time::{Mono, Now};

use crate::admin::Health;
use crate::clock::Clock;
use crate::exec::gate::Gate;
use crate::metrics::{Metrics, Origin};

/// Events that may wait. A relist of 10,000 hostnames is more; the feeds then wait.
pub const QUEUE: usize = 4096;
/// Events taken in before the engine plans: enough to plan once for a burst.
const BURST: usize = 1024;
/// The longest sleep.
const BEAT: Duration = Duration::from_secs(5);
/// The shortest sleep, should the engine want to be woken at once again and again.
const REST: Duration = Duration::from_millis(1);
/// How long calls in flight may take after the order to stop; each has a deadline not later than this.
const LAST_CALLS: Duration = Duration::from_secs(20);

/// What decides: the engine, or a script in tests.
pub trait Brain: Send {
    /// Takes in what happened.
    fn handle(&mut self, event: Event, now: Now);

    /// What is to be done now, and when to ask again at the latest.
    fn poll(&mut self, now: Now) -> (Vec<(EffectId, Effect)>, Option<Mono>);

    /// Whether a newer process of this hub writes, so that this one has to end.
    fn superseded(&self) -> bool;
}

impl Brain for Engine {
    fn handle(&mut self, event: Event, now: Now) {
        self.handle(event, now);
    }

    fn poll(&mut self, now: Now) -> (Vec<(EffectId, Effect)>, Option<Mono>) {
        self.poll(now)
    }

    fn superseded(&self) -> bool {
        self.superseded()
    }
}

/// Why the loop ended without being told to.
#[derive(Debug, thiserror::Error)]
pub enum PumpError {
    /// Nobody can send events any more.
    #[error("all sources of events have ended")]
    NoSources,
    /// The hub's fence record in Route 53 carries a higher term than this process began with.
    #[error("a newer process of this hub writes to Route 53; this one ends")]
    Superseded,
    /// A bug in an executor.
    #[error("a call panicked: {0}")]
    Panicked(#[from] JoinError),
}

/// The loop's parts.
pub struct Pump<B> {
    /// The engine.
    pub brain: B,
    /// Where effects go.
    pub gate: Gate,
    /// The clocks.
    pub clock: Clock,
    /// Told that the loop is alive, and when the hub is known.
    pub health: Arc<Health>,
    /// Metrics.
    pub metrics: Metrics,
}

impl<B: Brain> Pump<B> {
    /// Runs until told to stop, then finishes the calls in flight.
    ///
    /// # Errors
    /// If it cannot go on.
    pub async fn run(
        mut self,
        mut events: mpsc::Receiver<Event>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), PumpError> {
        let mut wake = None;
        while !self.brain.superseded() {
            self.health.beat(self.clock.mono());
            let sleep = pause(self.clock.mono(), wake);
            let event = tokio::select! {
                biased;
                // An error means that whoever could stop it is gone, which is the same.
                _ = stop.wait_for(|stop| *stop) => break,
                Some(ended) = self.gate.ended() => {
                    ended?;
                    continue;
                }
                event = events.recv() => Some(event.ok_or(PumpError::NoSources)?),
                () = tokio::time::sleep(sleep) => None,
            };
            wake = self.turn(event, &mut events);
        }
        tracing::info!("Stopping: no new calls, waiting for those in flight");
        // Results still go to the queue, which nobody reads any more; closing it keeps them from waiting.
        events.close();
        let left = self.gate.finish(LAST_CALLS).await;
        tracing::info!(left, "Stopped");
        if self.brain.superseded() {
            return Err(PumpError::Superseded);
        }
        Ok(())
    }

    /// Takes in what has happened and starts what is to be done.
    fn turn(&mut self, first: Option<Event>, events: &mut mpsc::Receiver<Event>) -> Option<Mono> {
        let start = Instant::now();
        let now = self.clock.now();
        let waiting = std::iter::from_fn(|| events.try_recv().ok());
        for event in first.into_iter().chain(waiting).take(BURST) {
            self.metrics.event(Origin::from(&event));
            let synced = matches!(event, Event::Hub(HubEvent::Synced));
            self.brain.handle(event, now);
            if synced {
                self.health.synced();
            }
        }
        let (effects, wake) = self.brain.poll(now);
        self.metrics.plan(start.elapsed());
        self.metrics.queue.set(i64::try_from(events.len()).unwrap_or(i64::MAX));
        for (id, effect) in effects {
            self.gate.start(id, effect);
        }
        wake
    }
}

fn pause(now: Mono, wake: Option<Mono>) -> Duration {
    wake.map_or(BEAT, |wake| (wake - now).clamp(REST, BEAT))
}
