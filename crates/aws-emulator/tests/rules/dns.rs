//! What clients get: choice by policy and health, wildcards, negative answers (route53.md 2, 3; RFC 4592, RFC 2308).

use std::collections::BTreeSet;
use std::net::IpAddr;

use truce_aws_emulator::core::cidr::BlockChange;
use truce_aws_emulator::core::health::{HealthCheckConfig, Kind};
use truce_aws_emulator::core::names::Name;
use truce_aws_emulator::core::places::Whereabouts;
use truce_aws_emulator::core::record::RecordType;
use truce_aws_emulator::core::regions;
use truce_aws_emulator::core::shape::{RawCoordinates, RawGeoproximity, RawSet};
use truce_aws_emulator::dns::answer::{Answer, Kind as AnswerKind, Resolver};
use truce_aws_emulator::dns::client::Client;
use truce_aws_emulator::dns::loadbalancer::LoadBalancers;

use crate::support::*;

const ALB_ZONE: &str = "Z35SXDOTRQ7X7K";
const ALB: &str = "lb.us-east-1.elb.amazonaws.com";

/// A client: where it is, and what it draws.
#[derive(Clone)]
struct Asker {
    address: &'static str,
    region: &'static str,
    place: Option<&'static str>,
    draw: u64,
}

const ANYONE: Asker = Asker {
    address: "198.51.100.1",
    region: "us-east-1",
    place: None,
    draw: 0,
};

impl World {
    fn answer(&mut self, asker: &Asker, name: &str, rtype: RecordType) -> Answer {
        for zone in self.service.zones_mut() {
            zone.advance(0);
        }
        let whereabouts = asker.place.map(|p| Whereabouts::parse(p).expect("a place"));
        let mut resolver = Resolver {
            service: &self.service,
            load_balancers: &LoadBalancers::default(),
            client: Client {
                address: asker.address.parse::<IpAddr>().expect("an address"),
                region: regions::find(asker.region).expect("a region"),
                whereabouts: whereabouts.as_ref(),
            },
            draw: |below: u64| asker.draw % below.max(1),
        };
        resolver.answer(&Name::parse(name).expect("a name"), Some(rtype))
    }

    /// The data of the A records that a client gets.
    fn resolve(&mut self, asker: &Asker, name: &str) -> Vec<String> {
        let answer = self.answer(asker, name, RecordType::A);
        answer.answers.iter().map(|r| r.data.to_string()).collect()
    }

    /// Every address that some draw gives.
    fn ever(&mut self, name: &str) -> BTreeSet<String> {
        (0..1024)
            .flat_map(|draw| self.resolve(&Asker { draw, ..ANYONE }, name))
            .collect()
    }

    /// A health check in this state.
    fn check(&mut self, name: &str, healthy: bool) -> String {
        let caller = self.caller.clone();
        let config = HealthCheckConfig {
            kind: Kind::Http,
            domain_name: Some("probe.example.com".to_owned()),
            ..HealthCheckConfig::default()
        };
        let check = self.service.health.create(&caller, name, config).expect("allowed");
        let id = check.id.clone();
        self.service.health.set_seen(&id, Some(healthy));
        id
    }
}

fn app(last: u8) -> RawSet {
    a("app.example.com", &format!("192.0.2.{last}"))
}

fn addresses(last: &[u8]) -> BTreeSet<String> {
    last.iter().map(|n| format!("192.0.2.{n}")).collect()
}

#[test]
fn weights_count_among_the_healthy() {
    let mut world = World::new();
    let (up, down) = (world.check("up", true), world.check("down", false));
    world.allows(&[
        create(app(1).weight("a", 10).health_check(&up)),
        create(app(2).weight("b", 90).health_check(&down)),
        create(app(3).weight("c", 0)),
    ]);
    assert_eq!(world.ever("app.example.com"), addresses(&[1]));
}

/// route53.md 3: weight 0 is not a drain in a checked group.
#[test]
fn weight_zero_answers_when_no_other_is_healthy() {
    let mut world = World::new();
    let down = world.check("down", false);
    world.allows(&[
        create(app(1).weight("a", 10).health_check(&down)),
        create(app(2).weight("b", 0)),
    ]);
    assert_eq!(world.ever("app.example.com"), addresses(&[2]));
}

/// route53.md 3: fail open; zero weights stay out as long as another set has one.
#[test]
fn all_unhealthy_is_all_healthy() {
    let mut world = World::new();
    let down = world.check("down", false);
    world.allows(&[
        create(app(1).weight("a", 10).health_check(&down)),
        create(app(2).weight("b", 1).health_check(&down)),
        create(app(3).weight("c", 0).health_check(&down)),
    ]);
    assert_eq!(world.ever("app.example.com"), addresses(&[1, 2]));
}

