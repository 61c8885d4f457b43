//! The kill sweep in process: one short story, the operator killed or an answer lost at every single effect.
//!
//! Whatever the place, the story ends in the same zones, with no record or DNSEndpoint lost, doubled or orphaned, and
//! `Drained` is never told before nobody can have the address from Route 53 or from a cache any more.

use serde_json::json;

use crate::sim::{Fault, Sim, timings};

const TTL: u64 = 5;

/// What the world looks like at each station of the story.
type Stations = Vec<(&'static str, Vec<String>)>;

/// The zone but for the fence, and the DNSEndpoints of each member.
fn look(sim: &Sim) -> Vec<String> {
    let mut lines = sim.lines();
    for (name, member) in &sim.members {
        let endpoints = member.endpoints.values();
        lines.extend(endpoints.map(|e| format!("{name}: {}/{} {:?} {}", e.namespace, e.name, e.endpoints, e.deleting)));
    }
    lines
}

fn adopted(sim: &Sim) -> bool {
    sim.condition("GlobalHostname", "shop", "app", "ClusterHostnamesReady") == "True/Adopted"
        && sim.condition("GlobalHostname", "shop", "app", "Ready") == "True/Serving"
        && ["east", "west"].iter().all(|name| sim.state(name) == "Live")
}

fn west_answers(sim: &Sim) -> bool {
    sim.at("app.example.com")
        .iter()
        .any(|line| line.contains("198.51.100.20"))
}

/// Waits for the drain of west, looking at every second whether it is told too early.
fn drain(sim: &mut Sim) {
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["weights"] = json!({"west": 0})
    });
    let safe = 2 * TTL + timings().drain_grace.as_secs();
    let mut silent = 0;
    for _ in 0..200 {
        sim.run(1);
        silent = if west_answers(sim) { 0 } else { silent + 1 };
        if sim.state("west") == "Drained" {
            assert!(
                silent >= safe,
                "Drained after {silent} s without an answer, safe after {safe} s"
            );
            return;
        }
    }
    panic!("west is never Drained: {:#}", sim.status());
}

fn story(fault: Option<(usize, Fault)>) -> (Sim, Stations) {
    let mut sim = Sim::new();
    sim.fault = fault;
    let mut stations = Vec::new();
    sim.zone_object();
    sim.member("east", "us-east-1", Some(("ed-east", true)));
    sim.member("west", "us-west-2", Some(("ed-west", false)));
    sim.app(&["east", "west"]);
    sim.until("placeholders", 120, |sim| sim.lines().len() == 6);
    stations.push(("placeholders", look(&sim)));
    sim.gateway("east", &["203.0.113.10"]);
    sim.gateway("west", &["198.51.100.20"]);
    sim.until("both live", 120, adopted);
    stations.push(("adopted", look(&sim)));
    drain(&mut sim);
    stations.push(("drained", look(&sim)));
    sim.patch("GlobalHostname", "shop", "app", |spec| spec["weights"] = json!({}));
    sim.until("back", 120, adopted);
    stations.push(("back", look(&sim)));
    sim.delete("GlobalHostname", "shop", "app");
    sim.until("gone", 240, |sim| !sim.exists("GlobalHostname", "shop", "app"));
    stations.push(("gone", look(&sim)));
    (sim, stations)
}

/// Simple routing, whose sets carry no identifier: an address, another one, and the end.
fn simple(fault: Option<(usize, Fault)>) -> (Sim, Stations) {
    let mut sim = Sim::new();
    sim.fault = fault;
    let mut stations = Vec::new();
    sim.zone_object();
    sim.member("east", "us-east-1", None);
    sim.gateway("east", &["203.0.113.10"]);
    sim.app(&["east"]);
    sim.patch("GlobalHostname", "shop", "app", |spec| {
        spec["routing"] = json!({"policy": "Simple"})
    });
    for address in ["203.0.113.10", "203.0.113.11"] {
        sim.gateway("east", &[address]);
        let line = format!("app.example.com A {address} ttl 5");
        sim.until("live", 120, |sim| sim.at("app.example.com") == [line.clone()]);
        stations.push(("live", look(&sim)));
    }
    sim.delete("GlobalHostname", "shop", "app");
    sim.until("gone", 240, |sim| !sim.exists("GlobalHostname", "shop", "app"));
    stations.push(("gone", look(&sim)));
    (sim, stations)
}

/// A story with its stations, with a fault at one of its effects.
type Telling = fn(Option<(usize, Fault)>) -> (Sim, Stations);

/// Runs a story of at least so many effects with the fault at each effect and compares it with an undisturbed one.
fn sweep(story: Telling, least: usize, fault: Fault) {
    let (undisturbed, expected) = story(None);
    assert!(
        expected.last().is_some_and(|(_, lines)| lines.is_empty()),
        "{expected:#?}"
    );
    let effects = undisturbed.effects;
    assert!(
        effects > least,
        "the story is shorter than it should be: {effects} effects"
    );
    for at in 1..=effects {
        let told = std::panic::catch_unwind(|| story(Some((at, fault))).1);
        let stations = told.unwrap_or_else(|_| panic!("{fault:?} at effect {at} of {effects}"));
        for ((station, lines), (_, expected)) in stations.iter().zip(&expected) {
            assert_eq!(lines, expected, "{station}: {fault:?} at effect {at} of {effects}");
        }
    }
}

#[test]
fn killed_before_any_effect_the_story_ends_the_same() {
    sweep(story, 60, Fault::KilledBefore);
    sweep(simple, 12, Fault::KilledBefore);
}

#[test]
fn killed_after_any_effect_the_story_ends_the_same() {
    sweep(story, 60, Fault::KilledAfter);
    sweep(simple, 12, Fault::KilledAfter);
}

#[test]
fn with_any_answer_lost_the_story_ends_the_same() {
    sweep(story, 60, Fault::AnswerLost);
    sweep(simple, 12, Fault::AnswerLost);
}
