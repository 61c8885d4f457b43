//! The main job, step by step, from placeholder over drain to clean removal.

use serde_json::json;

use crate::sim::Sim;

fn two() -> Sim {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("east", "us-east-1", Some(("ed-east", true)));
    sim.member("west", "us-west-2", Some(("ed-west", false)));
    sim.app(&["east", "west"]);
    sim
}

fn live() -> Sim {
    let mut sim = two();
    sim.gateway("east", &["203.0.113.10"]);
    sim.gateway("west", &["198.51.100.20"]);
    sim.until("both live", 60, |sim| {
        sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady") == "True/Adopted"
            && sim.condition("GlobalHostname", "shop", "app", "Ready") == "True/Serving"
    });
    sim
}

#[test]
fn placeholders_stand_before_any_address_exists() {
    let mut sim = two();
    sim.run(10);
    let expected = [
        "_truce.app.example.com TXT \"heritage=truce,truce/owner=demo,truce/resource=globalhostname/shop/app\" ttl 300",
        "app-east.example.com A 192.0.2.1 ttl 5",
        "app-west.example.com A 192.0.2.1 ttl 5",
        "app.example.com A 192.0.2.1 ttl 5",
    ];
    let lines: Vec<_> = sim.lines().into_iter().filter(|line| !line.starts_with("a-")).collect();
    let mut sorted = lines.clone();
    sorted.sort();
    assert_eq!(sorted, expected, "{:#?}", sim.status());
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Ready"),
        "False/PlaceholderOnly"
    );
    let batches = sim.hub_batches;
    sim.run(60);
    assert_eq!(sim.hub_batches, batches, "quiet");
}

#[test]
fn load_balancers_arrive_and_the_members_adopt_their_cluster_names() {
    let sim = live();
    assert_eq!(
        sim.at("app.example.com"),
        [
            "app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5",
            "app.example.com A [demo/west us-west-2] 198.51.100.20 ttl 5"
        ],
    );
    assert_eq!(
        sim.at("app-east.example.com"),
        ["app-east.example.com A 203.0.113.10 ttl 5"]
    );
    assert!(sim.at("a-app-east.example.com")[0].contains("owner=ed-east"));
}

#[test]
fn it_comes_to_rest() {
    let mut sim = live();
    sim.run(30);
    let (batches, statuses, versions) = (sim.hub_batches, sim.status_writes, sim.versions.len());
    sim.run(120);
    assert_eq!(
        (sim.hub_batches, sim.status_writes, sim.versions.len()),
        (batches, statuses, versions)
    );
}

#[test]
fn a_replaced_load_balancer_moves_both_names() {
    let mut sim = live();
    sim.gateway("east", &["203.0.113.99"]);
    sim.until("moved", 30, |sim| {
        sim.at("app.example.com").iter().any(|l| l.contains("203.0.113.99"))
            && sim.at("app-east.example.com")[0].contains("203.0.113.99")
    });
    let writers: Vec<_> = sim.versions.iter().rev().take(2).map(|(who, _)| who.as_str()).collect();
    assert_eq!(writers, ["east", "hub"], "each name has its own writer");
}

#[test]
fn a_drain_withdraws_and_becomes_safe_and_undrains() {
    let mut sim = live();
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["weights"] = json!({"west": 0})
    });
    sim.run(3);
    assert_eq!(
        sim.at("app.example.com"),
        ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"]
    );
    assert_eq!(sim.state("west"), "Draining");
    sim.until("drained", 60, |sim| sim.state("west") == "Drained");
    sim.patch("GlobalHostname", "shop", "app", |spec| spec["weights"] = json!({}));
    sim.until("back", 10, |sim| sim.state("west") == "Live");
}

#[test]
fn a_cluster_drain_counts_on_member_and_drain() {
    let mut sim = live();
    sim.apply(
        "ClusterDrain",
        "",
        "upgrade",
        json!({"cluster": "west", "reason": "CHG-1"}),
    );
    sim.until("drained", 60, |sim| {
        sim.condition("ClusterDrain", "", "upgrade", "Drained") == "True/Drained"
    });
    assert_eq!(sim.condition("MemberCluster", "", "west", "Drained"), "True/Drained");
    sim.delete("ClusterDrain", "", "upgrade");
    sim.until("back", 10, |sim| sim.state("west") == "Live");
    assert_eq!(
        sim.condition("MemberCluster", "", "west", "Drained"),
        "False/NotDraining"
    );
}

