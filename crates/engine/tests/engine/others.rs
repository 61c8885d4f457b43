//! What belongs to others stays theirs: another GlobalHostname, another writer, another hub, and a person's word.

use serde_json::json;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::ids::SetIdentifier;
use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing};
use truce_engine::value::region::Region;

use crate::sim::Sim;

fn simple(name: &str, record_type: RecordType, value: &str) -> RecordSet {
    RecordSet {
        name: RecordName::listed(name),
        record_type,
        routing: Routing::Simple,
        data: RecordData::values(300, [value]),
        health_check: None,
    }
}

/// East without ExternalDNS, so that its cluster name is the hub's.
fn served() -> Sim {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east"]);
    sim.until("live", 30, |sim| sim.state("east") == "Live");
    sim.run(10);
    sim
}

/// The names belong to the older of two GlobalHostnames, also while the younger is deleted.
#[test]
fn deleting_a_second_hostname_of_the_same_name_takes_nothing_from_the_first() {
    let mut sim = served();
    let before = sim.lines();
    let spec = json!({"hostname": "app.example.com", "ttl": 5, "source": {"service": {"name": "gateway"}},
        "clusters": [{"name": "east"}]});
    sim.apply("GlobalHostname", "shop", "copy", spec);
    sim.run(10);
    let versions = sim.versions.len();
    sim.delete("GlobalHostname", "shop", "copy");
    sim.until("gone", 30, |sim| !sim.exists("GlobalHostname", "shop", "copy"));
    sim.run(10);
    assert_eq!(sim.lines(), before);
    assert_eq!(sim.versions.len(), versions, "no version of the zone in between either");
}

/// A claim is no proof for a simple set, which carries nobody's name.
#[test]
fn a_simple_set_of_another_type_beside_ours_is_not_taken_for_ours() {
    let mut sim = served();
    let theirs = simple("app.example.com", RecordType::Aaaa, "2001:db8::1");
    sim.zone.put(theirs);
    let before = sim.lines();
    sim.run(700);
    assert_eq!(sim.lines(), before);
    sim.restart();
    sim.run(60);
    assert_eq!(sim.lines(), before);
}

/// Simple routing writes sets without identifier; they stay the hub's through a change of the policy.
#[test]
fn the_set_of_simple_routing_is_ours() {
    let mut sim = served();
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["routing"] = json!({"policy": "Simple"})
    });
    sim.until("simple", 10, |sim| {
        sim.at("app.example.com") == ["app.example.com A 203.0.113.10 ttl 5"]
    });
    sim.restart();
    sim.run(10);
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["routing"] = json!({"policy": "Latency"})
    });
    sim.until("latency", 10, |sim| {
        sim.at("app.example.com") == ["app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5"]
    });
}

/// DESIGN.md, section 2: a rebuilt hub takes over once a person says that the other is gone.
#[test]
fn a_confirmed_takeover_of_the_hub_id_goes_on_with_the_annotation_standing() {
    let mut sim = served();
    let fence = "\"heritage=truce,truce/owner=demo,truce/instance=other,truce/term=9,truce/batch=1\"";
    sim.zone
        .put(simple("_truce-hub-demo.example.com", RecordType::Txt, fence));
    sim.restart();
    sim.until("in use", 30, |sim| {
        sim.condition("DNSZone", "", "example-com", "Accessible") == "False/HubIdInUse"
    });
    let key = ("DNSZone".to_owned(), String::new(), "example-com".to_owned());
    let text = sim.objects[&key]["status"]["conditions"][0]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    let hash = text.rsplit('=').next().unwrap().to_owned();
    sim.annotate("DNSZone", "", "example-com", "dns.truce.dev/confirm", &hash);
    sim.run(10);
    sim.gateway("east", &["203.0.113.11"]);
    sim.until("written", 30, |sim| {
        sim.at("app.example.com")[0].contains("203.0.113.11")
    });
}

/// A member's ExternalDNS that its MemberCluster no longer names still publishes what it was told.
#[test]
fn what_an_external_dns_holds_that_the_member_cluster_no_longer_names_is_not_forgotten() {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("east", "us-east-1", Some(("ed-east", true)));
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east"]);
    sim.until("adopted", 60, |sim| {
        sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady") == "True/Adopted"
    });
    sim.patch("MemberCluster", "", "east", |spec| spec["externalDNS"] = json!([]));
    sim.run(20);
    sim.delete("GlobalHostname", "shop", "app");
    sim.run(60);
    assert!(sim.exists("GlobalHostname", "shop", "app"));
    let message = sim.status().to_string();
    assert!(
        message.contains("ReleaseBlocked") && message.contains("ed-east"),
        "{message}"
    );
    sim.patch("MemberCluster", "", "east", |spec| {
        spec["externalDNS"] = json!([{"ownerID": "ed-east", "policy": "sync", "interval": "3s"}])
    });
    sim.until("released", 60, |sim| !sim.exists("GlobalHostname", "shop", "app"));
    assert_eq!(sim.lines(), Vec::<String>::new());
    assert!(sim.members["east"].endpoints.is_empty());
}

