//! Cluster names that change or go while something is in the way: none is forgotten.

use serde_json::json;
use truce_engine::value::dns_name::RecordName;

use crate::sim::Sim;

/// West has an ExternalDNS, colo none; both have addresses and their names.
fn live() -> Sim {
    let mut sim = Sim::new();
    sim.zone_object();
    sim.member("colo", "us-east-1", None);
    sim.member("west", "us-west-2", Some(("ed-west", false)));
    sim.app(&["colo", "west"]);
    sim.gateway("colo", &["203.0.113.10"]);
    sim.gateway("west", &["198.51.100.20"]);
    sim.until("both have their names", 60, |sim| {
        let ready = sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady");
        ready.starts_with("True/") && sim.at("app-colo.example.com").len() == 1
    });
    sim
}

/// The lines of a cluster name and of its ownership TXT.
fn left(sim: &Sim, label: &str) -> Vec<String> {
    let names = [format!("{label}.example.com"), format!("a-{label}.example.com")];
    names.iter().flat_map(|name| sim.at(name)).collect()
}

fn template(sim: &mut Sim, template: &str) {
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["clusterHostname"] = json!(template);
    });
}

/// IAM or whatever refuses the hub's changes to a name.
fn protect(sim: &mut Sim, name: &str) {
    for name in [name.to_owned(), format!("a-{name}")] {
        sim.zone.protected.insert(RecordName::listed(&name));
    }
}

#[test]
fn a_new_template_gives_new_names_and_takes_the_old() {
    let mut sim = live();
    template(&mut sim, "{name}-x-{cluster}");
    sim.until("renamed", 400, |sim| {
        let renamed = |cluster: &str| {
            left(sim, &format!("app-{cluster}")).is_empty() && left(sim, &format!("app-x-{cluster}")).len() == 2
        };
        renamed("colo")
            && renamed("west")
            && sim
                .condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady")
                .starts_with("True/")
    });
    assert!(sim.at("a-app-x-west.example.com")[0].contains("owner=ed-west"));
    assert!(sim.at("a-app-x-colo.example.com")[0].contains("owner=demo"));
}

/// The status is written long before the zone can be: what is still held stays known, over a restart too.
#[test]
fn a_name_that_cannot_go_yet_is_not_forgotten() {
    for (new, restart) in [
        ("{name}-x-{cluster}", false),
        ("{name}-x-{cluster}", true),
        ("", false),
        ("", true),
    ] {
        let mut sim = live();
        protect(&mut sim, "app-colo.example.com");
        template(&mut sim, new);
        sim.run(30);
        assert_eq!(left(&sim, "app-colo").len(), 2, "the change is refused");
        if restart {
            sim.restart();
            sim.run(10);
        }
        sim.zone.protected.clear();
        sim.until("the old names are gone", 900, |sim| {
            left(sim, "app-colo").is_empty() && left(sim, "app-west").is_empty()
        });
        let renamed = if new.is_empty() { 0 } else { 2 };
        sim.until("the new names stand", 60, |sim| {
            left(sim, "app-x-colo").len() == renamed && left(sim, "app-x-west").len() == renamed
        });
    }
}

/// The same for a cluster that is not selected any more, under another template.
#[test]
fn a_deselected_clusters_name_goes_under_the_template_it_was_made_with() {
    let mut sim = live();
    protect(&mut sim, "app-colo.example.com");
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["clusters"] = json!([{"name": "west"}]);
        spec["clusterHostname"] = json!("{name}-x-{cluster}");
    });
    sim.run(30);
    sim.zone.protected.clear();
    sim.until("gone", 900, |sim| left(sim, "app-colo").is_empty());
    assert!(left(&sim, "app-x-colo").is_empty());
}
