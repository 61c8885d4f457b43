//! The units that wait: who goes next, and with whom.
//!
//! Invariant: the most urgent goes first, the oldest of those before; a unit that was left out of sixteen batches
//! leads the next one, so none starves. A unit of a lot rides with that lot only, a refused one alone until it
//! succeeds or changes. Bound: one unit per hostname and part, each at most as large as one plan.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::{Packing, Room};
use super::bisect::{Blame, Refusal};
use super::unit::{Part, Priority, Unit, UnitKey};
use crate::event::Class;
use crate::pace::backoff;
use crate::reason::Problem;
use crate::time::Mono;
use crate::value::dns_name::RecordName;
use crate::value::ids::HostnameKey;
use crate::world::zones::Records;

/// After how many batches that it was left out of a unit leads one.
const PATIENCE: u32 = 16;

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

    /// Fills the next batch.
    pub fn pick(&mut self, records: &Records, room: &Room, now: Mono) -> Picked {
        let mut picked = Picked::default();
        self.check(records, room, &mut picked);
        let order = self.order(now, &mut picked);
        let Some(lead) = order.first().and_then(|key| self.entries.get(key)) else {
            return picked;
        };
        let company = lead.standing.clone();
        let mut packing = Packing::new(room.clone());
        for key in order {
            let Some(entry) = self.entries.get_mut(&key) else {
                continue;
            };
            let rides = match (&company, &entry.standing) {
                (Standing::Free, Standing::Free) => true,
                (Standing::Lot(lot), Standing::Lot(own)) => lot == own,
                // Only the lead itself, which comes first.
                (Standing::Refused(_), _) => packing.is_empty(),
                _ => false,
            };
            if !(rides && packing.push(&entry.unit)) {
                entry.passed += 1;
            }
        }
        picked.units = packing.units();
        picked
    }

    /// Marks what cannot go at all.
    fn check(&mut self, records: &Records, room: &Room, picked: &mut Picked) {
        for (key, entry) in &mut self.entries {
            let stale = !records.fits(&entry.unit.changes);
            if stale && !entry.stale {
                picked.stale.extend(entry.unit.names().into_iter().cloned());
            }
            entry.stale = stale;
            let blocked = room.refuses(&entry.unit).map(|problem| Refusal {
                problem,
                class: Class::Permanent,
                attempts: 1,
                next_try: None,
            });
            if blocked.is_some() && entry.blocked.is_none() {
                picked.blocked.push(key.clone());
            }
            entry.blocked = blocked;
        }
    }

    /// Those that may go now, the next one first.
    fn order(&self, now: Mono, picked: &mut Picked) -> Vec<UnitKey> {
        let mut ranked = Vec::new();
        for (key, entry) in &self.entries {
            if entry.stale || entry.blocked.is_some() {
                continue;
            }
            if let Standing::Refused(refusal) = &entry.standing
                && let Some(next_try) = refusal.next_try
                && next_try > now
            {
                picked.wake = Some(picked.wake.map_or(next_try, |wake| wake.min(next_try)));
                continue;
            }
            ranked.push((entry.unit.priority, entry.seq, entry.passed, key));
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

    /// A batch with these units was refused and it is their fault: who rides with whom from now on. Tells the unit
    /// that was refused alone.
    pub fn blame(&mut self, blame: Blame, class: Class, problem: Problem, now: Mono) -> Option<UnitKey> {
        match blame {
            Blame::Lots(lots) => {
                for lot in lots {
                    self.next_lot += 1;
                    for key in lot {
                        if let Some(entry) = self.entries.get_mut(&key) {
                            entry.standing = Standing::Lot(self.next_lot);
                        }
                    }
                }
                None
            }
            Blame::Refused(key) => {
                let entry = self.entries.get_mut(&key)?;
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
