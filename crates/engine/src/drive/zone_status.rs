//! The status of a DNSZone: what is in it, what the guard holds and counts, its conditions.
//!
//! Invariant: what the guard must not forget over a restart is told. Deliberately absent: when it is written
//! (`statuses.rs`).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use truce_api::{DNSZoneCondition, DNSZoneStatus, HeldPlan, Reason, Withdrawn};

use super::zones::Zone;
use crate::plan::condition::{ConditionStatus, FIRST_READ, Stated, merge};
use crate::rule::hold::Past;
use crate::time::Now;
use crate::value::ids::HostnameKey;
use crate::world::zones::ZoneFacts;

/// The status of a DNSZone; `living` are the GlobalHostnames in it, `owned` counts Truce's sets.
pub fn zone_status(
    facts: &ZoneFacts,
    zone: Option<&Zone>,
    living: &[&HostnameKey],
    owned: usize,
    now: Now,
) -> DNSZoneStatus {
    let count = |number: usize| Some(i32::try_from(number).unwrap_or(i32::MAX));
    let conditions = zone_conditions(facts, zone, living);
    let held = zone.and_then(|zone| Some((zone.guard.hash()?, zone)));
    DNSZoneStatus {
        observed_generation: Some(facts.generation),
        record_sets: zone
            .filter(|zone| zone.runtime.ready())
            .and_then(|zone| count(zone.runtime.records().count())),
        owned: zone.filter(|zone| zone.runtime.ready()).and_then(|_| count(owned)),
        held_plan: held.map(|(hash, zone)| HeldPlan {
            hash,
            since: Time(zone.guard.since().map_or(now.wall, |since| now.wall_at(since))),
            withdrawals: count(zone.guard.held().values().map(std::collections::BTreeSet::len).sum()).unwrap_or(0),
            live: count(zone.guard.live()).unwrap_or(0),
            hostnames: zone.guard.held().keys().take(32).map(ToString::to_string).collect(),
        }),
        withdrawn: match zone {
            Some(zone) => zone.guard.kept().past.map(withdrawn),
            None => facts.status.withdrawn.clone(),
        },
        last_confirmed: match zone {
            Some(zone) => zone.guard.kept().spent,
            None => facts.status.last_confirmed.clone(),
        },
        last_change_id: zone
            .and_then(|zone| zone.runtime.latest_change())
            .or(facts.status.last_change_id.clone()),
        conditions: merge(&facts.status.conditions, conditions, facts.generation, now.wall),
    }
}

/// What the guard counts, for the status: the next process begins with it.
fn withdrawn(past: Past) -> Withdrawn {
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    Withdrawn {
        sets: count(past.sets),
        live: count(past.live),
        until: Time(past.until),
    }
}

fn zone_conditions(facts: &ZoneFacts, zone: Option<&Zone>, living: &[&HostnameKey]) -> Vec<Stated> {
    use DNSZoneCondition::{Accessible, Ready, WithinBudget};
    let problem = match (&facts.spec, zone) {
        (Err(problems), _) => Some(crate::plan::accept::first(problems)),
        (Ok(_), zone) => zone.and_then(|zone| zone.runtime.problem()),
    };
    let read = zone.is_some_and(|zone| zone.runtime.ready());
    let throttled = problem
        .as_ref()
        .is_some_and(|problem| problem.reason == Reason::Throttled);
    let accessible = match &problem {
        Some(problem) if !throttled => Stated::problem(Accessible.as_str(), ConditionStatus::False, problem),
        _ if read => Stated::new(Accessible.as_str(), ConditionStatus::True, Reason::Accessible, ""),
        _ => Stated::new(
            Accessible.as_str(),
            ConditionStatus::Unknown,
            Reason::Pending,
            FIRST_READ,
        ),
    };
    let budget = match &problem {
        Some(problem) if throttled => Stated::problem(WithinBudget.as_str(), ConditionStatus::False, problem),
        _ => Stated::new(WithinBudget.as_str(), ConditionStatus::True, Reason::WithinBudget, ""),
    };
    let held = zone.and_then(|zone| zone.guard.hash());
    let ready = if facts.deleting {
        let names: Vec<_> = living.iter().take(20).map(ToString::to_string).collect();
        Stated::new(
            Ready.as_str(),
            ConditionStatus::False,
            Reason::InUse,
            match names.is_empty() {
                true => "being deleted".to_owned(),
                false => format!(
                    "being deleted; goes when the GlobalHostnames that live here are deleted: {}",
                    names.join(", ")
                ),
            },
        )
    } else if let Some(hash) = held {
        let message = format!(
            "a large withdrawal is held; repair its cause, or agree: kubectl annotate dz {} --overwrite {}={hash}",
            facts.name,
            truce_api::CONFIRM
        );
        Stated::new(Ready.as_str(), ConditionStatus::False, Reason::HeldWithdrawal, message)
    } else {
        Stated {
            type_: Ready.as_str(),
            ..if throttled { budget.clone() } else { accessible.clone() }
        }
    };
    let ready = match ready.status {
        ConditionStatus::True => Stated {
            reason: Reason::Ready,
            ..ready
        },
        ConditionStatus::False | ConditionStatus::Unknown => ready,
    };
    vec![accessible, budget, ready]
}
