//! Routing cases: clusters in, the record sets of the shared name out, step by step; expected sets are written as in
//! DESIGN.md, section 5, and `facts` of Route 53, not computed.

#![expect(clippy::unwrap_used, reason = "a test's fixtures are valid")]

#[path = "routing/app.rs"]
mod app;

use app::App;
use truce_api::Reason;
use truce_engine::rule::shared::Place;
use truce_engine::value::record::RecordType;
use truce_engine::world::hostnames::Policy;

const ALB: &str = "web-1.us-east-1.elb.amazonaws.com";
const GATEWAY: &str = "gw.west.example.net";

fn east_and_west() -> App {
    let mut app = App::new("app.example.com");
    app.cluster("east", "us-east-1", &["198.51.100.1"]);
    app.cluster("west", "us-west-2", &["198.51.100.2"]);
    app
}

fn shared_region() -> App {
    let mut app = east_and_west();
    app.cluster("east2", "us-east-1", &["198.51.100.3"]);
    app
}

#[test]
fn the_placeholder_stands_until_the_first_address_and_never_again() {
    let mut app = App::new("app.example.com");
    app.cluster("east", "us-east-1", &[]);
    assert_eq!(app.step(), ["A app 192.0.2.1"]);
    app.address("east", &["2001:db8::1"]);
    assert_eq!(app.step(), ["AAAA app [east us-east-1] 2001:db8::1"]);
    app.delete_memory_of_zone();
    app.address("east", &[]);
    assert!(app.step().is_empty());
}

#[test]
fn without_placeholder_nothing_stands_before_an_address_but_the_claim() {
    let mut app = App::new("app.example.com");
    app.spec.placeholder = false;
    app.cluster("east", "us-east-1", &[]);
    let plan = app.plan();
    assert!(plan.sets.is_empty() && plan.claim);
}

/// RFC 4592: any record at or below the name takes it away from the wildcard.
#[test]
fn where_a_wildcard_answers_claim_and_placeholder_wait_for_the_first_live_cluster() {
    let mut app = App::new("app.example.com");
    app.wildcard_answers = true;
    app.cluster("east", "us-east-1", &[]);
    let plan = app.plan();
    assert!(plan.sets.is_empty() && !plan.claim);
    app.address("east", &["198.51.100.1"]);
    assert!(app.plan().claim);
    assert_eq!(app.step(), ["A app [east us-east-1] 198.51.100.1"]);
}

#[test]
fn auto_follows_the_regions_of_the_selected_clusters() {
    let mut app = east_and_west();
    let latency = [
        "A app [east us-east-1] 198.51.100.1",
        "A app [west us-west-2] 198.51.100.2",
    ];
    assert_eq!(app.step(), latency);
    assert_eq!(app.reason(), "every cluster is in a region of its own");
    app.cluster("east2", "us-east-1", &["198.51.100.3"]);
    let nested = [
        "A app [@us-east-1 us-east-1] -> _truce-us-east-1.app",
        "A app [@us-west-2 us-west-2] -> _truce-us-west-2.app",
        "A _truce-us-east-1.app [east w100] 198.51.100.1",
        "A _truce-us-east-1.app [east2 w100] 198.51.100.3",
        "A _truce-us-west-2.app [west w100] 198.51.100.2",
    ];
    assert_eq!(app.step(), nested);
    assert_eq!(app.reason(), "east and east2 share us-east-1");
    app.deselect("west");
    let weighted = ["A app [east w100] 198.51.100.1", "A app [east2 w100] 198.51.100.3"];
    assert_eq!(app.step(), weighted);
    assert_eq!(app.reason(), "all clusters are in us-east-1");
}

/// A cluster without an address counts for the policy, so that its arrival does not change it.
#[test]
fn a_pending_cluster_counts_for_the_policy() {
    let mut app = east_and_west();
    app.cluster("east2", "us-east-1", &[]);
    app.step();
    assert_eq!(app.plan().policy, Policy::LatencyWeighted);
}

