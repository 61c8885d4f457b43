//! Identity policies, session policies, and the condition keys of Route 53 (IAM User Guide, "Policy evaluation logic";
//! route53.md 5).

use std::collections::BTreeMap;

use truce_aws_emulator::config;
use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::condition::Context;
use truce_aws_emulator::identity::evaluate::Access;
use truce_aws_emulator::identity::principal::{Kind, Principal};

use crate::support::*;

const ALICE: &str = "arn:aws:iam::111111111111:user/alice";
const ZONE: &str = "arn:aws:route53:::hostedzone/Z1";

/// A directory in which alice has these policies (JSON, which is YAML too).
fn with(policies: &str) -> Identity {
    directory(&format!(
        "accounts: {{'111111111111': {{users: {{alice: {{accessKeys: {{{KEY}: {SECRET}}}, policies: [{policies}]}}}}}}}}"
    ))
}

fn alice() -> Principal {
    Principal {
        access_key: KEY.to_owned(),
        account: "111111111111".to_owned(),
        arn: ALICE.to_owned(),
        user_id: "AIDA".to_owned(),
        kind: Kind::User,
    }
}

fn ask(identity: &Identity, action: &str, resource: &str, context: &Context) -> Result<(), ApiError> {
    let access = Access {
        action,
        resource,
        context,
    };
    identity.authorize(&alice(), &access)
}

fn context(pairs: &[(&str, &[&str])]) -> Context {
    pairs
        .iter()
        .map(|(key, values)| (key.to_lowercase(), values.iter().map(|v| (*v).to_owned()).collect()))
        .collect()
}

fn none() -> Context {
    Context::new()
}

/// aws-amplify/amplify-cli#12892 (no resource), kubernetes-sigs/external-dns#5773 (with one).
#[test]
fn what_no_policy_allows_is_denied() {
    let identity = with(r#"{"Statement": [{"Effect": "Allow", "Action": "route53:GetChange", "Resource": "*"}]}"#);
    refused(
        ask(&identity, "route53:ListHostedZones", "*", &none()),
        Code::AccessDenied,
        "User: arn:aws:iam::111111111111:user/alice is not authorized to perform: route53:ListHostedZones because no identity-based policy allows the route53:ListHostedZones action",
    );
    refused(
        ask(&identity, "route53:ListResourceRecordSets", ZONE, &none()),
        Code::AccessDenied,
        "User: arn:aws:iam::111111111111:user/alice is not authorized to perform: route53:ListResourceRecordSets on resource: arn:aws:route53:::hostedzone/Z1 because no identity-based policy allows the route53:ListResourceRecordSets action",
    );
    ask(&identity, "route53:GetChange", "arn:aws:route53:::change/C1", &none()).expect("allowed");
}

/// IAM User Guide, "Troubleshoot access denied error messages".
#[test]
fn an_explicit_deny_wins() {
    let identity = with(
        r#"{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"},
            {"Effect": "Deny", "Action": "route53:Change*", "Resource": "arn:aws:route53:::hostedzone/Z1"}]}"#,
    );
    refused(
        ask(&identity, "route53:ChangeResourceRecordSets", ZONE, &none()),
        Code::AccessDenied,
        "User: arn:aws:iam::111111111111:user/alice is not authorized to perform: route53:ChangeResourceRecordSets on resource: arn:aws:route53:::hostedzone/Z1 with an explicit deny in an identity-based policy",
    );
    let other = "arn:aws:route53:::hostedzone/Z2";
    ask(&identity, "route53:ChangeResourceRecordSets", other, &none()).expect("another zone");
    ask(&identity, "route53:ListResourceRecordSets", ZONE, &none()).expect("another action");
}

