//! Laws 2, 3, 4, 8, 9 and 13 of DESIGN.md over random worlds: the whole engine, every version of the zone.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};
use truce_engine::Engine;
use truce_engine::effect::{Effect, HubEffect, Status};
use truce_engine::plan::input::HostnamePlan;
use truce_engine::time::{Now, Wall};
use truce_engine::value::ids::{HostnameKey, ZoneRef};

use crate::oracle::{Facts, Oracle};
use crate::sim::Sim;
use crate::worlds::{self, HOSTNAMES, Story, World};

/// Worlds per test, always the same ones; PROPTEST_CASES draws that many afresh instead.
const WORLDS: u32 = 10_000;
/// Coming to rest takes ten times as long as a story, so fewer worlds do it.
const WORLDS_AT_REST: u32 = 500;

fn config(worlds: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(worlds),
        failure_persistence: None,
        rng_seed: asked.map_or(RngSeed::Fixed(29), |_| RngSeed::Random),
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    }
}

/// The lines in which two values differ.
fn differing<T: std::fmt::Debug>(one: &T, other: &T) -> String {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let (one, other): (Vec<_>, Vec<_>) = (one.lines().collect(), other.lines().collect());
    let only = |these: &[&str], those: &[&str], sign: &str| {
        let only: Vec<_> = these.iter().filter(|line| !those.contains(line)).collect();
        only.iter()
            .map(|line| format!("\n{sign} {}", line.trim()))
            .collect::<String>()
    };
    only(&one, &other, "incremental") + &only(&other, &one, "full")
}

/// A plan without what every plan moves and no write tells by itself: the end of the longest TTL, TTLs that are over.
fn without_time(plan: &HostnamePlan, now: Now) -> (HostnamePlan, Option<u32>) {
    let mut plan = plan.clone();
    let longest = std::mem::take(&mut plan.memory.ttls).longest(now.wall);
    plan.status
        .max_ttl
        .iter_mut()
        .for_each(|ttl| ttl.until.0 = Wall::UNIX_EPOCH);
    for condition in &mut plan.status.conditions {
        condition.last_transition_time.0 = Wall::UNIX_EPOCH;
    }
    (plan, longest)
}

/// An effect; of a status what it tells anew.
fn told(engine: &Engine, effect: &Effect) -> String {
    let world = engine.world();
    match effect {
        Effect::Hub(HubEffect::WriteStatus(status)) => match status.as_ref() {
            Status::GlobalHostname {
                namespace,
                name,
                status,
            } => {
                let known = world
                    .hostnames
                    .get(&HostnameKey::new(namespace, name))
                    .map(|h| h.status.clone());
                format!(
                    "the status of {name}: {}",
                    differing(&known.unwrap_or_default(), status)
                )
            }
            Status::DnsZone { name, status } => {
                let known = world.zones.get(&ZoneRef::new(name)).map(|zone| zone.status.clone());
                format!("the status of {name}: {known:?}\n{status:?}")
            }
            Status::MemberCluster { name, status } => {
                let known = world.members.iter().find(|(key, _)| key.as_str() == name);
                let known = known.map(|(_, member)| member.facts.status.clone());
                format!(
                    "the status of {name}: {}",
                    differing(&known.unwrap_or_default(), status)
                )
            }
            Status::ClusterDrain { name, status } => {
                let known = world.drains.get(name).map(|drain| drain.status.clone());
                format!(
                    "the status of {name}: {}",
                    differing(&known.unwrap_or_default(), status)
                )
            }
        },
        other => format!("{other:?}"),
    }
}

/// Law 13: planning what is marked brings the same plans and effects as planning everything anew.
pub(crate) fn incremental_is_full(engine: &Engine, now: Now) -> Vec<String> {
    let (mut some, mut all) = (engine.clone(), engine.clone());
    all.mark_all();
    let (some_effects, _) = some.poll(now);
    let (all_effects, _) = all.poll(now);
    let mut faults = Vec::new();
    let mut left: Vec<&Effect> = all_effects.iter().map(|(_, effect)| effect).collect();
    for (_, effect) in &some_effects {
        match left.iter().position(|other| *other == effect) {
            Some(at) => drop(left.swap_remove(at)),
            None => faults.push(format!("law 13: only the incremental engine asks for {effect:?}")),
        }
    }
    let only = |effect: &&Effect| format!("law 13: only the full engine asks for {}", told(engine, effect));
    faults.extend(left.iter().map(only));
    for ((key, one), (_, other)) in some.plans().iter().zip(all.plans().iter()) {
        let (one, other) = (without_time(one, now), without_time(other, now));
        if one != other {
            faults.push(format!("law 13: two plans of {key}: {}", differing(&one, &other)));
        }
    }
    faults
}