#[test]
fn under_a_wildcard_groups_stand_beside_it() {
    let mut app = App::new("*.example.com");
    app.cluster("east", "us-east-1", &["198.51.100.1"]);
    app.spec.policy = Some(Policy::LatencyWeighted);
    let sets = [
        "A * [@us-east-1 us-east-1] -> _truce-any-us-east-1",
        "A _truce-any-us-east-1 [east w100] 198.51.100.1",
    ];
    assert_eq!(app.step(), sets);
}

#[test]
fn unequal_weights_choose_weighted_and_a_zero_does_not_take_it_back() {
    let mut app = east_and_west();
    app.weights(&[("east", 90), ("west", 10)]);
    let split = ["A app [east w90] 198.51.100.1", "A app [west w10] 198.51.100.2"];
    assert_eq!(app.step(), split);
    assert_eq!(app.reason(), "weights ask for a split: east 90 and west 10");
    app.weights(&[("east", 90), ("west", 0)]);
    app.drain("west", 1);
    let drained = ["A app [east w90] 198.51.100.1", "A app [west w0] 198.51.100.2"];
    assert_eq!(app.step(), drained);
}

#[test]
fn a_zero_or_equal_weights_choose_nothing_and_what_has_no_effect_is_told() {
    let mut app = east_and_west();
    app.weights(&[("east", 100), ("west", 100)]);
    let plan = app.plan();
    assert_eq!(plan.policy, Policy::Latency);
    assert_eq!(app.reasons(), [Reason::WeightIgnored]);
    assert!(
        plan.problems[0].message.contains("east and west"),
        "{}",
        plan.problems[0].message
    );
    app.weights(&[("west", 0)]);
    assert_eq!(app.plan().policy, Policy::Latency);
    assert!(app.reasons().is_empty());
}

/// T07: a switch is one plan without a set of the old policy.
#[test]
fn a_forced_policy_replaces_every_set_at_once() {
    let mut app = shared_region();
    app.step();
    app.spec.policy = Some(Policy::Weighted);
    let weighted = [
        "A app [east w100] 198.51.100.1",
        "A app [east2 w100] 198.51.100.3",
        "A app [west w100] 198.51.100.2",
    ];
    assert_eq!(app.step(), weighted);
}

#[test]
fn impossible_policies_are_refused_and_leave_what_is_published() {
    let mut app = shared_region();
    let before = app.step();
    let refusals = [
        (
            Policy::Latency,
            Reason::PolicyNotPossible,
            "east and east2 share us-east-1",
        ),
        (Policy::Simple, Reason::PolicyNotPossible, "select one"),
        (Policy::Failover, Reason::PrimaryMissing, "routing.primary"),
    ];
    for (policy, reason, words) in refusals {
        app.spec.policy = Some(policy);
        app.address("west", &["198.51.100.99"]);
        let plan = app.plan();
        assert!(plan.refused);
        assert_eq!(app.lines(&plan.sets), before);
        assert_eq!(app.reasons(), [reason]);
        assert!(plan.problems[0].message.contains(words), "{}", plan.problems[0].message);
        assert_eq!(app.place("west"), Place::Live);
    }
}

#[test]
fn a_refused_hostname_writes_nothing_not_even_a_claim() {
    let mut app = shared_region();
    app.spec.policy = Some(Policy::Failover);
    let plan = app.plan();
    assert!(plan.refused && plan.sets.is_empty() && !plan.claim);
}

#[test]
fn simple_has_no_set_identifier_and_keeps_its_only_cluster() {
    let mut app = App::new("app.example.com");
    app.cluster("east", "us-east-1", &["198.51.100.1", "198.51.100.2"]);
    app.spec.policy = Some(Policy::Simple);
    assert_eq!(app.step(), ["A app 198.51.100.1,198.51.100.2"]);
    app.drain("east", 1);
    assert_eq!(app.step(), ["A app 198.51.100.1,198.51.100.2"]);
    assert_eq!(app.place("east"), Place::LastServing([RecordType::A].into()));
    app.forget("east");
    assert_eq!(app.step(), ["A app 198.51.100.1,198.51.100.2"]);
}

