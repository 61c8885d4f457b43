//! E4 to E9, E20: the sets of one (name, type) (route53.md 1.5, 1.6, 10.6).

use truce_aws_emulator::core::change::Rules;

use crate::support::*;

#[test]
fn e4_a_policy_beside_another() {
    let mut world = World::new();
    world.allows(&[
        create(a("simple.example.com", "192.0.2.1")),
        create(a("w.example.com", "192.0.2.1").weight("east", 1)),
        create(a("l.example.com", "192.0.2.1").region("east", "us-east-1")),
    ]);
    let text = |name: &str, policy: &str| {
        format!(
            "RRSet with DNS name {name}.example.com., type A, SetIdentifier new cannot be created as a non-{policy} set exists with the same name and type."
        )
    };
    world.refuses(
        &[create(a("simple.example.com", "192.0.2.1").weight("new", 1))],
        &[&text("simple", "weighted")],
    );
    world.refuses(
        &[create(a("w.example.com", "192.0.2.1").region("new", "us-east-1"))],
        &[&text("w", "latency")],
    );
    world.refuses(
        &[create(a("l.example.com", "192.0.2.1").weight("new", 1))],
        &[&text("l", "weighted")],
    );
    world.refuses(
        &[upsert(a("l.example.com", "192.0.2.1").failover("new", "SECONDARY"))],
        &[&text("l", "failover")],
    );
    // Another type at the name is another group.
    world.allows(&[create(set("w.example.com", "TXT", &["\"x\""]))]);
}

#[test]
fn e5_simple_beside_others() {
    let mut world = World::new();
    world.allows(&[create(a("w.example.com", "192.0.2.1").weight("east", 1))]);
    let text = "RRSet with DNS name w.example.com., type A cannot be created as other RRSets exist with the same name and type.";
    world.refuses(&[create(a("w.example.com", "192.0.2.1"))], &[text]);
    world.refuses(&[upsert(a("w.example.com", "192.0.2.1"))], &[text]);
    world.allows(&[create(set("w.example.com", "AAAA", &["2001:db8::1"]))]);
}

#[test]
fn a_policy_switch_is_one_batch_of_deletes_then_creates() {
    let mut world = World::new();
    let old: Vec<_> = [("east", "us-east-1"), ("west", "us-west-2")]
        .map(|(id, region)| a("app.example.com", "192.0.2.1").region(id, region))
        .into();
    let new: Vec<_> = ["east", "west"]
        .map(|id| a("app.example.com", "192.0.2.1").weight(id, 1))
        .into();
    world.allows(&old.iter().cloned().map(create).collect::<Vec<_>>());
    // One by one it is refused while the other stands (external-dns issue 4345).
    world.refuses(
        &[delete(old[0].clone()), create(new[0].clone())],
        &[
            "RRSet with DNS name app.example.com., type A, SetIdentifier east cannot be created as a non-weighted set exists with the same name and type.",
        ],
    );
    let batch: Vec<_> = old.into_iter().map(delete).chain(new.into_iter().map(create)).collect();
    world.allows(&batch);
}

#[test]
fn upsert_does_not_change_the_policy_of_a_key() {
    let upserts = [upsert(a("app.example.com", "192.0.2.1").region("east", "us-east-1"))];
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.1").weight("east", 1))]);
    world.refuses(
        &upserts,
        &[
            "RRSet with DNS name app.example.com., type A, SetIdentifier east cannot be created as a non-latency set exists with the same name and type.",
        ],
    );
    world.allows(&[upsert(a("app.example.com", "192.0.2.1").weight("east", 2))]);

    let mut lenient = World::with_rules(Rules {
        refuse_policy_change_by_upsert: false,
        ..Rules::default()
    });
    lenient.allows(&[create(a("app.example.com", "192.0.2.1").weight("east", 1))]);
    lenient.allows(&upserts);
}

#[test]
fn e6_one_latency_set_per_region() {
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.1").region("east", "us-east-1"))]);
    world.refuses(
        &[create(a("app.example.com", "192.0.2.2").region("east2", "us-east-1"))],
        &[
            "RRSet with DNS name app.example.com., type A, SetIdentifier east2, and Region Name=us-east-1 cannot be created because a latency RRSet with the same name, type and region already exists.",
        ],
    );
    world.allows(&[
        create(a("app.example.com", "192.0.2.2").region("east2", "us-east-2")),
        create(set("app.example.com", "AAAA", &["2001:db8::1"]).region("east2", "us-east-1")),
    ]);
}

