//! AssumeRole and the credentials that come of it (STS API reference, AssumeRole; route53.md 5).

use std::collections::BTreeMap;

use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::assume::Assumed;
use truce_aws_emulator::identity::principal::Principal;
use truce_aws_emulator::identity::service::Service;

use crate::support::*;

/// Two accounts: `alice` and the role `hub` in one; in the other `zone`, which trusts `hub` with an external id, and
/// `open`, which trusts the whole first account.
const WORLD: &str = r#"
accounts:
  "111111111111":
    users:
      alice:
        accessKeys: {AKIAALICE00000000000: alice-secret}
        policies: [{Statement: {Effect: Allow, Action: "sts:AssumeRole", Resource: "*"}}]
      bob:
        accessKeys: {AKIABOB0000000000000: bob-secret}
    roles:
      hub:
        path: /truce/
        trust:
          Version: "2012-10-17"
          Statement: {Effect: Allow, Principal: {AWS: "arn:aws:iam::111111111111:user/bob"}, Action: "sts:AssumeRole"}
        policies: [{Statement: {Effect: Allow, Action: "sts:AssumeRole", Resource: "arn:aws:iam::222222222222:role/*"}}]
      weak:
        trust: {Statement: {Effect: Allow, Principal: {AWS: "111111111111"}, Action: "sts:AssumeRole"}}
  "222222222222":
    roles:
      zone:
        maxSessionDuration: 7200
        trust:
          Statement:
            - Effect: Allow
              Principal: {AWS: "arn:aws:iam::111111111111:role/truce/hub"}
              Action: sts:AssumeRole
              Condition: {StringEquals: {"sts:ExternalId": tenant-1}}
      open:
        maxSessionDuration: 7200
        trust: {Statement: [{Effect: Allow, Principal: {AWS: "arn:aws:iam::111111111111:root"}, Action: "sts:AssumeRole"}]}
"#;

const HUB: &str = "arn:aws:iam::111111111111:role/truce/hub";
const WEAK: &str = "arn:aws:iam::111111111111:role/weak";
const ZONE: &str = "arn:aws:iam::222222222222:role/zone";
const OPEN: &str = "arn:aws:iam::222222222222:role/open";

fn user(identity: &Identity, name: &str) -> Principal {
    let key = format!("AKIA{:0<16}", name.to_uppercase());
    let signer = Signer {
        key: &key,
        secret: &format!("{name}-secret"),
        service: "sts",
        ..Signer::default()
    };
    let request = signer.sign(Request::get("sts.amazonaws.com", "/"));
    authenticate(identity, &request, Service::Sts).expect("authentic")
}

fn session(identity: &Identity, assumed: &Assumed, at_ms: u64) -> Result<Principal, ApiError> {
    let signer = Signer {
        key: &assumed.session.access_key,
        secret: &assumed.session.secret,
        token: Some(&assumed.session.token),
        service: "sts",
        at_ms,
        ..Signer::default()
    };
    let request = signer.sign(Request::get("sts.amazonaws.com", "/"));
    authenticate_at(identity, &request, Service::Sts, at_ms)
}

fn assume(
    identity: &mut Identity,
    principal: &Principal,
    role: &str,
    more: &[(&str, &str)],
) -> Result<Assumed, ApiError> {
    let mut fields: BTreeMap<String, String> = [("RoleArn", role), ("RoleSessionName", "a-session")]
        .iter()
        .chain(more)
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    fields.retain(|_, value| value != "-");
    identity.assume_role(principal, &fields, "us-east-1", NOW)
}

fn not_authorized(who: &str, role: &str) -> String {
    format!("User: {who} is not authorized to perform: sts:AssumeRole on resource: {role}")
}

#[test]
fn a_session_has_credentials_of_its_own() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    let assumed = assume(&mut identity, &bob, HUB, &[]).expect("assumed");
    // The session's ARN has no path (IAM User Guide, "IAM identifiers").
    assert_eq!(assumed.arn, "arn:aws:sts::111111111111:assumed-role/hub/a-session");
    assert!(assumed.id.starts_with("AROA") && assumed.id.ends_with(":a-session"));
    assert_eq!(assumed.session.expires_at_ms, NOW + 3_600_000);
    assert_eq!(assumed.packed_policy_size, None);
    let principal = session(&identity, &assumed, NOW).expect("authentic");
    assert_eq!((principal.arn, principal.user_id), (assumed.arn, assumed.id));
    let second = assume(&mut identity, &bob, HUB, &[]).expect("assumed");
    assert_ne!(second.session.access_key, assumed.session.access_key);
}

