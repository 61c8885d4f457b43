//! A watch in a member: what is told, and when it may be.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use support::{Answer, Log, Seen, kube_system, refusal, server};
use tokio::sync::{mpsc, watch};
use truce_engine::effect::EffectId;
use truce_engine::event::{Class, Event, Failure, MemberEvent, MemberKind, MemberObject, WatchKey};
use truce_engine::value::ids::ClusterName;
use truce_operator::feed::member::{Feed, follow};
use truce_operator::member::session::Upstream;
use truce_operator::metrics::Metrics;
use truce_operator::task::Task;

const UID: &str = "uid-east";

/// A watch of services in the namespace web, or of DNSEndpoints in truce-system.
struct Watching {
    events: mpsc::Receiver<Event>,
    upstream: watch::Sender<Upstream>,
    _task: Task,
}

fn follow_kind(kind: MemberKind, member: Client) -> Watching {
    let namespace = match kind {
        MemberKind::Service => "web",
        MemberKind::DnsEndpoint => "truce-system",
    };
    let (sender, events) = mpsc::channel(16);
    let (upstream, receiver) = watch::channel(Ok(member));
    let feed = Feed {
        cluster: ClusterName::parse("east").unwrap(),
        session: EffectId(7),
        cluster_uid: UID.into(),
        key: WatchKey {
            kind,
            namespace: namespace.to_owned(),
        },
        upstream: receiver,
        events: sender,
        metrics: Metrics::default(),
    };
    Watching {
        events,
        upstream,
        _task: Task::spawn(follow(feed)),
    }
}

impl Watching {
    async fn next(&mut self) -> MemberEvent {
        let next = tokio::time::timeout(Duration::from_secs(10), self.events.recv()).await;
        match next.expect("an event within 10 s").expect("the watch goes on") {
            Event::Member { session, event, .. } => {
                assert_eq!(session, EffectId(7));
                event
            }
            other => panic!("{other:?}"),
        }
    }

    async fn listed(&mut self) -> Vec<String> {
        match self.next().await {
            MemberEvent::Listed { objects, .. } => objects.iter().map(name).collect(),
            other => panic!("not a list: {other:?}"),
        }
    }

    async fn failed(&mut self) -> Failure {
        match self.next().await {
            MemberEvent::WatchFailed { failure, .. } => failure,
            other => panic!("not a failure: {other:?}"),
        }
    }
}

fn name(object: &MemberObject) -> String {
    match object {
        MemberObject::Service(seen) => seen.name.clone(),
        MemberObject::DnsEndpoint(seen) => seen.name.clone(),
    }
}

fn service(name: &str, version: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "web", "name": name, "resourceVersion": version},
        "spec": {"type": "LoadBalancer"}
    })
}

fn page(items: &[Value], next: Option<&str>) -> Answer {
    Answer::Json(
        200,
        json!({
            "apiVersion": "v1", "kind": "ServiceList",
            "metadata": {"resourceVersion": "10", "continue": next}, "items": items
        }),
    )
}

/// What a request asks for.
#[derive(PartialEq)]
enum Ask {
    Identity,
    List,
    Watch,
}

fn ask(seen: &Seen) -> Ask {
    match seen.path.as_str() {
        "/api/v1/namespaces/kube-system" => Ask::Identity,
        _ if seen.query.contains("watch=true") => Ask::Watch,
        _ => Ask::List,
    }
}

fn lists(log: &Log) -> Vec<String> {
    let all = log.all().into_iter();
    all.filter(|seen| ask(seen) == Ask::List)
        .map(|seen| seen.query)
        .collect()
}

#[tokio::test]
async fn a_list_is_told_whole_and_changes_after_it() {
    let (member, log) = server(|seen| match ask(seen) {
        Ask::Identity => kube_system(UID),
        Ask::List if seen.query.contains("continue=") => page(&[service("b", "2")], None),
        Ask::List => page(&[service("a", "1")], Some("more")),
        Ask::Watch => Answer::Watch(vec![
            json!({"type": "MODIFIED", "object": service("a", "11")}),
            json!({"type": "DELETED", "object": service("b", "12")}),
        ]),
    });
    let mut watching = follow_kind(MemberKind::Service, member);
    assert_eq!(watching.listed().await, ["a", "b"]);
    assert!(matches!(watching.next().await, MemberEvent::Applied(object) if name(&object) == "a"));
    assert!(matches!(watching.next().await, MemberEvent::Gone { name, .. } if name == "b"));
    assert_eq!(lists(&log).len(), 2);
    let watch = log.all().pop().unwrap();
    assert_eq!(watch.path, "/api/v1/namespaces/web/services");
    assert!(watch.query.contains("resourceVersion=10"), "{}", watch.query);
}

