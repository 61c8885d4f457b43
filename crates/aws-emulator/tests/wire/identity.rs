//! Signatures, roles and permissions, with the AWS SDK for Rust as the client.

use aws_sdk_route53::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_route53::error::ProvideErrorMetadata;
use aws_sdk_route53::types::ChangeAction;
use truce_aws_emulator::Handle;

use crate::support::*;

const WORLD: &str = r#"
zones: [{name: example.com, id: ZEXAMPLE0001, account: "222222222222"}]
accounts:
  "111111111111":
    users:
      alice:
        accessKeys: {AKIAALICE00000000000: secret}
        policies: [{Statement: {Effect: Allow, Action: ["sts:AssumeRole", "route53:List*"], Resource: "*"}}]
  "222222222222":
    roles:
      zone:
        trust:
          Statement:
            Effect: Allow
            Principal: {AWS: "111111111111"}
            Action: sts:AssumeRole
            Condition: {StringEquals: {"sts:ExternalId": tenant-1}}
        policies:
          - Statement:
              - {Effect: Allow, Action: ["route53:ListResourceRecordSets", "route53:GetHostedZone"], Resource: "arn:aws:route53:::hostedzone/ZEXAMPLE0001"}
              - Effect: Allow
                Action: route53:ChangeResourceRecordSets
                Resource: arn:aws:route53:::hostedzone/ZEXAMPLE0001
                Condition:
                  ForAllValues:StringLike: {"route53:ChangeResourceRecordSetsNormalizedRecordNames": ["*.apps.example.com", '\052.wild.example.com']}
                  ForAllValues:StringEquals: {"route53:ChangeResourceRecordSetsActions": [CREATE, DELETE]}
"#;

const KEY: &str = "AKIAALICE00000000000";

fn with(endpoint: &str, credentials: Credentials) -> aws_sdk_route53::Client {
    let config = aws_sdk_route53::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .endpoint_url(endpoint)
        .credentials_provider(credentials)
        .retry_config(aws_sdk_route53::config::retry::RetryConfig::disabled())
        .build();
    aws_sdk_route53::Client::from_conf(config)
}

async fn assume(handle: &Handle, external_id: &str) -> Result<Credentials, aws_sdk_sts::Error> {
    let call = sts(&handle.endpoint(), KEY)
        .assume_role()
        .role_arn("arn:aws:iam::222222222222:role/zone")
        .role_session_name("truce-east")
        .external_id(external_id);
    let output = call.send().await?;
    let user = output.assumed_role_user().expect("a user");
    assert_eq!(user.arn(), "arn:aws:sts::222222222222:assumed-role/zone/truce-east");
    let c = output.credentials().expect("credentials");
    Ok(Credentials::new(
        c.access_key_id(),
        c.secret_access_key(),
        Some(c.session_token().to_owned()),
        None,
        "test",
    ))
}

#[tokio::test]
async fn only_the_right_secret_is_let_in() {
    let handle = start_with(WORLD).await;
    let client = route53(&handle.endpoint(), KEY);
    client
        .list_hosted_zones()
        .send()
        .await
        .expect("signed with the right secret");

    let wrong = with(&handle.endpoint(), Credentials::new(KEY, "wrong", None, None, "test"));
    let error = wrong.list_hosted_zones().send().await.expect_err("refused");
    assert_eq!(error.code(), Some("SignatureDoesNotMatch"));
    assert_eq!(error.raw_response().map(|r| r.status().as_u16()), Some(403));
    let unknown = route53(&handle.endpoint(), "AKIANOBODY0000000000");
    let error = unknown.list_hosted_zones().send().await.expect_err("refused");
    assert_eq!(error.code(), Some("InvalidClientTokenId"));
    let error = sts(&handle.endpoint(), "AKIANOBODY0000000000")
        .get_caller_identity()
        .send()
        .await
        .expect_err("refused");
    assert_eq!(error.code(), Some("InvalidClientTokenId"));
    let refused: Vec<_> = handle.journal(1).iter().map(|e| e.code.clone()).collect();
    assert_eq!(
        refused,
        ["SignatureDoesNotMatch", "InvalidClientTokenId", "InvalidClientTokenId"]
    );
}

