//! Record set protections (route53.md 1.8; the API reference of CreateResourceRecordSetProtections). Texts are own words.

use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::core::protections::RawProtection;

use crate::support::*;

fn protect(name: &str, rtype: &str) -> RawProtection {
    RawProtection {
        name: name.to_owned(),
        rtype: rtype.to_owned(),
        comment: Some("payments, ask ops".to_owned()),
    }
}

fn create_all(world: &mut World, entries: &[RawProtection]) -> Result<(), ApiError> {
    let caller = world.caller.clone();
    world.service.protect(&caller, ZONE, entries, world.now_ms)
}

fn delete_all(world: &mut World, entries: &[RawProtection]) -> Result<(), ApiError> {
    let caller = world.caller.clone();
    world.service.unprotect(&caller, ZONE, entries, world.now_ms)
}

/// API reference: rejects any request that creates, updates, or deletes a set with that name and type.
#[test]
fn e22_a_protected_set_is_not_touched() {
    let mut world = World::new();
    world.allows(&[create(a("pay.example.com", "192.0.2.1").weight("a", 1))]);
    create_all(&mut world, &[protect("Pay.example.com", "A")]).expect("protected");
    let text = "Resource record set [name='pay.example.com.', type='A'] is protected: payments, ask ops";
    for change in [
        create(a("pay.example.com", "192.0.2.2").weight("b", 1)),
        upsert(a("pay.example.com", "192.0.2.2").weight("a", 1)),
        delete(a("pay.example.com", "192.0.2.1").weight("a", 1)),
    ] {
        world.refuses(&[create(a("other.example.com", "192.0.2.1")), change], &[text]);
    }
    world.allows(&[create(set("pay.example.com", "TXT", &["\"x\""]))]);
    delete_all(&mut world, &[protect("pay.example.com", "A")]).expect("free again");
    world.allows(&[delete(a("pay.example.com", "192.0.2.1").weight("a", 1))]);
}

#[test]
fn a_name_without_a_set_can_be_protected() {
    let mut world = World::new();
    create_all(&mut world, &[protect("later.example.com", "A")]).expect("protected");
    world.refuses(
        &[create(a("later.example.com", "192.0.2.1"))],
        &["Resource record set [name='later.example.com.', type='A'] is protected: payments, ask ops"],
    );
    world.allows(&[create(a("earlier.example.com", "192.0.2.1"))]);
}

/// API reference: ProtectionAlreadyExists if every entry has one, else InvalidResourceRecordSetProtectionBatch.
#[test]
fn all_there_already_is_another_error_than_some() {
    let mut world = World::new();
    let (one, two) = (protect("one.example.com", "A"), protect("two.example.com", "A"));
    create_all(&mut world, std::slice::from_ref(&one)).expect("protected");
    let error = create_all(&mut world, std::slice::from_ref(&one)).expect_err("there already");
    assert_eq!(
        (error.code, error.code.status(), error.entries.len()),
        (Code::ProtectionAlreadyExists, 409, 1)
    );
    let error = create_all(&mut world, &[one, two.clone()]).expect_err("one is there already");
    assert_eq!(
        (error.code, error.code.status(), error.entries.len()),
        (Code::InvalidResourceRecordSetProtectionBatch, 400, 1)
    );
    create_all(&mut world, &[two]).expect("nothing of the refused request was done");
}

#[test]
fn invalid_entries_are_told_before_existing_ones() {
    let mut world = World::new();
    create_all(&mut world, &[protect("one.example.com", "A")]).expect("protected");
    let entries = [
        protect("one.example.com", "A"),
        protect("one.example.org", "A"),
        protect("x.example.com", "Q"),
    ];
    let error = create_all(&mut world, &entries).expect_err("two invalid entries");
    assert_eq!(error.code, Code::InvalidResourceRecordSetProtectionBatch);
    let names: Vec<&str> = error.entries.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["one.example.org", "x.example.com"]);
}

/// API reference: up to 100 protections in one request.
#[test]
fn a_hundred_entries_a_request() {
    let entries: Vec<_> = (0..101).map(|n| protect(&format!("n{n}.example.com"), "A")).collect();
    call_rule(
        |world| create_all(world, &entries),
        Code::InvalidInput,
        "Protections must have 1 to 100 members.",
        |world| create_all(world, &entries[..100]),
    );
}

/// API reference of DeleteResourceRecordSetProtections.
#[test]
fn a_protection_that_is_not_there_cannot_go() {
    call_rule(
        |world| delete_all(world, &[protect("one.example.com", "A")]),
        Code::InvalidResourceRecordSetProtectionBatch,
        "[No protection exists for [name='one.example.com', type='A']]",
        |world| {
            create_all(world, &[protect("one.example.com", "A")])?;
            delete_all(world, &[protect("one.example.com", "A")])
        },
    );
}

/// API reference: You can't delete a hosted zone that has protections.
#[test]
fn a_zone_with_protections_stays() {
    let remove = |world: &mut World| {
        let caller = world.caller.clone();
        world.service.delete_zone(&caller, ZONE, 0)
    };
    call_rule(
        |world| {
            create_all(world, &[protect("one.example.com", "A")])?;
            remove(world)
        },
        Code::HostedZoneNotEmpty,
        "The specified hosted zone contains resource record set protections and so cannot be deleted.",
        remove,
    );
}