#[test]
fn the_last_serving_cluster_refuses_to_go() {
    let mut sim = live();
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["drain"] = json!({"west": "test"})
    });
    sim.until("drained", 60, |sim| sim.state("west") == "Drained");
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["drain"] = json!({"west": "test", "east": "test"})
    });
    sim.run(40);
    assert_eq!(sim.state("east"), "LastServing");
    assert_eq!(
        sim.at("app.example.com"),
        ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"]
    );
}

#[test]
fn deletion_leaves_the_zone_as_it_was_but_for_the_fence() {
    let mut sim = live();
    sim.delete("GlobalHostname", "shop", "app");
    sim.until("gone", 120, |sim| !sim.exists("GlobalHostname", "shop", "app"));
    assert_eq!(sim.lines(), Vec::<String>::new());
    assert!(sim.members.values().all(|member| member.endpoints.is_empty()));
    sim.delete("DNSZone", "", "example-com");
    sim.until("gone", 30, |sim| !sim.exists("DNSZone", "", "example-com"));
    assert!(sim.zone.sets.is_empty(), "{:?}", sim.zone.sets);
}

#[test]
fn a_restart_at_rest_changes_nothing() {
    let mut sim = live();
    sim.run(30);
    let (before, batches) = (sim.lines(), sim.hub_batches);
    let (statuses, events) = (sim.status_writes, sim.user_events.clone());
    sim.restart();
    sim.run(60);
    assert_eq!(sim.lines(), before);
    assert_eq!(sim.hub_batches, batches);
    assert_eq!(
        (sim.status_writes, sim.user_events),
        (statuses, events),
        "nothing is told anew"
    );
}

fn foreign(name: &str, value: &str) -> truce_engine::value::record::RecordSet {
    use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing};
    RecordSet {
        name: truce_engine::value::dns_name::RecordName::listed(name),
        record_type: RecordType::A,
        routing: Routing::Simple,
        data: RecordData::values(300, [value]),
        health_check: None,
    }
}

/// T08: a record that someone else made is in the way.
#[test]
fn a_foreign_record_is_replaced_only_if_exactly_it_was_confirmed() {
    let mut sim = Sim::new();
    sim.zone.put(foreign("app.example.com", "203.0.113.50"));
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east"]);
    sim.run(20);
    assert_eq!(sim.lines(), ["app.example.com A 203.0.113.50 ttl 300"]);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Accepted"),
        "False/RecordConflict"
    );
    let message = sim.status()["conditions"][0]["message"].as_str().unwrap().to_owned();
    let hash = message.rsplit('=').next().unwrap().to_owned();
    sim.annotate(
        "GlobalHostname",
        "shop",
        "app",
        "dns.truce.dev/confirm",
        "0000000000000000",
    );
    sim.run(5);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Accepted"),
        "False/ConfirmStale"
    );
    sim.annotate("GlobalHostname", "shop", "app", "dns.truce.dev/confirm", &hash);
    sim.until("replaced", 30, |sim| {
        sim.at("app.example.com") == ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"]
    });
}

/// A confirmation works once, though the annotation stands and the operator is started again.
#[test]
fn the_same_foreign_record_put_back_needs_another_confirm() {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.gateway("east", &["203.0.113.10"]);
    let stranger = foreign("app.example.com", "203.0.113.50");
    sim.zone.put(stranger.clone());
    sim.app(&["east"]);
    sim.run(20);
    let said = |sim: &Sim| {
        let message = sim.status()["conditions"][0]["message"].as_str().unwrap().to_owned();
        message.rsplit('=').next().unwrap().to_owned()
    };
    let hash = said(&sim);
    sim.annotate("GlobalHostname", "shop", "app", "dns.truce.dev/confirm", &hash);
    let live = ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"];
    sim.until("replaced", 30, |sim| sim.at("app.example.com") == live);
    sim.restart();
    sim.run(5);
    sim.zone.sets.retain(|key, _| key.0.as_str() != "app.example.com");
    sim.zone.put(stranger);
    sim.restart();
    sim.run(400);
    assert_eq!(sim.at("app.example.com"), ["app.example.com A 203.0.113.50 ttl 300"]);
    let again = said(&sim);
    assert_ne!(again, hash);
    sim.annotate("GlobalHostname", "shop", "app", "dns.truce.dev/confirm", &again);
    sim.until("replaced again", 30, |sim| sim.at("app.example.com") == live);
}