/// IAM JSON policy elements: Action (any case, wildcards), Resource (wildcards), NotAction, NotResource.
#[test]
fn actions_and_resources_have_wildcards() {
    for (statement, allowed, denied) in [
        (
            r#""Action": "ROUTE53:list*", "Resource": "*""#,
            ("route53:ListHostedZones", "*"),
            ("route53:GetChange", "*"),
        ),
        (
            r#""Action": ["route53:Get?hange"], "Resource": "arn:aws:route53:::change/*""#,
            ("route53:GetChange", "arn:aws:route53:::change/C1"),
            ("route53:GetChange", ZONE),
        ),
        (
            r#""NotAction": "route53:Change*", "Resource": "*""#,
            ("route53:GetChange", "*"),
            ("route53:ChangeResourceRecordSets", ZONE),
        ),
        (
            r#""Action": "route53:*", "NotResource": "arn:aws:route53:::hostedzone/Z1""#,
            ("route53:GetHostedZone", "arn:aws:route53:::hostedzone/Z2"),
            ("route53:GetHostedZone", ZONE),
        ),
    ] {
        let identity = with(&format!(r#"{{"Statement": {{"Effect": "Allow", {statement}}}}}"#));
        ask(&identity, allowed.0, allowed.1, &none()).expect(statement);
        ask(&identity, denied.0, denied.1, &none()).expect_err(statement);
    }
}

fn batch(names: &[&str], types: &[&str], actions: &[&str]) -> Context {
    context(&[
        ("route53:ChangeResourceRecordSetsNormalizedRecordNames", names),
        ("route53:ChangeResourceRecordSetsRecordTypes", types),
        ("route53:ChangeResourceRecordSetsActions", actions),
    ])
}

/// The policy of Route 53's Developer Guide, "Using IAM policy conditions for fine-grained access control".
#[test]
fn for_all_values_binds_every_change_of_a_batch() {
    let identity = with(
        r#"{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "route53:ChangeResourceRecordSets",
            "Resource": "arn:aws:route53:::hostedzone/Z1", "Condition": {
            "ForAllValues:StringLike": {"route53:ChangeResourceRecordSetsNormalizedRecordNames":
                ["*.apps.example.com", "\\052.wild.example.com"]},
            "ForAllValues:StringEquals": {"route53:ChangeResourceRecordSetsRecordTypes": ["A", "TXT"],
                "route53:ChangeResourceRecordSetsActions": ["CREATE", "DELETE"]}}}]}"#,
    );
    let change = |names: &[&str], types: &[&str], actions: &[&str]| {
        ask(
            &identity,
            "route53:ChangeResourceRecordSets",
            ZONE,
            &batch(names, types, actions),
        )
    };
    change(
        &["a.apps.example.com", "b.apps.example.com"],
        &["A", "TXT"],
        &["CREATE", "DELETE"],
    )
    .expect("all in scope");
    change(&[r"\052.wild.example.com"], &["A"], &["CREATE"]).expect("the wildcard itself");
    // The whole batch is denied, and the error does not say which change.
    let denied = "User: arn:aws:iam::111111111111:user/alice is not authorized to perform: route53:ChangeResourceRecordSets on resource: arn:aws:route53:::hostedzone/Z1 because no identity-based policy allows the route53:ChangeResourceRecordSets action";
    for (names, types, actions) in [
        (
            ["a.apps.example.com", "www.example.com"],
            ["A", "A"],
            ["CREATE", "CREATE"],
        ),
        (
            ["a.apps.example.com", "a.apps.example.com"],
            ["A", "AAAA"],
            ["CREATE", "CREATE"],
        ),
        (
            ["a.apps.example.com", "a.apps.example.com"],
            ["A", "TXT"],
            ["CREATE", "UPSERT"],
        ),
        (
            ["x.wild.example.com", "a.apps.example.com"],
            ["A", "TXT"],
            ["CREATE", "CREATE"],
        ),
    ] {
        refused(change(&names, &types, &actions), Code::AccessDenied, denied);
    }
    // "ForAllValues returns true if there are no keys in the request."
    ask(&identity, "route53:ChangeResourceRecordSets", ZONE, &none()).expect("an empty set");
}

