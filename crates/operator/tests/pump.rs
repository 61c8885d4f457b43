//! The loop: events reach the engine, effects are carried out, their ends come back, and an end in order.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_config::{BehaviorVersion, Region};
use kube::Client;
use serde_json::json;
use support::{Answer, Log, server};
use tokio::sync::{Notify, mpsc, watch};
use truce_engine::effect::{Effect, EffectId, HubEffect};
use truce_engine::event::{Event, HubEvent, HubRef, Success};
use truce_engine::time::{Mono, Now};
use truce_engine::value::ids::HubId;
use truce_operator::admin::Health;
use truce_operator::aws::identity;
use truce_operator::aws::route53::Route53;
use truce_operator::clock::Clock;
use truce_operator::exec::event::Publisher;
use truce_operator::exec::gate::{Executor, Gate};
use truce_operator::member::session::Members;
use truce_operator::metrics::Metrics;
use truce_operator::pump::{Brain, Pump, PumpError};

/// Wants one finalizer once the hub is known, remembers what it is told, and takes any identity for a newer process.
#[derive(Clone, Default)]
struct Scripted(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    superseded: bool,
    ended: Vec<(EffectId, bool)>,
    wanted: Vec<(EffectId, Effect)>,
}

impl Brain for Scripted {
    fn handle(&mut self, event: Event, _: Now) {
        let mut told = self.0.lock().unwrap();
        match event {
            Event::Hub(HubEvent::Synced) => {
                let object = HubRef::DnsZone {
                    name: "example-com".to_owned(),
                };
                let effect = HubEffect::SetFinalizer { object, present: true };
                told.wanted.push((EffectId(1), Effect::Hub(effect)));
            }
            Event::Done(id, outcome) => told.ended.push((id, matches!(outcome, Ok(Success::Done)))),
            Event::Hub(HubEvent::Identity { .. }) => told.superseded = true,
            Event::Hub(_) | Event::Member { .. } => {}
        }
    }

    fn poll(&mut self, _: Now) -> (Vec<(EffectId, Effect)>, Option<Mono>) {
        (std::mem::take(&mut self.0.lock().unwrap().wanted), None)
    }

    fn superseded(&self) -> bool {
        self.0.lock().unwrap().superseded
    }
}

struct Running {
    brain: Scripted,
    events: mpsc::Sender<Event>,
    stop: watch::Sender<bool>,
    pump: tokio::task::JoinHandle<Result<(), PumpError>>,
}

async fn start(hub: Client) -> Running {
    let loader = aws_config::defaults(BehaviorVersion::latest()).region(Region::new("us-east-1"));
    let (events, inbox) = mpsc::channel(16);
    let metrics = Metrics::default();
    let executor = Executor {
        hub: hub.clone(),
        hub_id: HubId::parse("prod").unwrap(),
        recorder: Publisher::new(hub.clone()),
        members: Members::new(hub, "truce-system", events.clone(), metrics.clone()),
        route53: Route53::new(&identity::load(loader.no_credentials()).await),
    };
    let brain = Scripted::default();
    let pump = Pump {
        brain: brain.clone(),
        gate: Gate::new(executor, events.clone(), metrics.clone()),
        clock: Clock::start(),
        health: Arc::new(Health::default()),
        metrics,
    };
    let (stop, stopped) = watch::channel(false);
    Running {
        brain,
        events,
        stop,
        pump: tokio::spawn(pump.run(inbox, stopped)),
    }
}

/// Waits until it holds, at most 10 s.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
    assert!(waited.is_ok(), "{what}");
}

fn zone() -> Answer {
    Answer::Json(
        200,
        json!({
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
            "metadata": {"name": "example-com", "resourceVersion": "7"}
        }),
    )
}

fn patched(log: &Log) -> bool {
    log.all().iter().any(|seen| seen.method == "PATCH")
}

#[tokio::test]
async fn an_effect_is_carried_out_and_its_end_comes_back() {
    let (hub, log) = server(|_| zone());
    let running = start(hub).await;
    running.events.send(Event::Hub(HubEvent::Synced)).await.unwrap();
    until("the end of the effect", || {
        !running.brain.0.lock().unwrap().ended.is_empty()
    })
    .await;
    assert_eq!(running.brain.0.lock().unwrap().ended, [(EffectId(1), true)]);
    assert!(patched(&log));
}

#[tokio::test]
async fn told_to_stop_it_finishes_the_call_in_flight() {
    let answer = Arc::new(Notify::new());
    let told = Arc::clone(&answer);
    let (hub, log) = server(move |seen| match seen.method.as_str() {
        "PATCH" => Answer::After(Arc::clone(&told), Box::new(zone())),
        _ => zone(),
    });
    let running = start(hub).await;
    running.events.send(Event::Hub(HubEvent::Synced)).await.unwrap();
    until("the call", || patched(&log)).await;
    running.stop.send(true).unwrap();
    // It must not end before the call has.
    let early = tokio::time::timeout(Duration::from_millis(200), running.events.closed()).await;
    assert!(early.is_ok(), "no new events are taken");
    assert!(!running.pump.is_finished());
    answer.notify_one();
    let ended = tokio::time::timeout(Duration::from_secs(10), running.pump).await;
    assert!(ended.expect("it ends within 10 s").unwrap().is_ok());
}

#[tokio::test]
async fn a_newer_process_ends_this_one() {
    let (hub, _) = server(|_| zone());
    let running = start(hub).await;
    let identity = HubEvent::Identity { uid: "u".to_owned() };
    running.events.send(Event::Hub(identity)).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), running.pump).await;
    assert!(matches!(
        ended.expect("it ends within 10 s").unwrap(),
        Err(PumpError::Superseded)
    ));
}