/// T16: a load balancer's status is empty for a while.
#[test]
fn an_absent_address_is_withdrawn_after_the_grace_and_comes_back() {
    let mut sim = live();
    sim.gateway("east", &[]);
    sim.run(70);
    assert_eq!(sim.at("app.example.com").len(), 2, "an absence of 70 s changes nothing");
    sim.until("withdrawn", 900, |sim| sim.at("app.example.com").len() == 1);
    sim.gateway("west", &[]);
    sim.run(900);
    assert_eq!(sim.at("app.example.com").len(), 1, "the last one that serves stays");
    assert!(
        sim.at("app-west.example.com")[0].contains("198.51.100.20"),
        "the cluster name keeps the last address"
    );
    sim.gateway("east", &["203.0.113.10"]);
    sim.until("back", 60, |sim| {
        sim.at("app.example.com").iter().any(|l| l.contains("demo/east"))
    });
}

/// T19: a member whose API is unreachable is drained by the hub alone.
#[test]
fn a_member_that_is_down_changes_nothing_and_can_be_drained() {
    let mut sim = live();
    sim.members.get_mut("west").unwrap().up = false;
    sim.fail_watches("west");
    let before = sim.lines();
    sim.run(400);
    assert_eq!(sim.lines(), before);
    assert_eq!(
        sim.condition("MemberCluster", "", "west", "Reachable"),
        "False/MemberUnreachable"
    );
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "MembersFresh"),
        "Unknown/Unknown"
    );
    sim.restart();
    sim.run(60);
    assert_eq!(sim.lines(), before, "a restart while a member is down changes nothing");
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["weights"] = json!({"west": 0})
    });
    sim.until("drained", 60, |sim| sim.state("west") == "Drained");
    assert_eq!(sim.at("app.example.com").len(), 1);
}

#[test]
fn a_third_cluster_in_a_shared_region_nests_latency_over_weighted_in_one_batch() {
    let mut sim = live();
    sim.member("east2", "us-east-1", None);
    sim.gateway("east2", &["203.0.113.30"]);
    let batches = sim.hub_batches;
    sim.app(&["east", "west", "east2"]);
    sim.until("nested", 60, |sim| {
        sim.status()["policy"] == "LatencyWeighted" && sim.state("east2") == "Live"
    });
    assert!(
        sim.at("app.example.com").iter().all(|line| line.contains("[demo/@us-")),
        "{:?}",
        sim.lines()
    );
    assert_eq!(sim.at("_truce-us-east-1.app.example.com").len(), 2);
    assert!(sim.hub_batches - batches <= 4);
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["routing"] = json!({"policy": "Weighted"})
    });
    sim.until("weighted", 30, |sim| sim.at("app.example.com").len() == 3);
    sim.patch("GlobalHostname", "shop", "app", |spec| spec["routing"] = json!({}));
    sim.until("nested again", 30, |sim| {
        sim.at("_truce-us-west-2.app.example.com").len() == 1
    });
}

#[test]
fn a_deleted_member_cluster_is_released_and_goes() {
    let mut sim = live();
    sim.delete("MemberCluster", "", "west");
    sim.until("gone", 120, |sim| !sim.exists("MemberCluster", "", "west"));
    assert_eq!(sim.at("app.example.com").len(), 1);
    assert_eq!(sim.at("app-west.example.com"), Vec::<String>::new());
    assert!(sim.members["west"].endpoints.is_empty());
}

/// Law 5: a mistake in a MemberCluster withdraws nothing, not even after a restart.
#[test]
fn a_member_cluster_that_becomes_invalid_keeps_what_is_published() {
    let mut sim = live();
    let before = sim.at("app.example.com");
    sim.patch("MemberCluster", "", "west", |spec| spec["region"] = json!("mars-1"));
    sim.run(30);
    assert_eq!(sim.at("app.example.com"), before);
    sim.restart();
    sim.run(60);
    assert_eq!(sim.at("app.example.com"), before);
}

#[test]
fn a_listed_cluster_without_a_member_cluster_is_told_and_the_others_serve() {
    let mut sim = two();
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east", "nowhere"]);
    sim.run(20);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "ResolvedRefs"),
        "False/ClusterNotFound"
    );
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Ready"),
        "True/ServingPartly"
    );
    assert_eq!(sim.status()["ready"], "1/2");
}

