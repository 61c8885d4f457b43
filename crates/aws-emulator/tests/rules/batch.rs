//! All or nothing, every error in one message, and the order of the checks (route53.md 1.1, 1.3, 10).

use truce_aws_emulator::core::error::Code;

use crate::support::*;

#[test]
fn every_error_of_a_batch_in_one_list_in_the_order_of_the_changes() {
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.1"))]);
    world.refuses(
        &[
            create(a("good.example.com", "192.0.2.1")),
            create(a("app.example.com", "192.0.2.1")),
            create(a("x.example.org", "192.0.2.1")),
            delete(a("none.example.com", "192.0.2.1")),
            create(a("bad.example.com", "1.2.3")),
        ],
        &[
            "Tried to create resource record set [name='app.example.com.', type='A'] but it already exists",
            "RRSet with DNS name x.example.org. is not permitted in zone example.com.",
            "Tried to delete resource record set [name='none.example.com.', type='A'] but it was not found",
            "Invalid Resource Record: 'FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address) encountered with '1.2.3''",
        ],
    );
}

#[test]
fn changes_see_what_earlier_ones_did() {
    let mut world = World::new();
    world.allows(
        &[
            create(a("leaf.example.com", "192.0.2.1")),
            create(alias("app.example.com", "A", ZONE, "leaf.example.com")),
            delete(alias("app.example.com", "A", ZONE, "leaf.example.com")),
        ][..2],
    );
    // The CNAME conflict goes away only if the DELETE comes first.
    world.allows(&[create(set("t.example.com", "TXT", &["\"x\""]))]);
    let cname = create(set("t.example.com", "CNAME", &["x.example.org"]));
    let gone = delete(set("t.example.com", "TXT", &["\"x\""]));
    world.refuses(
        &[cname.clone(), gone.clone()],
        &[
            "RRSet of type CNAME with DNS name t.example.com. is not permitted as it conflicts with other records with the same DNS name in zone example.com.",
        ],
    );
    world.allows(&[gone, cname]);
}

#[test]
fn the_zone_is_checked_before_the_shape() {
    let mut world = World::new();
    let error = world
        .service
        .change(&world.caller, "ZNONE", None, &[], 0)
        .expect_err("no such zone");
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::NoSuchHostedZone, "No hosted zone found with ID: ZNONE")
    );
}

#[test]
fn the_shape_is_checked_before_sizes_and_sizes_before_meaning() {
    let mut world = World::new();
    let mut changes: Vec<_> = (0..1001).map(|_| create(a("x.example.org", "192.0.2.1"))).collect();
    world.refuses(&changes, &["Number of records limit of 1000 exceeded."]);
    changes[1000].action = "X".to_owned();
    let error = world.change(&changes).expect_err("wrong action");
    assert_eq!(error.code, Code::InvalidInput);
}

#[test]
fn a_health_check_must_exist() {
    let mut world = World::new();
    world.refuses_as(
        &[create(a("app.example.com", "192.0.2.1").health_check("hc-9"))],
        Code::NoSuchHealthCheck,
        "No health check found with ID: hc-9",
    );
    world.allows(&[create(a("app.example.com", "192.0.2.1").health_check(HEALTH_CHECK))]);
}
