//! DNS answers of policies, aliases and load balancers (route53.md 2, 3).

use std::collections::BTreeMap;

use hickory_proto::rr::RecordType;
use truce_aws_emulator::Handle;
use truce_aws_emulator::core::shape::RawSet;

use crate::support::*;

const ALB: &str = "Z35SXDOTRQ7X7K";
const NLB: &str = "Z26RNL4JYFTOTI";

fn weighted(name: &str, id: &str, weight: i64, value: &str) -> RawSet {
    RawSet {
        set_identifier: Some(id.to_owned()),
        weight: Some(weight),
        ..set(name, "A", 5, &[value])
    }
}

fn region(mut set: RawSet, region: &str) -> RawSet {
    set.set_identifier = Some(region.to_owned());
    set.region = Some(region.to_owned());
    set
}

fn failover(mut set: RawSet, role: &str) -> RawSet {
    set.set_identifier = Some(role.to_owned());
    set.failover = Some(role.to_owned());
    set
}

async fn tally(handle: &Handle, name: &str, times: usize) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for _ in 0..times {
        let found = resolve(handle, name, RecordType::A).await;
        let [address] = found.as_slice() else {
            panic!("one answer, not {found:?}")
        };
        *tally.entry(address.clone()).or_default() += 1;
    }
    tally
}

#[tokio::test]
async fn weights_are_shares() {
    let handle = start().await;
    create(
        &handle,
        &[
            weighted("app.example.com", "a", 30, "192.0.2.1"),
            weighted("app.example.com", "b", 10, "192.0.2.2"),
            weighted("app.example.com", "c", 0, "192.0.2.3"),
        ],
    );
    let tally = tally(&handle, "app.example.com", 1000).await;
    let share = tally["192.0.2.1"];
    assert!(
        (700..800).contains(&share),
        "75 percent of 1000, give or take: {tally:?}"
    );
    assert!(!tally.contains_key("192.0.2.3"), "weight 0 beside others never answers");
}

#[tokio::test]
async fn all_weights_zero_serve_all_equally() {
    let handle = start().await;
    create(
        &handle,
        &[
            weighted("app.example.com", "a", 0, "192.0.2.1"),
            weighted("app.example.com", "b", 0, "192.0.2.2"),
        ],
    );
    let tally = tally(&handle, "app.example.com", 400).await;
    assert!(tally.values().all(|n| (150..250).contains(n)), "{tally:?}");
    assert_eq!(tally.len(), 2);
}

#[tokio::test]
async fn latency_goes_to_the_nearest_region_of_the_client() {
    let handle = start_with(
        r#"
zones: [{name: example.com, id: ZEXAMPLE0001}]
regions: {203.0.113.0/24: eu-west-1, 203.0.113.128/25: ap-southeast-2, "2001:db8:1::/48": us-west-1}
"#,
    )
    .await;
    create(
        &handle,
        &[
            region(set("app.example.com", "A", 5, &["192.0.2.1"]), "us-east-1"),
            region(set("app.example.com", "A", 5, &["192.0.2.2"]), "us-west-2"),
            region(set("app.example.com", "A", 5, &["192.0.2.3"]), "eu-central-1"),
        ],
    );
    let question = || query("app.example.com", RecordType::A);
    // Without a mapping: the default region, us-east-1.
    assert_eq!(answers(&ask(&handle, &question()).await), ["5 A 192.0.2.1"]);
    for (network, prefix, expected) in [
        ("203.0.113.0", 25, "5 A 192.0.2.3"),
        ("203.0.113.192", 26, "5 A 192.0.2.2"),
        ("2001:db8:1::", 48, "5 A 192.0.2.2"),
        ("198.51.100.0", 24, "5 A 192.0.2.1"),
    ] {
        let answer = ask(&handle, &from_subnet(question(), network, prefix)).await;
        assert_eq!(answers(&answer), [expected], "{network}");
        // The subnet comes back with a scope (RFC 7871, 7.2.1).
        let edns = answer.edns.expect("EDNS");
        let option = edns.option(hickory_proto::rr::rdata::opt::EdnsCode::Subnet);
        let Some(hickory_proto::rr::rdata::opt::EdnsOption::Subnet(subnet)) = option else {
            panic!("a subnet")
        };
        assert_eq!((subnet.source_prefix(), subnet.scope_prefix()), (prefix, prefix));
    }
}

#[tokio::test]
async fn failover_answers_primary_while_there_is_one() {
    let handle = start().await;
    let secondary = failover(set("app.example.com", "A", 5, &["192.0.2.2"]), "SECONDARY");
    create(&handle, &[secondary]);
    assert_eq!(resolve(&handle, "app.example.com", RecordType::A).await, ["192.0.2.2"]);
    create(
        &handle,
        &[
            set("p.example.com", "A", 7, &["192.0.2.1"]),
            failover(alias("app.example.com", "A", ZONE, "p.example.com"), "PRIMARY"),
        ],
    );
    assert_eq!(resolve(&handle, "app.example.com", RecordType::A).await, ["192.0.2.1"]);
}