/// T10: the ownership TXT's label would be longer than 63.
#[test]
fn a_cluster_name_that_is_too_long_is_told_and_the_shared_name_serves() {
    let mut sim = two();
    sim.gateway("east", &["203.0.113.10"]);
    let long = "x".repeat(57);
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["clusterHostname"] = json!(format!("{long}-{{name}}-{{cluster}}"))
    });
    sim.run(20);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady"),
        "False/LabelTooLong"
    );
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Ready"),
        "True/ServingPartly"
    );
}

#[test]
fn an_unknown_region_is_told_on_the_member_cluster_with_a_time() {
    let mut sim = two();
    sim.patch("MemberCluster", "", "west", |spec| spec["region"] = json!("mars-1"));
    sim.member("moon", "mars-1", None);
    sim.run(5);
    assert_eq!(
        sim.condition("MemberCluster", "", "moon", "Ready"),
        "False/RegionUnknown"
    );
    let key = ("MemberCluster".to_owned(), String::new(), "moon".to_owned());
    let text = sim.objects[&key]["status"]["conditions"].to_string();
    assert!(!text.contains("1970"), "{text}");
}

/// Nothing is known of a drain before the zone was read again.
#[test]
fn a_restart_never_takes_a_cluster_for_drained() {
    let mut sim = live();
    sim.patch("MemberCluster", "", "west", |spec| spec["weight"] = json!(0));
    sim.run(2);
    assert_eq!(sim.condition("MemberCluster", "", "west", "Drained"), "False/Draining");
    let safe_at = sim.status()["clusters"][1]["drain"]["safeAt"].clone();
    sim.restart();
    sim.settle_watching(|sim| {
        let drained = sim.condition("MemberCluster", "", "west", "Drained");
        assert_eq!(drained, "False/Draining");
    });
    assert_eq!(
        sim.status()["clusters"][1]["drain"]["safeAt"],
        safe_at,
        "the planned time stands"
    );
    sim.until("drained", 60, |sim| {
        sim.condition("MemberCluster", "", "west", "Drained") == "True/Drained"
    });
}

#[test]
fn one_cluster_under_simple_routing_is_ready() {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east"]);
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["routing"] = json!({"policy": "Simple"})
    });
    sim.run(20);
    assert_eq!(sim.at("app.example.com"), ["app.example.com A 203.0.113.10 ttl 5"]);
    assert_eq!(sim.condition("GlobalHostname", "shop", "app", "Ready"), "True/Serving");
    assert_eq!(sim.state("east"), "Live");
    assert_eq!(sim.status()["clusters"][0]["addresses"], json!(["203.0.113.10"]));
}

/// A name that a member is to write is not ready while the hub still holds it.
#[test]
fn cluster_hostnames_are_ready_only_with_their_writers() {
    let mut sim = two();
    sim.gateway("east", &["203.0.113.10"]);
    sim.gateway("west", &["198.51.100.20"]);
    for _ in 0..60 {
        sim.settle_watching(|sim| {
            let ready = sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady");
            let owners = ["a-app-east.example.com", "a-app-west.example.com"].map(|name| sim.at(name).join(""));
            let members = owners[0].contains("owner=ed-east") && owners[1].contains("owner=ed-west");
            assert!(members || !ready.starts_with("True"), "{ready}: {owners:?}");
        });
        sim.run(1);
    }
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady"),
        "True/Adopted"
    );
}

/// `paused` writes nothing but a drain.
#[test]
fn a_paused_hostname_is_drained_and_otherwise_left_alone() {
    let mut sim = live();
    sim.annotate("GlobalHostname", "shop", "app", "dns.truce.dev/paused", "true");
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["weights"] = json!({"west": 0});
        spec["routing"] = json!({"policy": "Weighted"});
    });
    sim.gateway("east", &["203.0.113.99"]);
    sim.until("drained", 60, |sim| sim.state("west") == "Drained");
    assert_eq!(
        sim.at("app.example.com"),
        ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"]
    );
    assert!(sim.at("app-east.example.com")[0].contains("203.0.113.10"));
}

