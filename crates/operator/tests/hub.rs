//! What is sent to the hub's API server: status, finalizers, events.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use support::{Answer, Seen, refusal, server};
use truce_api::{ClusterDrainStatus, FINALIZER, GlobalHostnameStatus};
use truce_engine::effect::{Status, UserEvent};
use truce_engine::event::{Class, HubRef};
use truce_operator::exec::event::Publisher;
use truce_operator::exec::{finalizer, status};

fn app() -> HubRef {
    HubRef::GlobalHostname {
        namespace: "shop".to_owned(),
        name: "app".to_owned(),
    }
}

fn object(finalizers: &[&str]) -> Answer {
    Answer::Json(
        200,
        json!({
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
            "metadata": {"namespace": "shop", "name": "app", "resourceVersion": "7", "finalizers": finalizers}
        }),
    )
}

fn status_of(status: GlobalHostnameStatus) -> Status {
    Status::GlobalHostname {
        namespace: "shop".to_owned(),
        name: "app".to_owned(),
        status,
    }
}

#[tokio::test]
async fn a_status_is_a_merge_patch_with_explicit_nulls() {
    let (hub, log) = server(|_| {
        Answer::Json(
            200,
            json!({
                "apiVersion": "dns.truce.dev/v1alpha1", "kind": "GlobalHostname",
                "metadata": {"namespace": "shop", "name": "app"},
                "spec": {"hostname": "app.example.com", "source": {"service": {"name": "gateway"}}}
            }),
        )
    });
    let given = GlobalHostnameStatus {
        observed_generation: Some(3),
        ready: Some("2/3".to_owned()),
        ..GlobalHostnameStatus::default()
    };
    status::write(&hub, &status_of(given.clone())).await.unwrap();
    let sent = log.only();
    assert_eq!(sent.method, "PATCH");
    assert_eq!(
        sent.path,
        "/apis/dns.truce.dev/v1alpha1/namespaces/shop/globalhostnames/app/status"
    );
    assert_eq!(sent.content_type, "application/merge-patch+json");
    let status = &sent.body["status"];
    assert_eq!(
        (&status["observedGeneration"], &status["ready"]),
        (&json!(3), &json!("2/3"))
    );
    // What is not known any more must go away, so it is there as null, and lists are there though empty.
    assert_eq!(status.get("lastChangeID"), Some(&Value::Null));
    assert_eq!(status.get("conditions"), Some(&json!([])));
    assert_eq!(*status, serde_json::to_value(given).unwrap());
    assert_eq!(sent.body.as_object().map(serde_json::Map::len), Some(1));
}

#[tokio::test]
async fn an_object_that_is_gone_needs_no_status_and_no_finalizer() {
    let (hub, _) = server(|_| refusal(404, "NotFound", "globalhostnames \"app\" not found"));
    status::write(&hub, &status_of(GlobalHostnameStatus::default()))
        .await
        .unwrap();
    finalizer::set(&hub, &app(), true).await.unwrap();
    finalizer::set(&hub, &app(), false).await.unwrap();
}

#[tokio::test]
async fn a_refused_status_keeps_its_class() {
    let (hub, log) = server(|_| refusal(403, "Forbidden", "cannot patch clusterdrains/status"));
    let drain = Status::ClusterDrain {
        name: "east".to_owned(),
        status: ClusterDrainStatus::default(),
    };
    let failure = status::write(&hub, &drain).await.unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (Class::Denied, "Forbidden"));
    assert_eq!(
        log.only().path,
        "/apis/dns.truce.dev/v1alpha1/clusterdrains/east/status"
    );
}

#[tokio::test]
async fn a_finalizer_is_added_beside_others_under_the_version_that_was_read() {
    let (hub, log) = server(|_| object(&["other.example/one"]));
    finalizer::set(&hub, &app(), true).await.unwrap();
    let [read, write]: [Seen; 2] = log.all().try_into().unwrap();
    assert_eq!((read.method.as_str(), write.method.as_str()), ("GET", "PATCH"));
    assert_eq!(
        write.path,
        "/apis/dns.truce.dev/v1alpha1/namespaces/shop/globalhostnames/app"
    );
    assert_eq!(write.content_type, "application/merge-patch+json");
    assert_eq!(
        write.body,
        json!({"metadata": {"resourceVersion": "7", "finalizers": ["other.example/one", FINALIZER]}})
    );
}

#[tokio::test]
async fn a_finalizer_is_removed_and_others_stay() {
    let (hub, log) = server(|_| object(&[FINALIZER, "other.example/one"]));
    finalizer::set(&hub, &app(), false).await.unwrap();
    assert_eq!(
        log.all()[1].body["metadata"]["finalizers"],
        json!(["other.example/one"])
    );
}

#[tokio::test]
async fn a_finalizer_that_is_as_it_should_be_is_not_written() {
    let (hub, log) = server(|_| object(&[FINALIZER]));
    finalizer::set(&hub, &app(), true).await.unwrap();
    assert_eq!(log.only().method, "GET");
}

#[tokio::test]
async fn a_change_in_between_is_read_again() {
    let first = std::sync::atomic::AtomicBool::new(true);
    let (hub, log) = server(move |seen| {
        let refuse = seen.method == "PATCH" && first.swap(false, std::sync::atomic::Ordering::SeqCst);
        if refuse {
            refusal(409, "Conflict", "the object has been modified")
        } else {
            object(&[])
        }
    });
    finalizer::set(&hub, &app(), true).await.unwrap();
    let methods: Vec<_> = log.all().into_iter().map(|seen| seen.method).collect();
    assert_eq!(methods, ["GET", "PATCH", "GET", "PATCH"]);
}

#[tokio::test]
async fn an_event_names_its_object_and_fits() {
    let (hub, log) = server(|seen| Answer::Json(201, seen.body.clone()));
    let event = UserEvent {
        object: HubRef::MemberCluster {
            name: "east".to_owned(),
        },
        uid: "u-1".to_owned(),
        warning: true,
        reason: "ClusterReplaced".to_owned(),
        note: "ä".repeat(2000),
    };
    Publisher::new(hub).publish(event).await.unwrap();
    let sent = log.only();
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/apis/events.k8s.io/v1/namespaces/default/events")
    );
    assert_eq!(sent.body["type"], "Warning");
    assert_eq!(sent.body["reason"], "ClusterReplaced");
    assert_eq!(sent.body["regarding"]["kind"], "MemberCluster");
    assert_eq!(sent.body["regarding"]["apiVersion"], "dns.truce.dev/v1alpha1");
    assert_eq!(sent.body["regarding"]["uid"], "u-1");
    // The API takes at most 1,024 bytes.
    assert_eq!(sent.body["note"].as_str().map(str::len), Some(1024));
}
