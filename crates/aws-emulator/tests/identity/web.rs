//! AssumeRoleWithWebIdentity: tokens of a made-up OIDC provider (STS API reference).

use std::collections::BTreeMap;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use truce_aws_emulator::config;
use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::service::Service;
use truce_aws_emulator::identity::web::WebAssumed;

use crate::support::*;

const ISSUER: &str = "https://oidc.eks.us-east-1.amazonaws.com/id/HUB";
const PROVIDER: &str = "arn:aws:iam::111111111111:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/HUB";
const ROLE: &str = "arn:aws:iam::111111111111:role/truce";
const DENIED: &str = "Not authorized to perform sts:AssumeRoleWithWebIdentity";

/// A key pair: for signing, and as the provider publishes it.
fn key() -> (EncodingKey, Value) {
    let pair = rcgen::KeyPair::generate().expect("a key");
    let private = EncodingKey::from_ec_der(pair.serialized_der());
    let mut jwk = Jwk::from_encoding_key(&private, Algorithm::ES256).expect("a public key");
    jwk.common.key_id = Some("k1".to_owned());
    (private, serde_json::to_value(jwk).expect("JSON"))
}

fn world(jwk: &Value) -> Identity {
    directory(
        &json!({ "accounts": { "111111111111": {
            "oidcProviders": { ISSUER: { "audiences": ["sts.amazonaws.com"], "keys": [jwk] } },
            "roles": { "truce": { "trust": { "Version": "2012-10-17", "Statement": [{
                "Effect": "Allow", "Principal": { "Federated": PROVIDER }, "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": { "StringEquals": {
                    "oidc.eks.us-east-1.amazonaws.com/id/HUB:sub": "system:serviceaccount:truce-system:truce",
                    "oidc.eks.us-east-1.amazonaws.com/id/HUB:aud": "sts.amazonaws.com",
                } },
            }] } } },
        } } })
        .to_string(),
    )
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "system:serviceaccount:truce-system:truce", "aud": ["sts.amazonaws.com"],
        "exp": NOW / 1000 + 3600, "nbf": NOW / 1000,
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[key] = value;
    claims
}

fn token(key: &EncodingKey, claims: &Value) -> String {
    let header = Header {
        kid: Some("k1".to_owned()),
        ..Header::new(Algorithm::ES256)
    };
    encode(&header, claims, key).expect("a token")
}

fn assume(identity: &mut Identity, role: &str, token: &str) -> Result<WebAssumed, ApiError> {
    let fields: BTreeMap<String, String> = [
        ("RoleArn", role),
        ("RoleSessionName", "pod"),
        ("WebIdentityToken", token),
    ]
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .into();
    identity.assume_role_with_web_identity(&fields, "us-east-1", NOW)
}

#[test]
fn a_token_of_a_trusted_provider_gives_credentials() {
    let (private, public) = key();
    let mut identity = world(&public);
    let web = assume(&mut identity, ROLE, &token(&private, &claims())).expect("assumed");
    assert_eq!(web.subject, "system:serviceaccount:truce-system:truce");
    assert_eq!(
        (web.audience.as_str(), web.provider.as_str()),
        ("sts.amazonaws.com", PROVIDER)
    );
    let session = &web.assumed.session;
    let signer = Signer {
        key: &session.access_key,
        secret: &session.secret,
        token: Some(&session.token),
        service: "sts",
        ..Signer::default()
    };
    let request = signer.sign(Request::get("sts.amazonaws.com", "/"));
    let principal = authenticate(&identity, &request, Service::Sts).expect("authentic");
    assert_eq!(principal.arn, "arn:aws:sts::111111111111:assumed-role/truce/pod");
}

/// aws-actions/configure-aws-credentials#280, awslabs/amazon-eks-irsa-cfn#18, aws/aws-sdk-java-v2#5709.
#[test]
fn a_token_that_proves_nothing_is_refused() {
    let (private, public) = key();
    let (other, _) = key();
    let mut identity = world(&public);
    let later = NOW / 1000;
    for (token, code, message) in [
        (
            "not.a.jwt".to_owned(),
            Code::InvalidIdentityToken,
            "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)".to_owned(),
        ),
        (
            token(&private, &with("iss", json!("https://elsewhere.example.com"))),
            Code::InvalidIdentityToken,
            "No OpenIDConnect provider found in your account for https://elsewhere.example.com".to_owned(),
        ),
        (
            token(&private, &with("aud", json!("another"))),
            Code::InvalidIdentityToken,
            "Incorrect token audience".to_owned(),
        ),
        (
            token(&private, &with("exp", json!(later))),
            Code::WebIdentityExpired,
            format!("Token expired: current date/time {later} must be before the expiration date/time {later}"),
        ),
        (
            token(&private, &with("nbf", json!(later + 1))),
            Code::InvalidIdentityToken,
            format!(
                "The token is not yet valid: current date/time {later} must not be before {}",
                later + 1
            ),
        ),
        (
            token(&other, &claims()),
            Code::InvalidIdentityToken,
            "The token's signature does not verify: InvalidSignature".to_owned(),
        ),
    ] {
        refused(assume(&mut identity, ROLE, &token), code, &message);
    }
    let good = token(&private, &with("exp", json!(later + 1)));
    assume(&mut identity, ROLE, &good).expect("a second is left");
    assert_eq!(Code::WebIdentityExpired.as_str(), "ExpiredTokenException");
}

/// A token signed with a public key as if it were a shared secret (RFC 8725, section 2.1).
#[test]
fn a_symmetric_algorithm_is_refused() {
    let (_, public) = key();
    let mut identity = world(&public);
    let point = public["x"].as_str().expect("a point");
    let secret = EncodingKey::from_secret(point.as_bytes()).expect("a key");
    let header = Header {
        kid: Some("k1".to_owned()),
        ..Header::new(Algorithm::HS256)
    };
    let forged = encode(&header, &claims(), &secret).expect("a token");
    let error = assume(&mut identity, ROLE, &forged).expect_err("refused");
    assert_eq!(error.code, Code::InvalidIdentityToken);
}

#[test]
fn another_subject_or_role_is_denied() {
    let (private, public) = key();
    let mut identity = world(&public);
    let other = token(&private, &with("sub", json!("system:serviceaccount:default:default")));
    refused(assume(&mut identity, ROLE, &other), Code::AccessDenied, DENIED);
    let good = token(&private, &claims());
    let nobody = "arn:aws:iam::111111111111:role/nobody";
    refused(assume(&mut identity, nobody, &good), Code::AccessDenied, DENIED);
    assume(&mut identity, ROLE, &good).expect("the right subject");
}

#[test]
fn a_provider_without_a_kid_or_with_a_bad_issuer_is_an_error() {
    let (_, mut jwk) = key();
    let parse = |issuer: &str, jwk: &Value| {
        let text = json!({ "accounts": { "111111111111": { "oidcProviders": { issuer: {
            "audiences": ["a"], "keys": [jwk] } } } } });
        let file = config::parse(&text.to_string()).expect("YAML");
        Identity::new(&file.accounts).map(drop)
    };
    parse(ISSUER, &jwk).expect("a good provider");
    let error = parse("oidc.example.com", &jwk).expect_err("no URL").to_string();
    assert!(
        error.contains("oidcProviders.oidc.example.com: an issuer is an https:// URL"),
        "{error}"
    );
    jwk.as_object_mut().expect("a JWK").remove("kid");
    let error = parse(ISSUER, &jwk).expect_err("no kid").to_string();
    assert!(error.contains("keys[0]: the key has no kid"), "{error}");
}