#[test]
fn latency_takes_the_next_region_that_is_healthy() {
    let mut world = World::new();
    let (here, far) = (world.check("here", false), world.check("far", true));
    world.allows(&[
        create(app(1).region("a", "us-east-1").health_check(&here)),
        create(app(2).region("b", "us-east-2").health_check(&far)),
        create(app(3).region("c", "ap-south-1")),
    ]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.2"]);
    world.service.health.set_seen(&here, Some(true));
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.1"]);
}

/// route53.md 1.5: cn-north-1 always answers queries from China.
#[test]
fn china_is_answered_by_beijing() {
    let mut world = World::new();
    world.allows(&[
        create(app(1).region("a", "ap-east-1")),
        create(app(2).region("b", "cn-north-1")),
    ]);
    let from = |place| Asker {
        region: "ap-east-1",
        place,
        ..ANYONE
    };
    assert_eq!(world.resolve(&from(Some("AS-HK")), "app.example.com"), ["192.0.2.1"]);
    assert_eq!(world.resolve(&from(Some("AS-CN")), "app.example.com"), ["192.0.2.2"]);
}

/// API reference of Failover: SECONDARY only if PRIMARY is unhealthy and SECONDARY is healthy.
#[test]
fn failover_by_health() {
    for (primary, secondary, wanted) in [
        (true, true, "192.0.2.1"),
        (true, false, "192.0.2.1"),
        (false, true, "192.0.2.2"),
        (false, false, "192.0.2.1"),
    ] {
        let mut world = World::new();
        let (one, two) = (world.check("one", primary), world.check("two", secondary));
        world.allows(&[
            create(app(1).failover("a", "PRIMARY").health_check(&one)),
            create(app(2).failover("b", "SECONDARY").health_check(&two)),
        ]);
        assert_eq!(
            world.resolve(&ANYONE, "app.example.com"),
            [wanted],
            "{primary} {secondary}"
        );
    }
}

/// route53.md 2, 3 and 7: failover above weighted groups, no health check on the alias itself.
#[test]
fn failover_by_an_alias_that_evaluates_its_target() {
    let mut world = World::new();
    let check = world.check("leaf", true);
    world.allows(&[
        create(a("one.example.com", "192.0.2.1").weight("a", 1).health_check(&check)),
        create(a("two.example.com", "192.0.2.2").weight("a", 1)),
        create(alias("app.example.com", "A", ZONE, "one.example.com").failover("p", "PRIMARY")),
        create(alias("app.example.com", "A", ZONE, "two.example.com").failover("s", "SECONDARY")),
    ]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.1"]);
    world.service.health.set_seen(&check, Some(false));
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.2"]);
    // One leaf without a check keeps the branch alive for ever.
    world.allows(&[create(a("one.example.com", "192.0.2.3").weight("b", 0))]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.3"]);
}

/// route53.md 2: ETH=false pins traffic into the branch even if all leaves fail.
#[test]
fn an_alias_that_does_not_evaluate_its_target_is_healthy() {
    let mut world = World::new();
    let down = world.check("leaf", false);
    let mut pinned = alias("app.example.com", "A", ZONE, "one.example.com").failover("p", "PRIMARY");
    if let Some(target) = &mut pinned.alias_target {
        target.evaluate_target_health = Some(false);
    }
    world.allows(&[
        create(a("one.example.com", "192.0.2.1").weight("a", 1).health_check(&down)),
        create(pinned),
        create(app(2).failover("s", "SECONDARY")),
    ]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.1"]);
}

#[test]
fn a_load_balancer_without_healthy_targets() {
    let mut world = World::new();
    world.allows(&[
        create(alias("app.example.com", "A", ALB_ZONE, ALB).failover("p", "PRIMARY")),
        create(app(2).failover("s", "SECONDARY")),
    ]);
    assert_ne!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.2"]);
    let name = Name::parse(ALB).expect("a name");
    world.service.unhealthy_load_balancers.insert(name);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.2"]);
}

/// API reference of GeoLocation: priority goes to the smallest geographic region.
#[test]
fn geolocation_takes_the_smallest_place() {
    let mut world = World::new();
    let mut california = app(4).country("d", "US");
    if let Some(place) = &mut california.geo_location {
        place.subdivision_code = Some("CA".to_owned());
    }
    world.allows(&[
        create(app(1).country("a", "*")),
        create(app(2).continent("b", "NA")),
        create(app(3).country("c", "US")),
        create(california),
    ]);
    let from = |place| Asker { place, ..ANYONE };
    for (place, wanted) in [
        (Some("NA-US-CA"), "192.0.2.4"),
        (Some("NA-US-TX"), "192.0.2.3"),
        (Some("NA-MX"), "192.0.2.2"),
        (Some("EU-DE"), "192.0.2.1"),
        (None, "192.0.2.1"),
    ] {
        assert_eq!(world.resolve(&from(place), "app.example.com"), [wanted], "{place:?}");
    }
}

/// API reference of GeoLocation: a "no answer" response for queries from those locations.
#[test]
fn geolocation_without_a_default_has_no_answer() {
    let mut world = World::new();
    world.allows(&[create(app(1).continent("a", "EU"))]);
    let answer = world.answer(&ANYONE, "app.example.com", RecordType::A);
    assert_eq!((answer.kind, answer.answers.len()), (AnswerKind::Found, 0));
    assert_eq!(answer.authority.len(), 1, "NODATA with the SOA");
    let german = Asker {
        place: Some("EU-DE"),
        ..ANYONE
    };
    assert_eq!(world.resolve(&german, "app.example.com"), ["192.0.2.1"]);
}

#[test]
fn geolocation_falls_back_to_a_larger_place_by_health() {
    let mut world = World::new();
    let down = world.check("down", false);
    world.allows(&[
        create(app(1).country("a", "DE").health_check(&down)),
        create(app(2).continent("b", "EU")),
    ]);
    let german = Asker {
        place: Some("EU-DE"),
        ..ANYONE
    };
    assert_eq!(world.resolve(&german, "app.example.com"), ["192.0.2.2"]);
}

/// "Geoproximity routing" of the guide: distance * (1 - bias/100), or distance / (1 + bias/100).
#[test]
fn geoproximity_with_a_bias() {
    let site = |region: &str, bias| RawGeoproximity {
        aws_region: Some(region.to_owned()),
        bias: Some(bias),
        ..RawGeoproximity::default()
    };
    let ohio = RawGeoproximity {
        coordinates: Some(RawCoordinates {
            latitude: "40.0".to_owned(),
            longitude: "-83.0".to_owned(),
        }),
        ..RawGeoproximity::default()
    };
    let mut world = World::new();
    world.allows(&[
        create(app(1).near("a", ohio)),
        create(app(2).near("b", site("eu-west-1", 0))),
    ]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.1"]);
    world.allows(&[upsert(app(2).near("b", site("eu-west-1", 95)))]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.2"]);
}

/// API reference of MultiValueAnswer.
#[test]
fn multivalue_answers_with_eight_healthy_sets() {
    let mut world = World::new();
    let down = world.check("down", false);
    let mut sets: Vec<_> = (1..=10).map(|n| create(app(n).multivalue(&n.to_string()))).collect();
    sets.push(create(app(11).multivalue("down").health_check(&down)));
    world.allows(&sets);
    let found = world.resolve(&ANYONE, "app.example.com");
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 8, "{found:?}");
    assert!(!found.contains(&"192.0.2.11".to_owned()));
    assert_eq!(world.ever("app.example.com").len(), 10, "other draws give other ones");
}

#[test]
fn multivalue_with_no_healthy_set_answers_all_the_same() {
    let mut world = World::new();
    let down = world.check("down", false);
    let sets: Vec<_> = (1..=3)
        .map(|n| create(app(n).multivalue(&n.to_string()).health_check(&down)))
        .collect();
    world.allows(&sets);
    assert_eq!(world.ever("app.example.com"), addresses(&[1, 2, 3]));
}

#[test]
fn ip_based_takes_the_narrowest_network() {
    let mut world = World::new();
    let caller = world.caller.clone();
    let collections = &mut world.service.collections;
    let id = collections.create(&caller, "offices", "once").expect("new").id.clone();
    let put = |location: &str, network: &str| BlockChange {
        location: location.to_owned(),
        put: true,
        networks: vec![network.to_owned()],
    };
    collections
        .change(
            &caller,
            &id,
            Some(1),
            &[put("city", "203.0.113.0/24"), put("land", "203.0.0.0/16")],
        )
        .expect("allowed");
    world.allows(&[
        create(app(1).network("a", &id, "city")),
        create(app(2).network("b", &id, "land")),
    ]);
    let from = |address| Asker { address, ..ANYONE };
    assert_eq!(world.resolve(&from("203.0.113.7"), "app.example.com"), ["192.0.2.1"]);
    assert_eq!(world.resolve(&from("203.0.9.7"), "app.example.com"), ["192.0.2.2"]);
    assert!(
        world.resolve(&ANYONE, "app.example.com").is_empty(),
        "no default location"
    );
    world.allows(&[create(app(3).network("c", &id, "*"))]);
    assert_eq!(world.resolve(&ANYONE, "app.example.com"), ["192.0.2.3"]);
}

/// The zone of RFC 4592, section 2.2.1, as far as Route 53 can hold it.
fn rfc4592() -> World {
    let mut world = World::new();
    world.allows(&[
        create(set("*.example.com", "TXT", &["\"this is a wildcard\""])),
        create(set("*.example.com", "MX", &["10 host1.example.com."])),
        create(set("sub.*.example.com", "TXT", &["\"this is not a wildcard\""])),
        create(a("host1.example.com", "192.0.2.1")),
        create(set(
            "_ssh._tcp.host1.example.com",
            "SRV",
            &["0 0 22 host1.example.com."],
        )),
        create(set("subdel.example.com", "NS", &["ns.example.com.", "ns.example.net."])),
    ]);
    world
}

/// RFC 4592, 2.2.1: these are synthesized from the wildcard.
#[test]
fn wildcards_of_rfc_4592() {
    let mut world = rfc4592();
    let mut ask = |name: &str, rtype| {
        let answer = world.answer(&ANYONE, name, rtype);
        (answer.kind, answer.answers.len(), answer.authority.len())
    };
    assert_eq!(ask("host3.example.com", RecordType::Mx), (AnswerKind::Found, 1, 0));
    assert_eq!(ask("foo.bar.example.com", RecordType::Txt), (AnswerKind::Found, 1, 0));
    assert_eq!(ask("host3.example.com", RecordType::A), (AnswerKind::Found, 0, 1));
    // And these are not: the name exists, an empty non-terminal exists, a closer encloser exists, a delegation.
    assert_eq!(ask("host1.example.com", RecordType::Mx), (AnswerKind::Found, 0, 1));
    assert_eq!(
        ask("_tcp.host1.example.com", RecordType::Txt),
        (AnswerKind::Found, 0, 1)
    );
    assert_eq!(ask("sub.*.example.com", RecordType::Mx), (AnswerKind::Found, 0, 1));
    assert_eq!(
        ask("_telnet._tcp.host1.example.com", RecordType::Srv),
        (AnswerKind::NoSuchName, 0, 1)
    );
    assert_eq!(
        ask("ghost.*.example.com", RecordType::Mx),
        (AnswerKind::NoSuchName, 0, 1)
    );
    assert_eq!(
        ask("host.subdel.example.com", RecordType::A),
        (AnswerKind::Referral, 0, 2)
    );
}

/// RFC 2308, 3: the smaller of the SOA's TTL and its MINIMUM; route53.md 8: min(900, 86400).
#[test]
fn a_negative_answer_carries_the_soa_with_its_negative_ttl() {
    let mut world = World::new();
    let answer = world.answer(&ANYONE, "nothing.example.com", RecordType::A);
    assert_eq!(answer.kind, AnswerKind::NoSuchName);
    let soa = &answer.authority[0];
    assert_eq!((soa.name.as_str(), soa.ttl), ("example.com.", 900));
    world.allows(&[upsert(set(
        "example.com",
        "SOA",
        &["ns.example.org. admin.example.org. 1 7200 900 1209600 30"],
    ))]);
    let answer = world.answer(&ANYONE, "nothing.example.com", RecordType::A);
    assert_eq!(answer.authority[0].ttl, 30);
}

#[test]
fn every_type_is_answered() {
    let mut world = World::new();
    let sets = [
        ("CAA", "0 issue \"ca.example.net\""),
        ("DS", "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118"),
        ("HTTPS", "1 . alpn=\"h2\""),
        ("MX", "10 mail.example.com"),
        ("NAPTR", "1 1 \"u\" \"E2U\" \"\" host.example.com"),
        ("PTR", "host.example.com"),
        ("SPF", "\"v=spf1 -all\""),
        ("SRV", "1 1 1 host.example.com"),
        ("SSHFP", "1 1 09F6A01D2175742B257C6B98B7C72C44C4040683"),
        ("SVCB", "1 . port=1"),
        ("TLSA", "3 1 0 00"),
    ];
    let changes: Vec<_> = sets
        .iter()
        .map(|(rtype, value)| create(set("x.example.com", rtype, &[value])))
        .collect();
    world.allows(&changes);
    for (rtype, value) in sets {
        let kind = RecordType::from_api(rtype).expect("a type");
        let answer = world.answer(&ANYONE, "x.example.com", kind);
        let found: Vec<String> = answer.answers.iter().map(|r| r.data.to_string()).collect();
        assert_eq!(found, [value], "{rtype}");
    }
}