/// DESIGN.md, section 6: withdrawals that come from a deletion are held beyond ten sets and the zone's percentage within
/// ten minutes, however often the operator is started anew; a person's word lets them go.
#[test]
fn what_the_guard_holds_it_holds_over_restarts_until_it_is_confirmed() {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.patch("DNSZone", "", "example-com", |spec| {
        spec["guard"] = json!({"maxWithdrawPercent": 30})
    });
    for (name, address) in [("east", "203.0.113.10"), ("west", "198.51.100.20")] {
        sim.member(name, "us-east-1", None);
        sim.gateway(name, &[address]);
    }
    for number in 0..14 {
        let spec = json!({"hostname": format!("h{number}.example.com"), "ttl": 5, "clusterHostname": "",
            "source": {"service": {"name": "gateway"}}, "clusterSelector": {"matchLabels": {}}});
        sim.apply("GlobalHostname", "shop", &format!("h{number}"), spec);
    }
    let left = |sim: &Sim| sim.lines().iter().filter(|line| line.contains("demo/west")).count();
    sim.until("live", 60, |sim| left(sim) == 14);
    sim.delete("MemberCluster", "", "west");
    sim.run(60);
    assert_eq!(left(&sim), 4);
    for _ in 0..3 {
        sim.restart();
        sim.run(30);
        assert_eq!(left(&sim), 4);
    }
    let key = ("DNSZone".to_owned(), String::new(), "example-com".to_owned());
    let held = sim.objects[&key]["status"]["heldPlan"].clone();
    assert_eq!(
        (held["withdrawals"].as_u64(), held["live"].as_u64()),
        (Some(4), Some(28)),
        "{held}"
    );
    sim.annotate(
        "DNSZone",
        "",
        "example-com",
        "dns.truce.dev/confirm",
        held["hash"].as_str().unwrap(),
    );
    sim.until("withdrawn", 60, |sim| left(sim) == 0);
}

/// Law 3: a set of somebody else in one family holds that family as it is; it takes nothing out of it.
#[test]
fn a_foreign_set_beside_a_family_leaves_the_own_sets_of_it() {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.service("east", "gateway", true, &["203.0.113.10", "2001:db8::10"]);
    sim.app(&["east"]);
    sim.until("live", 60, |sim| sim.at("app.example.com").len() == 2);
    sim.zone.put(RecordSet {
        routing: Routing::Latency {
            id: SetIdentifier::listed("theirs"),
            region: Region::known("eu-west-1").unwrap(),
        },
        ..simple("app.example.com", RecordType::A, "198.18.0.9")
    });
    sim.restart();
    sim.service("east", "gateway", true, &["203.0.113.11", "2001:db8::11"]);
    sim.run(400);
    let lines = sim.at("app.example.com");
    assert!(
        lines.contains(&"app.example.com A [demo/east us-east-1] 203.0.113.10 ttl 5".to_owned()),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"app.example.com AAAA [demo/east us-east-1] 2001:db8::11 ttl 5".to_owned()),
        "{lines:#?}"
    );
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

/// A TXT record's string has at most 255 characters (RFC 1035, section 3.3), and the claim names the object.
#[test]
fn a_hostname_whose_claim_does_not_fit_is_told_so() {
    let mut sim = served();
    let name = "n".repeat(200);
    let spec = json!({"hostname": "other.example.com", "source": {"service": {"name": "gateway"}},
        "clusters": [{"name": "east"}]});
    let before = sim.lines();
    sim.apply("GlobalHostname", "shop", &name, spec);
    sim.run(20);
    assert_eq!(
        sim.condition("GlobalHostname", "shop", &name, "Accepted"),
        "False/Invalid"
    );
    assert_eq!(sim.lines(), before);
}

/// What Truce does not know exactly it cannot delete exactly: no confirm is offered.
#[test]
fn a_record_of_a_policy_that_is_not_known_is_for_people_to_delete() {
    let mut sim = Sim::new();
    sim.zone.put(RecordSet {
        routing: Routing::Foreign {
            id: SetIdentifier::listed("europe"),
        },
        ..simple("app.example.com", RecordType::A, "198.18.0.9")
    });
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east"]);
    sim.run(20);
    let message = sim.status()["conditions"][0]["message"].as_str().unwrap().to_owned();
    assert!(
        message.ends_with("Truce cannot replace it exactly: delete it"),
        "{message}"
    );
    assert_eq!(sim.at("app.example.com").len(), 1);
}
