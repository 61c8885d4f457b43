//! When a drain is safe.
//!
//! Invariant: a planned time never moves earlier within one drain. Deliberately absent: what was withdrawn and what is
//! INSYNC; the zone tells.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::{Timings, Wall};

/// What the clock of one drain of one cluster under one hostname runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainFacts {
    /// When the drain began.
    pub started_at: Wall,
    /// Since when Route 53 cannot give the cluster's address any more: the change to weight 0 or the withdrawal was
    /// INSYNC then, whichever came first. `None`: it still can.
    pub silent_since: Option<Wall>,
    /// The longest TTL under which it was answered in the last hour, seconds.
    pub longest_ttl: u32,
    /// The time announced until now for this very drain, since the cluster last answered.
    pub safe_at: Option<Wall>,
    /// Whether it is in no group of any family, INSYNC.
    pub withdrawn: bool,
}

/// What the clock of a drain says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainClock {
    /// When a set with weight 0 may be withdrawn: no resolver should hold an old answer then. `None`: not known yet.
    pub withdraw_at: Option<Wall>,
    /// When the drain is safe, as announced. `None`: not known yet.
    pub safe_at: Option<Wall>,
    /// Whether it is safe now.
    pub drained: bool,
}

/// Reads the clock (DESIGN.md, section 6): withdrawn twice the longest TTL after the last answer could be given, safe
/// `drain_grace` after that. A cluster that had been silent for all the time that TTLs are remembered when its drain
/// began is safe at once. A time that has come is not taken back by a longer TTL that comes later; while the cluster
/// answers (as the last that serves), nothing is announced.
pub fn clock(facts: &DrainFacts, timings: &Timings, now: Wall) -> DrainClock {
    let Some(silent) = facts.silent_since else {
        return DrainClock {
            withdraw_at: None,
            safe_at: None,
            drained: false,
        };
    };
    let window = Duration::from_secs(u64::from(facts.longest_ttl) * 2);
    let planned = if later(silent, timings.ttl_memory) <= facts.started_at {
        facts.started_at
    } else {
        later(silent, window + timings.drain_grace).max(facts.started_at)
    };
    let safe_at = match facts.safe_at {
        Some(announced) if announced <= now => announced,
        Some(announced) => announced.max(planned),
        None => planned,
    };
    DrainClock {
        withdraw_at: Some(later(silent, window)),
        safe_at: Some(safe_at),
        drained: facts.withdrawn && now >= safe_at,
    }
}

fn later(wall: Wall, by: Duration) -> Wall {
    wall.checked_add(by).unwrap_or(Wall::MAX)
}

/// The TTLs under which a hostname was answered in the last hour: resolvers still hold answers given under an older,
/// longer one.
///
/// Bounded: at most [`TtlMemory::LIMIT`] TTLs. Beyond that the shortest that is not in the zone counts as the next longer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TtlMemory {
    /// By TTL in seconds: until when it counts; `None` while it is in the zone.
    counts_until: BTreeMap<u32, Option<Wall>>,
}

impl TtlMemory {
    /// How many TTLs are remembered.
    pub const LIMIT: usize = 8;

    /// From the pair in status.
    pub fn restored(seconds: u32, until: Wall) -> Self {
        Self {
            counts_until: BTreeMap::from([(seconds, Some(until))]),
        }
    }

    /// Notes that sets of this TTL are in the zone, or are no longer (INSYNC): then it counts for another `window`,
    /// from the first time that this is noted.
    pub fn note(&mut self, ttl: u32, still_in_zone: bool, now: Wall, window: Duration) {
        self.counts_until
            .retain(|_, until| until.is_none_or(|until| until > now));
        let entry = self.counts_until.entry(ttl).or_insert(None);
        if still_in_zone {
            *entry = None;
        } else if entry.is_none() {
            *entry = Some(later(now, window));
        }
        while self.counts_until.len() > Self::LIMIT {
            self.forget_one();
        }
    }

    /// Counts the shortest TTL that is no longer in the zone as the next longer one.
    fn forget_one(&mut self) {
        let gone = self.counts_until.iter().find(|(_, until)| until.is_some());
        let shortest = gone
            .or_else(|| self.counts_until.first_key_value())
            .map(|(ttl, _)| *ttl);
        let Some(shortest) = shortest else { return };
        let until = self.counts_until.remove(&shortest).flatten();
        if let Some((_, Some(next))) = self.counts_until.range_mut(shortest..).next() {
            *next = (*next).max(until.unwrap_or(*next));
        }
    }

    /// The longest TTL that counts now, seconds; `None` if none does.
    pub fn longest(&self, now: Wall) -> Option<u32> {
        let counts = self.counts_until.iter().rev();
        counts
            .filter(|(_, until)| until.is_none_or(|until| until > now))
            .map(|(ttl, _)| *ttl)
            .next()
    }

