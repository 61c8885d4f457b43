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
    /// The time announced until now for this very drain.
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
/// began is safe at once.
pub fn clock(facts: &DrainFacts, timings: &Timings, now: Wall) -> DrainClock {
    let window = Duration::from_secs(u64::from(facts.longest_ttl) * 2);
    let withdraw_at = facts.silent_since.map(|silent| later(silent, window));
    let computed = facts.silent_since.map(|silent| {
        if later(silent, timings.ttl_memory) <= facts.started_at {
            facts.started_at
        } else {
            later(silent, window + timings.drain_grace).max(facts.started_at)
        }
    });
    let safe_at = computed.max(facts.safe_at);
    DrainClock {
        withdraw_at,
        safe_at,
        drained: facts.withdrawn && computed.is_some() && safe_at.is_some_and(|safe_at| now >= safe_at),
    }
}

fn later(wall: Wall, by: Duration) -> Wall {
    wall.checked_add(by).unwrap_or(Wall::MAX)
}

/// The TTLs under which a hostname was answered in the last hour: resolvers still hold answers given under an older,
/// longer one.
///
/// Bounded: at most [`TtlMemory::LIMIT`] TTLs. Beyond that the shortest is remembered as the next longer one.
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
            let Some((_, shortest)) = self.counts_until.pop_first() else {
                return;
            };
            if let Some(mut next) = self.counts_until.first_entry() {
                let until = match (shortest, *next.get()) {
                    (Some(one), Some(other)) => Some(one.max(other)),
                    (None, _) | (_, None) => None,
                };
                next.insert(until);
            }
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