#[test]
fn e7_weighted_sets_share_a_ttl() {
    let mut world = World::new();
    let east = a("app.example.com", "192.0.2.1").weight("east", 1);
    let west = a("app.example.com", "192.0.2.2").weight("west", 1);
    world.allows(&[create(east.clone()), create(west.clone())]);
    let text = |id: &str| {
        format!(
            "RRSet with DNS name app.example.com. and type A, SetIdentifier {id} cannot be created as weighted sets must contain the same TTL."
        )
    };
    world.refuses(&[upsert(east.clone().ttl(30))], &[&text("east")]);
    world.refuses(
        &[create(a("app.example.com", "192.0.2.3").weight("north", 1).ttl(300))],
        &[&text("north")],
    );
    // All members in one batch, and aliases at any time.
    world.allows(&[
        upsert(east.ttl(30)),
        upsert(west.ttl(30)),
        create(
            alias(
                "app.example.com",
                "A",
                "Z35SXDOTRQ7X7K",
                "lb.us-east-1.elb.amazonaws.com",
            )
            .weight("lb", 1),
        ),
    ]);
    // Latency sets may differ.
    world.allows(&[
        create(a("l.example.com", "192.0.2.1").region("east", "us-east-1").ttl(1)),
        create(a("l.example.com", "192.0.2.1").region("west", "us-west-2").ttl(2)),
    ]);
}

#[test]
fn e8_a_primary_of_own_values_needs_a_health_check() {
    let mut world = World::new();
    let text = "A non-alias primary ResourceRecordSet must have an associated health check. No changes made.";
    world.refuses(
        &[create(a("app.example.com", "192.0.2.1").failover("p", "PRIMARY"))],
        &[text],
    );
    world.refuses(
        &[create(set("t.example.com", "TXT", &["\"x\""]).failover("p", "PRIMARY"))],
        &[text],
    );
    world.allows(&[
        create(
            a("app.example.com", "192.0.2.1")
                .failover("p", "PRIMARY")
                .health_check(HEALTH_CHECK),
        ),
        create(a("app.example.com", "192.0.2.2").failover("s", "SECONDARY")),
        create(
            alias(
                "al.example.com",
                "A",
                "Z35SXDOTRQ7X7K",
                "lb.us-east-1.elb.amazonaws.com",
            )
            .failover("p", "PRIMARY"),
        ),
    ]);
}

#[test]
fn one_primary_and_one_secondary() {
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.2").failover("s", "SECONDARY"))]);
    world.refuses(
        &[create(a("app.example.com", "192.0.2.3").failover("s2", "SECONDARY"))],
        &[
            "RRSet with DNS name app.example.com., type A, SetIdentifier s2, and Failover=SECONDARY cannot be created because a failover RRSet with the same name, type and role already exists.",
        ],
    );
    world.allows(&[create(
        a("app.example.com", "192.0.2.1")
            .failover("p", "PRIMARY")
            .health_check(HEALTH_CHECK),
    )]);
    // Roles are swapped by two UPSERTs: both are removed first.
    world.allows(&[
        upsert(
            a("app.example.com", "192.0.2.2")
                .failover("s", "PRIMARY")
                .health_check(HEALTH_CHECK),
        ),
        upsert(a("app.example.com", "192.0.2.1").failover("p", "SECONDARY")),
    ]);
}

#[test]
fn e9_a_hundred_sets_per_group() {
    let mut world = World::new();
    let member = |n: usize| a("app.example.com", "192.0.2.1").weight(&format!("m{n}"), 1);
    world.allows(&(0..100).map(|n| create(member(n))).collect::<Vec<_>>());
    world.refuses(
        &[create(member(100))],
        &["Exceeded limit on number of weighted RRSets for app.example.com., type A in this zone."],
    );
    world.allows(&[delete(member(0)), create(member(100))]);
}

#[test]
fn e20_a_region_that_route_53_does_not_know() {
    let mut world = World::new();
    world.refuses(
        &[create(a("app.example.com", "192.0.2.1").region("x", "mars-north-1"))],
        &["Cannot find region 'mars-north-1'. No changes made."],
    );
    world.allows(&[create(a("app.example.com", "192.0.2.1").region("x", "eusc-de-east-1"))]);
}
