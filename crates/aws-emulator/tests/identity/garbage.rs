//! Whatever is sent: an answer, never a crash; and no garbage is let in.

use proptest::prelude::*;
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::policy::Document;
use truce_aws_emulator::identity::service::Service;
use truce_aws_emulator::identity::signature::present;

use crate::support::*;

fn alice() -> Identity {
    directory(&format!(
        "accounts: {{'111111111111': {{users: {{alice: {{accessKeys: {{{KEY}: {SECRET}}}}}}}}}}}"
    ))
}

/// Printable ASCII, as HTTP lets through in headers and targets.
fn printable(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(32_u8..127, 0..most).prop_map(|bytes| bytes.into_iter().map(char::from).collect())
}

/// Path and decoded parameters, in order of their names.
fn meaning(target: &str) -> (String, Vec<(String, String)>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    pairs.sort();
    (path.to_owned(), pairs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_header(value in printable(120), date in printable(20)) {
        let request = Request::get("h", "/").header("authorization", &value).header("x-amz-date", &date);
        let _ = present(&request.signed());
    }

    /// With a known key and the right time and scope, all the rest being anything.
    #[test]
    fn any_signature_of_a_known_key(
        host in printable(30), target in printable(60), names in printable(40), signature in printable(70),
        extra in printable(20), query in any::<bool>(),
    ) {
        let scope = format!("{KEY}/20261201/us-east-1/route53/aws4_request");
        let request = if query {
            let mut text = form_urlencoded::Serializer::new(String::new());
            text.append_pair("X-Amz-Credential", &scope).append_pair("X-Amz-Date", "20261201T000000Z");
            text.append_pair("X-Amz-SignedHeaders", &format!("host;{names}")).append_pair("X-Amz-Signature", &signature);
            text.append_pair("X-Amz-Security-Token", &extra);
            Request::get(&host, &format!("/{target}?{}", text.finish()))
        } else {
            let value = format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature=a{signature}");
            Request::get(&host, &format!("/{target}")).header("authorization", &value).header("x-amz-date", "20261201T000000Z")
        };
        let signed = request.signed();
        if let Ok(Some(presented)) = present(&signed) {
            prop_assert!(alice().authenticate(&presented, &signed, Service::Route53, NOW).is_err());
            prop_assert!(presented.verify(&signed, SECRET).is_err());
        }
    }

    #[test]
    fn any_token(text in ".{0,200}", encoded in any::<bool>()) {
        use base64::Engine as _;
        let cluster: truce_aws_emulator::identity::cluster::ClusterConfig = serde_json::from_value(serde_json::json!({
            "name": "east", "region": "us-east-1", "endpoint": "https://e", "certificateAuthority": "",
        })).expect("a cluster");
        let inner = if encoded { format!("https://sts.amazonaws.com/?{text}") } else { text.clone() };
        let token = format!("k8s-aws-v1.{}", base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(inner));
        for token in [token, text] {
            prop_assert!(alice().review(&cluster, &token, NOW).is_err());
        }
    }

    #[test]
    fn any_policy(text in ".{0,200}") {
        let _ = serde_json::from_str::<Document>(&text).map(|document| document.check_identity());
    }

    /// One byte of a presigned request is another: it is refused, unless it is another spelling of the same.
    #[test]
    fn any_byte_of_a_presigned_request(place in any::<prop::sample::Index>(), byte in 33_u8..127) {
        let signer = Signer { service: "sts", ..Signer::default() };
        let call = "/?Action=GetCallerIdentity&Version=2011-06-15";
        let good = signer.presign(Request::get("sts.amazonaws.com", call).header("x-k8s-aws-id", "east"));
        let mut changed = good.clone();
        let at = place.index(good.target.len());
        changed.target.replace_range(at..=at, &char::from(byte).to_string());
        // No HTTP server lets a target through that does not begin with a slash.
        prop_assume!(changed.target.starts_with('/'));
        prop_assume!(meaning(&changed.target) != meaning(&good.target));
        let signed = changed.signed();
        let result = present(&signed).map(|found| found.map(|p| alice().authenticate(&p, &signed, Service::Sts, NOW)));
        prop_assert!(!matches!(result, Ok(Some(Ok(_)))), "{}", changed.target);
    }

    /// What was signed is let in, whatever is in it: nothing good is refused by the way the request is signed again.
    #[test]
    fn any_good_request(path in "[a-zA-Z0-9/._~*%-]{0,40}", key in "[ -~]{1,12}", value in "[ -~]{0,20}", body in ".{0,80}") {
        let path = path.replace('%', "%25");
        let query: String = form_urlencoded::Serializer::new(String::new()).append_pair(&key, &value).finish();
        let mut request = Request::get("route53.amazonaws.com", &format!("/{path}?{query}"))
            .header("x-amz-meta", value.trim());
        request.body = body.into_bytes();
        let signed = Signer::default().sign(request);
        prop_assert!(authenticate(&alice(), &signed, Service::Route53).is_ok(), "{signed:?}");
    }
}