fn observed(world: &World, incremental: bool) -> (Sim, Rc<RefCell<Facts>>) {
    let facts = Rc::new(RefCell::new(Facts::default()));
    let mut sim = worlds::build(world, &facts);
    sim.watch = Some(Box::new(Oracle::new(facts.clone(), &HOSTNAMES, incremental)));
    (sim, facts)
}

fn faults(facts: &Rc<RefCell<Facts>>) -> Result<(), TestCaseError> {
    let facts = facts.borrow();
    if facts.faults.is_empty() {
        return Ok(());
    }
    let first: Vec<&str> = facts.faults.iter().take(5).map(String::as_str).collect();
    Err(TestCaseError::fail(first.join("\n")))
}

/// Lives through a story; the first broken law ends it.
pub(crate) fn live(story: &Story, incremental: bool) -> Result<(Sim, Rc<RefCell<Facts>>), TestCaseError> {
    let (mut sim, facts) = observed(&story.world, incremental);
    for step in &story.steps {
        worlds::step(&mut sim, &facts, step);
        faults(&facts)?;
    }
    Ok((sim, facts))
}

/// Law 7 and the second half of law 8: once nothing happens, nobody writes any more, not even after a restart.
pub(crate) fn rest(sim: &mut Sim, facts: &Rc<RefCell<Facts>>) -> Result<(), TestCaseError> {
    worlds::heal(sim);
    sim.run(worlds::REST);
    faults(facts)?;
    let before = (sim.hub_batches, sim.status_writes, sim.zone.sets.clone());
    sim.run(120);
    faults(facts)?;
    prop_assert_eq!(before.0, sim.hub_batches, "batches after rest");
    prop_assert_eq!(
        before.1,
        sim.status_writes,
        "status writes after rest: {:#}",
        sim.status()
    );
    prop_assert!(before.2 == sim.zone.sets, "somebody writes the zone after rest");
    // A process that starts anew cannot know an absence before it has seen it itself.
    worlds::give_addresses(sim);
    sim.run(worlds::REST);
    faults(facts)?;
    let before = (sim.hub_batches, sim.status_writes, sim.zone.sets.clone());
    sim.restart();
    sim.run(60);
    faults(facts)?;
    prop_assert_eq!(before.0, sim.hub_batches, "batches after a restart");
    prop_assert!(before.2 == sim.zone.sets, "somebody writes the zone after a restart");
    Ok(())
}

proptest! {
    #![proptest_config(config(WORLDS_AT_REST))]

    #[test]
    fn laws_7_and_8_whoever_has_come_to_rest_stays_there(story in worlds::story()) {
        let (mut sim, facts) = live(&story, false)?;
        rest(&mut sim, &facts)?;
    }
}

proptest! {
    #![proptest_config(config(WORLDS))]

    #[test]
    fn laws_1_to_4_and_9_hold_in_every_version(story in worlds::story()) {
        live(&story, false)?;
    }

    #[test]
    fn law_13_incremental_is_full(story in worlds::story()) {
        live(&story, true)?;
    }

    #[test]
    fn law_8_the_order_of_events_decides_nothing(world in worlds::world(), order in any::<u64>(), rotate in 1..7_usize) {
        let (mut one, facts) = observed(&world, false);
        one.run(60);
        faults(&facts)?;
        let (mut other, facts) = observed(&world, false);
        other.rotate = rotate;
        let objects = worlds::shuffled(&other, order);
        other.restart_with(&objects);
        other.run(60);
        faults(&facts)?;
        prop_assert_eq!(one.lines(), other.lines());
    }
}