#[test]
fn a_weighted_drain_is_weight_0_then_gone_and_an_undrain_brings_it_back() {
    let mut app = shared_region();
    app.deselect("west");
    let both = ["A app [east w100] 198.51.100.1", "A app [east2 w100] 198.51.100.3"];
    assert_eq!(app.step(), both);
    app.drain("east", 1);
    let zero = ["A app [east w0] 198.51.100.1", "A app [east2 w100] 198.51.100.3"];
    assert_eq!(app.step(), zero);
    assert_eq!(app.place("east"), Place::Zero);
    app.window_over("east", true);
    assert_eq!(app.step(), ["A app [east2 w100] 198.51.100.3"]);
    assert_eq!(app.place("east"), Place::Out);
    app.window_over("east", false);
    assert_eq!(
        app.step(),
        ["A app [east2 w100] 198.51.100.3"],
        "it does not come back as a set of weight 0"
    );
    app.undrain("east");
    assert_eq!(app.step(), both);
}

#[test]
fn a_latency_drain_withdraws_at_once() {
    let mut app = east_and_west();
    app.step();
    app.drain("east", 1);
    assert_eq!(app.step(), ["A app [west us-west-2] 198.51.100.2"]);
}

#[test]
fn a_region_whose_live_clusters_are_all_drained_goes_with_its_group() {
    let mut app = shared_region();
    app.cluster("east3", "us-east-1", &[]);
    app.step();
    app.drain("east", 1);
    app.step();
    assert_eq!(app.place("east"), Place::Zero);
    app.drain("east2", 2);
    let west = [
        "A app [@us-west-2 us-west-2] -> _truce-us-west-2.app",
        "A _truce-us-west-2.app [west w100] 198.51.100.2",
    ];
    assert_eq!(app.step(), west);
    app.address("east3", &["198.51.100.4"]);
    let back = [
        "A app [@us-east-1 us-east-1] -> _truce-us-east-1.app",
        west[0],
        "A _truce-us-east-1.app [east3 w100] 198.51.100.4",
        west[1],
    ];
    assert_eq!(app.step(), back);
}

/// T27, T25: draining the last one is refused, and of several drained at once it is decided who stays.
#[test]
fn the_last_that_serves_stays_whatever_takes_it_away() {
    let mut app = east_and_west();
    app.spec.policy = Some(Policy::Weighted);
    app.step();
    app.drain("west", 1);
    app.step();
    app.drain("east", 2);
    let kept = ["A app [east w100] 198.51.100.1", "A app [west w0] 198.51.100.2"];
    assert_eq!(app.step(), kept);
    assert_eq!(app.place("east"), Place::LastServing([RecordType::A].into()));
    let problem = app.problem_of("east");
    assert_eq!(problem.reason, Reason::LastServing);
    assert!(
        problem
            .message
            .starts_with("east is kept in A although it is being drained"),
        "{}",
        problem.message
    );
    app.window_over("west", true);
    assert_eq!(app.step(), ["A app [east w100] 198.51.100.1"]);
    app.undrain("west");
    let other = ["A app [east w0] 198.51.100.1", "A app [west w100] 198.51.100.2"];
    assert_eq!(app.step(), other);
}

#[test]
fn who_is_kept_stays_kept_while_another_stands_with_weight_0() {
    let mut app = east_and_west();
    app.spec.policy = Some(Policy::Weighted);
    app.step();
    app.drain("west", 1);
    app.step();
    app.drain("east", 2);
    let kept = app.step();
    app.drain("west", 3);
    assert_eq!(app.step(), kept);
}

