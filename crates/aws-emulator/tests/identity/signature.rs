//! Signature Version 4 (IAM User Guide, "AWS Signature Version 4 for API requests").

use truce_aws_emulator::core::error::Code;
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::service::Service;
use truce_aws_emulator::identity::signature::present;

use crate::support::*;

const MISMATCH: &str = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";

/// One change of a request under way.
type Tamper = fn(&mut Request);

fn alice() -> Identity {
    directory(&format!(
        "accounts: {{'111111111111': {{users: {{alice: {{accessKeys: {{{KEY}: {SECRET}}}}}}}}}}}"
    ))
}

fn list() -> Request {
    Request::get(
        "route53.amazonaws.com",
        "/2013-04-01/hostedzone?maxitems=10&marker=Z%2FA",
    )
}

fn change() -> Request {
    let mut request =
        Request::get("route53.amazonaws.com", "/2013-04-01/hostedzone/Z1/rrset").header("content-type", "text/xml");
    request.method = "POST".to_owned();
    request.body = b"<ChangeResourceRecordSetsRequest/>".to_vec();
    request
}

/// The example of the AWS General Reference, "Signature Version 4 signing process": IAM ListUsers.
#[test]
fn the_documented_example_verifies() {
    let request = Request::get("iam.amazonaws.com", "/?Action=ListUsers&Version=2010-05-08")
        .header("content-type", "application/x-www-form-urlencoded; charset=utf-8")
        .header("x-amz-date", "20150830T123600Z")
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        );
    let signed = request.signed();
    let presented = present(&signed).expect("complete").expect("credentials");
    assert_eq!(presented.access_key, "AKIDEXAMPLE");
    presented
        .verify(&signed, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        .expect("the documented signature");
    refused(
        presented.verify(&signed, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEZ"),
        Code::SignatureDoesNotMatch,
        MISMATCH,
    );
}

/// `get-vanilla` of the AWS Signature Version 4 test suite.
#[test]
fn the_vanilla_request_of_the_test_suite_verifies() {
    let request = Request::get("example.amazonaws.com", "/")
        .header("x-amz-date", "20150830T123600Z")
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        );
    let signed = request.signed();
    let presented = present(&signed).expect("complete").expect("credentials");
    presented
        .verify(&signed, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        .expect("the suite's signature");
}

#[test]
fn a_signed_request_is_its_users() {
    let identity = alice();
    for request in [Signer::default().sign(list()), Signer::default().sign(change())] {
        let principal = authenticate(&identity, &request, Service::Route53).expect("authentic");
        assert_eq!(principal.arn, "arn:aws:iam::111111111111:user/alice");
        assert_eq!(principal.account, "111111111111");
        assert!(principal.user_id.starts_with("AIDA") && principal.user_id.len() == 21);
    }
    let signer = Signer {
        service: "sts",
        ..Signer::default()
    };
    let get = Request::get("sts.amazonaws.com", "/?Action=GetCallerIdentity&Version=2011-06-15");
    authenticate(&identity, &signer.presign(get), Service::Sts).expect("a presigned request is authentic");
}

/// AWS General Reference, "Troubleshoot signed requests for AWS APIs".
#[test]
fn a_request_that_was_changed_is_refused() {
    let identity = alice();
    let good = Signer::default().sign(change());
    let tamper: [(&str, Tamper); 6] = [
        ("body", |r| r.body.push(b' ')),
        ("method", |r| r.method = "PUT".to_owned()),
        ("path", |r| r.target = r.target.replace("Z1", "Z2")),
        ("query", |r| r.target.push_str("?x=1")),
        ("signed header", |r| r.set("content-type", "text/plain")),
        ("signature", |r| {
            let value = r.value("authorization").to_owned();
            let last = if value.ends_with('0') { '1' } else { '0' };
            r.set("authorization", &format!("{}{last}", &value[..value.len() - 1]));
        }),
    ];
    for (what, tamper) in tamper {
        let mut request = good.clone();
        tamper(&mut request);
        let error = authenticate(&identity, &request, Service::Route53).expect_err(what);
        assert_eq!(
            (error.code, error.message.as_str()),
            (Code::SignatureDoesNotMatch, MISMATCH),
            "{what}"
        );
    }
    let unsigned = good.clone().header("x-request-source", "proxy");
    authenticate(&identity, &unsigned, Service::Route53).expect("a header that is not signed may be added");
    let wrong = Signer {
        secret: "other",
        ..Signer::default()
    };
    refused(
        authenticate(&identity, &wrong.sign(list()), Service::Route53),
        Code::SignatureDoesNotMatch,
        MISMATCH,
    );
}

#[test]
fn a_presigned_request_that_was_changed_is_refused() {
    let identity = alice();
    let signer = Signer {
        service: "sts",
        ..Signer::default()
    };
    let get = Request::get("sts.amazonaws.com", "/?Action=GetCallerIdentity&Version=2011-06-15")
        .header("x-k8s-aws-id", "east");
    let good = signer.presign(get);
    authenticate(&identity, &good, Service::Sts).expect("authentic");
    for (from, to) in [
        ("X-Amz-Expires=60", "X-Amz-Expires=900"),
        ("X-Amz-Expires=60", "X-Amz-Expires=060"),
        ("X-Amz-Expires=60", "X-Amz-Expires=60&X-Amz-Expires=900"),
        ("X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=AWS4-HMAC-SHA1"),
        ("host%3Bx-k8s-aws-id", "x-k8s-aws-id%3Bhost"),
        ("Version=2011-06-15", "Version=2011-06-16"),
    ] {
        let mut request = good.clone();
        assert!(request.target.contains(from));
        request.target = request.target.replace(from, to);
        refused(
            authenticate(&identity, &request, Service::Sts),
            Code::SignatureDoesNotMatch,
            MISMATCH,
        );
    }
    let mut other = good.clone();
    other.set("x-k8s-aws-id", "west");
    refused(
        authenticate(&identity, &other, Service::Sts),
        Code::SignatureDoesNotMatch,
        MISMATCH,
    );
    let mut without = good;
    without.headers.retain(|(name, _)| name == "host");
    refused(
        authenticate(&identity, &without, Service::Sts),
        Code::SignatureDoesNotMatch,
        MISMATCH,
    );
}

/// hashicorp/terraform#9333 (Route 53, 5 minutes), aws/aws-cli#6676 (STS, 15 minutes).
#[test]
fn a_signature_of_another_time_is_refused() {
    let identity = alice();
    let at = |service: &'static str, at_ms: u64| {
        let signer = Signer {
            service,
            at_ms,
            ..Signer::default()
        };
        signer.sign(Request::get("example.amazonaws.com", "/"))
    };
    let minute = 60_000;
    refused(
        authenticate(&identity, &at("route53", NOW - 6 * minute), Service::Route53),
        Code::SignatureDoesNotMatch,
        "Signature expired: 20261130T235400Z is now earlier than 20261130T235500Z (20261201T000000Z - 5 min.)",
    );
    authenticate(&identity, &at("route53", NOW - 5 * minute), Service::Route53).expect("five minutes are allowed");
    refused(
        authenticate(&identity, &at("sts", NOW - 16 * minute), Service::Sts),
        Code::SignatureDoesNotMatch,
        "Signature expired: 20261130T234400Z is now earlier than 20261130T234500Z (20261201T000000Z - 15 min.)",
    );
    authenticate(&identity, &at("sts", NOW - 15 * minute), Service::Sts).expect("fifteen minutes are allowed");
    refused(
        authenticate(&identity, &at("route53", NOW + 6 * minute), Service::Route53),
        Code::SignatureDoesNotMatch,
        "Signature not yet current: 20261201T000600Z is still later than 20261201T000500Z (20261201T000000Z + 5 min.)",
    );
}

