//! DNS answers of simple sets: names, wildcards, negative answers, chains, delegations (RFC 1034, 2308, 4592).

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{RData, RecordType};

use crate::support::*;

#[tokio::test]
async fn values_with_their_ttl_over_udp_and_tcp() {
    let handle = start().await;
    create(
        &handle,
        &[
            set("app.example.com", "A", 5, &["192.0.2.1", "192.0.2.2"]),
            set("app.example.com", "AAAA", 6, &["2001:db8::1"]),
            set("app.example.com", "TXT", 7, &["\"one\" \"two \\\"2\\\"\"", "\"three\""]),
        ],
    );
    for (rtype, expected) in [
        (RecordType::A, vec!["5 A 192.0.2.1", "5 A 192.0.2.2"]),
        (RecordType::AAAA, vec!["6 AAAA 2001:db8::1"]),
        (RecordType::TXT, vec!["7 TXT one|two \"2\"", "7 TXT three"]),
    ] {
        let question = query("APP.example.com", rtype);
        for answer in [ask(&handle, &question).await, ask_tcp(&handle, &question).await] {
            assert_eq!(answers(&answer), expected);
            assert!(answer.metadata.authoritative && !answer.metadata.recursion_available);
            assert_eq!(
                answer.queries, question.queries,
                "the question comes back as it was asked"
            );
        }
    }
}

#[tokio::test]
async fn nodata_and_nxdomain_carry_the_soa() {
    let handle = start().await;
    create(&handle, &[set("a.deep.example.com", "A", 5, &["192.0.2.1"])]);
    for (name, rtype, code) in [
        ("none.example.com", RecordType::A, ResponseCode::NXDomain),
        ("x.a.deep.example.com", RecordType::A, ResponseCode::NXDomain),
        ("a.deep.example.com", RecordType::AAAA, ResponseCode::NoError),
        ("a.deep.example.com", RecordType::MX, ResponseCode::NoError),
        // An empty non-terminal exists (RFC 4592, 2.2.2).
        ("deep.example.com", RecordType::A, ResponseCode::NoError),
    ] {
        let answer = ask(&handle, &query(name, rtype)).await;
        assert_eq!(answer.metadata.response_code, code, "{name}");
        assert!(answer.answers.is_empty());
        let [soa] = answer.authorities.as_slice() else {
            panic!("one SOA for {name}")
        };
        assert_eq!(soa.record_type(), RecordType::SOA);
        // The lesser of the SOA's TTL and its minimum (RFC 2308, 3).
        assert_eq!(soa.ttl, 900);
        assert_eq!(soa.name.to_ascii(), "example.com.");
    }
}

#[tokio::test]
async fn other_zones_are_refused() {
    let handle = start().await;
    let answer = ask(&handle, &query("www.example.org", RecordType::A)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::Refused);
    let answer = ask(&handle, &query("www.example.com", RecordType::AXFR)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::NotImp);
}

#[tokio::test]
async fn wildcards_follow_rfc_4592() {
    let handle = start().await;
    create(
        &handle,
        &[
            set("*.example.com", "TXT", 5, &["\"wild\""]),
            set("*.w.example.com", "A", 5, &["192.0.2.1"]),
            set("host.w.example.com", "TXT", 5, &["\"host\""]),
            set("a-*.example.com", "A", 5, &["192.0.2.9"]),
        ],
    );
    assert_eq!(resolve(&handle, "any.example.com", RecordType::TXT).await, ["wild"]);
    assert_eq!(resolve(&handle, "a.b.c.example.com", RecordType::TXT).await, ["wild"]);
    assert_eq!(
        resolve(&handle, "x.y.w.example.com", RecordType::A).await,
        ["192.0.2.1"]
    );
    // The answer is owned by the name that was asked for.
    let answer = ask(&handle, &query("any.example.com", RecordType::TXT)).await;
    assert_eq!(answer.answers[0].name.to_ascii(), "any.example.com.");
    // The wildcard exists for other types too: NODATA.
    let answer = ask(&handle, &query("any.example.com", RecordType::A)).await;
    assert_eq!(
        (answer.metadata.response_code, answer.answers.len()),
        (ResponseCode::NoError, 0)
    );
    // An existing name switches it off, for itself and below.
    let answer = ask(&handle, &query("host.w.example.com", RecordType::A)).await;
    assert_eq!(
        (answer.metadata.response_code, answer.answers.len()),
        (ResponseCode::NoError, 0)
    );
    let answer = ask(&handle, &query("x.host.w.example.com", RecordType::A)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain);
    // So does an empty non-terminal: w.example.com exists, and *.example.com is not its child.
    let answer = ask(&handle, &query("w.example.com", RecordType::TXT)).await;
    assert_eq!(
        (answer.metadata.response_code, answer.answers.len()),
        (ResponseCode::NoError, 0)
    );
    // A star inside a label is a plain character.
    assert_eq!(resolve(&handle, "a-*.example.com", RecordType::A).await, ["192.0.2.9"]);
    assert!(resolve(&handle, "a-b.example.com", RecordType::A).await.is_empty());
}

