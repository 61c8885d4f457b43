//! Plain HTTP: requests that no SDK would send, and the shape of errors (route53.md 1.1).

use crate::support::*;

const RRSET: &str = "/2013-04-01/hostedzone/ZEXAMPLE0001/rrset";

fn document(inner: &str) -> String {
    format!(
        "<ChangeResourceRecordSetsRequest xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><ChangeBatch><Changes>{inner}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>"
    )
}

fn a_change(name: &str) -> String {
    format!(
        "<Change><Action>CREATE</Action><ResourceRecordSet><Name>{name}</Name><Type>A</Type><TTL>60</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></Change>"
    )
}

#[tokio::test]
async fn an_error_document() {
    let handle = start().await;
    let (status, head, body) = http(handle.aws(), "POST", RRSET, true, &document(&a_change("x.example.org"))).await;
    assert_eq!(status, 400);
    assert!(
        head.contains("content-type: text/xml") && head.contains("x-amzn-requestid: "),
        "{head}"
    );
    assert_eq!(
        body,
        "<?xml version=\"1.0\"?>\n<ErrorResponse xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><Error><Type>Sender</Type><Code>InvalidChangeBatch</Code><Message>[RRSet with DNS name x.example.org. is not permitted in zone example.com.]</Message></Error><RequestId>00000000-0000-4000-8000-000000000001</RequestId></ErrorResponse>"
    );
}

#[tokio::test]
async fn bodies_that_are_not_what_they_should_be() {
    let handle = start().await;
    let wrong_root = "<ChangeBatch xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"/>".to_owned();
    let wrong_namespace = document(&a_change("x.example.com")).replace("2013-04-01/\"", "2012-02-29/\"");
    let unknown = document(&a_change("x.example.com").replace("<TTL>60</TTL>", "<Ttl>60</Ttl>"));
    let no_action = document(&a_change("x.example.com").replace("<Action>CREATE</Action>", ""));
    let not_a_number = document(&a_change("x.example.com").replace("<TTL>60", "<TTL>sixty"));
    let deep = "<a>".repeat(100);
    let cases = [
        ("", "MalformedInput", "Premature end of file."),
        ("<a><b></a>", "MalformedInput", "Unable to parse request"),
        (deep.as_str(), "MalformedInput", "nested deeper than 16"),
        (
            "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
            "MalformedInput",
            "DOCTYPE is not allowed",
        ),
        (
            &wrong_root,
            "MalformedInput",
            "ChangeBatch is not valid, expected ChangeResourceRecordSetsRequest",
        ),
        (
            &wrong_namespace,
            "InvalidInput",
            "Cannot find the declaration of element 'ChangeResourceRecordSetsRequest'",
        ),
        (
            &unknown,
            "InvalidInput",
            "Invalid content was found starting with element 'Ttl'",
        ),
        (
            &no_action,
            "InvalidInput",
            "The content of element 'Change' is not complete",
        ),
        (
            &not_a_number,
            "InvalidInput",
            "'sixty' is not a valid value for 'integer'",
        ),
    ];
    for (body, code, message) in cases {
        let (status, _, answer) = http(handle.aws(), "POST", RRSET, true, body).await;
        assert_eq!(status, 400, "{answer}");
        assert!(
            answer.contains(&format!("<Code>{code}</Code>")) && answer.contains(message),
            "{answer}"
        );
    }
    assert_eq!(handle.zone_version(ZONE), Some(1));
}

#[tokio::test]
async fn text_is_unescaped_and_escaped() {
    let handle = start().await;
    let change = a_change("t.example.com").replace("<Type>A<", "<Type>TXT<").replace(
        "192.0.2.1",
        "&quot;a &lt;b&gt; &amp;amp; &#x41;&#9;<![CDATA[<c>]]>&quot;",
    );
    let (status, _, body) = http(handle.aws(), "POST", RRSET, true, &document(&change)).await;
    assert_eq!(status, 200, "{body}");
    let value = handle
        .record_sets(ZONE)
        .expect("the zone")
        .pop()
        .and_then(|s| s.values)
        .expect("values");
    assert_eq!(value, ["\"a <b> &amp; A\t<c>\""]);
    let (_, _, list) = http(handle.aws(), "GET", &format!("{RRSET}?name=t.example.com"), true, "").await;
    assert!(
        list.contains("<Value>\"a &lt;b&gt; &amp;amp; A\t&lt;c&gt;\"</Value>"),
        "{list}"
    );
}

#[tokio::test]
async fn a_body_over_the_limit() {
    let handle = start().await;
    let body = "x".repeat(truce_aws_emulator::api::MAX_BODY + 1);
    let (status, _, answer) = http(handle.aws(), "POST", RRSET, true, &body).await;
    assert_eq!(status, 413, "{answer}");
}

#[tokio::test]
async fn without_credentials() {
    let handle = start().await;
    let (status, _, body) = http(handle.aws(), "GET", "/2013-04-01/hostedzone", false, "").await;
    assert_eq!(status, 403);
    assert!(body.contains("<Code>MissingAuthenticationToken</Code>"), "{body}");
    // A presigned request has them in the query.
    let path = "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Credential=AKIDP%2F20261130%2Fus-east-1%2Fsts%2Faws4_request";
    let (status, _, body) = http(handle.aws(), "GET", path, false, "").await;
    assert_eq!(status, 200);
    assert!(body.contains("<UserId>AKIDP</UserId>"), "{body}");
}

#[tokio::test]
async fn parameters_out_of_range() {
    let handle = start().await;
    for query in [
        "maxitems=0",
        "maxitems=many",
        "type=A",
        "name=x.example.com&type=a",
        "name=a..b&type=A",
        "identifier=x",
    ] {
        let (status, _, body) = http(handle.aws(), "GET", &format!("{RRSET}?{query}"), true, "").await;
        assert_eq!(status, 400, "{query}: {body}");
        assert!(body.contains("<Code>InvalidInput</Code>"), "{query}: {body}");
    }
    let (status, _, body) = http(handle.aws(), "GET", &format!("{RRSET}?maxitems=1"), true, "").await;
    assert_eq!(status, 200);
    assert!(
        body.contains("<IsTruncated>true</IsTruncated><NextRecordName>example.com.</NextRecordName><NextRecordType>SOA</NextRecordType><MaxItems>1</MaxItems>"),
        "{body}"
    );
}

#[tokio::test]
async fn unknown_operations_never_answer_200() {
    let handle = start().await;
    for (method, path) in [
        ("GET", "/2013-04-01/nothing"),
        ("GET", "/2013-04-01/trafficpolicies"),
        ("POST", "/2013-04-01/hostedzone/ZEXAMPLE0001/enable-dnssec"),
        ("GET", "/2012-02-29/hostedzone"),
        ("PUT", RRSET),
        ("GET", "/"),
    ] {
        let (status, _, body) = http(handle.aws(), method, path, true, "").await;
        assert_eq!(status, 404, "{method} {path}: {body}");
        assert!(body.contains("<UnknownOperationException/>"), "{body}");
    }
}
