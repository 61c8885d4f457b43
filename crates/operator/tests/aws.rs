//! The real AWS SDK against the double of Route 53 and STS, and against servers that fail.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_config::{BehaviorVersion, ConfigLoader, Region};
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use truce_aws_emulator::{Config, Handle, serve};
use truce_engine::effect::Change;
use truce_engine::event::{Class, Failure, Success};
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::{HostedZoneId, SetIdentifier};
use truce_engine::value::owned::Owned;
use truce_engine::value::record::{FailoverRole, RecordData, RecordSet, RecordType, Routing};
use truce_engine::value::region::Region as LatencyRegion;
use truce_operator::aws::identity;
use truce_operator::aws::route53::Route53;

const ZONE: &str = "Z0123456789EXAMPLE";

fn loader(endpoint: &str) -> ConfigLoader {
    aws_config::defaults(BehaviorVersion::latest())
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
}

async fn route53(endpoint: &str) -> Route53 {
    let key = Credentials::new("AKIAHUB0000000000000", "not-a-secret", None, None, "test");
    Route53::new(&identity::load(loader(endpoint).credentials_provider(key)).await)
}

async fn double() -> (Handle, Route53, HostedZoneId) {
    let handle = serve(Config::default().with_zone("example.com", Some(ZONE)))
        .await
        .unwrap();
    let route53 = route53(&handle.endpoint()).await;
    (handle, route53, zone())
}

fn zone() -> HostedZoneId {
    HostedZoneId::parse(ZONE).unwrap()
}

fn name(text: &str) -> RecordName {
    let zone = DnsName::parse("example.com").unwrap();
    RecordName::within(DnsName::parse(text).unwrap(), &zone).unwrap()
}

fn set(at: &str, record_type: RecordType, routing: Routing, data: RecordData) -> RecordSet {
    RecordSet {
        name: name(at),
        record_type,
        routing,
        data,
        health_check: None,
    }
}

fn id(text: &str) -> SetIdentifier {
    SetIdentifier::listed(text)
}

fn delete(set: &RecordSet) -> Change {
    Change::Delete(Owned::confirmed(set, "yes", "yes").unwrap())
}

fn every_kind_of_set() -> Vec<RecordSet> {
    let region = LatencyRegion::known("us-east-1").unwrap();
    let role = |role| Routing::Failover {
        id: id("prod/@primary"),
        role,
    };
    let to = |target: &str, zone: &str| RecordData::Alias {
        zone: HostedZoneId::parse(zone).unwrap(),
        target: DnsName::parse(target).unwrap(),
        evaluate_target_health: true,
    };
    let weighted = |n: u8| Routing::Weighted {
        id: id(&format!("prod/c{n}")),
        weight: n,
    };
    vec![
        set(
            "w.example.com",
            RecordType::A,
            weighted(0),
            RecordData::values(60, ["203.0.113.1"]),
        ),
        set(
            "w.example.com",
            RecordType::A,
            weighted(255),
            RecordData::values(60, ["203.0.113.2", "203.0.113.3"]),
        ),
        set(
            "w.example.com",
            RecordType::Aaaa,
            Routing::Simple,
            RecordData::values(5, ["2001:db8::1"]),
        ),
        set(
            "l.example.com",
            RecordType::A,
            Routing::Latency {
                id: id("prod/east"),
                region,
            },
            to("k8s-web-1.elb.us-east-1.amazonaws.com", "Z26RNL4JYFTOTI"),
        ),
        set(
            "f.example.com",
            RecordType::A,
            role(FailoverRole::Primary),
            to("w.example.com", ZONE),
        ),
        set(
            "*.shop.example.com",
            RecordType::Cname,
            Routing::Simple,
            RecordData::values(300, ["lb.example.net"]),
        ),
        set(
            "_truce.w.example.com",
            RecordType::Txt,
            Routing::Simple,
            RecordData::values(
                300,
                ["\"heritage=truce,truce/owner=prod,truce/resource=globalhostname/shop/app\""],
            ),
        ),
    ]
}

fn page(success: Success) -> Vec<RecordSet> {
    match success {
        Success::Page { sets, next: None } => sets,
        other => panic!("not a whole zone: {other:?}"),
    }
}

#[tokio::test]
async fn what_is_written_is_read_back_and_deleted_exactly() {
    let (handle, route53, zone) = double().await;
    let before = handle.record_sets(ZONE).unwrap();
    let sets = every_kind_of_set();
    let create: Vec<_> = sets.iter().cloned().map(Change::Create).collect();
    let Success::Submitted { change_id, .. } = route53.submit(&zone, &create).await.unwrap() else {
        panic!("no change");
    };
    assert!(change_id.starts_with('C'), "{change_id}");
    let state = route53.check_change(&change_id).await.unwrap();
    assert!(matches!(state, Success::Change { insync: true }), "{state:?}");

    let mut read = page(route53.read_page(&zone, None).await.unwrap());
    read.retain(|set| !matches!(set.record_type, RecordType::Ns | RecordType::Soa));
    let sorted = |mut sets: Vec<RecordSet>| {
        sets.sort();
        sets
    };
    assert_eq!(sorted(read.clone()), sorted(sets));

    // Roots first: an alias goes before its target.
    read.sort_by_key(|set| !matches!(set.data, RecordData::Alias { .. }));
    let remove: Vec<_> = read.iter().map(delete).collect();
    route53.submit(&zone, &remove).await.unwrap();
    assert_eq!(handle.record_sets(ZONE).unwrap(), before);
}

