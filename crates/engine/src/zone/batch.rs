//! Limits, pairs, packing.
//!
//! Invariant: a batch holds whole units, at most 1,000 elements and 32,000 characters of value with its fence (facts:
//! route53.md 1.2; a DELETE and a CREATE count once each, there is no UPSERT), touches no name for two units, and
//! does not let the zone pass its limit of record sets. Deliberately absent: which units may go together at all (`queue.rs`).

use std::collections::BTreeSet;
use std::iter::Sum;
use std::ops::Add;

use crate::effect::Change;
use crate::plan::unit::Unit;
use crate::reason::Problem;
use crate::value::dns_name::RecordName;
use truce_api::Reason;

/// ResourceRecord elements in one request.
pub const MAX_ELEMENTS: usize = 1000;
/// Characters of Value in one request.
pub const MAX_CHARACTERS: usize = 32_000;

/// What changes count against the limits of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// ResourceRecord elements; an alias counts one.
    pub elements: usize,
    /// Characters of Value.
    pub characters: usize,
    /// Changes, which the account's budget counts.
    pub changes: usize,
}

impl Cost {
    /// Of some changes.
    pub fn of(changes: &[Change]) -> Self {
        let one = |change: &Change| Self {
            elements: change.set().elements(),
            characters: change.set().characters(),
            changes: 1,
        };
        changes.iter().map(one).sum()
    }

    /// Whether Route 53 would take it in one request.
    pub fn within_limits(self) -> bool {
        self.elements <= MAX_ELEMENTS && self.characters <= MAX_CHARACTERS
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            elements: self.elements + other.elements,
            characters: self.characters + other.characters,
            changes: self.changes + other.changes,
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::add)
    }
}

/// The room that a batch has.
#[derive(Debug, Clone)]
pub struct Room {
    /// What the fence takes.
    pub fence: Cost,
    /// Record sets in the zone now, with a fence that this batch creates.
    pub record_sets: usize,
    /// `limits.recordSets`.
    pub max_record_sets: usize,
    /// Most changes of a batch of several units.
    pub max_changes: usize,
}

impl Room {
    /// Why a unit cannot go even alone. A unit by which the zone does not grow always may.
    pub fn refuses(&self, unit: &Unit) -> Option<Problem> {
        if !(self.fence + Cost::of(&unit.changes)).within_limits() {
            return Some(too_large(unit));
        }
        let full = unit.growth() > 0 && self.grown(unit.growth()) > self.max_record_sets;
        full.then(|| zone_full(unit, self.record_sets, self.max_record_sets))
    }

    fn grown(&self, by: i64) -> usize {
        let sets = i64::try_from(self.record_sets).unwrap_or(i64::MAX).saturating_add(by);
        usize::try_from(sets).unwrap_or(0)
    }
}

/// A batch that is being filled.
#[derive(Debug, Clone)]
pub struct Packing {
    room: Room,
    units: Vec<Unit>,
    cost: Cost,
    growth: i64,
    names: BTreeSet<RecordName>,
}

impl Packing {
    /// An empty batch: its fence only.
    pub fn new(room: Room) -> Self {
        Self {
            cost: room.fence,
            room,
            units: Vec::new(),
            growth: 0,
            names: BTreeSet::new(),
        }
    }

    /// Takes a unit if there is room for all of it beside those that are in.
    pub fn push(&mut self, unit: &Unit) -> bool {
        let cost = self.cost + Cost::of(&unit.changes);
        let growth = self.growth + unit.growth();
        let full = unit.growth() > 0 && self.room.grown(growth) > self.room.max_record_sets;
        let crowded = !self.units.is_empty() && cost.changes > self.room.max_changes;
        let names = unit.names();
        let shared = names.iter().any(|name| self.names.contains(*name));
        if full || crowded || shared || !cost.within_limits() {
            return false;
        }
        self.names.extend(names.into_iter().cloned());
        self.cost = cost;
        self.growth = growth;
        self.units.push(unit.clone());
        true
    }

    /// Whether no unit is in.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The units that are in.
    pub fn units(self) -> Vec<Unit> {
        self.units
    }
}

fn too_large(unit: &Unit) -> Problem {
    let cost = Cost::of(&unit.changes);
    Problem::new(
        Reason::ChangeRefused,
        format!(
            "the change of {} holds {} record values with {} characters; Route 53 takes {MAX_ELEMENTS} values and \
             {MAX_CHARACTERS} characters in one request, and this change cannot be split: select fewer clusters",
            unit.hostname, cost.elements, cost.characters
        ),
    )
}

fn zone_full(unit: &Unit, now: usize, max: usize) -> Problem {
    Problem::new(
        Reason::ZoneFull,
        format!(
            "the zone holds {now} record sets and {} needs {} more, but limits.recordSets of the DNSZone is {max}: have \
             Amazon raise the zone's own limit and then write it there, or remove names",
            unit.hostname,
            unit.growth()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::unit::{Part, Priority};
    use crate::value::ids::HostnameKey;
    use crate::value::record::{RecordData, RecordSet, RecordType, Routing};

    fn unit(host: &str, values: usize, length: usize) -> Unit {
        let values = (0..values).map(|n| format!("{n:0length$}"));
        let set = RecordSet {
            name: RecordName::listed(&format!("{host}.example.com")),
            record_type: RecordType::Txt,
            routing: Routing::Simple,
            data: RecordData::values(300, values),
            health_check: None,
        };
        Unit {
            hostname: HostnameKey::new("shop", host),
            part: Part::Shared,
            priority: Priority::Address,
            changes: vec![Change::Create(set)],
        }
    }

    fn room() -> Room {
        Room {
            fence: Cost {
                elements: 2,
                characters: 300,
                changes: 2,
            },
            record_sets: 9,
            max_record_sets: 11,
            max_changes: 500,
        }
    }

    #[test]
    fn the_limits_hold_with_the_fence() {
        for (values, length, fits) in [(998, 10, true), (999, 10, false), (317, 100, true), (318, 100, false)] {
            let unit = unit("a", values, length);
            assert_eq!(Packing::new(room()).push(&unit), fits, "{values} of {length}");
            assert_eq!(room().refuses(&unit).is_none(), fits);
        }
    }

    #[test]
    fn units_are_taken_whole_or_left() {
        let mut packing = Packing::new(room());
        assert!(packing.push(&unit("a", 600, 4)));
        assert!(!packing.push(&unit("b", 600, 4)), "together too many elements");
        assert!(!packing.push(&unit("a", 1, 4)), "the same name");
        assert!(packing.push(&unit("c", 300, 4)));
        assert!(!packing.push(&unit("d", 1, 4)), "9 and 2 sets are 11: the zone is full");
        assert_eq!(packing.units().len(), 2);
    }

    #[test]
    fn only_what_grows_is_stopped_by_a_full_zone() {
        let room = Room {
            record_sets: 20,
            ..room()
        };
        let mut unit = unit("a", 1, 4);
        assert_eq!(
            room.refuses(&unit).map(|problem| problem.reason),
            Some(Reason::ZoneFull)
        );
        unit.changes.clear();
        assert_eq!(room.refuses(&unit), None);
        assert!(Packing::new(room).push(&unit));
    }
}