/// IAM User Guide, "Policy evaluation logic": within an account a trust policy that names the principal is enough;
/// one that names the account leaves it to the account's policies. aws/karpenter-provider-aws#4680 for the text.
#[test]
fn a_role_must_trust_its_caller() {
    let mut identity = directory(WORLD);
    let (alice, bob) = (user(&identity, "alice"), user(&identity, "bob"));
    refused(
        assume(&mut identity, &alice, HUB, &[]),
        Code::AccessDenied,
        &not_authorized("arn:aws:iam::111111111111:user/alice", HUB),
    );
    assume(&mut identity, &bob, HUB, &[]).expect("named by the trust policy");
    refused(
        assume(&mut identity, &bob, WEAK, &[]),
        Code::AccessDenied,
        &not_authorized("arn:aws:iam::111111111111:user/bob", WEAK),
    );
    assume(&mut identity, &alice, WEAK, &[]).expect("the account is trusted and alice's policy allows it");
    let nobody = "arn:aws:iam::111111111111:role/nobody";
    refused(
        assume(&mut identity, &alice, nobody, &[]),
        Code::AccessDenied,
        &not_authorized("arn:aws:iam::111111111111:user/alice", nobody),
    );
}

/// IAM User Guide, "Cross-account policy evaluation logic": both accounts must allow it.
#[test]
fn across_accounts_both_sides_must_allow() {
    let mut identity = directory(WORLD);
    let (alice, bob) = (user(&identity, "alice"), user(&identity, "bob"));
    refused(
        assume(&mut identity, &bob, OPEN, &[]),
        Code::AccessDenied,
        &not_authorized("arn:aws:iam::111111111111:user/bob", OPEN),
    );
    let assumed = assume(&mut identity, &alice, OPEN, &[]).expect("trusted and allowed");
    let principal = session(&identity, &assumed, NOW).expect("authentic");
    assert_eq!(principal.account, "222222222222");
}

/// IAM User Guide, "Access to AWS accounts owned by third parties": the confused deputy.
#[test]
fn an_external_id_must_be_the_trusted_one() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    let hub = assume(&mut identity, &bob, HUB, &[]).expect("assumed");
    let hub = session(&identity, &hub, NOW).expect("authentic");
    let denied = not_authorized("arn:aws:sts::111111111111:assumed-role/hub/a-session", ZONE);
    refused(assume(&mut identity, &hub, ZONE, &[]), Code::AccessDenied, &denied);
    refused(
        assume(&mut identity, &hub, ZONE, &[("ExternalId", "tenant-2")]),
        Code::AccessDenied,
        &denied,
    );
    assume(&mut identity, &hub, ZONE, &[("ExternalId", "tenant-1")]).expect("the right one");
    refused(
        assume(&mut identity, &hub, ZONE, &[("ExternalId", "x")]),
        Code::ValidationError,
        "1 validation error detected: Value 'x' at 'externalId' failed to satisfy constraint: Member must have length greater than or equal to 2",
    );
}

/// STS API reference, AssumeRole, DurationSeconds: 900 to 43200, the role's own limit, one hour when chained.
#[test]
fn a_session_has_limits() {
    let mut identity = directory(WORLD);
    let (alice, bob) = (user(&identity, "alice"), user(&identity, "bob"));
    for (seconds, message) in [
        (
            "899",
            "1 validation error detected: Value '899' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to 900",
        ),
        (
            "43201",
            "1 validation error detected: Value '43201' at 'durationSeconds' failed to satisfy constraint: Member must have value less than or equal to 43200",
        ),
        (
            "7201",
            "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.",
        ),
    ] {
        let result = assume(&mut identity, &alice, OPEN, &[("DurationSeconds", seconds)]);
        refused(result, Code::ValidationError, message);
    }
    let long = assume(&mut identity, &alice, OPEN, &[("DurationSeconds", "7200")]).expect("the role's own limit");
    assert_eq!(long.session.expires_at_ms, NOW + 7_200_000);

    let hub = assume(&mut identity, &bob, HUB, &[("DurationSeconds", "900")]).expect("the shortest");
    let hub = session(&identity, &hub, NOW).expect("authentic");
    let id = ("ExternalId", "tenant-1");
    refused(
        assume(&mut identity, &hub, ZONE, &[id, ("DurationSeconds", "3601")]),
        Code::ValidationError,
        "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining",
    );
    assume(&mut identity, &hub, ZONE, &[id, ("DurationSeconds", "3600")]).expect("an hour is allowed");
}