#[tokio::test]
async fn a_role_of_another_account_changes_its_zone() {
    let handle = start_with(WORLD).await;
    let denied = assume(&handle, "tenant-2").await.expect_err("another tenant's id");
    assert_eq!(denied.code(), Some("AccessDenied"));
    let credentials = assume(&handle, "tenant-1").await.expect("assumed");
    let client = with(&handle.endpoint(), credentials.clone());
    let change = |action: ChangeAction, names: &[&str]| {
        let sets: Vec<_> = names.iter().map(|name| ((*name).to_owned(), "192.0.2.1")).collect();
        let call = client.change_resource_record_sets().hosted_zone_id(ZONE);
        call.change_batch(batch(&action, &sets)).send()
    };
    change(ChangeAction::Create, &["A.apps.example.com.", "*.wild.example.com"])
        .await
        .expect("names in scope, normalized");
    for (action, names) in [
        (ChangeAction::Create, ["b.apps.example.com", "www.example.com"]),
        (ChangeAction::Upsert, ["b.apps.example.com", "c.apps.example.com"]),
    ] {
        let error = change(action, &names).await.expect_err("out of scope");
        assert_eq!(error.code(), Some("AccessDenied"));
        assert_eq!(
            error.message(),
            Some(
                "User: arn:aws:sts::222222222222:assumed-role/zone/truce-east is not authorized to perform: route53:ChangeResourceRecordSets on resource: arn:aws:route53:::hostedzone/ZEXAMPLE0001 because no identity-based policy allows the route53:ChangeResourceRecordSets action"
            )
        );
    }
    let journal = handle.journal(0);
    let who: Vec<_> = journal
        .iter()
        .map(|e| format!("{} {}", e.principal, e.action))
        .collect();
    assert_eq!(
        who[1..3],
        [
            "arn:aws:iam::111111111111:user/alice AssumeRole",
            "arn:aws:sts::222222222222:assumed-role/zone/truce-east ChangeResourceRecordSets"
        ]
    );
    let sets = client
        .list_resource_record_sets()
        .hosted_zone_id(ZONE)
        .send()
        .await
        .expect("listed");
    assert_eq!(
        sets.resource_record_sets.len(),
        4,
        "NS, SOA and the two that were allowed"
    );
    let error = client.list_hosted_zones().send().await.expect_err("not allowed");
    assert_eq!(
        error.message(),
        Some(
            "User: arn:aws:sts::222222222222:assumed-role/zone/truce-east is not authorized to perform: route53:ListHostedZones because no identity-based policy allows the route53:ListHostedZones action"
        )
    );
    // The zone is not alice's, and her own policies do not reach into another account.
    let zones = route53(&handle.endpoint(), KEY)
        .list_hosted_zones()
        .send()
        .await
        .expect("listed");
    assert!(zones.hosted_zones.is_empty());
}

#[tokio::test]
async fn credentials_end_when_told_to() {
    let handle = start_with(WORLD).await;
    let credentials = assume(&handle, "tenant-1").await.expect("assumed");
    let client = with(&handle.endpoint(), credentials);
    client.get_hosted_zone().id(ZONE).send().await.expect("alive");
    assert_eq!(handle.expire_sessions(None), 1);
    let error = client.get_hosted_zone().id(ZONE).send().await.expect_err("expired");
    assert_eq!(error.code(), Some("ExpiredToken"));
    assert!(handle.refuse_role("arn:aws:iam::222222222222:role/zone", true));
    let denied = assume(&handle, "tenant-1").await.expect_err("refused");
    assert_eq!(denied.code(), Some("AccessDenied"));
    assert!(handle.refuse_role("arn:aws:iam::222222222222:role/zone", false));
    assume(&handle, "tenant-1").await.expect("trusted again");
}

/// The accounts' access keys have secrets; those at the top of the file have none.
#[tokio::test]
async fn access_keys_at_the_top_do_not_go_with_accounts() {
    let text = "{accessKeys: {AKIDOTHER: '222222222222'}, accounts: {'111111111111': {}}}";
    let config = truce_aws_emulator::Config {
        file: truce_aws_emulator::config::parse(text).expect("YAML"),
        ..truce_aws_emulator::Config::default()
    };
    let error = truce_aws_emulator::serve(config)
        .await
        .err()
        .expect("refused")
        .to_string();
    assert!(
        error.starts_with("accessKeys: with `accounts`, write access keys at their users"),
        "{error}"
    );
}

#[tokio::test]
async fn every_file_in_the_readme_is_served() {
    let readme = include_str!("../../README.md");
    let blocks: Vec<_> = readme
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        start_with(block).await;
    }
}

#[tokio::test]
async fn roles_are_expired_refused_and_trusted_over_http() {
    let handle = start_with(WORLD).await;
    let role = "arn:aws:iam::222222222222:role/zone";
    let post = async |action: &str, body: &str| {
        let path = format!("/_emulator/roles/{action}");
        let (status, _, body) = http(handle.aws(), "POST", &path, false, body).await;
        (status, body)
    };
    assume(&handle, "tenant-1").await.expect("assumed");
    assert_eq!(post("expire", role).await, (200, r#"{"ended":1}"#.to_owned()));
    assert_eq!(post("expire", "").await, (200, r#"{"ended":0}"#.to_owned()));
    assert_eq!(post("refuse", role).await.0, 200);
    assume(&handle, "tenant-1").await.expect_err("refused");
    assert_eq!(post("trust", role).await.0, 200);
    assume(&handle, "tenant-1").await.expect("trusted again");
    let (status, body) = post("refuse", "arn:aws:iam::222222222222:role/none").await;
    assert!(status == 404 && body.contains("there is no role"), "{body}");
}