#[test]
fn what_is_kept_has_a_weight_of_at_least_1() {
    let mut app = east_and_west();
    app.spec.policy = Some(Policy::Weighted);
    app.deselect("west");
    app.step();
    app.weight("east", 0);
    app.drain("east", 1);
    assert_eq!(app.step(), ["A app [east w1] 198.51.100.1"]);
}

#[test]
fn of_those_drained_at_once_the_last_drain_then_a_non_standby_then_the_name_decides() {
    let keeps = |hours: [i64; 2], standby: Option<&str>| {
        let mut app = east_and_west();
        app.step();
        if let Some(name) = standby {
            app.standby(name);
        }
        app.spec.policy = Some(Policy::Weighted);
        app.drain("east", hours[0]);
        app.drain("west", hours[1]);
        app.step();
        ["east", "west"].map(|name| matches!(app.place(name), Place::LastServing(_)))
    };
    assert_eq!(keeps([1, 2], None), [false, true]);
    assert_eq!(keeps([2, 1], None), [true, false]);
    assert_eq!(keeps([1, 1], Some("east")), [false, true]);
    assert_eq!(keeps([1, 1], None), [true, false]);
}

#[test]
fn the_last_stays_when_nobody_is_selected_or_its_object_or_address_is_gone() {
    let latency = ["A app [west us-west-2] 198.51.100.2"];
    let mut app = App::new("app.example.com");
    app.cluster("west", "us-west-2", &["198.51.100.2"]);
    assert_eq!(app.step(), latency);
    app.address("west", &[]);
    assert_eq!(app.step(), latency);
    assert!(app.problem_of("west").message.contains("its address is gone"));
    app.deselect("west");
    assert_eq!(app.step(), latency);
    app.forget("west");
    assert_eq!(app.step(), latency);
    app.cluster("east", "us-east-1", &[]);
    app.cluster("east2", "us-east-1", &[]);
    assert_eq!(
        app.step(),
        latency,
        "the policy in force stays until another cluster serves"
    );
    app.address("east", &["198.51.100.1"]);
    assert_eq!(app.step(), ["A app [east w100] 198.51.100.1"]);
}

/// DESIGN.md, section 5: the only cluster with AAAA keeps its AAAA set when drained.
#[test]
fn the_last_that_serves_is_decided_per_family() {
    let mut app = east_and_west();
    app.address("east", &["198.51.100.1", "2001:db8::1"]);
    app.step();
    assert_eq!(app.reasons(), [Reason::AddressFamilyMismatch]);
    app.drain("east", 1);
    let sets = [
        "A app [west us-west-2] 198.51.100.2",
        "AAAA app [east us-east-1] 2001:db8::1",
    ];
    assert_eq!(app.step(), sets);
    assert_eq!(app.place("east"), Place::LastServing([RecordType::Aaaa].into()));
}

/// DESIGN.md, section 5: `Drained` stays False until another has that family or a `confirm` gives the family up.
#[test]
fn a_family_is_given_up_by_a_confirm_of_exactly_that() {
    let mut app = east_and_west();
    app.address("east", &["198.51.100.1", "2001:db8::1"]);
    app.step();
    app.drain("east", 1);
    app.step();
    let message = app.problem_of("east").message;
    let (_, hash) = message.rsplit_once("dns.truce.dev/confirm=").unwrap();
    app.confirm = Some("0000000000000000".to_owned());
    assert_eq!(app.place("east"), Place::LastServing([RecordType::Aaaa].into()));
    app.confirm = Some(hash.to_owned());
    assert!(app.plan().gives_up);
    assert_eq!(app.step(), ["A app [west us-west-2] 198.51.100.2"]);
    assert_eq!(app.place("east"), Place::Out);
    assert!(!app.plan().gives_up, "what is done is no more agreed to");
}

/// The name must go on answering: where no other family is left, nothing can be given up.
#[test]
fn the_last_family_of_a_name_cannot_be_given_up() {
    let mut app = east_and_west();
    app.drain("east", 1);
    app.step();
    app.drain("west", 2);
    app.step();
    let kept = app.problem_of("west").message;
    assert!(kept.ends_with("delete the GlobalHostname"), "{kept}");
}