#[tokio::test]
async fn aliases_are_followed_through_three_levels_with_the_ttl_of_the_leaf() {
    let handle = start().await;
    let mut leaf_alias = alias(
        "_truce-primary-us-east-1.example.com",
        "A",
        ALB,
        "lb.us-east-1.elb.amazonaws.com",
    );
    leaf_alias.set_identifier = Some("east".to_owned());
    leaf_alias.weight = Some(1);
    create(
        &handle,
        &[
            leaf_alias,
            region(
                alias(
                    "_truce-primary.example.com",
                    "A",
                    ZONE,
                    "_truce-primary-us-east-1.example.com",
                ),
                "us-east-1",
            ),
            failover(
                alias("app.example.com", "A", ZONE, "_truce-primary.example.com"),
                "PRIMARY",
            ),
            set("leaf.example.com", "A", 17, &["192.0.2.1"]),
            alias("one.example.com", "A", ZONE, "leaf.example.com"),
        ],
    );
    let direct = resolve(&handle, "lb.us-east-1.elb.amazonaws.com", RecordType::A).await;
    let answer = ask(&handle, &query("app.example.com", RecordType::A)).await;
    assert_eq!(answers(&answer), [format!("60 A {}", direct[0])]);
    assert_eq!(answer.answers[0].name.to_ascii(), "app.example.com.");
    assert_eq!(
        answers(&ask(&handle, &query("one.example.com", RecordType::A)).await),
        ["17 A 192.0.2.1"]
    );
    // An alias answers its own type only.
    assert!(resolve(&handle, "one.example.com", RecordType::AAAA).await.is_empty());
}

#[tokio::test]
async fn aliases_and_policies_of_cnames() {
    let handle = start().await;
    create(
        &handle,
        &[
            set("leaf.example.com", "CNAME", 9, &["lb.elb.us-east-1.amazonaws.com"]),
            alias("app.example.com", "CNAME", ZONE, "leaf.example.com"),
        ],
    );
    let address = resolve(&handle, "lb.elb.us-east-1.amazonaws.com", RecordType::A).await;
    let answer = ask(&handle, &query("app.example.com", RecordType::A)).await;
    assert_eq!(
        answers(&answer),
        [
            "9 CNAME lb.elb.us-east-1.amazonaws.com.".to_owned(),
            format!("60 A {}", address[0])
        ]
    );
}

#[tokio::test]
async fn load_balancers_have_addresses_that_never_change() {
    let (one, two) = (start().await, start().await);
    let names = [
        "a.us-east-1.elb.amazonaws.com",
        "b.us-east-1.elb.amazonaws.com",
        "a.elb.eu-west-1.amazonaws.com",
    ];
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        let v4 = resolve(&one, name, RecordType::A).await;
        assert_eq!(v4, resolve(&two, name, RecordType::A).await);
        let ip: std::net::Ipv4Addr = v4[0].parse().expect("an address");
        assert!(
            ip.octets()[0] == 198 && ip.octets()[1] & 0xfe == 18,
            "{ip} is not in 198.18.0.0/15"
        );
        assert!(seen.insert(ip), "two load balancers share {ip}");
    }
    let v6 = resolve(&one, "a.elb.eu-west-1.amazonaws.com", RecordType::AAAA).await;
    assert!(v6[0].starts_with("2001:db8:"), "{v6:?}");
    // Application load balancers have IPv6 as dualstack only; both spellings are one load balancer.
    assert!(resolve(&one, names[0], RecordType::AAAA).await.is_empty());
    let dual = format!("dualstack.{}", names[0]);
    assert_eq!(resolve(&one, &dual, RecordType::AAAA).await.len(), 1);
    assert_eq!(
        resolve(&one, &dual, RecordType::A).await,
        resolve(&one, names[0], RecordType::A).await
    );
    // No other type, with an SOA to say so.
    let answer = ask(&one, &query(names[0], RecordType::TXT)).await;
    assert_eq!((answer.answers.len(), answer.authorities.len()), (0, 1));
}

#[tokio::test]
async fn load_balancers_of_the_configuration() {
    let handle = start_with(
        r#"
zones: [{name: example.com, id: ZEXAMPLE0001}]
loadBalancers: {dualstack.lb.us-east-1.elb.amazonaws.com: ["192.0.2.10", "192.0.2.11", "2001:db8::10"]}
"#,
    )
    .await;
    create(
        &handle,
        &[
            alias("app.example.com", "A", ALB, "dualstack.lb.us-east-1.elb.amazonaws.com"),
            alias(
                "app.example.com",
                "AAAA",
                ALB,
                "dualstack.lb.us-east-1.elb.amazonaws.com",
            ),
            alias("other.example.com", "A", NLB, "lb.elb.us-east-1.amazonaws.com"),
        ],
    );
    assert_eq!(
        resolve(&handle, "app.example.com", RecordType::A).await,
        ["192.0.2.10", "192.0.2.11"]
    );
    assert_eq!(
        resolve(&handle, "app.example.com", RecordType::AAAA).await,
        ["2001:db8::10"]
    );
    assert_eq!(
        resolve(&handle, "lb.us-east-1.elb.amazonaws.com", RecordType::A).await,
        ["192.0.2.10", "192.0.2.11"]
    );
    assert!(resolve(&handle, "other.example.com", RecordType::A).await[0].starts_with("198.1"));
}