/// A claim that is taken away freezes nothing that serves: drains and addresses go on, nothing new comes.
#[test]
fn a_hostname_that_is_no_longer_allowed_still_drains_and_follows_its_load_balancers() {
    let mut sim = live();
    sim.patch("DNSZone", "", "example-com", |spec| spec["claims"] = json!([]));
    sim.member("north", "eu-west-1", None);
    sim.gateway("north", &["203.0.113.40"]);
    sim.app(&["east", "west", "north"]);
    sim.gateway("east", &["203.0.113.99"]);
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["weights"] = json!({"west": 0})
    });
    sim.until("drained", 60, |sim| sim.state("west") == "Drained");
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Accepted"),
        "False/ClaimNotAllowed"
    );
    assert_eq!(
        sim.at("app.example.com"),
        ["app.example.com A [demo/east us-east-1] 203.0.113.99 ttl 5"]
    );
}

/// A forced policy that does not fit any more is told; what it published is still drained.
#[test]
fn a_policy_that_does_not_fit_any_more_still_drains() {
    let mut sim = live();
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["routing"] = json!({"policy": "Latency"})
    });
    sim.run(5);
    sim.member("east2", "us-east-1", None);
    sim.gateway("east2", &["203.0.113.30"]);
    let two = json!([{"name": "east"}, {"name": "west"}, {"name": "east2"}]);
    sim.patch("GlobalHostname", "shop", "app", |spec| spec["clusters"] = two);
    sim.run(20);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Accepted"),
        "False/PolicyNotPossible"
    );
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["weights"] = json!({"west": 0})
    });
    sim.until("drained", 60, |sim| sim.state("west") == "Drained");
    assert_eq!(
        sim.at("app.example.com"),
        ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"]
    );
}

/// Law 6: nothing is forgotten because a MemberCluster is invalid when the operator starts.
#[test]
fn a_hostname_waits_with_going_for_a_member_cluster_that_is_invalid() {
    let mut sim = live();
    sim.patch("MemberCluster", "", "west", |spec| spec["region"] = json!("mars-1"));
    sim.restart();
    sim.run(10);
    sim.delete("GlobalHostname", "shop", "app");
    sim.run(60);
    assert!(
        sim.exists("GlobalHostname", "shop", "app"),
        "west still has a DNSEndpoint"
    );
    sim.patch("MemberCluster", "", "west", |spec| spec["region"] = json!("us-west-2"));
    sim.until("gone", 120, |sim| !sim.exists("GlobalHostname", "shop", "app"));
    assert_eq!(sim.lines(), Vec::<String>::new());
    assert!(sim.members["west"].endpoints.is_empty());
}

/// One that is refused is nobody's burden: it counts nowhere, and nobody is asked to confirm anything for it.
#[test]
fn a_duplicate_hostname_is_told_and_counts_nowhere() {
    let mut sim = live();
    let spec = json!({"hostname": "APP.example.com.", "source": {"service": {"name": "gateway"}}, "clusters": [{"name": "east"}]});
    sim.apply("GlobalHostname", "shop", "dup", spec);
    sim.run(20);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "dup", "Accepted"),
        "False/NameTaken"
    );
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "dup", "ClusterHostnamesReady"),
        "False/NameTaken"
    );
    let status = |kind: &str, namespace: &str, name: &str| {
        sim.objects[&(kind.to_owned(), namespace.to_owned(), name.to_owned())]["status"].clone()
    };
    assert_eq!(status("GlobalHostname", "shop", "dup")["ready"], "0/1");
    assert_eq!(status("MemberCluster", "", "east")["hostnames"], 1);
    assert!(
        !status("GlobalHostname", "shop", "dup")
            .to_string()
            .contains("dns.truce.dev/confirm")
    );
}

#[test]
fn a_pause_is_told() {
    let mut sim = live();
    sim.annotate("GlobalHostname", "shop", "app", "dns.truce.dev/paused", "true");
    sim.run(5);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", "app", "Programmed"),
        "False/Paused"
    );
    sim.delete("GlobalHostname", "shop", "app");
    sim.run(20);
    assert!(
        sim.status()["conditions"].to_string().contains("left: ")
            && sim.status()["conditions"].to_string().contains("paused")
    );
    sim.annotate("GlobalHostname", "shop", "app", "dns.truce.dev/paused", "false");
    sim.until("gone", 120, |sim| !sim.exists("GlobalHostname", "shop", "app"));
}
