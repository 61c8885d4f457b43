//! CreateHostedZone, DeleteHostedZone, limits and tags (the API reference of each).

use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::core::service::{NewZone, Vpc};
use truce_aws_emulator::core::tags::Kind;

use crate::support::*;

fn new(name: &str, reference: &str) -> NewZone {
    NewZone {
        name: name.to_owned(),
        caller_reference: reference.to_owned(),
        ..NewZone::default()
    }
}

fn vpc() -> Vpc {
    Vpc {
        region: "us-east-1".to_owned(),
        id: "vpc-0123456789abcdef0".to_owned(),
    }
}

/// Creates a zone and gives its id.
fn create_zone(world: &mut World, zone: NewZone) -> Result<String, ApiError> {
    let caller = world.caller.clone();
    Ok(world.service.create_zone(&caller, zone, 0)?.0.id.clone())
}

fn delete_zone(world: &mut World, id: &str) -> Result<(), ApiError> {
    let caller = world.caller.clone();
    world.service.delete_zone(&caller, id, 0).map(|_| ())
}

/// cloud-nuke issue 743.
#[test]
fn a_zone_with_records_stays() {
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.1"))]);
    let error = delete_zone(&mut world, ZONE).expect_err("it has a record");
    assert_eq!(
        (error.code, error.code.status(), error.message.as_str()),
        (
            Code::HostedZoneNotEmpty,
            400,
            "The specified hosted zone contains non-required resource record sets and so cannot be deleted."
        )
    );
    world.allows(&[delete(a("app.example.com", "192.0.2.1"))]);
    delete_zone(&mut world, ZONE).expect("only NS and SOA are left");
    assert!(world.service.zone(ZONE).is_none());
}

/// API reference of HostedZoneAlreadyExists; also when the first zone is gone.
#[test]
fn a_caller_reference_serves_once() {
    call_rule(
        |world| {
            let id = create_zone(world, new("example.org", "again"))?;
            delete_zone(world, &id)?;
            create_zone(world, new("example.org", "again"))
        },
        Code::HostedZoneAlreadyExists,
        "A hosted zone has already been created with the specified caller reference: again",
        |world| create_zone(world, new("example.org", "another")),
    );
}

/// API reference of CreateHostedZone, HostedZoneConfig.
#[test]
fn a_private_zone_has_a_vpc() {
    let mut without = new("internal.example.com", "p");
    without.private = true;
    let with = NewZone {
        vpc: Some(vpc()),
        ..without.clone()
    };
    call_rule(
        |world| create_zone(world, without),
        Code::InvalidInput,
        "When you're creating a private hosted zone (when you specify true for PrivateZone), you must also specify values for VPCId and VPCRegion.",
        |world| create_zone(world, with),
    );
}

/// API reference of ConflictingDomainExists.
#[test]
fn one_private_zone_of_a_name_in_a_vpc() {
    let private = |reference: &str, id: &str| NewZone {
        vpc: Some(Vpc {
            id: id.to_owned(),
            ..vpc()
        }),
        ..new("internal.example.com", reference)
    };
    call_rule(
        |world| {
            create_zone(world, private("1", "vpc-01234567"))?;
            create_zone(world, private("2", "vpc-01234567"))
        },
        Code::ConflictingDomainExists,
        "The VPC vpc-01234567 is already associated with a hosted zone of the name internal.example.com.",
        |world| {
            create_zone(world, private("1", "vpc-01234567"))?;
            create_zone(world, private("2", "vpc-89abcdef"))
        },
    );
}

/// API reference of InvalidVPCId.
#[test]
fn a_vpc_id_has_a_form() {
    let zone = |id: &str| NewZone {
        vpc: Some(Vpc {
            id: id.to_owned(),
            ..vpc()
        }),
        ..new("internal.example.com", "v")
    };
    call_rule(
        |world| create_zone(world, zone("experimentalvpc")),
        Code::InvalidVPCId,
        "The VPC experimentalvpc does not exist or is not valid.",
        |world| create_zone(world, zone("vpc-01234567")),
    );
}

