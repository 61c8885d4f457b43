//! E14, E15, levels, and targets that are still named (route53.md 2, 10.8).

use truce_aws_emulator::core::change::Rules;

use crate::support::*;

const ALB: &str = "Z35SXDOTRQ7X7K";
const NLB: &str = "Z26RNL4JYFTOTI";

fn missing(target: &str, rtype: &str, zone: &str) -> String {
    format!(
        "Tried to create an alias that targets {target}, type {rtype} in zone {zone}, but that target was not found"
    )
}

fn outside(target: &str, rtype: &str, zone: &str) -> String {
    format!(
        "Tried to create an alias that targets {target}, type {rtype} in zone {zone}, but the alias target name does not lie within the target zone"
    )
}

#[test]
fn e14_the_target_must_exist_at_that_moment() {
    let mut world = World::new();
    let root = alias("app.example.com", "A", ZONE, "leaf.example.com");
    let leaf = a("leaf.example.com", "192.0.2.1");
    let text = missing("leaf.example.com.", "A", ZONE);
    world.refuses(&[create(root.clone())], &[&text]);
    world.refuses(&[create(root.clone()), create(leaf.clone())], &[&text]);
    world.allows(&[create(leaf.clone()), create(root.clone())]);
    // Before an UPSERT of an existing target it fails too (octodns issue 366).
    world.refuses(
        &[
            delete(root.clone()),
            create(alias("b.example.com", "A", ZONE, "leaf.example.com")),
            upsert(leaf.clone()),
        ],
        &[&text],
    );
    world.allows(&[upsert(leaf), upsert(root)]);
}

#[test]
fn e14_the_target_must_be_of_the_same_type() {
    let mut world = World::new();
    world.allows(&[create(a("leaf.example.com", "192.0.2.1"))]);
    world.refuses(
        &[create(alias("app.example.com", "AAAA", ZONE, "leaf.example.com"))],
        &[&missing("leaf.example.com.", "AAAA", ZONE)],
    );
    world.allows(&[create(alias("app.example.com", "A", ZONE, "leaf.example.com"))]);
}

#[test]
fn e15_the_target_must_lie_in_the_zone_that_is_named() {
    let mut world = World::new();
    world.refuses(
        &[create(alias("app.example.com", "A", ZONE, "leaf.example.org"))],
        &[
            &outside("leaf.example.org.", "A", ZONE),
            &missing("leaf.example.org.", "A", ZONE),
        ],
    );
    // The zone of application load balancers for a network load balancer, and the one of another region.
    for (zone, name) in [
        (ALB, "lb.elb.us-east-1.amazonaws.com"),
        (NLB, "lb.us-east-1.elb.amazonaws.com"),
        (ALB, "lb.eu-west-1.elb.amazonaws.com"),
        (ALB, "www.example.org"),
    ] {
        let target = format!("{name}.");
        world.refuses(
            &[create(alias("app.example.com", "A", zone, name))],
            &[&outside(&target, "A", zone), &missing(&target, "A", zone)],
        );
    }
    world.allows(&[
        create(alias("a.example.com", "A", ALB, "lb.us-east-1.elb.amazonaws.com")),
        create(alias(
            "a.example.com",
            "AAAA",
            ALB,
            "dualstack.lb.us-east-1.elb.amazonaws.com",
        )),
        create(alias("n.example.com", "A", NLB, "lb.elb.us-east-1.amazonaws.com")),
        create(alias(
            "e.example.com",
            "A",
            "Z32O12XQLNTSW2",
            "lb.eu-west-1.elb.amazonaws.com",
        )),
    ]);
}

#[test]
fn e14_another_hosted_zone_is_no_target() {
    let mut world = World::new();
    world.refuses(
        &[create(alias("app.example.com", "A", "ZOTHER", "leaf.example.org"))],
        &[&missing("leaf.example.org.", "A", "ZOTHER")],
    );
}

#[test]
fn e14_load_balancers_have_addresses_only() {
    let mut world = World::new();
    let name = "lb.us-east-1.elb.amazonaws.com";
    world.refuses(
        &[create(alias("app.example.com", "CNAME", ALB, name))],
        &[&missing(&format!("{name}."), "CNAME", ALB)],
    );
}

#[test]
fn ns_and_soa_are_no_aliases() {
    let mut world = World::new();
    world.refuses(
        &[create(alias("sub.example.com", "NS", ZONE, "example.com"))],
        &["RRSet of type NS with DNS name sub.example.com. cannot be an alias."],
    );
}

#[test]
fn three_levels_of_alias() {
    let mut world = World::new();
    let leaf = alias("l1.example.com", "A", ALB, "lb.us-east-1.elb.amazonaws.com");
    let level = |n: usize| {
        alias(
            &format!("l{n}.example.com"),
            "A",
            ZONE,
            &format!("l{}.example.com", n - 1),
        )
    };
    world.allows(&[create(leaf), create(level(2)), create(level(3))]);
    let text = |name: &str| {
        format!(
            "Tried to create an alias [name='{name}.example.com.', type='A'] that is part of a chain of more than 3 aliases"
        )
    };
    world.refuses(&[create(level(4))], &[&text("l4")]);
    // Deepening from below is the same.
    world.refuses(
        &[
            create(a("l0.example.com", "192.0.2.1")),
            create(alias("x.example.com", "A", ZONE, "l0.example.com")),
            upsert(alias("l1.example.com", "A", ZONE, "x.example.com")),
        ],
        &[&text("l1"), &text("x")],
    );
}

#[test]
fn no_alias_to_itself() {
    let mut world = World::new();
    let own = |id: &str| alias("app.example.com", "A", ZONE, "app.example.com").weight(id, 1);
    world.refuses(&[create(own("a"))], &[&missing("app.example.com.", "A", ZONE)]);
    world.allows(&[create(a("app.example.com", "192.0.2.1").weight("x", 1))]);
    world.refuses(
        &[create(own("a"))],
        &["Tried to create an alias [name='app.example.com.', type='A', set-identifier='a'] that is part of a chain of more than 3 aliases"],
    );
}

#[test]
fn a_target_that_is_still_named_stays() {
    let leaf = a("leaf.example.com", "192.0.2.1").weight("east", 1);
    let other = a("leaf.example.com", "192.0.2.2").weight("west", 1);
    let root = alias("app.example.com", "A", ZONE, "leaf.example.com");
    let mut world = World::new();
    world.allows(&[create(leaf.clone()), create(other.clone()), create(root.clone())]);
    world.allows(&[delete(leaf.clone())]);
    world.refuses(
        &[delete(other.clone())],
        &[
            "Tried to delete resource record set [name='leaf.example.com.', type='A', set-identifier='west'] but it is the target of alias [name='app.example.com.', type='A']",
        ],
    );
    // Only the end of the batch counts, so either order will do.
    world.allows(&[delete(other.clone()), delete(root.clone())]);

    let mut lenient = World::with_rules(Rules {
        refuse_deleting_targets: false,
        ..Rules::default()
    });
    lenient.allows(&[create(other.clone()), create(root)]);
    lenient.allows(&[delete(other)]);
}
