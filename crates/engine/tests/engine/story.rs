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
    sim.restart();
    sim.run(60);
    assert_eq!(sim.lines(), before);
    assert_eq!(sim.hub_batches, batches);
}
