//! I1 to I5 and ranges: InvalidInput, the first error alone (route53.md 1.7, 10.1).

use truce_aws_emulator::core::error::Code;

use crate::support::*;

#[track_caller]
fn invalid(changes: &[truce_aws_emulator::core::shape::RawChange], message: &str) {
    World::new().refuses_as(changes, Code::InvalidInput, message);
}

const I1: &str = "Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found";
const I2: &str =
    "Invalid request: Expected exactly one of [Weight, Region, Failover, GeoLocation, or MultiValueAnswer], but found";

#[test]
fn i1_values_with_ttl_or_an_alias() {
    let whereabouts = "in Change with [Action=CREATE, Name=app.example.com, Type=A, SetIdentifier=null]";
    let mut no_ttl = a("app.example.com", "192.0.2.1");
    no_ttl.ttl = None;
    let mut no_values = a("app.example.com", "192.0.2.1");
    no_values.values = None;
    let mut nothing = no_ttl.clone();
    nothing.values = None;
    for set in [no_ttl, no_values, nothing] {
        invalid(&[create(set)], &format!("{I1} none {whereabouts}"));
    }
    let target = alias("app.example.com", "A", ZONE, "x.example.com");
    let mut both = a("app.example.com", "192.0.2.1");
    both.alias_target.clone_from(&target.alias_target);
    invalid(&[create(both)], &format!("{I1} more than one {whereabouts}"));
    invalid(&[create(target.ttl(60))], &format!("{I1} more than one {whereabouts}"));
}

#[test]
fn i2_one_policy_field_with_an_identifier() {
    let whereabouts = "in Change with [Action=DELETE, Name=app.example.com, Type=A, SetIdentifier=x]";
    invalid(
        &[delete(a("app.example.com", "192.0.2.1").id("x"))],
        &format!("{I2} none {whereabouts}"),
    );
    let both = a("app.example.com", "192.0.2.1")
        .weight("x", 1)
        .region("x", "us-east-1");
    invalid(&[delete(both)], &format!("{I2} more than one {whereabouts}"));
}

#[test]
fn i3_no_policy_field_without_an_identifier() {
    let mut set = a("app.example.com", "192.0.2.1").weight("x", 1);
    set.set_identifier = None;
    invalid(
        &[create(set)],
        "Invalid request: Missing field 'SetIdentifier' in Change with [Action=CREATE, Name=app.example.com, Type=A, SetIdentifier=null]",
    );
}

#[test]
fn i4_what_the_schema_demands() {
    let mut set = alias("app.example.com", "A", ZONE, "x.example.com");
    if let Some(target) = &mut set.alias_target {
        target.evaluate_target_health = None;
    }
    let expected = |element: &str, child: &str| {
        format!(
            "Invalid XML ; cvc-complex-type.2.4.b: The content of element '{element}' is not complete. One of '{{\"https://route53.amazonaws.com/doc/2013-04-01/\":{child}}}' is expected."
        )
    };
    invalid(&[create(set)], &expected("AliasTarget", "EvaluateTargetHealth"));
    invalid(
        &[create(crate::support::set("x.example.com", "A", &[]))],
        &expected("ResourceRecords", "ResourceRecord"),
    );
    invalid(&[], &expected("Changes", "Change"));
}

#[test]
fn i5_closed_lists() {
    let text = |value: &str, list: &str| {
        format!(
            "Invalid XML ; cvc-enumeration-valid: Value '{value}' is not facet-valid with respect to enumeration '{list}'. It must be a value from the enumeration."
        )
    };
    invalid(
        &[change("REPLACE", a("app.example.com", "192.0.2.1"))],
        &text("REPLACE", "[CREATE, DELETE, UPSERT]"),
    );
    invalid(
        &[change("create", a("app.example.com", "192.0.2.1"))],
        &text("create", "[CREATE, DELETE, UPSERT]"),
    );
    invalid(
        &[create(a("app.example.com", "192.0.2.1").failover("x", "THIRD"))],
        &text("THIRD", "[PRIMARY, SECONDARY]"),
    );
    invalid(
        &[create(set("app.example.com", "a", &["192.0.2.1"]))],
        &text(
            "a",
            "[SOA, A, TXT, NS, CNAME, MX, NAPTR, PTR, SRV, SPF, AAAA, CAA, DS, TLSA, SSHFP, SVCB, HTTPS]",
        ),
    );
}

