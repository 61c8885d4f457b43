//! The units that wait: who goes next, and with whom.
//!
//! Invariant: the most urgent goes first, the oldest of those before; a unit that was left out of sixteen batches
//! leads the next one, so none starves. A unit of a lot rides with that lot only, a refused one alone until it
//! succeeds or changes. Bound: one unit per hostname and part, each at most as large as one plan.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::{Packing, Room};
use super::bisect::{Blame, Refusal};
use crate::event::Class;
use crate::pace::backoff;
use crate::plan::unit::{Part, Priority, Unit, UnitKey};
use crate::reason::Problem;
use crate::time::Mono;
use crate::value::dns_name::RecordName;
use crate::value::ids::HostnameKey;
use crate::world::zones::Records;

/// After how many batches that it was left out of a unit leads one.
const PATIENCE: u32 = 16;
/// After how many units that did not fit a batch counts as full.
const MISFITS: u32 = 64;

/// With whom a unit may ride.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing {
    /// With all that are free.
    Free,
    /// With those of the same number, after a batch with all of them was refused.
    Lot(u64),
    /// Alone.
    Refused(Refusal),
}

#[derive(Debug, Clone)]
struct Entry {
    unit: Unit,
    /// When it came, as a rank.
    seq: u64,
    /// How many batches left it out.
    passed: u32,
    standing: Standing,
    /// A limit that keeps it from being sent now.
    blocked: Option<Refusal>,
    /// Whether it was planned on something older than what is known of the zone now.
    stale: bool,
}

/// The units of one zone that wait to be written.
#[derive(Debug, Clone, Default)]
pub struct UnitQueue {
    entries: BTreeMap<UnitKey, Entry>,
    next_seq: u64,
    next_lot: u64,
}

/// What looking for the next batch brought.
#[derive(Debug, Clone, Default)]
pub struct Picked {
    /// The units of the batch; none: nothing can go now.
    pub units: Vec<Unit>,
    /// Units that a limit keeps back, newly or for another reason than before.
    pub blocked: Vec<UnitKey>,
    /// Names of units that newly proved to be planned on something old.
    pub stale: BTreeSet<RecordName>,
    /// When a refused unit may be tried again.
    pub wake: Option<Mono>,
}

impl Entry {
    /// Whether the unit fits what is known and no limit is in its way; tells what is newly so.
    fn can_go(&mut self, records: &Records, room: &Room, picked: &mut Picked) -> bool {
        let stale = !records.fits(&self.unit.changes);
        if stale && !self.stale {
            picked.stale.extend(self.unit.names().into_iter().cloned());
        }
        self.stale = stale;
        let blocked = room.refuses(&self.unit).map(|problem| Refusal {
            problem,
            class: Class::Permanent,
            attempts: 1,
            next_try: None,
        });
        if blocked.is_some() && self.blocked.is_none() {
            picked.blocked.push(self.unit.key());
        }
        self.blocked = blocked;
        !self.stale && self.blocked.is_none()
    }
}

impl UnitQueue {
    /// Replaces what one hostname wants. A unit with the same changes keeps its place and its refusals; one with other
    /// changes keeps its place.
    pub fn set(&mut self, hostname: &HostnameKey, units: Vec<Unit>) {
        let mut old = self.take(hostname);
        for unit in units {
            let before = old.remove(&unit.part);
            let seq = before.as_ref().map_or(self.next_seq, |entry| entry.seq);
            self.next_seq += 1;
            let entry = match before {
                Some(entry) if entry.unit.changes == unit.changes => Entry { unit, ..entry },
                _ => Entry {
                    unit,
                    seq,
                    passed: 0,
                    standing: Standing::Free,
                    blocked: None,
                    stale: false,
                },
            };
            self.entries.insert(entry.unit.key(), entry);
        }
    }