/// API reference of ConflictingDomainExists: parent and child can't have any common name servers.
#[test]
fn related_zones_share_no_delegation_set() {
    let zone = |name: &str, reference: &str| NewZone {
        delegation_set: Some("NEXAMPLE".to_owned()),
        ..new(name, reference)
    };
    call_rule(
        |world| {
            create_zone(world, zone("example.org", "1"))?;
            create_zone(world, zone("test.example.org", "2"))
        },
        Code::ConflictingDomainExists,
        "The delegation set NEXAMPLE is already in use by the hosted zone example.org.",
        |world| {
            let one = create_zone(world, zone("example.org", "1"))?;
            let two = create_zone(world, zone("example.net", "2"))?;
            let servers = |id: &str| world.service.zone(id).map(|z| z.name_servers.clone());
            assert_eq!(servers(&one), servers(&two), "one set, one set of name servers");
            Ok(())
        },
    );
}

/// route53.md 1.2: 500 zones of an account.
#[test]
fn five_hundred_zones() {
    let fill = |world: &mut World, count: usize| {
        (1..count).try_for_each(|n| create_zone(world, new(&format!("z{n}.org"), &format!("z{n}"))).map(|_| ()))
    };
    call_rule(
        |world| fill(world, 501),
        Code::TooManyHostedZones,
        "This operation can't be completed because the current account has reached the limit on the number of hosted zones.",
        |world| fill(world, 500),
    );
}

#[test]
fn limits_and_what_of_them_is_used() {
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.1"))]);
    let limit = |kind: &str| {
        world
            .service
            .account_limit(&world.caller, kind)
            .map(|l| (l.value, l.count))
    };
    assert_eq!(limit("MAX_HOSTED_ZONES_BY_OWNER"), Ok((500, 1)));
    assert_eq!(limit("MAX_HEALTH_CHECKS_BY_OWNER"), Ok((200, 1)));
    let zone = |kind: &str| {
        world
            .service
            .zone_limit(&world.caller, ZONE, kind)
            .map(|l| (l.value, l.count))
    };
    assert_eq!(zone("MAX_RRSETS_BY_ZONE"), Ok((10_000, 3)));
    let error = zone("MAX_VPCS_ASSOCIATED_BY_ZONE").expect_err("a public zone");
    assert_eq!((error.code, error.code.status()), (Code::HostedZoneNotPrivate, 400));
    assert_eq!(limit("MAX_OF_ALL").expect_err("no such limit").code, Code::InvalidInput);
}

/// API reference of ChangeTagsForResource: a maximum of 10 tags.
#[test]
fn ten_tags() {
    let tags: Vec<(String, String)> = (0..11).map(|n| (format!("k{n}"), "v".to_owned())).collect();
    let too_many = "A resource must not have more than 10 tags.";
    call_rule(
        |world| {
            world.service.tags.change(Kind::HostedZone, ZONE, &tags[..10], &[])?;
            world.service.tags.change(Kind::HostedZone, ZONE, &tags[10..], &[])
        },
        Code::InvalidInput,
        too_many,
        |world| {
            world.service.tags.change(Kind::HostedZone, ZONE, &tags[..10], &[])?;
            // Adding and removing in one request: the sum counts.
            let removed = ["k0".to_owned()];
            world.service.tags.change(Kind::HostedZone, ZONE, &tags[10..], &removed)
        },
    );
}

/// tag restrictions of AWS: aws: is reserved.
#[test]
fn reserved_tag_keys() {
    let tag = |key: &str| [(key.to_owned(), "v".to_owned())];
    call_rule(
        |world| {
            world
                .service
                .tags
                .change(Kind::HostedZone, ZONE, &tag("AWS:owner"), &[])
        },
        Code::InvalidInput,
        "The tag key 'AWS:owner' is not allowed: it must not be empty nor start with aws:",
        |world| world.service.tags.change(Kind::HostedZone, ZONE, &tag("owner"), &[]),
    );
}
