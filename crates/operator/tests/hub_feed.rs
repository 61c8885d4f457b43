//! The watches of the hub: identity first, all kinds before `Synced`, nothing forgotten that cannot be read.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use support::{Answer, kube_system, server};
use tokio::sync::mpsc;
use truce_engine::event::{Event, HubEvent, HubObject, HubRef};
use truce_operator::feed::hub::follow;
use truce_operator::metrics::Metrics;
use truce_operator::task::Task;

struct Watching {
    events: mpsc::Receiver<Event>,
    metrics: Metrics,
    _task: Task,
}

fn watching(hub: Client) -> Watching {
    let (sender, events) = mpsc::channel(64);
    let metrics = Metrics::default();
    Watching {
        events,
        metrics: metrics.clone(),
        _task: Task::spawn(follow(hub, sender, metrics)),
    }
}

impl Watching {
    async fn next(&mut self) -> HubEvent {
        let next = tokio::time::timeout(Duration::from_secs(10), self.events.recv()).await;
        match next.expect("an event within 10 s").expect("the watches go on") {
            Event::Hub(event) => event,
            other => panic!("{other:?}"),
        }
    }

    async fn until_synced(&mut self) -> Vec<HubEvent> {
        let mut all = Vec::new();
        loop {
            match self.next().await {
                HubEvent::Synced => return all,
                event => all.push(event),
            }
        }
    }
}

fn list(items: &[Value]) -> Answer {
    let meta = json!({"resourceVersion": "10"});
    Answer::Json(
        200,
        json!({"apiVersion": "v1", "kind": "List", "metadata": meta, "items": items}),
    )
}

fn drain(name: &str, version: &str) -> Value {
    json!({
        "apiVersion": "dns.truce.dev/v1alpha1", "kind": "ClusterDrain",
        "metadata": {"name": name, "resourceVersion": version},
        "spec": {"cluster": "east", "reason": "node upgrade"}
    })
}

fn namespace() -> Value {
    json!({"metadata": {"name": "shop", "labels": {"team": "web"}, "resourceVersion": "1"}})
}

fn name(event: &HubEvent) -> Option<&str> {
    match event {
        HubEvent::Applied(object) => match &**object {
            HubObject::ClusterDrain(drain) => drain.metadata.name.as_deref(),
            HubObject::Namespace { name, .. } => Some(name),
            _ => None,
        },
        _ => None,
    }
}

#[tokio::test]
async fn identity_comes_first_and_synced_after_every_kind() {
    let (hub, log) = server(|seen| match seen.path.as_str() {
        "/api/v1/namespaces/kube-system" => kube_system("uid-hub"),
        _ if seen.query.contains("watch=true") => Answer::Watch(Vec::new()),
        "/apis/dns.truce.dev/v1alpha1/clusterdrains" => list(&[drain("a", "1"), drain("b", "2")]),
        "/api/v1/namespaces" => list(&[namespace()]),
        _ => list(&[]),
    });
    let mut watching = watching(hub);
    assert!(matches!(watching.next().await, HubEvent::Identity { uid } if uid == "uid-hub"));
    let all = watching.until_synced().await;
    let mut names: Vec<_> = all.iter().filter_map(name).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "shop"]);
    let asked = log.all();
    for kind in ["globalhostnames", "memberclusters", "clusterdrains", "dnszones"] {
        let path = format!("/apis/dns.truce.dev/v1alpha1/{kind}");
        assert!(asked.iter().any(|seen| seen.path == path), "{kind}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_counted_and_never_told_as_gone() {
    let mut broken = drain("b", "11");
    broken["spec"]["cluster"] = json!(7);
    let (hub, _) = server(move |seen| match seen.path.as_str() {
        "/api/v1/namespaces/kube-system" => kube_system("uid-hub"),
        "/apis/dns.truce.dev/v1alpha1/clusterdrains" if seen.query.contains("watch=true") => Answer::Watch(vec![
            json!({"type": "MODIFIED", "object": broken}),
            json!({"type": "DELETED", "object": drain("a", "12")}),
        ]),
        _ if seen.query.contains("watch=true") => Answer::Watch(Vec::new()),
        "/apis/dns.truce.dev/v1alpha1/clusterdrains" => list(&[drain("a", "1"), drain("b", "2")]),
        _ => list(&[]),
    });
    let mut watching = watching(hub);
    let mut gone = None;
    while gone.is_none() {
        if let HubEvent::Gone(reference) = watching.next().await {
            gone = Some(reference);
        }
    }
    let a = HubRef::ClusterDrain { name: "a".to_owned() };
    assert_eq!(gone, Some(a));
    assert_eq!(watching.metrics.undecodable.get(), 1);
}

#[tokio::test]
async fn what_a_new_list_lacks_is_gone() {
    let watched = std::sync::atomic::AtomicUsize::new(0);
    let lists = std::sync::atomic::AtomicUsize::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    let (hub, _) = server(move |seen| match seen.path.as_str() {
        "/api/v1/namespaces/kube-system" => kube_system("uid-hub"),
        "/apis/dns.truce.dev/v1alpha1/clusterdrains" if seen.query.contains("watch=true") => {
            let expired = json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"});
            match watched.fetch_add(1, order) {
                0 => Answer::Watch(vec![json!({"type": "ERROR", "object": expired})]),
                _ => Answer::Watch(Vec::new()),
            }
        }
        _ if seen.query.contains("watch=true") => Answer::Watch(Vec::new()),
        "/apis/dns.truce.dev/v1alpha1/clusterdrains" => match lists.fetch_add(1, order) {
            0 => list(&[drain("a", "1"), drain("b", "2")]),
            _ => list(&[drain("a", "1")]),
        },
        _ => list(&[]),
    });
    let mut watching = watching(hub);
    loop {
        if let HubEvent::Gone(reference) = watching.next().await {
            let b = HubRef::ClusterDrain { name: "b".to_owned() };
            assert_eq!(reference, b);
            return;
        }
    }
}
