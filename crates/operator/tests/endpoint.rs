//! What is sent to a member's API server for a DNSEndpoint.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;

use serde_json::json;
use support::{Answer, refusal, server};
use truce_engine::effect::EndpointApply;
use truce_engine::event::{Class, Endpoint};
use truce_engine::value::ids::HubId;
use truce_operator::exec::endpoint;

const PATH: &str = "/apis/externaldns.k8s.io/v1alpha1/namespaces/truce-system/dnsendpoints/truce-prod-0123456789abcdef";

fn hub() -> HubId {
    HubId::parse("prod").unwrap()
}

fn wanted(finalizer: bool, endpoints: Vec<Endpoint>) -> EndpointApply {
    let text = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    EndpointApply {
        namespace: "truce-system".to_owned(),
        name: "truce-prod-0123456789abcdef".to_owned(),
        labels: BTreeMap::from([
            text("dns.truce.dev/hub-id", "prod"),
            text("dns.truce.dev/owner-id", "prod-east"),
        ]),
        annotations: BTreeMap::new(),
        finalizer,
        endpoints,
    }
}

#[tokio::test]
async fn it_is_applied_by_force_under_the_hubs_own_manager() {
    let (member, log) = server(|seen| Answer::Json(200, seen.body.clone()));
    let record = Endpoint {
        dns_name: "app-east.example.com".to_owned(),
        record_type: "A".to_owned(),
        targets: vec!["203.0.113.7".to_owned()],
        record_ttl: Some(60),
        provider_specific: BTreeMap::new(),
    };
    endpoint::apply(member, &hub(), wanted(true, vec![record]))
        .await
        .unwrap();
    let sent = log.only();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("PATCH", PATH));
    assert_eq!(sent.content_type, "application/apply-patch+yaml");
    assert!(sent.query.contains("force=true"), "{}", sent.query);
    assert!(sent.query.contains("fieldManager=truce%2Fprod"), "{}", sent.query);
    assert_eq!(
        sent.body,
        json!({
            "apiVersion": "externaldns.k8s.io/v1alpha1",
            "kind": "DNSEndpoint",
            "metadata": {
                "namespace": "truce-system",
                "name": "truce-prod-0123456789abcdef",
                "labels": {"dns.truce.dev/hub-id": "prod", "dns.truce.dev/owner-id": "prod-east"},
                "finalizers": ["dns.truce.dev/owned"],
            },
            "spec": {"endpoints": [{
                "dnsName": "app-east.example.com", "recordType": "A", "targets": ["203.0.113.7"], "recordTTL": 60
            }]}
        })
    );
}

#[tokio::test]
async fn emptied_it_still_says_so_and_without_finalizer_it_names_none() {
    let (member, log) = server(|seen| Answer::Json(200, seen.body.clone()));
    endpoint::apply(member, &hub(), wanted(false, Vec::new()))
        .await
        .unwrap();
    let body = log.only().body;
    assert_eq!(body["spec"], json!({"endpoints": []}));
    assert_eq!(body["metadata"].get("finalizers"), None);
}

#[tokio::test]
async fn it_is_deleted_only_as_the_one_that_was_seen() {
    let (member, log) =
        server(|_| Answer::Json(200, json!({"kind": "Status", "apiVersion": "v1", "status": "Success"})));
    let name = "truce-prod-0123456789abcdef";
    endpoint::delete(member, "truce-system", name, "u-1".to_owned())
        .await
        .unwrap();
    let sent = log.only();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("DELETE", PATH));
    assert_eq!(sent.body["preconditions"], json!({"uid": "u-1"}));
    for gone in [(404, "NotFound"), (409, "Conflict")] {
        let (member, _) = server(move |_| refusal(gone.0, gone.1, "it is another or none"));
        endpoint::delete(member, "truce-system", name, "u-1".to_owned())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_member_that_does_not_know_the_kind_is_told_from_one_without_the_namespace() {
    let (member, _) = server(|_| refusal(404, "", "404 page not found"));
    let failure = endpoint::apply(member, &hub(), wanted(true, Vec::new()))
        .await
        .unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (Class::Permanent, "CRDMissing"));
    let (member, _) = server(|_| {
        let details = json!({"name": "truce-system", "kind": "namespaces"});
        let message = "namespaces \"truce-system\" not found";
        let status =
            json!({"kind": "Status", "code": 404, "reason": "NotFound", "message": message, "details": details});
        Answer::Json(404, status)
    });
    let failure = endpoint::apply(member, &hub(), wanted(true, Vec::new()))
        .await
        .unwrap_err();
    assert_eq!(failure.code, "NamespaceMissing");
    assert!(failure.message.contains("truce-system"), "{}", failure.message);
}

#[tokio::test]
async fn a_server_error_is_ambiguous() {
    let (member, _) = server(|_| refusal(500, "InternalError", "etcdserver: request timed out"));
    let failure = endpoint::apply(member, &hub(), wanted(true, Vec::new()))
        .await
        .unwrap_err();
    assert_eq!((failure.class, failure.ambiguous), (Class::Retry, true));
}

fn deleting(finalizers: &[&str]) -> Answer {
    Answer::Json(
        200,
        json!({
            "apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
            "metadata": {"namespace": "truce-system", "name": "x", "uid": "u-1", "finalizers": finalizers}, "spec": {}
        }),
    )
}

#[tokio::test]
async fn its_finalizer_is_taken_off_where_it_stands_and_others_stay() {
    let (member, log) = server(|_| deleting(&["other.example/one", "dns.truce.dev/owned"]));
    endpoint::drop_finalizer(member, "truce-system", "x", "u-1")
        .await
        .unwrap();
    let write = log.all().pop().unwrap();
    assert_eq!(write.content_type, "application/json-patch+json");
    assert_eq!(
        write.body,
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u-1"},
            {"op": "test", "path": "/metadata/finalizers/1", "value": "dns.truce.dev/owned"},
            {"op": "remove", "path": "/metadata/finalizers/1"}
        ])
    );
}

#[tokio::test]
async fn the_finalizer_of_another_object_is_left_alone() {
    let (member, log) = server(|_| deleting(&["dns.truce.dev/owned"]));
    endpoint::drop_finalizer(member, "truce-system", "x", "u-0")
        .await
        .unwrap();
    assert_eq!(log.only().method, "GET");
    let (member, _) = server(|seen| match seen.method.as_str() {
        "GET" => deleting(&["dns.truce.dev/owned"]),
        _ => refusal(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        ),
    });
    let failure = endpoint::drop_finalizer(member, "truce-system", "x", "u-1")
        .await
        .unwrap_err();
    assert_eq!(failure.class, Class::Conflict);
}
