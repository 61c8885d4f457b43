//! Health checks: their settings, their calls, and what they say (route53.md 3; the API reference of HealthCheckConfig).

use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::core::health::{Alarm, HealthCheckConfig, Kind, Update};

use crate::support::*;

fn http() -> HealthCheckConfig {
    HealthCheckConfig {
        kind: Kind::Http,
        domain_name: Some("app.example.com".to_owned()),
        ..HealthCheckConfig::default()
    }
}

fn calculated(children: &[String], threshold: u16) -> HealthCheckConfig {
    HealthCheckConfig {
        kind: Kind::Calculated,
        children: children.to_vec(),
        health_threshold: Some(threshold),
        ..HealthCheckConfig::default()
    }
}

/// Creates a health check and gives its id.
fn create_check(world: &mut World, reference: &str, config: HealthCheckConfig) -> Result<String, ApiError> {
    let caller = world.caller.clone();
    Ok(world.service.health.create(&caller, reference, config)?.id.clone())
}

#[track_caller]
fn settings_rule(refused: HealthCheckConfig, message: &str, allowed: HealthCheckConfig) {
    call_rule(
        |world| create_check(world, "one", refused),
        Code::InvalidInput,
        message,
        |world| create_check(world, "two", allowed),
    );
}

/// aws-sdk-php issue 1528.
#[test]
fn a_basic_check_has_no_alarm() {
    let mut alarm = http();
    alarm.alarm = Some(Alarm {
        region: "us-east-1".to_owned(),
        name: "a".to_owned(),
    });
    let metric = HealthCheckConfig {
        kind: Kind::CloudwatchMetric,
        alarm: alarm.alarm.clone(),
        ..HealthCheckConfig::default()
    };
    settings_rule(
        alarm,
        "Invalid parameter : Basic health checks must not have an metric region specified.",
        metric,
    );
}

/// aws-sdk-php issue 1527.
#[test]
fn a_tcp_check_has_an_address_or_a_name() {
    let tcp = HealthCheckConfig {
        kind: Kind::Tcp,
        ip_address: Some("192.0.2.44".to_owned()),
        port: Some(443),
        ..HealthCheckConfig::default()
    };
    let both = HealthCheckConfig {
        domain_name: Some("app.example.com".to_owned()),
        ..tcp.clone()
    };
    settings_rule(
        both,
        "TCP health checks that have IP address must not have a fully qualified domain name specified.",
        tcp,
    );
}

/// API reference of IPAddress and FullyQualifiedDomainName; own words.
#[test]
fn a_basic_check_has_an_endpoint() {
    settings_rule(
        HealthCheckConfig::default(),
        "Invalid parameter : Basic health checks must have an IP address or a fully qualified domain name specified.",
        http(),
    );
}

/// API reference of IPAddress: not local, private, nonroutable or multicast; own words.
#[test]
fn an_endpoint_is_on_the_internet() {
    let at = |address: &str| HealthCheckConfig {
        ip_address: Some(address.to_owned()),
        ..http()
    };
    settings_rule(
        at("10.0.0.1"),
        "Invalid parameter : The IP address 10.0.0.1 is in a local, private, nonroutable or multicast range.",
        at("192.0.2.44"),
    );
}

/// API reference of SearchString; own words.
#[test]
fn a_text_is_searched_by_those_that_search_one() {
    let with = |kind| HealthCheckConfig {
        kind,
        search_string: Some("ok".to_owned()),
        ..http()
    };
    settings_rule(
        with(Kind::Http),
        "Invalid parameter : A search string must be specified for HTTP_STR_MATCH and HTTPS_STR_MATCH health checks, and for no others.",
        with(Kind::HttpStrMatch),
    );
}

/// API reference of RequestInterval; own words.
#[test]
fn intervals_are_ten_or_thirty_seconds() {
    let every = |interval| HealthCheckConfig {
        request_interval: Some(interval),
        ..http()
    };
    settings_rule(
        every(20),
        "Invalid parameter : The request interval must be 10 or 30 seconds.",
        every(10),
    );
}

/// service model: HealthCheckRegionList, 3 to 64; own words.
#[test]
fn three_regions_at_least() {
    let from = |regions: &[&str]| HealthCheckConfig {
        regions: regions.iter().map(|r| (*r).to_owned()).collect(),
        ..http()
    };
    settings_rule(
        from(&["us-east-1", "us-west-1"]),
        "Invalid parameter : At least three regions must be specified.",
        from(&["us-east-1", "us-west-1", "eu-west-1"]),
    );
}

/// API reference of RequestInterval: not supported with RECOVERY_CONTROL; own words.
#[test]
fn a_recovery_control_check_has_no_interval() {
    let control = HealthCheckConfig {
        kind: Kind::RecoveryControl,
        routing_control_arn: Some(
            "arn:aws:route53-recovery-control::111111111111:controlpanel/x/routingcontrol/y".to_owned(),
        ),
        ..HealthCheckConfig::default()
    };
    let interval = HealthCheckConfig {
        request_interval: Some(30),
        ..control.clone()
    };
    settings_rule(
        interval,
        "Invalid parameter : Recovery control health checks must not have a request interval, a failure threshold or latency measurement specified.",
        control,
    );
}

