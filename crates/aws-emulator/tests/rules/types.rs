//! E10 to E13, and the types that only stand at some names (route53.md 1.7, 10.7).

use crate::support::*;

#[test]
fn e10_a_cname_beside_others() {
    let mut world = World::new();
    world.allows(&[create(set("app.example.com", "TXT", &["\"x\""]))]);
    let text = "RRSet of type CNAME with DNS name app.example.com. is not permitted as it conflicts with other records with the same DNS name in zone example.com.";
    world.refuses(&[create(set("app.example.com", "CNAME", &["x.example.org"]))], &[text]);
    world.refuses(
        &[create(
            set("app.example.com", "CNAME", &["x.example.org"]).weight("a", 1),
        )],
        &[text],
    );
    world.allows(&[
        create(set("below.app.example.com", "CNAME", &["x.example.org"])),
        delete(set("app.example.com", "TXT", &["\"x\""])),
        create(set("app.example.com", "CNAME", &["x.example.org"])),
    ]);
}

#[test]
fn e11_others_beside_a_cname() {
    let mut world = World::new();
    world.allows(&[create(
        set("app.example.com", "CNAME", &["x.example.org"]).weight("a", 1),
    )]);
    for set in [
        set("app.example.com", "TXT", &["\"x\""]),
        a("app.example.com", "192.0.2.1").weight("b", 1),
    ] {
        let text = format!(
            "RRSet of type {} with DNS name app.example.com. is not permitted because a conflicting RRSet of type CNAME with the same DNS name already exists in zone example.com.",
            set.rtype
        );
        world.refuses(&[create(set)], &[&text]);
    }
    world.allows(&[create(
        set("app.example.com", "CNAME", &["y.example.org"]).weight("b", 1),
    )]);
}

#[test]
fn e12_a_name_outside_the_zone() {
    let mut world = World::new();
    for name in ["app.example.org", "example", "notexample.com"] {
        let text = format!("RRSet with DNS name {name}. is not permitted in zone example.com.");
        world.refuses(&[create(a(name, "192.0.2.1"))], &[&text]);
    }
    world.allows(&[
        create(a("example.com", "192.0.2.1")),
        create(a("a.b.example.com", "192.0.2.1")),
    ]);
}

#[test]
fn e13_no_cname_at_the_apex() {
    let mut world = World::new();
    world.refuses(
        &[create(set("example.com", "CNAME", &["x.example.org"]))],
        &["RRSet of type CNAME with DNS name example.com. is not permitted at apex in zone example.com."],
    );
    world.allows(&[create(alias(
        "example.com",
        "A",
        "Z35SXDOTRQ7X7K",
        "lb.us-east-1.elb.amazonaws.com",
    ))]);
}

#[test]
fn soa_stands_at_the_apex_only() {
    let mut world = World::new();
    let soa = "ns.example.org. admin.example.org. 1 7200 900 1209600 60";
    world.refuses(
        &[create(set("sub.example.com", "SOA", &[soa]))],
        &["RRSet of type SOA with DNS name sub.example.com. is not permitted below apex in zone example.com."],
    );
    world.allows(&[upsert(set("example.com", "SOA", &[soa]))]);
}

#[test]
fn ns_stands_at_no_wildcard() {
    let mut world = World::new();
    world.refuses(
        &[create(set("*.example.com", "NS", &["ns.example.org"]))],
        &["RRSet of type NS with DNS name \\052.example.com. is not permitted at a wildcard in zone example.com."],
    );
    world.allows(&[create(set("sub.example.com", "NS", &["ns.example.org"]))]);
}

#[test]
fn the_apex_keeps_its_ns_and_soa() {
    let mut world = World::new();
    let ns = world.set("example.com.", "NS");
    let soa = world.set("example.com.", "SOA");
    world.refuses(
        &[delete(ns.clone())],
        &["A HostedZone must contain at least one NS record for the zone itself."],
    );
    world.refuses(&[delete(soa)], &["A HostedZone must contain exactly one SOA record."]);
    world.allows(&[upsert(ns.ttl(60))]);
}
