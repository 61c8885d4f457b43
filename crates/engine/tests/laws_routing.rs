//! Laws 3, 4 and 8 of DESIGN.md for the sets of one shared name, over walks through random worlds in which every plan
//! becomes what is published.

#![expect(clippy::unwrap_used, reason = "a test's fixtures are valid")]

#[path = "routing/world.rs"]
mod world;
#[path = "routing/zone.rs"]
mod zone;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;
use truce_engine::rule::shared::{ClusterInput, Place, SharedPlan};
use truce_engine::value::address::Address;
use truce_engine::value::ids::SetIdentifier;
use truce_engine::value::record::{FailoverRole, RecordType, Routing};
use truce_engine::world::hostnames::Policy;

use world::{Step, World};

/// At least; `PROPTEST_CASES` asks for more.
const WORLDS: u32 = 10_000;

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(WORLDS),
        failure_persistence: None,
        // The default, ChaCha, takes more time in a debug build than all the planning.
        rng_algorithm: RngAlgorithm::XorShift,
        ..default
    }
}

/// Plans before and after each step; each plan is applied before the next step. Ends at the first broken law.
fn walk(
    mut world: World,
    steps: Vec<Step>,
    check: impl Fn(&World, &SharedPlan) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let plan = world.plan();
    check(&world, &plan)?;
    world.apply(&plan);
    for step in steps {
        step.apply(&mut world);
        let plan = world.plan();
        check(&world, &plan)?;
        world.apply(&plan);
    }
    Ok(())
}

fn is_live(cluster: &ClusterInput) -> bool {
    cluster.selected && cluster.draining.is_none() && cluster.address.is_some()
}

fn has(address: &Address, record_type: RecordType) -> bool {
    match address {
        Address::Ips { v4, v6 } => match record_type {
            RecordType::A => !v4.is_empty(),
            RecordType::Aaaa => !v6.is_empty(),
            _ => true,
        },
        Address::Alias { dual_stack, .. } => record_type != RecordType::Aaaa || *dual_stack,
        Address::Name(_) => record_type == RecordType::Cname,
    }
}

fn role(world: &World, name: &str, cluster: &ClusterInput) -> FailoverRole {
    let primary = match &world.spec.primary {
        Some(primary) if world.spec.policy == Some(Policy::Failover) => primary.as_str() == name,
        _ => !cluster.standby,
    };
    if primary {
        FailoverRole::Primary
    } else {
        FailoverRole::Secondary
    }
}

/// The live, undrained clusters that must answer in a family: all that have it, but under Failover not SECONDARY for a
/// family that a serving PRIMARY lacks; under Simple there is but one set, without a cluster's name.
fn must_answer(world: &World, policy: Policy, record_type: RecordType) -> BTreeSet<String> {
    let live = world.clusters.iter().filter(|(_, cluster)| is_live(cluster));
    let live: Vec<_> = live
        .map(|(name, c)| (name.as_str(), c, role(world, name.as_str(), c)))
        .collect();
    let with = |c: &ClusterInput| c.address.as_ref().is_some_and(|address| has(address, record_type));
    let primary_serves = live.iter().any(|(_, _, role)| *role == FailoverRole::Primary);
    let primary_has = live
        .iter()
        .any(|(_, c, role)| *role == FailoverRole::Primary && with(c));
    let leans = policy == Policy::Failover && primary_serves && !primary_has;
    let answering = live
        .iter()
        .filter(|(_, c, role)| with(c) && !(leans && *role == FailoverRole::Secondary));
    answering
        .map(|(name, _, _)| {
            if policy == Policy::Simple {
                String::new()
            } else {
                (*name).to_owned()
            }
        })
        .collect()
}