#[test]
fn a_session_name_is_checked() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    for (name, message) in [
        (
            "a b",
            r"1 validation error detected: Value 'a b' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w+=,.@-]*",
        ),
        (
            "-",
            "1 validation error detected: Value null at 'roleSessionName' failed to satisfy constraint: Member must not be null",
        ),
        (
            "/",
            r"2 validation errors detected: Value '/' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w+=,.@-]*; Value '/' at 'roleSessionName' failed to satisfy constraint: Member must have length greater than or equal to 2",
        ),
    ] {
        let result = assume(&mut identity, &bob, HUB, &[("RoleSessionName", name)]);
        refused(result, Code::ValidationError, message);
    }
    assume(&mut identity, &bob, HUB, &[("RoleSessionName", "a+=,.@-Z_9")]).expect("every allowed character");
    let long = "x".repeat(64);
    assume(&mut identity, &bob, HUB, &[("RoleSessionName", &long)]).expect("64 characters");
    let result = assume(&mut identity, &bob, HUB, &[("RoleSessionName", &format!("{long}x"))]);
    assert_eq!(result.expect_err("65 characters").code, Code::ValidationError);
}

#[test]
fn what_is_not_known_is_refused() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    refused(
        assume(&mut identity, &bob, HUB, &[("Tags.member.1.Key", "a")]),
        Code::ValidationError,
        "truce-aws-emulator does not know the parameter Tags.member.1.Key of this action",
    );
    refused(
        assume(&mut identity, &bob, "hub-without-an-arn-at-all", &[]),
        Code::ValidationError,
        "hub-without-an-arn-at-all is invalid",
    );
}

/// AWS common errors, ExpiredToken; SDKs classify it by this code.
#[test]
fn an_expired_session_is_refused() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    let assumed = assume(&mut identity, &bob, HUB, &[("DurationSeconds", "900")]).expect("assumed");
    session(&identity, &assumed, NOW + 899_999).expect("alive to the end");
    let expired = "The security token included in the request is expired";
    refused(session(&identity, &assumed, NOW + 900_000), Code::ExpiredToken, expired);

    let other = assume(&mut identity, &bob, HUB, &[]).expect("assumed");
    assert_eq!(identity.expire_sessions(Some(ZONE), NOW), 0);
    session(&identity, &other, NOW).expect("another role's sessions ended");
    assert_eq!(identity.expire_sessions(Some(HUB), NOW), 2);
    refused(session(&identity, &other, NOW), Code::ExpiredToken, expired);
}

#[test]
fn a_session_token_must_be_that_of_the_session() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    let first = assume(&mut identity, &bob, HUB, &[]).expect("assumed");
    let second = assume(&mut identity, &bob, HUB, &[]).expect("assumed");
    let mut mixed = first;
    mixed.session.token = second.session.token;
    refused(
        session(&identity, &mixed, NOW),
        Code::InvalidClientTokenId,
        "The security token included in the request is invalid.",
    );
}

#[test]
fn a_refused_role_is_refused_until_it_is_not() {
    let mut identity = directory(WORLD);
    let bob = user(&identity, "bob");
    assert!(identity.refuse_role(HUB, true));
    let denied = not_authorized("arn:aws:iam::111111111111:user/bob", HUB);
    refused(assume(&mut identity, &bob, HUB, &[]), Code::AccessDenied, &denied);
    identity.refuse_role(HUB, false);
    assume(&mut identity, &bob, HUB, &[]).expect("trusted again");
}
