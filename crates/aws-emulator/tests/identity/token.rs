//! `k8s-aws-v1.` tokens (kubernetes-sigs/aws-iam-authenticator, `pkg/token/token.go`; route53.md 6).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use truce_aws_emulator::config;
use truce_aws_emulator::core::error::Code;
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::assume::Assumed;
use truce_aws_emulator::identity::cluster::{ClusterConfig, Clusters};
use truce_aws_emulator::identity::token::{KubernetesUser, TokenError};

use crate::support::*;

const CA: &str = "-----BEGIN CERTIFICATE-----\\nMA==\\n-----END CERTIFICATE-----\\n";
const HOST: &str = "sts.us-east-1.amazonaws.com";
const CALL: &str = "/?Action=GetCallerIdentity&Version=2011-06-15";

fn cluster(more: Value) -> ClusterConfig {
    let mut config = json!({
        "name": "east", "region": "us-east-1", "endpoint": "https://127.0.0.1:6443", "certificateAuthority": CA.replace("\\n", "\n"),
        "accessEntries": [
            { "principalARN": "arn:aws:iam::222222222222:role/path/truce", "groups": ["truce"] },
            { "principalARN": "arn:aws:iam::111111111111:user/alice", "username": "alice", "groups": ["admins"] },
        ],
    });
    for (key, value) in more.as_object().expect("a map") {
        config[key] = value.clone();
    }
    serde_json::from_value(config).expect("a cluster")
}

fn world() -> Identity {
    directory(
        r#"
accounts:
  "111111111111":
    users:
      alice:
        accessKeys: {AKIAALICE00000000000: alice-secret}
        policies: [{Statement: {Effect: Allow, Action: "sts:*", Resource: "*"}}]
  "222222222222":
    roles:
      truce: {path: /path/, trust: {Statement: {Effect: Allow, Principal: {AWS: "111111111111"}, Action: "sts:AssumeRole"}}}
      other: {trust: {Statement: {Effect: Allow, Principal: {AWS: "111111111111"}, Action: "sts:AssumeRole"}}}
"#,
    )
}

fn assumed(identity: &mut Identity, role: &str) -> Assumed {
    let signer = Signer {
        service: "sts",
        ..Signer::default()
    };
    let request = signer.sign(Request::get(HOST, "/"));
    let alice = authenticate(identity, &request, truce_aws_emulator::identity::service::Service::Sts).expect("alice");
    let arn = format!("arn:aws:iam::222222222222:role/{role}");
    let fields: BTreeMap<String, String> = [("RoleArn", arn.as_str()), ("RoleSessionName", "hub@one")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
    identity
        .assume_role(&alice, &fields, "us-east-1", NOW)
        .expect("assumed")
}

fn signer(assumed: &Assumed) -> Signer<'_> {
    Signer {
        key: &assumed.session.access_key,
        secret: &assumed.session.secret,
        token: Some(&assumed.session.token),
        service: "sts",
        ..Signer::default()
    }
}

/// A presigned URL for a cluster.
fn url(signer: &Signer<'_>, cluster: &str) -> String {
    let request = signer.presign(Request::get(HOST, CALL).header("x-k8s-aws-id", cluster));
    format!("https://{HOST}{}", request.target)
}

fn token(url: &str) -> String {
    format!("k8s-aws-v1.{}", BASE64_URL_SAFE_NO_PAD.encode(url))
}

fn review(identity: &Identity, cluster: &ClusterConfig, url: &str) -> Result<KubernetesUser, TokenError> {
    identity.review(cluster, &token(url), NOW)
}

#[track_caller]
fn malformed(result: Result<KubernetesUser, TokenError>, message: &str) {
    assert_eq!(result, Err(TokenError::Format(message.to_owned())));
}