#[test]
fn standbys_make_failover_and_its_roles_switch_in_one_step() {
    let mut app = east_and_west();
    app.address("east", &[ALB]);
    app.standby("west");
    let both = [
        "A app [east PRIMARY] -> dualstack.web-1.us-east-1.elb.amazonaws.com",
        "A app [west SECONDARY] 198.51.100.2",
    ];
    assert_eq!(app.step(), both);
    assert_eq!(app.reason(), "west is standby, the others are not");
    app.drain("east", 1);
    let switched = [
        "A app [@secondary PRIMARY] -> _truce-secondary.app",
        "A _truce-secondary.app [west us-west-2] 198.51.100.2",
    ];
    assert_eq!(
        app.step(),
        switched,
        "Route 53 refuses a non-alias PRIMARY without a health check"
    );
    app.drain("west", 2);
    assert_eq!(app.step(), switched);
    assert_eq!(app.place("west"), Place::LastServing([RecordType::A].into()));
    app.undrain("east");
    app.undrain("west");
    assert_eq!(app.step(), both);
}

#[test]
fn a_role_of_several_clusters_is_a_group_by_the_first_rows() {
    let mut app = shared_region();
    app.cluster("north", "eu-west-1", &["198.51.100.4"]);
    app.standby("north");
    let sets = [
        "A app [@primary PRIMARY] -> _truce-primary.app",
        "A app [north SECONDARY] 198.51.100.4",
        "A _truce-primary-us-east-1.app [east w100] 198.51.100.1",
        "A _truce-primary-us-east-1.app [east2 w100] 198.51.100.3",
        "A _truce-primary-us-west-2.app [west w100] 198.51.100.2",
        "A _truce-primary.app [@primary-us-east-1 us-east-1] -> _truce-primary-us-east-1.app",
        "A _truce-primary.app [@primary-us-west-2 us-west-2] -> _truce-primary-us-west-2.app",
    ];
    assert_eq!(app.step(), sets);
    assert_eq!(app.reasons(), [Reason::FailoverInert]);
    app.drain("east", 1);
    assert!(
        app.step()
            .contains(&"A _truce-primary-us-east-1.app [east w0] 198.51.100.1".to_owned())
    );
}

#[test]
fn primary_decides_the_roles_and_standby_is_reported() {
    let mut app = east_and_west();
    app.spec.policy = Some(Policy::Failover);
    app.primary("west");
    app.address("west", &[ALB]);
    app.standby("west");
    let sets = [
        "A app [east SECONDARY] 198.51.100.1",
        "A app [west PRIMARY] -> dualstack.web-1.us-east-1.elb.amazonaws.com",
    ];
    assert_eq!(app.step(), sets);
    assert_eq!(app.reasons(), [Reason::StandbyIgnored]);
}

#[test]
fn a_primary_that_cannot_turn_unhealthy_is_reported() {
    let mut app = east_and_west();
    app.standby("west");
    assert_eq!(app.reasons(), [Reason::FailoverInert]);
    app.address("east", &[ALB]);
    assert!(app.reasons().is_empty());
    app.spec.evaluate_target_health = false;
    assert_eq!(app.reasons(), [Reason::FailoverInert]);
}

#[test]
fn a_family_that_a_serving_primary_lacks_is_not_published_from_secondary() {
    let mut app = east_and_west();
    app.address("east", &[ALB]);
    app.address("west", &["198.51.100.2", "2001:db8::2"]);
    app.standby("west");
    assert!(!app.step().iter().any(|set| set.starts_with("AAAA")));
    app.drain("east", 1);
    assert!(app.step().iter().any(|set| set.starts_with("AAAA")));
}