#[tokio::test]
async fn cname_chains_are_followed_inside_the_zone() {
    let handle = start().await;
    create(
        &handle,
        &[
            set("end.example.com", "A", 30, &["192.0.2.1"]),
            set("two.example.com", "CNAME", 20, &["end.example.com"]),
            set("one.example.com", "CNAME", 10, &["two.example.com."]),
            set("out.example.com", "CNAME", 10, &["www.example.org"]),
            set("lost.example.com", "CNAME", 10, &["none.example.com"]),
            set("loop.example.com", "CNAME", 10, &["loop.example.com"]),
        ],
    );
    let answer = ask(&handle, &query("one.example.com", RecordType::A)).await;
    assert_eq!(
        answers(&answer),
        [
            "10 CNAME two.example.com.",
            "20 CNAME end.example.com.",
            "30 A 192.0.2.1"
        ]
    );
    let owners: Vec<_> = answer.answers.iter().map(|r| r.name.to_ascii()).collect();
    assert_eq!(owners, ["one.example.com.", "two.example.com.", "end.example.com."]);
    assert_eq!(
        resolve(&handle, "one.example.com", RecordType::CNAME).await,
        ["two.example.com."]
    );
    assert_eq!(
        resolve(&handle, "out.example.com", RecordType::A).await,
        ["www.example.org."]
    );
    let answer = ask(&handle, &query("lost.example.com", RecordType::A)).await;
    assert_eq!(
        (answer.metadata.response_code, answer.answers.len()),
        (ResponseCode::NXDomain, 1)
    );
    let answer = ask(&handle, &query("loop.example.com", RecordType::A)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::NoError);
}

#[tokio::test]
async fn a_delegation_is_a_referral() {
    let handle = start().await;
    create(
        &handle,
        &[
            set("sub.example.com", "NS", 60, &["ns1.example.net"]),
            set("below.sub.example.com", "A", 5, &["192.0.2.1"]),
        ],
    );
    for name in ["sub.example.com", "below.sub.example.com"] {
        let answer = ask(&handle, &query(name, RecordType::A)).await;
        assert!(answer.answers.is_empty() && !answer.metadata.authoritative);
        assert_eq!(answer.metadata.response_code, ResponseCode::NoError);
        assert_eq!(answer.authorities[0].record_type(), RecordType::NS);
        assert_eq!(answer.authorities[0].name.to_ascii(), "sub.example.com.");
    }
}

#[tokio::test]
async fn the_longest_zone_answers_and_private_zones_do_not() {
    let handle = start_with(
        r#"
zones:
  - {name: example.com, records: [{name: x.sub.example.com, type: A, ttl: 5, values: ["192.0.2.1"]}]}
  - {name: sub.example.com, records: [{name: x.sub.example.com, type: A, ttl: 5, values: ["192.0.2.2"]}]}
  - {name: x.sub.example.com, private: true, records: [{name: x.sub.example.com, type: A, ttl: 5, values: ["192.0.2.3"]}]}
"#,
    )
    .await;
    assert_eq!(
        resolve(&handle, "x.sub.example.com", RecordType::A).await,
        ["192.0.2.2"]
    );
}

#[tokio::test]
async fn answers_come_from_the_insync_state_only() {
    let handle = start().await;
    create(&handle, &[set("app.example.com", "A", 5, &["192.0.2.1"])]);
    handle.set_insync_ms(3_600_000);
    change(&handle, "UPSERT", &[set("app.example.com", "A", 5, &["192.0.2.2"])]);
    create(&handle, &[set("new.example.com", "A", 5, &["192.0.2.3"])]);
    assert_eq!(resolve(&handle, "app.example.com", RecordType::A).await, ["192.0.2.1"]);
    let answer = ask(&handle, &query("new.example.com", RecordType::A)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain);
}

#[tokio::test]
async fn what_does_not_fit_is_truncated_and_whole_over_tcp() {
    let handle = start().await;
    let values: Vec<String> = (0..100).map(|n| format!("198.18.0.{n}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    create(&handle, &[set("big.example.com", "A", 5, &values)]);
    let question = query("big.example.com", RecordType::A);
    let answer = ask(&handle, &question).await;
    assert!(answer.metadata.truncation && answer.answers.len() < 100);
    let answer = ask_tcp(&handle, &question).await;
    assert!(!answer.metadata.truncation);
    assert_eq!(answer.answers.len(), 100);
}

#[tokio::test]
async fn the_apex_has_its_ns_and_soa() {
    let handle = start().await;
    let answer = ask(&handle, &query("example.com", RecordType::NS)).await;
    assert_eq!(answer.answers.len(), 4);
    let answer = ask(&handle, &query("example.com", RecordType::SOA)).await;
    let RData::SOA(soa) = &answer.answers[0].data else {
        panic!("an SOA")
    };
    assert_eq!(
        (soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum),
        (1, 7200, 900, 1_209_600, 86_400)
    );
}

#[tokio::test]
async fn garbage_does_no_harm() {
    let handle = start().await;
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.expect("socket");
    for garbage in [&b""[..], b"\0", &[0xff; 12], &[0xff; 600]] {
        socket.send_to(garbage, handle.dns()).await.expect("sent");
    }
    assert_eq!(resolve(&handle, "example.com", RecordType::NS).await.len(), 4);
}
