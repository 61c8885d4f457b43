//! Token buckets and the busy zone (route53.md 1.1, 1.2).

use truce_aws_emulator::core::error::Code;
use truce_aws_emulator::core::pace::{Limits, Pace, Rate};

use crate::support::*;

fn pace() -> Pace {
    let mut pace = Pace::default();
    pace.limits = Limits::aws();
    pace
}

/// How many requests of an action go through at one moment.
fn burst(pace: &mut Pace, account: &str, action: &str, now_ms: u64) -> usize {
    (0..1000)
        .take_while(|_| pace.request(account, action, now_ms).is_ok())
        .count()
}

/// route53.md 1.2: account-wide capacity 50, refill 10 a second, since 2026-07-30.
#[test]
fn fifty_requests_at_once_and_ten_a_second() {
    let mut pace = pace();
    assert_eq!(burst(&mut pace, "1", "ListHostedZones", 0), 50);
    let error = pace.request("1", "ListHostedZones", 99).expect_err("an empty bucket");
    assert_eq!(
        (error.code, error.code.status(), error.message.as_str()),
        (Code::Throttling, 400, "Rate exceeded")
    );
    assert_eq!(burst(&mut pace, "1", "ListHostedZones", 100), 1);
    assert_eq!(burst(&mut pace, "1", "ListHostedZones", 1_100), 10);
    assert_eq!(burst(&mut pace, "1", "ListHostedZones", 1_000_000), 50);
}

#[test]
fn an_account_has_one_bucket_for_all_its_actions() {
    let mut pace = pace();
    assert_eq!(burst(&mut pace, "1", "ListHostedZones", 0), 50);
    assert_eq!(burst(&mut pace, "1", "GetChange", 0), 0);
    assert_eq!(burst(&mut pace, "2", "GetChange", 0), 50);
}

/// route53.md 1.2: CreateHealthCheck 50/0.5, DeleteHealthCheck 15/3, CreateHostedZone 40/2, GetHealthCheckStatus 4/1.
#[test]
fn some_actions_have_smaller_buckets() {
    for (action, at_once, in_ten_seconds) in [
        ("GetHealthCheckStatus", 4, 4),
        ("DeleteHealthCheck", 15, 15),
        ("CreateHostedZone", 40, 20),
        ("CreateHealthCheck", 50, 5),
    ] {
        let mut pace = pace();
        assert_eq!(burst(&mut pace, "1", action, 0), at_once, "{action}");
        assert_eq!(burst(&mut pace, "1", action, 10_000), in_ten_seconds, "{action}");
    }
}

/// Half a token a second: looking every 300 ms must not make it slower.
#[test]
fn slow_refills_are_not_lost_between_looks() {
    let mut pace = pace();
    assert_eq!(burst(&mut pace, "1", "CreateHealthCheck", 0), 50);
    let through = (1..=100)
        .filter(|n| pace.request("1", "CreateHealthCheck", n * 300).is_ok())
        .count();
    assert_eq!(through, 15);
}

#[test]
fn no_limit_is_in_force_by_default() {
    let mut pace = Pace::default();
    assert_eq!(burst(&mut pace, "1", "ListHostedZones", 0), 1000);
}

/// route53.md 1.2 (b): individual record changes a second, the number being a setting.
#[test]
fn record_changes_have_their_own_bucket() {
    let mut world = World::new();
    world.service.pace.limits.changes = Some(Rate::new(4, 2));
    let names: Vec<String> = (0..6).map(|n| format!("n{n}.example.com")).collect();
    let changes: Vec<_> = names.iter().map(|name| create(a(name, "192.0.2.1"))).collect();
    world.allows(&changes[..3]);
    world.refuses_as(&changes[3..], Code::Throttling, "Rate exceeded");
    world.now_ms += 1_000;
    world.allows(&changes[3..]);
}

/// route53.md 1.1: a previous change to the SAME zone still processing.
#[test]
fn one_change_of_a_zone_at_a_time() {
    let mut world = World::new();
    world.service.busy_ms = 200;
    world.allows(&[create(a("one.example.com", "192.0.2.1"))]);
    world.now_ms = 199;
    let two = [create(a("two.example.com", "192.0.2.1"))];
    world.refuses_as(
        &two,
        Code::PriorRequestNotComplete,
        "The request was rejected because Route 53 was still processing a prior request.",
    );
    world.now_ms = 200;
    world.allows(&two);
}
