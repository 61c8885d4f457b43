//! Ways into a member: which kubeconfigs are refused and why, and how a session begins.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use support::{Answer, kube_system, refusal, server};
use tokio::sync::{mpsc, watch};
use truce_engine::effect::{Access, EffectId};
use truce_engine::event::{Class, Failure, MemberKind, Success, WatchKey};
use truce_engine::value::ids::ClusterName;
use truce_operator::member::connect::{self, SecretKey};
use truce_operator::member::kubeconfig;
use truce_operator::member::session::{Members, Upstream};
use truce_operator::metrics::Metrics;
use truce_operator::task::Task;

const UID: &str = "uid-east";

/// A kubeconfig with these parts of cluster and user; in it, `CA` stands for a certificate authority.
fn kubeconfig(cluster: Value, user: Value) -> String {
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "east",
        "clusters": [{"name": "east", "cluster": cluster}],
        "users": [{"name": "truce", "user": user}],
        "contexts": [{"name": "east", "context": {"cluster": "east", "user": "truce"}}]
    });
    text.to_string().replace("\"CA\"", &format!("\"{}\"", authority()))
}

/// The base64 of a certificate authority's PEM.
fn authority() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = rcgen::CertificateParams::default().self_signed(&key).unwrap().pem();
    let encoded = k8s_openapi::ByteString(pem.into_bytes());
    serde_json::to_value(encoded).unwrap().as_str().unwrap().to_owned()
}

fn cluster() -> Value {
    json!({"server": "https://127.0.0.1:1", "certificate-authority-data": "CA"})
}

fn user() -> Value {
    json!({"token": "s3cr3t"})
}

fn with(mut base: Value, field: &str, value: Value) -> Value {
    base[field] = value;
    base
}

#[tokio::test]
async fn inline_token_and_inline_certificate_are_taken() {
    let certificate = json!({"client-certificate-data": "CA", "client-key-data": "CA"});
    for user in [user(), certificate] {
        let config = kubeconfig::config(kubeconfig(cluster(), user).as_bytes())
            .await
            .unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://127.0.0.1:1/");
        assert!(!config.accept_invalid_certs && config.proxy_url.is_none());
    }
}

#[tokio::test]
async fn programs_paths_and_blind_trust_are_refused_with_what_to_write() {
    let exec =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "interactiveMode": "Never"});
    let of_user = |field: &str, value: Value| kubeconfig(cluster(), with(user(), field, value));
    let of_cluster = |field: &str, value: Value| kubeconfig(with(cluster(), field, value), user());
    let cases = [
        (of_user("exec", exec), "exec: Truce runs no programs", "write a token"),
        (
            of_user("auth-provider", json!({"name": "gcp"})),
            "auth-provider",
            "write a token",
        ),
        (of_user("tokenFile", json!("/etc/shadow")), "tokenFile", "write a token"),
        (
            of_user("client-certificate", json!("/x")),
            "client-certificate",
            "client-certificate-data",
        ),
        (of_user("client-key", json!("/x")), "client-key", "client-key-data"),
        (of_user("username", json!("admin")), "username", "write a token"),
        (
            of_user("as", json!("system:admin")),
            "as",
            "the rights of config/rbac/member.yaml",
        ),
        (
            of_cluster("certificate-authority", json!("/x")),
            "certificate-authority",
            "certificate-authority-data",
        ),
        (
            of_cluster("insecure-skip-tls-verify", json!(true)),
            "insecure-skip-tls-verify",
            "certificate-authority-data",
        ),
        (of_cluster("proxy-url", json!("http://p")), "proxy-url", "itself"),
        (
            of_cluster("server", json!("http://127.0.0.1:1")),
            "https://",
            "write server: https://host:port",
        ),
        (
            of_cluster("certificate-authority-data", json!("")),
            "certificate-authority-data",
            "base64",
        ),
        (
            of_cluster("certificate-authority-data", json!("%%")),
            "certificate-authority-data",
            "base64 of PEM",
        ),
        (kubeconfig(cluster(), json!({})), "credentials", "write a token"),
        ("not a kubeconfig".to_owned(), "not a kubeconfig", "current-context"),
        (
            "apiVersion: v1\nkind: Secret\n".to_owned(),
            "not a kubeconfig",
            "current-context",
        ),
        (
            kubeconfig(cluster(), user()).replace("\"current-context\":\"east\"", "\"x\":1"),
            "current-context",
            "name of one",
        ),
        (
            kubeconfig(cluster(), user()).replace("\"user\":\"truce\"", "\"user\":\"other\""),
            "no user \"other\"",
            "write it",
        ),
    ];
    for (file, names, says) in cases {
        let message = kubeconfig::config(file.as_bytes()).await.unwrap_err().to_string();
        assert!(message.contains(names) && message.contains(says), "{names}: {message}");
        assert!(!message.contains("s3cr3t"), "{message}");
    }
}