    /// When the longest TTL ceases to count by time alone; `None` while it is in the zone.
    pub fn changes_at(&self, now: Wall) -> Option<Wall> {
        let (_, until) = self
            .counts_until
            .last_key_value()
            .filter(|_| self.longest(now).is_some())?;
        until.filter(|until| *until > now)
    }

    /// All of it in one pair that never promises less: the longest TTL, until the last of them ceases to count (those in
    /// the zone: `window` from now).
    pub fn pair(&self, now: Wall, window: Duration) -> Option<(u32, Wall)> {
        let longest = self.longest(now)?;
        let until = self
            .counts_until
            .values()
            .map(|until| until.unwrap_or_else(|| later(now, window)))
            .max()?;
        Some((longest, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds after the drain began.
    fn at(seconds: i64) -> Wall {
        Wall::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn facts(silent: Option<i64>, longest_ttl: u32) -> DrainFacts {
        DrainFacts {
            started_at: at(0),
            silent_since: silent.map(at),
            longest_ttl,
            safe_at: None,
            withdrawn: true,
        }
    }

    fn read(facts: &DrainFacts, now: i64) -> DrainClock {
        clock(facts, &Timings::default(), at(now))
    }

    /// Case T28: weight 0 is INSYNC 80 s after the drain began; 2 x TTL, and 5 minutes of grace.
    #[test]
    fn the_clock_starts_when_the_zone_is_in_sync() {
        let facts = facts(Some(80), 60);
        assert_eq!(read(&facts, 90).withdraw_at, Some(at(200)));
        assert_eq!(read(&facts, 90).safe_at, Some(at(500)));
        assert!(!read(&facts, 499).drained);
        assert!(read(&facts, 500).drained);
    }

    /// Case T28, second run: the TTL was 3600 until shortly before.
    #[test]
    fn an_old_longer_ttl_counts() {
        assert_eq!(read(&facts(Some(80), 3600), 90).safe_at, Some(at(80 + 7200 + 300)));
    }

    #[test]
    fn nothing_is_announced_while_it_answers_and_nothing_is_safe_while_it_stands() {
        let answers = read(&facts(None, 60), 10_000);
        assert_eq!((answers.safe_at, answers.drained), (None, false));
        let stands = DrainFacts {
            withdrawn: false,
            ..facts(Some(80), 60)
        };
        assert!(!read(&stands, 10_000).drained);
    }

    #[test]
    fn the_planned_time_never_moves_earlier_and_what_is_safe_stays_so() {
        let announced = DrainFacts {
            safe_at: Some(at(900)),
            ..facts(Some(80), 60)
        };
        assert_eq!(read(&announced, 600).safe_at, Some(at(900)));
        let longer = DrainFacts {
            longest_ttl: 3600,
            ..announced
        };
        assert_eq!(read(&longer, 600).safe_at, Some(at(7580)));
        assert!(read(&longer, 900).drained);
    }

    #[test]
    fn who_was_silent_for_the_last_hour_is_safe_at_once() {
        assert!(read(&facts(Some(-3600), 86_400), 0).drained);
        assert!(!read(&facts(Some(-3599), 86_400), 0).drained);
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_ttl_counts_while_in_the_zone_and_for_the_window_after() {
        let mut memory = TtlMemory::default();
        assert_eq!(memory.longest(at(0)), None);
        memory.note(3600, true, at(0), HOUR);
        memory.note(60, true, at(100), HOUR);
        assert_eq!(memory.longest(at(100_000)), Some(3600));
        memory.note(3600, false, at(200), HOUR);
        memory.note(3600, false, at(300), HOUR);
        assert_eq!(memory.longest(at(3799)), Some(3600));
        assert_eq!(memory.longest(at(3800)), Some(60));
        memory.note(3600, true, at(3000), HOUR);
        assert_eq!(memory.longest(at(100_000)), Some(3600));
    }

    #[test]
    fn one_pair_outlives_a_restart_and_promises_no_less() {
        let mut memory = TtlMemory::default();
        memory.note(3600, false, at(0), HOUR);
        memory.note(300, false, at(1000), HOUR);
        let (seconds, until) = memory.pair(at(2000), HOUR).unwrap();
        assert_eq!((seconds, until), (3600, at(4600)));
        assert_eq!(TtlMemory::restored(seconds, until).longest(at(4599)), Some(3600));
        assert_eq!(TtlMemory::restored(seconds, until).longest(at(4600)), None);
    }

    #[test]
    fn it_is_bounded_and_forgets_only_upwards() {
        let mut memory = TtlMemory::default();
        for ttl in 1..=100 {
            memory.note(ttl, false, at(i64::from(ttl)), HOUR);
        }
        assert_eq!(memory.counts_until.len(), TtlMemory::LIMIT);
        assert_eq!(memory.longest(at(3699)), Some(100));
        memory.note(1, true, at(200), HOUR);
        memory.note(1, false, at(300), HOUR);
        assert_eq!(memory.counts_until.len(), TtlMemory::LIMIT);
        assert_eq!(memory.longest(at(3800)), Some(1));
        assert_eq!(memory.longest(at(3900)), None);
    }
}
