//! A member's session: what fails is told anew when it fails otherwise, and another cluster is asked who it is.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use serde_json::json;
use truce_engine::effect::{Effect, EffectId, HubEffect, MemberEffect, Status};
use truce_engine::event::{
    Class, Event, Failure, HubEvent, HubObject, HubRef, MemberEvent, MemberKind, Success, WatchKey,
};
use truce_engine::time::{Mono, Now, Timings, Wall};
use truce_engine::value::ids::{ClusterName, HubId};
use truce_engine::{Config, Engine};

struct Story {
    engine: Engine,
    millis: u64,
    session: Option<EffectId>,
    opened: Vec<EffectId>,
    reachable: Vec<String>,
}

/// Who answers when a session is opened, and the watch of its DNSEndpoints.
const FIRST: &str = "uid-first";
const SECOND: &str = "uid-second";

fn endpoints() -> WatchKey {
    WatchKey {
        kind: MemberKind::DnsEndpoint,
        namespace: "truce-system".to_owned(),
    }
}

fn failed(class: Class, code: &str) -> MemberEvent {
    MemberEvent::WatchFailed {
        watch: endpoints(),
        failure: Failure {
            class,
            code: code.to_owned(),
            message: "said by the member".to_owned(),
            ambiguous: false,
        },
    }
}

fn member_cluster(status: serde_json::Value) -> Event {
    let object = serde_json::from_value(json!({
        "apiVersion": "dns.truce.dev/v1alpha1", "kind": "MemberCluster",
        "metadata": {
            "name": "east", "uid": "u", "generation": 1, "creationTimestamp": "2026-11-30T00:00:00Z",
            "finalizers": [truce_api::FINALIZER]
        },
        "spec": {
            "region": "us-east-1", "access": {"kubeconfig": {"secretRef": {"name": "east", "key": "value"}}},
            "externalDNS": [{"ownerID": "east-dns"}]
        },
        "status": status
    }));
    Event::Hub(HubEvent::Applied(Box::new(HubObject::MemberCluster(object.unwrap()))))
}

impl Story {
    /// A hub that knows one member; `answers` is the cluster behind its address.
    fn begin(answers: &str) -> Self {
        let engine = Engine::new(Config {
            hub: HubId::parse("prod").unwrap(),
            namespace: "truce-system".to_owned(),
            timings: Timings::default(),
            status_writes_per_second: 1000,
        });
        let mut story = Self {
            engine,
            millis: 0,
            session: None,
            opened: Vec::new(),
            reachable: Vec::new(),
        };
        let uid = "uid-hub".to_owned();
        story.tell(Event::Hub(HubEvent::Identity { uid }));
        story.tell(member_cluster(json!({"clusterUID": FIRST})));
        story.tell(Event::Hub(HubEvent::Synced));
        story.settle(answers);
        story
    }

    fn now(&self) -> Now {
        Now {
            mono: Mono(self.millis),
            wall: Wall::from_second(1_700_000_000).unwrap(),
        }
    }

    fn tell(&mut self, event: Event) {
        let now = self.now();
        self.engine.handle(event, now);
    }

    /// Something happens in the open session.
    fn member(&mut self, event: MemberEvent, answers: &str) {
        let (cluster, session) = (ClusterName::parse("east").unwrap(), self.session.unwrap());
        self.tell(Event::Member {
            cluster,
            session,
            event,
        });
        self.settle(answers);
    }

    fn list(&mut self, answers: &str) {
        let (watch, objects) = (endpoints(), Vec::new());
        self.member(MemberEvent::Listed { watch, objects }, answers);
    }

    /// Carries out what is asked for until nothing more is, over a few seconds.
    fn settle(&mut self, answers: &str) {
        for _ in 0..50 {
            self.millis += 100;
            let now = self.now();
            let (effects, _) = self.engine.poll(now);
            for (id, effect) in effects {
                let success = self.carry_out(id, &effect, answers);
                self.tell(Event::Done(id, Ok(success)));
            }
        }
    }

    fn carry_out(&mut self, id: EffectId, effect: &Effect, answers: &str) -> Success {
        match effect {
            Effect::Member(_, MemberEffect::Open(_)) => {
                self.session = Some(id);
                self.opened.push(id);
                return Success::Opened {
                    cluster_uid: answers.to_owned(),
                    server_version: "v1.37.2".to_owned(),
                };
            }
            Effect::Hub(HubEffect::WriteStatus(status)) => {
                if let Status::MemberCluster { status, .. } = &**status {
                    let reachable = status
                        .conditions
                        .iter()
                        .find(|condition| condition.type_ == "Reachable");
                    let reachable = reachable.expect("a condition Reachable");
                    self.reachable
                        .push(format!("{} {}", reachable.reason, reachable.message));
                }
            }
            _ => {}
        }
        Success::Done
    }

    fn last(&self) -> &str {
        self.reachable.last().expect("a status")
    }
}

#[test]
fn a_member_that_fails_otherwise_is_told_anew() {
    let mut story = Story::begin(FIRST);
    story.list(FIRST);
    assert_eq!(story.last(), "Reachable ");
    for (class, code) in [
        (Class::Retry, "MemberUnreachable"),
        (Class::Denied, "Unauthorized"),
        (Class::Denied, "Forbidden"),
    ] {
        story.member(failed(class, code), FIRST);
        assert_eq!(story.last(), format!("{code} said by the member"));
    }
    story.list(FIRST);
    assert_eq!(story.last(), "Reachable ");
    assert_eq!(story.opened.len(), 1);
}

#[test]
fn another_cluster_behind_the_address_is_asked_who_it_is_and_shown_with_its_hash() {
    let mut story = Story::begin(FIRST);
    story.list(FIRST);
    story.member(failed(Class::Denied, "ClusterReplaced"), SECOND);
    assert_eq!(story.opened.len(), 2);
    story.list(SECOND);
    let hash = truce_engine::rule::identity::confirm_hash(SECOND);
    let last = story.last();
    assert!(last.starts_with("ClusterReplaced") && last.contains(&hash), "{last}");
}

#[test]
fn the_session_of_a_member_cluster_that_is_gone_is_closed() {
    let mut story = Story::begin(FIRST);
    let name = "east".to_owned();
    story.tell(Event::Hub(HubEvent::Gone(HubRef::MemberCluster { name })));
    let now = story.now();
    let (effects, _) = story.engine.poll(now);
    let closes = |(_, effect): &&(EffectId, Effect)| matches!(effect, Effect::Member(_, MemberEffect::Close));
    assert_eq!(effects.iter().filter(closes).count(), 1, "{effects:?}");
    let (effects, _) = story.engine.poll(now);
    assert_eq!(effects.iter().filter(closes).count(), 0, "once");
}