#[tokio::test]
async fn a_list_that_cannot_be_followed_is_not_told() {
    let (member, _) = server(|seen| match ask(seen) {
        Ask::Identity => kube_system(UID),
        Ask::List => page(&[service("a", "1")], None),
        Ask::Watch => refusal(403, "Forbidden", "cannot watch services"),
    });
    let mut watching = follow_kind(MemberKind::Service, member);
    for _ in 0..2 {
        let failure = watching.failed().await;
        assert_eq!((failure.class, failure.code.as_str()), (Class::Denied, "Forbidden"));
    }
}

#[tokio::test]
async fn a_failure_ends_with_a_complete_list() {
    let tries = AtomicUsize::new(0);
    let (member, _) = server(move |seen| match ask(seen) {
        Ask::Identity => kube_system(UID),
        // The second page fails: the first alone must not be told.
        Ask::List if seen.query.contains("continue=") && tries.fetch_add(1, Ordering::SeqCst) == 0 => {
            refusal(500, "InternalError", "etcd is gone")
        }
        Ask::List if seen.query.contains("continue=") => page(&[service("b", "2")], None),
        Ask::List => page(&[service("a", "1")], Some("more")),
        Ask::Watch => Answer::Watch(Vec::new()),
    });
    let mut watching = follow_kind(MemberKind::Service, member);
    let failure = watching.failed().await;
    assert_eq!((failure.class, failure.ambiguous), (Class::Retry, false));
    assert_eq!(watching.listed().await, ["a", "b"]);
}

#[tokio::test]
async fn another_cluster_under_the_same_address_is_never_listed() {
    let (member, log) = server(|seen| match ask(seen) {
        Ask::Identity => kube_system("uid-of-another"),
        Ask::List => page(&[], None),
        Ask::Watch => Answer::Watch(Vec::new()),
    });
    let mut watching = follow_kind(MemberKind::Service, member);
    let failure = watching.failed().await;
    assert_eq!(
        (failure.class, failure.code.as_str()),
        (Class::Denied, "ClusterReplaced")
    );
    assert!(lists(&log).is_empty());
}

#[tokio::test]
async fn an_expired_watch_lists_again() {
    let watches = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&watches);
    let (member, log) = server(move |seen| match ask(seen) {
        Ask::Identity => kube_system(UID),
        Ask::List => page(&[service("a", "1")], None),
        Ask::Watch if count.fetch_add(1, Ordering::SeqCst) == 0 => Answer::Watch(vec![json!({
            "type": "ERROR",
            "object": {"kind": "Status", "status": "Failure", "code": 410, "reason": "Expired", "message": "too old"}
        })]),
        Ask::Watch => Answer::Watch(Vec::new()),
    });
    let mut watching = follow_kind(MemberKind::Service, member);
    assert_eq!(watching.listed().await, ["a"]);
    assert_eq!(watching.listed().await, ["a"]);
    assert_eq!(lists(&log).len(), 2);
}

#[tokio::test]
async fn only_dns_endpoints_of_a_hub_are_asked_for_and_an_unknown_kind_is_named() {
    let (member, log) = server(|seen| match ask(seen) {
        Ask::Identity => kube_system(UID),
        _ => refusal(404, "", "404 page not found"),
    });
    let mut watching = follow_kind(MemberKind::DnsEndpoint, member);
    let failure = watching.failed().await;
    assert_eq!((failure.class, failure.code.as_str()), (Class::Permanent, "CRDMissing"));
    let list = lists(&log).remove(0);
    assert!(list.contains("labelSelector=dns.truce.dev%2Fhub-id"), "{list}");
}

#[tokio::test]
async fn new_credentials_take_effect_at_once() {
    let (refusing, _) = server(|_| refusal(401, "Unauthorized", "Unauthorized"));
    let mut watching = follow_kind(MemberKind::Service, refusing);
    assert_eq!(watching.failed().await.code, "Unauthorized");
    let (accepting, _) = server(|seen| match ask(seen) {
        Ask::Identity => kube_system(UID),
        Ask::List => page(&[service("a", "1")], None),
        Ask::Watch => Answer::Watch(Vec::new()),
    });
    watching.upstream.send(Ok(accepting)).ok().unwrap();
    assert_eq!(watching.listed().await, ["a"]);
}