fn members(hub: Client) -> Members {
    Members::new(hub, "truce-system", mpsc::channel(16).0, Metrics::default())
}

fn east() -> ClusterName {
    ClusterName::parse("east").unwrap()
}

fn by_secret() -> Access {
    Access::Kubeconfig {
        secret: "east".to_owned(),
        key: "value".to_owned(),
    }
}

fn secret(key: &str, value: &str) -> Answer {
    let data = k8s_openapi::ByteString(value.as_bytes().to_vec());
    Answer::Json(
        200,
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "east"}, "data": {key: data}}),
    )
}

async fn refused(hub: Client) -> Failure {
    members(hub).open(&east(), EffectId(1), by_secret()).await.unwrap_err()
}

#[tokio::test]
async fn a_secret_that_cannot_be_used_is_named_with_the_way_out() {
    let (hub, log) = server(|_| refusal(404, "NotFound", "secrets \"east\" not found"));
    let failure = refused(hub).await;
    assert_eq!(
        (failure.class, failure.code.as_str()),
        (Class::Permanent, "SecretMissing")
    );
    assert!(failure.message.contains("truce-system/east"), "{}", failure.message);
    assert_eq!(log.only().path, "/api/v1/namespaces/truce-system/secrets/east");

    let (hub, _) = server(|_| secret("kubeconfig", "x"));
    let failure = refused(hub).await;
    assert_eq!(failure.code, "SecretMissing");
    assert!(failure.message.contains("no key value"), "{}", failure.message);

    let (hub, _) = server(|_| secret("value", "x"));
    let failure = refused(hub).await;
    assert_eq!(
        (failure.class, failure.code.as_str()),
        (Class::Permanent, "KubeconfigInvalid")
    );
}

#[tokio::test]
async fn a_member_that_does_not_answer_is_unreachable() {
    // Nothing listens on port 1 of the loopback.
    let file = kubeconfig(cluster(), user());
    let (hub, _) = server(move |_| secret("value", &file));
    let failure = refused(hub).await;
    assert_eq!(
        (failure.class, failure.code.as_str()),
        (Class::Retry, "MemberUnreachable")
    );
    assert!(!failure.message.contains("s3cr3t"), "{}", failure.message);
}

#[tokio::test]
async fn the_hub_itself_is_entered_with_the_hubs_client() {
    let (hub, _) = server(|seen| match seen.path.as_str() {
        "/version" => Answer::Json(
            200,
            json!({
                "major": "1", "minor": "37", "gitVersion": "v1.37.2", "gitCommit": "", "gitTreeState": "",
                "buildDate": "", "goVersion": "", "compiler": "", "platform": ""
            }),
        ),
        _ => kube_system("uid-hub"),
    });
    let members = members(hub);
    let opened = members.open(&east(), EffectId(1), Access::Local).await.unwrap();
    assert!(matches!(
        opened,
        Success::Opened { cluster_uid, server_version } if cluster_uid == "uid-hub" && server_version == "v1.37.2"
    ));
    assert!(members.client(&east()).is_ok());
    members.close(&east());
    assert_eq!(
        members.client(&east()).err().map(|failure| failure.class),
        Some(Class::Retry)
    );
    let key = WatchKey {
        kind: MemberKind::Service,
        namespace: "web".to_owned(),
    };
    assert!(members.watch(&east(), key).is_err());
}

#[tokio::test]
async fn a_secret_that_goes_takes_its_client_along() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "east", "resourceVersion": "11"}, "data": {"value": "eA=="}
    });
    let (hub, log) = server(move |seen| {
        if seen.query.contains("watch=true") {
            return Answer::Watch(vec![json!({"type": "DELETED", "object": secret})]);
        }
        let (meta, items) = (json!({"resourceVersion": "10"}), [&secret]);
        Answer::Json(
            200,
            json!({"apiVersion": "v1", "kind": "SecretList", "metadata": meta, "items": items}),
        )
    });
    let (sender, mut upstream) = watch::channel(Ok(hub.clone()));
    let secret = SecretKey::new("east", "value", b"what it was opened with".to_vec());
    let _task = Task::spawn(connect::follow(hub, "truce-system".into(), secret, UID.into(), sender));
    let missing = |upstream: &Upstream| matches!(upstream, Err(failure) if failure.code == "SecretMissing");
    let told = tokio::time::timeout(Duration::from_secs(10), upstream.wait_for(missing)).await;
    assert!(told.is_ok_and(|told| told.is_ok()));
    assert!(
        log.all()[0].query.contains("metadata.name%3Deast"),
        "{}",
        log.all()[0].query
    );
}