#[test]
fn ranges() {
    let out = |value: i64, facet: &str, bound: i64, kind: &str| {
        format!(
            "Invalid XML ; cvc-{facet}-valid: Value '{value}' is not facet-valid with respect to {facet} '{bound}' for type '{kind}'."
        )
    };
    let weight = |w: i64| a("app.example.com", "192.0.2.1").weight("x", w);
    invalid(
        &[create(weight(256))],
        &out(256, "maxInclusive", 255, "ResourceRecordSetWeight"),
    );
    invalid(
        &[create(weight(-1))],
        &out(-1, "minInclusive", 0, "ResourceRecordSetWeight"),
    );
    let ttl = |t: i64| a("app.example.com", "192.0.2.1").ttl(t);
    invalid(
        &[create(ttl(2_147_483_648))],
        &out(2_147_483_648, "maxInclusive", 2_147_483_647, "TTL"),
    );
    invalid(&[create(ttl(-1))], &out(-1, "minInclusive", 0, "TTL"));
    let mut world = World::new();
    world.allows(&[
        create(weight(255)),
        create(a("b.example.com", "192.0.2.1").weight("x", 0)),
    ]);
    world.allows(&[
        create(a("c.example.com", "192.0.2.1").ttl(2_147_483_647)),
        create(a("d.example.com", "192.0.2.1").ttl(0)),
    ]);
}

#[test]
fn lengths() {
    let long = |value: &str, limit: usize, kind: &str| {
        format!(
            "Invalid XML ; cvc-maxLength-valid: Value '{value}' with length = '{}' is not facet-valid with respect to maxLength '{limit}' for type '{kind}'.",
            value.chars().count()
        )
    };
    let id = "x".repeat(129);
    invalid(
        &[create(a("app.example.com", "192.0.2.1").weight(&id, 1))],
        &long(&id, 128, "ResourceRecordSetIdentifier"),
    );
    invalid(
        &[create(a("app.example.com", "192.0.2.1").weight("", 1))],
        "Invalid XML ; cvc-minLength-valid: Value '' with length = '0' is not facet-valid with respect to minLength '1' for type 'ResourceRecordSetIdentifier'.",
    );
    let value = "x".repeat(4001);
    invalid(
        &[create(set("t.example.com", "TXT", &[&value]))],
        &long(&value, 4000, "RData"),
    );
    World::new().allows(&[create(a("app.example.com", "192.0.2.1").weight(&"x".repeat(128), 1))]);

    let mut world = World::new();
    let changes = [create(a("app.example.com", "192.0.2.1"))];
    let comment = "ä".repeat(257);
    let error = world
        .service
        .change(&world.caller, ZONE, Some(&comment), &changes, 0)
        .expect_err("too long");
    assert_eq!(error.message, long(&comment, 256, "ResourceDescription"));
    let fits = "ä".repeat(256);
    world
        .service
        .change(&world.caller, ZONE, Some(&fits), &changes, 0)
        .expect("fits");
}

#[test]
fn the_first_error_alone() {
    let mut bad = a("one.example.com", "192.0.2.1");
    bad.ttl = None;
    invalid(
        &[create(bad), change("REPLACE", a("two.example.com", "192.0.2.1"))],
        &format!("{I1} none in Change with [Action=CREATE, Name=one.example.com, Type=A, SetIdentifier=null]"),
    );
}

#[test]
fn what_is_not_implemented_says_so() {
    let mut affine = a("x.example.com", "192.0.2.1").id("g");
    affine.other_policies = vec!["AZAffinity".to_owned()];
    invalid(
        &[create(affine)],
        "truce-aws-emulator does not implement routing policy AZAffinity yet",
    );
}