/// aws/aws-sdk-php#732, cllunsford/aws-signing-proxy#25.
#[test]
fn a_scope_of_another_region_service_or_day_is_refused() {
    let identity = alice();
    let signed = |region: &'static str, service: &'static str| {
        let signer = Signer {
            region,
            service,
            ..Signer::default()
        };
        signer.sign(list())
    };
    refused(
        authenticate(&identity, &signed("mars-1", "route53"), Service::Route53),
        Code::SignatureDoesNotMatch,
        "Credential should be scoped to a valid region, not 'mars-1'. ",
    );
    refused(
        authenticate(&identity, &signed("us-east-1", "sts"), Service::Route53),
        Code::SignatureDoesNotMatch,
        "Credential should be scoped to correct service: 'route53'. ",
    );
    authenticate(&identity, &signed("eu-west-1", "route53"), Service::Route53)
        .expect("a client with an endpoint of its own");
    let mut request = signed("us-east-1", "route53");
    let value = request.value("authorization").replace("/20261201/", "/20261130/");
    request.set("authorization", &value);
    refused(
        authenticate(&identity, &request, Service::Route53),
        Code::SignatureDoesNotMatch,
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20261130' != '20261201', from '20261201T000000Z'. ",
    );
}

/// aws/chalice#828, hashicorp/vault#4939, boto/boto3#2280.
#[test]
fn an_incomplete_signature_is_refused() {
    let cases = [
        (
            "AWS4-HMAC-SHA256 Credential=A/20261201/us-east-1/route53/aws4_request",
            "Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4-HMAC-SHA256 Credential=A/20261201/us-east-1/route53/aws4_request",
        ),
        (
            "Basic YTpi",
            "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization=Basic YTpi",
        ),
        (
            "AWS4-HMAC-SHA256 Credential=A/B, SignedHeaders=host, Signature=0",
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'A/B'",
        ),
    ];
    for (header, message) in cases {
        let request = list()
            .header("x-amz-date", "20261201T000000Z")
            .header("authorization", header);
        refused(present(&request.signed()), Code::IncompleteSignature, message);
    }
    let request = list().header("x-amz-date", "yesterday").header(
        "authorization",
        "AWS4-HMAC-SHA256 Credential=A/2/r/s/t, SignedHeaders=host, Signature=0",
    );
    refused(
        present(&request.signed()),
        Code::IncompleteSignature,
        "Date must be in ISO-8601 'basic format'. Got 'yesterday'. See http://en.wikipedia.org/wiki/ISO_8601",
    );
    refused(
        present(&Request::get("h", "/?X-Amz-Credential=A").signed()),
        Code::IncompleteSignature,
        "AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters.",
    );
    assert_eq!(present(&list().signed()), Ok(None));
}

#[test]
fn a_signature_must_cover_the_host() {
    let identity = alice();
    let mut request = Signer::default().sign(list());
    let value = request.value("authorization").replace("host;", "");
    request.set("authorization", &value);
    refused(
        authenticate(&identity, &request, Service::Route53),
        Code::SignatureDoesNotMatch,
        "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
    );
}

/// AWS common errors: "The X.509 certificate or AWS access key ID provided does not exist in our records."
#[test]
fn an_unknown_access_key_is_refused() {
    let identity = alice();
    let stranger = Signer {
        key: "AKIASTRANGER00000000",
        ..Signer::default()
    };
    let invalid = "The security token included in the request is invalid.";
    refused(
        authenticate(&identity, &stranger.sign(list()), Service::Route53),
        Code::InvalidClientTokenId,
        invalid,
    );
    let with_token = Signer {
        token: Some("a-token"),
        ..Signer::default()
    };
    refused(
        authenticate(&identity, &with_token.sign(list()), Service::Route53),
        Code::InvalidClientTokenId,
        invalid,
    );
}