/// route53.md 3: no nesting; own words.
#[test]
fn calculated_checks_do_not_nest() {
    let mut world = World::new();
    let child = create_check(&mut world, "child", http()).expect("allowed");
    let parent = create_check(&mut world, "parent", calculated(&[child], 1)).expect("allowed");
    let error = create_check(&mut world, "grand", calculated(std::slice::from_ref(&parent), 1)).expect_err("nested");
    assert_eq!(error.code, Code::InvalidInput);
    assert!(error.message.contains(&parent), "{error}");
}

/// API reference of HealthCheckAlreadyExists.
#[test]
fn a_reference_serves_one_health_check() {
    let secure = HealthCheckConfig {
        kind: Kind::Https,
        ..http()
    };
    call_rule(
        |world| {
            create_check(world, "once", http())?;
            create_check(world, "once", secure)
        },
        Code::HealthCheckAlreadyExists,
        "A health check with the same caller reference has already been created.",
        |world| {
            let first = create_check(world, "once", http())?;
            assert_eq!(
                create_check(world, "once", http())?,
                first,
                "the same request gives the same check"
            );
            Ok(())
        },
    );
    call_rule(
        |world| {
            let id = create_check(world, "once", http())?;
            let caller = world.caller.clone();
            world.service.health.delete(&caller, &id)?;
            create_check(world, "once", http())
        },
        Code::HealthCheckAlreadyExists,
        "A health check with the same caller reference has already been created.",
        |world| create_check(world, "twice", http()),
    );
}

/// API reference of HealthCheckVersionMismatch.
#[test]
fn an_update_knows_the_version() {
    let update = |world: &mut World, version| {
        let id = create_check(world, "once", http())?;
        let caller = world.caller.clone();
        let update = Update {
            version: Some(version),
            disabled: Some(true),
            ..Update::default()
        };
        let check = world.service.health.update(&caller, &id, &update)?;
        assert_eq!((check.version, check.config.disabled), (2, true));
        Ok(())
    };
    call_rule(
        |world| update(world, 2),
        Code::HealthCheckVersionMismatch,
        "The health check is at version 1.",
        |world| update(world, 1),
    );
}

/// route53.md 1.2: 200 health checks of an account.
#[test]
fn two_hundred_health_checks() {
    let fill = |world: &mut World, count: usize| {
        // One is in the world's configuration.
        (1..count).try_for_each(|n| create_check(world, &format!("c{n}"), http()).map(|_| ()))
    };
    call_rule(
        |world| fill(world, 201),
        Code::TooManyHealthChecks,
        "Cannot have more than 200 health checks.",
        |world| fill(world, 200),
    );
}

#[test]
fn a_set_names_a_health_check_that_exists() {
    let mut world = World::new();
    world.refuses_as(
        &[create(a("app.example.com", "192.0.2.1").health_check("hc-9"))],
        Code::NoSuchHealthCheck,
        "No health check found with ID: hc-9",
    );
    let id = create_check(&mut world, "one", http()).expect("allowed");
    world.allows(&[create(a("app.example.com", "192.0.2.1").health_check(&id))]);
}

/// route53.md 3: new = healthy, inverted flips, disabled = healthy for ever, disabled and inverted = forced down.
#[test]
fn what_a_check_says() {
    for (inverted, disabled, seen, healthy) in [
        (false, false, None, true),
        (false, false, Some(false), false),
        (true, false, None, false),
        (true, false, Some(false), true),
        (false, true, Some(false), true),
        (true, true, Some(true), false),
    ] {
        let mut world = World::new();
        let config = HealthCheckConfig {
            inverted,
            disabled,
            ..http()
        };
        let id = create_check(&mut world, "one", config).expect("allowed");
        assert!(world.service.health.set_seen(&id, seen));
        assert_eq!(
            world.service.health.healthy(&id),
            healthy,
            "{inverted} {disabled} {seen:?}"
        );
    }
}

/// API reference of HealthThreshold: more than there are children: never; 0: always.
#[test]
fn what_a_calculated_check_says() {
    let mut world = World::new();
    let children: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|name| create_check(&mut world, name, http()).expect("allowed"))
        .collect();
    let parent = |world: &mut World, threshold: u16| {
        create_check(world, &format!("of-{threshold}"), calculated(&children, threshold)).expect("allowed")
    };
    let ids: Vec<String> = (0..=4).map(|n| parent(&mut world, n)).collect();
    world.service.health.set_seen(&children[0], Some(false));
    let said: Vec<bool> = ids.iter().map(|id| world.service.health.healthy(id)).collect();
    assert_eq!(said, [true, true, true, false, false]);
}