#[test]
fn for_any_value_needs_one_change_of_a_batch() {
    let identity = with(
        r#"{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"},
            {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {
            "ForAnyValue:StringNotLike": {"route53:ChangeResourceRecordSetsNormalizedRecordNames": "*.apps.example.com"}}}]}"#,
    );
    let change = |names: &[&str]| {
        let context = batch(names, &["A"], &["CREATE"]);
        ask(&identity, "route53:ChangeResourceRecordSets", ZONE, &context)
    };
    change(&["a.apps.example.com", "b.apps.example.com"]).expect("none is outside");
    change(&["a.apps.example.com", "www.example.com"]).expect_err("one is outside");
    ask(&identity, "route53:ListHostedZones", "*", &none()).expect("ForAnyValue is false without the key");
}

/// IAM User Guide, "Condition operators": absent keys, IfExists, Null, several values without a set operator.
#[test]
fn conditions_with_absent_keys() {
    for (condition, request, expected) in [
        (r#"{"StringEquals": {"k": "a"}}"#, none(), false),
        (r#"{"StringEquals": {"k": "a"}}"#, context(&[("K", &["a"])]), true),
        (r#"{"StringEquals": {"k": "a"}}"#, context(&[("k", &["A"])]), false),
        (r#"{"StringEquals": {"k": "a"}}"#, context(&[("k", &["a", "b"])]), false),
        (
            r#"{"StringEqualsIgnoreCase": {"k": "a"}}"#,
            context(&[("k", &["A"])]),
            true,
        ),
        (r#"{"StringNotEquals": {"k": "a"}}"#, none(), true),
        (
            r#"{"StringNotEquals": {"k": ["a", "b"]}}"#,
            context(&[("k", &["b"])]),
            false,
        ),
        (r#"{"StringEqualsIfExists": {"k": "a"}}"#, none(), true),
        (
            r#"{"StringEqualsIfExists": {"k": "a"}}"#,
            context(&[("k", &["b"])]),
            false,
        ),
        (r#"{"Null": {"k": "true"}}"#, none(), true),
        (r#"{"Null": {"k": false}}"#, none(), false),
        (r#"{"Bool": {"k": true}}"#, context(&[("k", &["true"])]), true),
        (
            r#"{"ArnLike": {"k": "arn:aws:iam::*:role/a*"}}"#,
            context(&[("k", &["arn:aws:iam::1:role/ab"])]),
            true,
        ),
        (
            r#"{"ArnLike": {"k": "arn:aws:iam:*"}}"#,
            context(&[("k", &["arn:aws:iam::1:role/ab"])]),
            false,
        ),
        (
            r#"{"StringLike": {"k": "a*"}, "StringEquals": {"l": "b"}}"#,
            context(&[("k", &["a"])]),
            false,
        ),
    ] {
        let identity = with(&format!(
            r#"{{"Statement": {{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {condition}}}}}"#
        ));
        let allowed = ask(&identity, "route53:GetChange", "*", &request).is_ok();
        assert_eq!(allowed, expected, "{condition} {request:?}");
    }
}

/// A session may do what both its role and its session policy allow (STS API reference, AssumeRole, Policy).
#[test]
fn a_session_policy_cuts() {
    let mut identity = directory(
        r#"
accounts:
  "111111111111":
    users: {alice: {accessKeys: {AKIAALICE00000000000: alice-secret}}}
    roles:
      r:
        trust: {Statement: {Effect: Allow, Principal: {AWS: "arn:aws:iam::111111111111:user/alice"}, Action: "sts:*"}}
        policies: [{Statement: {Effect: Allow, Action: ["route53:Get*", "route53:List*"], Resource: "*"}}]
"#,
    );
    let mut assume = |policy: &str| {
        let fields: BTreeMap<String, String> = [
            ("RoleArn", "arn:aws:iam::111111111111:role/r"),
            ("RoleSessionName", "se"),
            ("Policy", policy),
        ]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
        identity.assume_role(&alice(), &fields, "us-east-1", NOW)
    };
    let policy = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"route53:*","Resource":"*"},{"Effect":"Deny","Action":"route53:GetChange","Resource":"*"}]}"#;
    let wide = assume(policy).expect("assumed");
    let narrow = assume(r#"{"Version":"2012-10-17","Statement":[]}"#).expect("assumed");
    assert!(
        wide.packed_policy_size
            .is_some_and(|percent| (1..=100).contains(&percent))
    );
    refused(
        assume("{}"),
        Code::MalformedPolicyDocument,
        "missing field `Statement` at line 1 column 2",
    );
    let long = format!("{{\"Id\": \"{}\", \"Statement\": []}}", "x".repeat(2048));
    assert_eq!(assume(&long).expect_err("too long").code, Code::PackedPolicyTooLarge);

    let ask = |assumed: &truce_aws_emulator::identity::assume::Assumed, action: &str| {
        let principal = Principal {
            access_key: assumed.session.access_key.clone(),
            arn: assumed.arn.clone(),
            kind: Kind::Session {
                role: assumed.session.role.clone(),
                name: "se".to_owned(),
            },
            ..alice()
        };
        let access = Access {
            action,
            resource: "*",
            context: &none(),
        };
        identity.authorize(&principal, &access)
    };
    ask(&wide, "route53:ListHostedZones").expect("both allow it");
    let who = "User: arn:aws:sts::111111111111:assumed-role/r/se is not authorized to perform:";
    refused(
        ask(&wide, "route53:CreateHostedZone"),
        Code::AccessDenied,
        &format!(
            "{who} route53:CreateHostedZone because no identity-based policy allows the route53:CreateHostedZone action"
        ),
    );
    refused(
        ask(&wide, "route53:GetChange"),
        Code::AccessDenied,
        &format!("{who} route53:GetChange with an explicit deny in a session policy"),
    );
    refused(
        ask(&narrow, "route53:ListHostedZones"),
        Code::AccessDenied,
        &format!("{who} route53:ListHostedZones because no session policy allows the route53:ListHostedZones action"),
    );
}

/// A typo in a policy is an error that names it, never a rule that quietly does not match.
#[test]
fn a_typo_in_a_policy_is_an_error() {
    let user = |policy: &str| format!("accounts: {{'111111111111': {{users: {{alice: {{policies: [{policy}]}}}}}}}}");
    let role = |trust: &str| format!("accounts: {{'111111111111': {{roles: {{r: {{trust: {trust}}}}}}}}}");
    for (text, words) in [
        (user(r#"{"Statment": []}"#), "Statment"),
        (
            user(r#"{"Statement": [{"Effect": "allow", "Action": "*", "Resource": "*"}]}"#),
            "allow",
        ),
        (
            user(
                r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"StringLikes": {}}}}"#,
            ),
            "StringLikes",
        ),
        (
            user(r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "${aws:username}"}}"#),
            "policy variable",
        ),
        (
            user(r#"{"Statement": {"Effect": "Allow", "Action": "*"}}"#),
            "accounts.111111111111.users.alice.policies[0]: Statement[0]: Policy statement must contain resources",
        ),
        (
            user(r#"{"Statement": {"Effect": "Allow", "Action": "route53", "Resource": "*"}}"#),
            "prefaced by a vendor",
        ),
        (
            role(
                r#"{"Statement": {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111111111111:user/nobody"}, "Action": "sts:AssumeRole"}}"#,
            ),
            "Invalid principal in policy",
        ),
        (
            role(r#"{"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole"}}"#),
            "must name a Principal",
        ),
        (
            role(r#"{"Statement": {"Effect": "Allow", "Principal": {"Aws": "*"}, "Action": "sts:AssumeRole"}}"#),
            "Aws",
        ),
        (
            user(r#"{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*", "Conditions": {}}]}"#),
            "accounts.111111111111.users.alice.policies[0].Statement",
        ),
        (
            "accounts: {'1': {}}".to_owned(),
            "accounts.1: an account id is twelve digits",
        ),
        (
            "accounts: {'111111111111': {users: {alice: {accessKeys: {AKIA: s}}}}}".to_owned(),
            "accounts.111111111111.users.alice.accessKeys.AKIA",
        ),
    ] {
        let error = match config::parse(&text) {
            Err(error) => error.to_string(),
            Ok(file) => Identity::new(&file.accounts).expect_err(&text).to_string(),
        };
        assert!(error.contains(words), "{error}");
    }
}