#[track_caller]
fn sts_refuses(result: Result<KubernetesUser, TokenError>, expected: Code) {
    match result {
        Err(TokenError::Sts { status: 403, error }) => assert_eq!(error.code, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_token_of_an_assumed_role_is_mapped() {
    let mut identity = world();
    let truce = assumed(&mut identity, "path/truce");
    let user = review(&identity, &cluster(json!({})), &url(&signer(&truce), "east")).expect("let in");
    // EKS User Guide, "Create access entries": the default user name of a role, without `@` in the session's name.
    assert_eq!(user.username, "arn:aws:sts::222222222222:assumed-role/truce/hub-one");
    assert_eq!(user.groups, ["truce"]);
    assert!(user.uid.starts_with("aws-iam-authenticator:222222222222:AROA"));
    assert_eq!(
        user.extra["canonicalArn"],
        ["arn:aws:iam::222222222222:role/path/truce"]
    );
    assert_eq!(user.extra["sessionName"], ["hub@one"]);

    let alice = Signer {
        service: "sts",
        ..Signer::default()
    };
    let user = review(&identity, &cluster(json!({})), &url(&alice, "east")).expect("a user is let in too");
    assert_eq!(
        (user.username.as_str(), user.groups),
        ("alice", vec!["admins".to_owned()])
    );
}

#[test]
fn a_token_is_bound_to_the_name_of_its_cluster() {
    let mut identity = world();
    let truce = assumed(&mut identity, "path/truce");
    let west = url(&signer(&truce), "west");
    sts_refuses(
        review(&identity, &cluster(json!({})), &west),
        Code::SignatureDoesNotMatch,
    );
    // Not to its ARN: a cluster of the same name elsewhere takes it.
    let elsewhere = json!({"name": "west", "region": "eu-west-1", "account": "333333333333"});
    review(&identity, &cluster(elsewhere), &west).expect("the name is the same");
}

#[test]
fn an_unmapped_principal_is_refused() {
    let mut identity = world();
    let other = assumed(&mut identity, "other");
    let result = review(&identity, &cluster(json!({})), &url(&signer(&other), "east"));
    assert_eq!(
        result,
        Err(TokenError::NotMapped("arn:aws:iam::222222222222:role/other".to_owned()))
    );
    // Entries do not count under CONFIG_MAP, and the ConfigMap is not read here.
    let truce = assumed(&mut identity, "path/truce");
    let map = cluster(json!({"authenticationMode": "CONFIG_MAP"}));
    review(&identity, &map, &url(&signer(&truce), "east")).expect_err("no entry counts");
}

#[test]
fn an_expired_token_is_refused() {
    let mut identity = world();
    let truce = assumed(&mut identity, "path/truce");
    let minute = 60_000;
    let at = |at_ms: u64| {
        url(
            &Signer {
                at_ms,
                ..signer(&truce)
            },
            "east",
        )
    };
    let cluster = cluster(json!({}));
    malformed(
        review(&identity, &cluster, &at(NOW - 15 * minute - 1000)),
        "X-Amz-Date parameter is expired (15 minute expiration) 20261130T234459Z",
    );
    review(&identity, &cluster, &at(NOW - 15 * minute)).expect("fifteen minutes");
    sts_refuses(
        review(&identity, &cluster, &at(NOW + 16 * minute)),
        Code::SignatureDoesNotMatch,
    );
    // It dies with its credentials, too.
    let good = at(NOW);
    review(&identity, &cluster, &good).expect("alive");
    identity.expire_sessions(None, NOW);
    sts_refuses(review(&identity, &cluster, &good), Code::ExpiredToken);
}

#[test]
fn a_token_with_a_changed_part_is_refused() {
    let mut identity = world();
    let truce = assumed(&mut identity, "path/truce");
    let good = url(&signer(&truce), "east");
    let cluster = cluster(json!({}));
    review(&identity, &cluster, &good).expect("unchanged");
    sts_refuses(
        review(
            &identity,
            &cluster,
            &good.replace("X-Amz-Expires=60", "X-Amz-Expires=61"),
        ),
        Code::SignatureDoesNotMatch,
    );
    for (from, to, message) in [
        ("https://", "http://", r#"unexpected scheme "http" in pre-signed URL"#),
        (
            HOST,
            "sts.example.com",
            r#"unexpected hostname "sts.example.com" in pre-signed URL"#,
        ),
        (
            HOST,
            "sts.us-east-1.amazonaws.com:443",
            r#"unexpected hostname "sts.us-east-1.amazonaws.com:443" in pre-signed URL"#,
        ),
        (
            HOST,
            "sts.cn-north-1.amazonaws.com",
            r#"unexpected hostname "sts.cn-north-1.amazonaws.com" in pre-signed URL"#,
        ),
        ("com/?", "com/x?", "unexpected path in pre-signed URL"),
        (
            "GetCallerIdentity",
            "GetSessionToken",
            "unexpected action parameter in pre-signed URL",
        ),
        ("Version=", "Foo=1&Version=", r#"non-whitelisted query parameter "Foo""#),
        (
            "Version=",
            "version=1&Version=",
            "query parameter with multiple values not supported",
        ),
        (
            "X-Amz-Expires=60",
            "X-Amz-Expires=901",
            "invalid X-Amz-Expires parameter in pre-signed URL: 901",
        ),
        (
            "X-Amz-Expires=60",
            "X-Amz-Expires=-1",
            "invalid X-Amz-Expires parameter in pre-signed URL: -1",
        ),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good);
        malformed(review(&identity, &cluster, &changed), message);
    }
    let request = signer(&truce).presign(Request::get(HOST, CALL));
    let unbound = format!("https://{HOST}{}", request.target);
    malformed(
        review(&identity, &cluster, &unbound),
        "client did not sign the x-k8s-aws-id header in the pre-signed URL",
    );
}

#[test]
fn a_token_must_look_like_one() {
    let identity = world();
    let cluster = cluster(json!({}));
    let ask = |token: &str| identity.review(&cluster, token, NOW);
    malformed(ask("abc"), r#"token is missing expected "k8s-aws-v1." prefix"#);
    malformed(ask(&format!("k8s-aws-v1.{}", "a".repeat(4096))), "token is too large");
    assert!(matches!(ask("k8s-aws-v1.%%"), Err(TokenError::Format(_))));
    malformed(ask(&token("")), r#"unexpected scheme "" in pre-signed URL"#);
}

#[test]
fn a_host_of_another_region_does_not_take_the_signature() {
    let mut identity = world();
    let truce = assumed(&mut identity, "path/truce");
    let cluster = cluster(json!({}));
    let call = |host: &str, region: &str| {
        let signer = Signer {
            region,
            ..signer(&truce)
        };
        let request = signer.presign(Request::get(host, CALL).header("x-k8s-aws-id", "east"));
        review(&identity, &cluster, &format!("https://{host}{}", request.target))
    };
    sts_refuses(
        call("sts.eu-west-1.amazonaws.com", "us-east-1"),
        Code::SignatureDoesNotMatch,
    );
    for (host, region) in [
        ("sts.eu-west-1.amazonaws.com", "eu-west-1"),
        ("sts.amazonaws.com", "us-east-1"),
        ("sts-fips.us-west-2.amazonaws.com", "us-west-2"),
    ] {
        call(host, region).expect(host);
    }
}

/// EKS API reference, CreateCluster and CreateAccessEntry.
#[test]
fn a_bad_cluster_is_an_error_that_names_the_field() {
    for (more, message) in [
        (json!({"name": "-east"}), "clusters[0].name: "),
        (json!({"region": "mars-1"}), "clusters[0].region: "),
        (json!({"account": "1"}), "clusters[0].account: "),
        (json!({"endpoint": "http://x"}), "clusters[0].endpoint: "),
        (
            json!({"certificateAuthority": "x"}),
            "clusters[0].certificateAuthority: ",
        ),
        (
            json!({"authenticationMode": "CONFIG_MAP"}),
            "clusters[0].accessEntries: The cluster's authentication mode must be set to one of",
        ),
        (
            json!({"accessEntries": [{"principalARN": "arn:aws:sts::111111111111:assumed-role/r/s"}]}),
            "clusters[0].accessEntries[0].principalARN: The principalArn parameter format is not valid",
        ),
        (
            json!({"accessEntries": [{"principalARN": "arn:aws:iam::111111111111:role/r", "groups": ["system:masters"]}]}),
            "clusters[0].accessEntries[0].groups: The kubernetes group name system:masters is invalid, it cannot start with system:",
        ),
        (
            json!({"accessEntries": [{"principalARN": "arn:aws:iam::111111111111:role/r", "username": "system:node"}]}),
            "clusters[0].accessEntries[0].username: ",
        ),
    ] {
        let error = Clusters::new(&[cluster(more)]).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    Clusters::new(&[cluster(json!({}))]).expect("a good one");
    let typo = config::parse("clusters: [{name: a, endpoints: b}]")
        .expect_err("a typo")
        .to_string();
    assert!(typo.contains("endpoints"), "{typo}");
}