    fn take(&mut self, hostname: &HostnameKey) -> BTreeMap<Part, Entry> {
        let first = (hostname.clone(), Part::Shared);
        let of_hostname = self
            .entries
            .range(first..)
            .take_while(|((host, _), _)| host == hostname);
        let keys: Vec<UnitKey> = of_hostname.map(|(key, _)| key.clone()).collect();
        let take = |key: UnitKey| self.entries.remove(&key).map(|entry| (key.1, entry));
        keys.into_iter().filter_map(take).collect()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a drain or failover waits that was not refused.
    pub fn urgent(&self) -> bool {
        let urgent = |entry: &Entry| {
            let refused = matches!(entry.standing, Standing::Refused(_)) || entry.blocked.is_some() || entry.stale;
            entry.unit.priority == Priority::Drain && !refused
        };
        self.entries.values().any(urgent)
    }

    /// The parts of a hostname that have a unit here.
    pub fn parts(&self, hostname: &HostnameKey) -> Vec<Part> {
        let from = (hostname.clone(), Part::Shared);
        let own = self.entries.range(from..).take_while(|((key, _), _)| key == hostname);
        own.map(|((_, part), _)| part.clone()).collect()
    }

    /// Why a unit is not in the zone: refused by Route 53, or kept back by a limit.
    pub fn refusal(&self, key: &UnitKey) -> Option<&Refusal> {
        let entry = self.entries.get(key)?;
        match &entry.standing {
            Standing::Refused(refusal) => Some(refusal),
            Standing::Free | Standing::Lot(_) => entry.blocked.as_ref(),
        }
    }

    /// Fills the next batch: led by the first that can go, then those in order that may ride with it and fit. Looks no
    /// further after so many that did not fit, so that a long queue costs no more than a full batch.
    pub fn pick(&mut self, records: &Records, room: &Room, now: Mono) -> Picked {
        let mut picked = Picked::default();
        let mut packing = Packing::new(room.clone());
        let mut company: Option<Standing> = None;
        let mut misfits = 0;
        for key in self.order(now, &mut picked) {
            let Some(entry) = self.entries.get_mut(&key) else {
                continue;
            };
            let rides = match (&company, &entry.standing) {
                (None, _) | (Some(Standing::Free), Standing::Free) => true,
                (Some(Standing::Lot(lot)), Standing::Lot(own)) => lot == own,
                (Some(_), _) => false,
            };
            if !rides || misfits >= MISFITS {
                entry.passed += 1;
            } else if entry.can_go(records, room, &mut picked) {
                if packing.push(&entry.unit) {
                    company.get_or_insert_with(|| entry.standing.clone());
                } else {
                    entry.passed += 1;
                    misfits += 1;
                }
            }
        }
        picked.units = packing.units();
        picked
    }

    /// Those whose time has come, the next one first.
    fn order(&self, now: Mono, picked: &mut Picked) -> Vec<UnitKey> {
        let mut ranked = Vec::new();
        for (key, entry) in &self.entries {
            if let Standing::Refused(refusal) = &entry.standing
                && let Some(next_try) = refusal.next_try
                && next_try > now
            {
                picked.wake = Some(picked.wake.map_or(next_try, |wake| wake.min(next_try)));
                continue;
            }
            let kept_back = entry.stale || entry.blocked.is_some();
            let passed = if kept_back { 0 } else { entry.passed };
            ranked.push((entry.unit.priority, entry.seq, passed, key));
        }
        ranked.sort();
        let waited = ranked
            .iter()
            .enumerate()
            .filter(|(_, (.., passed, _))| *passed >= PATIENCE);
        if let Some((at, _)) = waited.max_by_key(|(at, (.., passed, _))| (*passed, std::cmp::Reverse(*at))) {
            ranked[..=at].rotate_right(1);
        }
        ranked.into_iter().map(|(.., key)| key.clone()).collect()
    }

    /// A batch with these units was accepted.
    pub fn applied(&mut self, units: &[Unit]) {
        for unit in units {
            if self
                .entries
                .get(&unit.key())
                .is_some_and(|e| e.unit.changes == unit.changes)
            {
                self.entries.remove(&unit.key());
            }
        }
    }

    /// A batch with these units was refused and it is their fault: who rides with whom from now on. A unit that has
    /// other changes by now is not meant. Tells the unit that was refused alone.
    pub fn blame(
        &mut self,
        units: &[Unit],
        blame: Blame,
        class: Class,
        problem: Problem,
        now: Mono,
    ) -> Option<UnitKey> {
        let sent: BTreeMap<UnitKey, &Unit> = units.iter().map(|unit| (unit.key(), unit)).collect();
        let meant = |entry: &Entry| {
            sent.get(&entry.unit.key())
                .is_some_and(|unit| unit.changes == entry.unit.changes)
        };
        match blame {
            Blame::Lots(lots) => {
                for lot in lots {
                    self.next_lot += 1;
                    for key in lot {
                        if let Some(entry) = self.entries.get_mut(&key).filter(|entry| meant(entry)) {
                            entry.standing = Standing::Lot(self.next_lot);
                        }
                    }
                }
                None
            }
            Blame::Refused(key) => {
                let entry = self.entries.get_mut(&key).filter(|entry| meant(entry))?;
                let attempts = match &entry.standing {
                    Standing::Refused(refusal) => refusal.attempts + 1,
                    Standing::Free | Standing::Lot(_) => 1,
                };
                let who = format!("{} {:?}", key.0, key.1);
                entry.standing = Standing::Refused(Refusal {
                    problem,
                    class,
                    attempts,
                    next_try: Some(now + backoff::wait(class, attempts, &who)),
                });
                Some(key)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::effect::Change;
    use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
    use crate::zone::batch::Cost;
    use truce_api::Reason;

    fn create(host: &str, ttl: u32) -> Change {
        Change::Create(RecordSet {
            name: RecordName::listed(&format!("{host}.example.com")),
            record_type: RecordType::A,
            routing: Routing::Simple,
            data: RecordData::values(ttl, ["203.0.113.1"]),
            health_check: None,
        })
    }

    fn unit(host: &str, priority: Priority) -> Unit {
        Unit {
            hostname: HostnameKey::new("shop", host),
            part: Part::Shared,
            priority,
            changes: vec![create(host, 60)],
        }
    }

    /// Room for so many units.
    fn room(units: usize) -> Room {
        Room {
            fence: Cost::default(),
            record_sets: 0,
            max_record_sets: 9500,
            max_changes: units,
        }
    }

    fn queue(units: &[(&str, Priority)]) -> UnitQueue {
        let mut queue = UnitQueue::default();
        for (host, priority) in units {
            queue.set(&HostnameKey::new("shop", host), vec![unit(host, *priority)]);
        }
        queue
    }

    fn pick(queue: &mut UnitQueue, units: usize, now: Mono) -> Vec<String> {
        let picked = queue.pick(&Records::default(), &room(units), now);
        picked.units.iter().map(|unit| unit.hostname.name.to_string()).collect()
    }

    fn refuse(queue: &mut UnitQueue, host: &str, now: Mono) -> Mono {
        let unit = unit(host, Priority::Address);
        let problem = Problem::new(Reason::ChangeRefused, "words");
        let refused = Blame::Refused(unit.key());
        queue.blame(std::slice::from_ref(&unit), refused, Class::Conflict, problem, now);
        queue.refusal(&unit.key()).unwrap().next_try.unwrap()
    }

    #[test]
    fn the_most_urgent_goes_first_and_the_oldest_of_those() {
        use Priority::{Address, Drain, Onboarding};
        let mut queue = queue(&[("d", Onboarding), ("c", Address), ("b", Address), ("a", Drain)]);
        assert_eq!(pick(&mut queue, 3, Mono(0)), ["a", "c", "b"]);
        // Other changes of the same part keep the place.
        let mut changed = unit("c", Address);
        changed.changes = vec![create("c", 30)];
        queue.set(&changed.hostname.clone(), vec![changed]);
        assert_eq!(pick(&mut queue, 3, Mono(0)), ["a", "c", "b"]);
    }

    #[test]
    fn none_starves_behind_a_stream_of_drains() {
        let mut queue = queue(&[("old", Priority::Onboarding), ("d", Priority::Drain)]);
        let drains = (1..100).take_while(|_| pick(&mut queue, 1, Mono(0)) == ["d"]).count();
        assert_eq!(drains, 16);
    }

    #[test]
    fn a_refused_unit_rides_alone_when_its_time_has_come() {
        let mut queue = queue(&[("a", Priority::Address), ("b", Priority::Address)]);
        let first = refuse(&mut queue, "a", Mono(0));
        assert_eq!(pick(&mut queue, 9, Mono(0)), ["b"]);
        assert_eq!(pick(&mut queue, 9, first), ["a"], "not with b");
        let second = refuse(&mut queue, "a", first);
        assert!(second - first >= Duration::from_secs(2), "twice as long");
        queue.set(&HostnameKey::new("shop", "a"), vec![unit("a", Priority::Drain)]);
        assert_eq!(pick(&mut queue, 9, first), ["b"], "the same changes stay refused");
        let mut changed = unit("a", Priority::Address);
        changed.changes = vec![create("a", 30)];
        queue.set(&changed.hostname.clone(), vec![changed.clone()]);
        assert_eq!(queue.refusal(&changed.key()), None);
        assert_eq!(pick(&mut queue, 9, first), ["a", "b"], "others are tried at once");
    }

    #[test]
    fn a_lot_rides_with_nobody_else_and_changed_units_are_not_blamed() {
        let mut queue = queue(&[
            ("a", Priority::Address),
            ("b", Priority::Address),
            ("c", Priority::Address),
        ]);
        let problem = Problem::new(Reason::ChangeRefused, "words");
        let units = [unit("a", Priority::Address), unit("b", Priority::Address)];
        let lots = Blame::Lots(vec![units.iter().map(Unit::key).collect()]);
        queue.blame(&units, lots, Class::Conflict, problem.clone(), Mono(0));
        assert_eq!(pick(&mut queue, 9, Mono(0)), ["a", "b"]);
        let mut other = unit("c", Priority::Address);
        other.changes = vec![create("c", 30)];
        let refused = Blame::Refused(other.key());
        assert_eq!(queue.blame(&[other], refused, Class::Conflict, problem, Mono(0)), None);
    }

    #[test]
    fn what_was_planned_on_something_old_is_told_once_and_not_sent() {
        let mut queue = queue(&[("a", Priority::Address)]);
        let mut records = Records::default();
        let there = create("a", 30);
        let name = there.set().name.clone();
        records.set(&name, vec![there.set().clone()]);
        let first = queue.pick(&records, &room(9), Mono(0));
        assert_eq!((first.units, first.stale), (vec![], BTreeSet::from([name])));
        assert_eq!(queue.pick(&records, &room(9), Mono(0)).stale, BTreeSet::new());
    }
}