#[test]
fn a_dual_stack_load_balancer_is_an_alias_in_both_families() {
    let mut app = App::new("app.example.com");
    app.cluster("east", "us-east-1", &[]);
    app.dual_stack("east", ALB);
    let sets = [
        "A app [east us-east-1] -> dualstack.web-1.us-east-1.elb.amazonaws.com",
        "AAAA app [east us-east-1] -> dualstack.web-1.us-east-1.elb.amazonaws.com",
    ];
    assert_eq!(app.step(), sets);
}

/// T13: one plain name turns every set into a CNAME; IPs stand behind a name of their own.
#[test]
fn a_plain_name_makes_every_set_a_cname() {
    let mut app = shared_region();
    app.address("west", &[GATEWAY]);
    app.address("east2", &[ALB]);
    app.address("east", &["198.51.100.1", "2001:db8::1"]);
    let sets = [
        "CNAME app [@us-east-1 us-east-1] -> _truce-us-east-1.app",
        "CNAME app [@us-west-2 us-west-2] -> _truce-us-west-2.app",
        "A _truce-ip-east.app 198.51.100.1",
        "AAAA _truce-ip-east.app 2001:db8::1",
        "CNAME _truce-us-east-1.app [east w100] _truce-ip-east.app",
        "CNAME _truce-us-east-1.app [east2 w100] web-1.us-east-1.elb.amazonaws.com",
        "CNAME _truce-us-west-2.app [west w100] gw.west.example.net",
    ];
    assert_eq!(app.step(), sets);
    app.address("east", &[]);
    assert!(
        app.step()
            .contains(&"CNAME _truce-us-east-1.app [east w0] _truce-ip-east.app".to_owned())
    );
    app.deselect("west");
    let addresses = [
        "A app [east w0] 198.51.100.1",
        "A app [east2 w100] -> dualstack.web-1.us-east-1.elb.amazonaws.com",
        "AAAA app [east w100] 2001:db8::1",
    ];
    assert_eq!(app.step(), addresses, "nobody else has IPv6");
}

#[test]
fn a_cname_cannot_stand_at_the_zones_own_name() {
    let mut app = App::new("example.com");
    app.cluster("east", "us-east-1", &["198.51.100.1"]);
    let before = app.step();
    app.cluster("west", "us-west-2", &[GATEWAY]);
    let plan = app.plan();
    assert!(plan.refused);
    assert_eq!(app.lines(&plan.sets), before);
    assert_eq!(app.reasons(), [Reason::CNAMEAtApex]);
    assert!(
        plan.problems[0].message.contains("west is gw.west.example.net"),
        "{}",
        plan.problems[0].message
    );
}

#[test]
fn a_primary_under_cname_is_an_alias_to_a_group_of_cnames() {
    let mut app = east_and_west();
    app.address("east", &[GATEWAY]);
    app.standby("west");
    let sets = [
        "CNAME app [@primary PRIMARY] -> _truce-primary.app",
        "CNAME app [west SECONDARY] _truce-ip-west.app",
        "A _truce-ip-west.app 198.51.100.2",
        "CNAME _truce-primary.app [east us-east-1] gw.west.example.net",
    ];
    assert_eq!(app.step(), sets);
}

#[test]
fn what_the_zone_has_is_parsed_back() {
    use truce_engine::rule::last_serving::published_address;
    let addresses: [&[&str]; 3] = [&["198.51.100.1", "2001:db8::1"], &[ALB], &[GATEWAY]];
    for policy in [Policy::Latency, Policy::Weighted, Policy::LatencyWeighted] {
        for beside in [&["198.51.100.9"], &[GATEWAY]] {
            for address in addresses {
                let mut app = east_and_west();
                app.spec.policy = Some(policy);
                app.address("east", address);
                app.address("west", beside);
                app.step();
                let (east, input) = app.clusters.iter().next().unwrap();
                let wanted = input.address.clone();
                let read = published_address(&app.published, &app.shared, &app.hub, east);
                assert_eq!(read, wanted, "{policy:?} {beside:?}");
            }
        }
    }
}