fn law_3(world: &World, plan: &SharedPlan) -> Result<(), TestCaseError> {
    let (before, after) = (zone::answers(world, &world.published), zone::answers(world, &plan.sets));
    if plan.refused {
        prop_assert_eq!(before, after);
        return Ok(());
    }
    prop_assert!(
        before.is_empty() || !after.is_empty(),
        "the name answered and does not any more"
    );
    let cname = after.contains_key(&RecordType::Cname);
    let families: &[RecordType] = if cname {
        &[RecordType::Cname]
    } else {
        &[RecordType::A, RecordType::Aaaa]
    };
    for family in families {
        let (must, does) = (
            must_answer(world, plan.policy, *family),
            after.get(family).cloned().unwrap_or_default(),
        );
        if !must.is_empty() {
            prop_assert_eq!(&must, &does, "who answers in {}", family);
            continue;
        }
        prop_assert!(does.len() <= 1, "one is kept at most, not {:?}", does);
        let Some(did) = before.get(family) else { continue };
        for name in &does {
            let in_zone = world
                .published
                .iter()
                .filter_map(|set| set.routing.id()?.cluster(&world.hub));
            let in_zone: BTreeSet<String> = in_zone.map(|name| name.to_string()).collect();
            prop_assert!(
                in_zone.contains(name) || did.contains("") || name.is_empty(),
                "{} was not in the zone",
                name
            );
        }
        // The family may only go where all its answers have lost it, or SECONDARY's while PRIMARY serves.
        let keeps = |name: &str, c: &ClusterInput| {
            let leans = plan.policy == Policy::Failover && role(world, name, c) == FailoverRole::Secondary;
            !leans && c.address.as_ref().is_none_or(|address| has(address, *family))
        };
        let kept = did
            .iter()
            .any(|name| match world.clusters.iter().find(|(n, _)| n.as_str() == name) {
                Some((_, cluster)) => keeps(name, cluster),
                None => name.is_empty() && world.clusters.iter().all(|(n, c)| keeps(n.as_str(), c)),
            });
        prop_assert!(
            !kept || !does.is_empty(),
            "{} had answers of {:?} and has none",
            family,
            did
        );
    }
    let live = plan.sets.iter().any(|set| !zone::holds_placeholder(set));
    let placeholder = plan.sets.iter().any(zone::holds_placeholder);
    prop_assert!(
        !placeholder || !world.ever_live && !live,
        "192.0.2.1 beside or after a live set"
    );
    Ok(())
}

fn drains(world: &World, plan: &SharedPlan) -> Result<(), TestCaseError> {
    if plan.refused {
        return Ok(());
    }
    let answers = zone::answers(world, &plan.sets);
    for (name, cluster) in &world.clusters {
        let state = plan.clusters.get(name).map(|state| &state.place);
        let answers_in: BTreeSet<RecordType> = answers
            .iter()
            .filter(|(_, names)| names.contains(name.as_str()))
            .map(|(family, _)| *family)
            .collect();
        match state {
            Some(Place::Live) => prop_assert!(is_live(cluster)),
            Some(Place::LastServing(families)) => {
                prop_assert!(!is_live(cluster) || plan.policy == Policy::Failover);
                prop_assert!(plan.policy == Policy::Simple || *families == answers_in);
            }
            Some(Place::Zero) => {
                prop_assert!(!is_live(cluster) && cluster.selected && !cluster.window_over && answers_in.is_empty());
                let id = SetIdentifier::of_cluster(&world.hub, name);
                let named = world.published.iter().any(|set| set.routing.id() == Some(&id));
                let simple = world.published.iter().any(|set| set.routing == Routing::Simple);
                prop_assert!(named || simple, "{} comes back with weight 0", name);
            }
            Some(Place::Out) => prop_assert!(answers_in.is_empty()),
            None => prop_assert!(false, "{} has no state", name),
        }
    }
    Ok(())
}

fn law_4(world: &World, plan: &SharedPlan) -> Result<(), TestCaseError> {
    prop_assert_eq!(zone::faults(world, &plan.sets), Vec::<String>::new());
    prop_assert!(plan.claim || plan.sets.is_empty(), "sets without a claim");
    Ok(())
}

fn law_8(world: &World, plan: &SharedPlan) -> Result<(), TestCaseError> {
    let mut other = world.clone();
    other.published.reverse();
    prop_assert_eq!(&other.plan(), plan, "the order of what is published decides");
    let mut next = world.clone();
    next.apply(plan);
    let again = next.plan();
    prop_assert_eq!(&again.sets, &plan.sets, "plan(apply(plan)) is not empty");
    prop_assert_eq!(
        (&again.policy, &again.clusters, again.claim),
        (&plan.policy, &plan.clusters, plan.claim)
    );
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn law_3_who_is_live_answers_and_the_last_that_served_stays(world in world::world(), steps in world::steps()) {
        walk(world, steps, |world, plan| { law_3(world, plan)?; drains(world, plan) })?;
    }

    #[test]
    fn law_4_the_zone_takes_every_version(world in world::world(), steps in world::steps()) {
        walk(world, steps, law_4)?;
    }

    #[test]
    fn law_8_planning_is_a_function_and_comes_to_rest(world in world::world(), steps in world::steps()) {
        walk(world, steps, law_8)?;
    }
}
