//! Changes, versions, what is served, zones and accounts (route53.md 4, 10.10, 10.12).

use truce_aws_emulator::core::error::Code;
use truce_aws_emulator::core::record::RecordType;
use truce_aws_emulator::core::service::NewZone;

use crate::support::*;

const APP: &str = "com.example.app.";

fn served(world: &mut World, now_ms: u64) -> usize {
    for zone in world.service.zones_mut() {
        zone.advance(now_ms);
    }
    world
        .service
        .zone(ZONE)
        .expect("the zone")
        .served()
        .group(APP, RecordType::A)
        .count()
}

#[test]
fn a_change_is_pending_and_then_insync() {
    let mut world = World::new();
    world.service.insync_ms = 500;
    let changes = [create(a("app.example.com", "192.0.2.1"))];
    let (change, _) = world
        .service
        .change(&world.caller, ZONE, Some("why"), &changes, 1_000)
        .expect("allowed");
    let found = world
        .service
        .change_info(&world.caller, &change.id)
        .expect("known")
        .clone();
    assert_eq!(found.status(1_499), "PENDING");
    assert_eq!(found.status(1_500), "INSYNC");
    assert_eq!(found.comment.as_deref(), Some("why"));
    assert_eq!(served(&mut world, 1_499), 0);
    assert_eq!(served(&mut world, 1_500), 1);
}

#[test]
fn no_later_change_is_insync_before_an_earlier_one() {
    let mut world = World::new();
    world.service.insync_ms = 1_000;
    world.allows(&[create(a("app.example.com", "192.0.2.1").weight("a", 1))]);
    world.service.insync_ms = 0;
    let changes = [create(a("app.example.com", "192.0.2.2").weight("b", 1))];
    let (change, _) = world
        .service
        .change(&world.caller, ZONE, None, &changes, 10)
        .expect("allowed");
    assert_eq!(change.status(999), "PENDING");
    assert_eq!(served(&mut world, 999), 0);
    assert_eq!(served(&mut world, 1_000), 2);
}

#[test]
fn no_such_change() {
    let world = World::new();
    let error = world.service.change_info(&world.caller, "C1").expect_err("unknown");
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::NoSuchChange, "Could not find resource with ID: C1")
    );
}

#[test]
fn every_version_is_kept_as_a_difference() {
    let mut world = World::new();
    let first = world.version();
    world.allows(&[
        create(a("app.example.com", "192.0.2.1")),
        create(a("b.example.com", "192.0.2.1")),
    ]);
    world.allows(&[
        delete(a("app.example.com", "192.0.2.1")),
        create(a("app.example.com", "192.0.2.2")),
    ]);
    let zone = world.service.zone(ZONE).expect("the zone");
    let versions: Vec<_> = zone.versions_after(first).collect();
    assert_eq!(
        versions.iter().map(|v| v.number).collect::<Vec<_>>(),
        [first + 1, first + 2]
    );
    assert_eq!(versions[0].diff.len(), 2);
    let [swap] = versions[1].diff.as_slice() else {
        panic!("one key changed")
    };
    assert!(swap.before.is_some() && swap.after.is_some());
    assert_eq!(versions[1].access_key, "AKIDTEST");
}

#[test]
fn zones_of_other_accounts_are_out_of_reach() {
    let mut world = World::new();
    let other = world.service.accounts.caller("OTHER");
    let error = world.service.zone_of(&other, ZONE).expect_err("another account");
    assert_eq!(error.code, Code::AccessDenied);
    let changes = [create(a("app.example.com", "192.0.2.1"))];
    let error = world
        .service
        .change(&other, ZONE, None, &changes, 0)
        .expect_err("another account");
    assert_eq!(error.code, Code::AccessDenied);
    assert_eq!(
        error.message,
        "User: arn:aws:iam::222222222222:user/OTHER is not authorized to access this resource"
    );
}

#[test]
fn a_zone_begins_with_ns_and_soa() {
    let world = World::new();
    let sets = world.sets();
    let types: Vec<_> = sets.iter().map(|s| (s.rtype.as_str(), s.ttl)).collect();
    assert_eq!(types, [("NS", Some(172_800)), ("SOA", Some(900))]);
    assert_eq!(sets[0].values.as_ref().map(Vec::len), Some(4));
}

#[test]
fn zones_may_share_a_name_but_not_a_caller_reference() {
    let mut world = World::new();
    let zone = |reference: &str| NewZone {
        name: "example.com".to_owned(),
        caller_reference: reference.to_owned(),
        ..NewZone::default()
    };
    let caller = world.caller.clone();
    let id = world
        .service
        .create_zone(&caller, zone("two"), 0)
        .expect("a second zone")
        .0
        .id
        .clone();
    assert_ne!(id, ZONE);
    let error = world
        .service
        .create_zone(&caller, zone("two"), 0)
        .expect_err("used reference");
    assert_eq!(error.code, Code::HostedZoneAlreadyExists);
}

#[test]
fn zone_ids_have_a_form() {
    let mut world = World::new();
    for id in ["z1", "Z", "Zabc", "X123", &format!("Z{}", "1".repeat(32))] {
        let zone = NewZone {
            id: Some(id.to_owned()),
            name: "example.org".to_owned(),
            caller_reference: id.to_owned(),
            ..NewZone::default()
        };
        let caller = world.caller.clone();
        let error = world.service.create_zone(&caller, zone, 0).expect_err(id);
        assert_eq!(error.code, Code::InvalidInput, "{id}");
    }
}