#[tokio::test]
async fn one_name_is_read_whole_and_alone() {
    let (_handle, route53, zone) = double().await;
    let weighted = |at: &str, kind: RecordType, n: u8, value: &str| {
        let routing = Routing::Weighted {
            id: id(&format!("prod/c{n:03}")),
            weight: n,
        };
        set(at, kind, routing, RecordData::values(60, [value]))
    };
    let mut sets = Vec::new();
    for n in 0..90 {
        sets.push(weighted("app.example.com", RecordType::A, n, "203.0.113.1"));
        sets.push(weighted("app.example.com", RecordType::Aaaa, n, "2001:db8::1"));
    }
    let neighbours = ["app-east.example.com", "apq.example.com", "a.app.example.com"];
    let beside = neighbours.map(|at| {
        set(
            at,
            RecordType::A,
            Routing::Simple,
            RecordData::values(60, ["192.0.2.1"]),
        )
    });
    let create: Vec<_> = sets.iter().chain(&beside).cloned().map(Change::Create).collect();
    route53.submit(&zone, &create).await.unwrap();

    let Success::Name { sets: mut read } = route53.read_name(&zone, &name("app.example.com")).await.unwrap() else {
        panic!("no name");
    };
    read.sort();
    sets.sort();
    assert_eq!(read, sets);
    let nothing = route53.read_name(&zone, &name("app-west.example.com")).await.unwrap();
    assert!(matches!(nothing, Success::Name { sets } if sets.is_empty()));
}

#[tokio::test]
async fn the_zone_and_the_account_are_told() {
    let (_handle, route53, zone) = double().await;
    match route53.verify(&zone).await.unwrap() {
        Success::Zone {
            account,
            name,
            private,
            record_sets,
        } => {
            assert_eq!((account.as_str(), name.as_str()), ("111111111111", "example.com."));
            // NS and SOA.
            assert_eq!((private, record_sets), (false, 2));
        }
        other => panic!("{other:?}"),
    }
    let missing = HostedZoneId::parse("Z9NOTHERE").unwrap();
    let failure = route53.verify(&missing).await.unwrap_err();
    assert_eq!(
        (failure.class, failure.code.as_str()),
        (Class::Permanent, "NoSuchHostedZone")
    );
}

#[tokio::test]
async fn a_refused_batch_says_what_route_53_said_and_changes_nothing() {
    let (handle, route53, zone) = double().await;
    let version = handle.zone_version(ZONE);
    let absent = set(
        "app.example.com",
        RecordType::A,
        Routing::Simple,
        RecordData::values(60, ["203.0.113.1"]),
    );
    let failure = route53.submit(&zone, &[delete(&absent)]).await.unwrap_err();
    assert_eq!(
        (failure.class, failure.code.as_str(), failure.ambiguous),
        (Class::Conflict, "InvalidChangeBatch", false)
    );
    assert!(failure.message.contains("but it was not found"), "{}", failure.message);
    assert_eq!(handle.zone_version(ZONE), version);
}

/// A server that reads each request and gives `answer`, or cuts the connection; and how many it got.
async fn server(answer: Option<&'static str>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            let mut request = [0; 65536];
            if peer.read(&mut request).await.unwrap_or(0) > 0 {
                count.fetch_add(1, Ordering::SeqCst);
            }
            if let Some(answer) = answer {
                let head = "Content-Type: text/xml\r\nConnection: close";
                let text = format!("HTTP/1.1 {answer}\r\n{head}\r\nContent-Length: 0\r\n\r\n");
                let _ = peer.write_all(text.as_bytes()).await;
            }
        }
    });
    (endpoint, requests)
}

async fn submit_to(endpoint: &str) -> Failure {
    let one = set(
        "app.example.com",
        RecordType::A,
        Routing::Simple,
        RecordData::values(60, ["203.0.113.1"]),
    );
    route53(endpoint)
        .await
        .submit(&zone(), &[Change::Create(one)])
        .await
        .unwrap_err()
}

#[tokio::test]
async fn a_lost_answer_is_ambiguous_and_the_change_is_sent_once() {
    for answer in [None, Some("503 Service Unavailable"), Some("500 Internal Server Error")] {
        let (endpoint, requests) = server(answer).await;
        let failure = submit_to(&endpoint).await;
        assert_eq!(
            (failure.class, failure.ambiguous),
            (Class::Retry, true),
            "{answer:?}: {failure:?}"
        );
        assert_eq!(requests.load(Ordering::SeqCst), 1, "{answer:?}");
    }
}

#[tokio::test]
async fn a_lost_answer_to_a_read_is_not_ambiguous() {
    let (endpoint, requests) = server(Some("503 Service Unavailable")).await;
    let failure = route53(&endpoint).await.check_change("C1").await.unwrap_err();
    assert_eq!((failure.class, failure.ambiguous), (Class::Retry, false));
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[derive(Debug)]
struct NoCredentials;

impl ProvideCredentials for NoCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Err(CredentialsError::not_loaded("there are none")))
    }
}

#[tokio::test]
async fn without_credentials_nothing_is_sent() {
    let (endpoint, requests) = server(None).await;
    let loader = loader(&endpoint).credentials_provider(NoCredentials);
    let route53 = Route53::new(&identity::load(loader).await);
    let one = set(
        "app.example.com",
        RecordType::A,
        Routing::Simple,
        RecordData::values(60, ["203.0.113.1"]),
    );
    let failure = route53.submit(&zone(), &[Change::Create(one)]).await.unwrap_err();
    assert_eq!(
        (failure.class, failure.ambiguous),
        (Class::Denied, false),
        "{failure:?}"
    );
    assert_eq!(failure.code, "NoCredentials");
    assert_eq!(requests.load(Ordering::SeqCst), 0);
}
