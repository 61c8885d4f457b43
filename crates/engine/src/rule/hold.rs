//! When withdrawals that nobody asked for are held until a person confirms them.
//!
//! Invariant: held only if, within the window, they exceed both ten live sets and the zone's percentage of the live
//! sets that stood when the window began (DESIGN.md, section 6). A drain is never a withdrawal in this sense, nor is
//! the deletion of one GlobalHostname alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::time::{Mono, Now, Wall};
use crate::value::ids::{ClusterName, HostnameKey};
use crate::value::short_hash::short_hash;

/// Withdrawals that always pass within a window.
const ALWAYS: usize = 10;

/// The clusters that a hostname would lose without anybody having asked for it.
pub type Withdrawal = BTreeSet<ClusterName>;

/// What was withdrawn lately in one zone, and what waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    /// Until when it counts, how many sets, and how many live sets the zone had before; oldest first.
    past: Vec<(Mono, usize, usize)>,
    /// How long a withdrawal counts.
    window: Duration,
    /// Accepted and on their way to Route 53: how many sets, and how many live ones the zone had then.
    accepted: BTreeMap<HostnameKey, (usize, usize)>,
    /// Held, by hostname.
    held: BTreeMap<HostnameKey, Withdrawal>,
    /// Since when something is held.
    since: Option<Mono>,
    /// What a person confirmed, until it is in the zone or wanted no more.
    granted: BTreeMap<HostnameKey, Withdrawal>,
    /// What `past` amounted to when the last withdrawal was applied: told, and changed by nothing else.
    told: Option<Past>,
    /// What a person confirmed last: a part of the hash, so that each word counts once.
    spent: Option<String>,
}

/// What was withdrawn within a window: it counts as long as the last of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Past {
    /// Until when it counts.
    pub until: Wall,
    /// How many sets.
    pub sets: usize,
    /// How many live sets the zone had before.
    pub live: usize,
}

/// What of a guard outlives a restart, in the status of the DNSZone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// What was withdrawn lately; may be long over.
    pub past: Option<Past>,
    /// The word that was used last.
    pub spent: Option<String>,
}

/// The zone's side of a verdict.
#[derive(Debug, Clone, Copy)]
pub struct Stand {
    /// Live sets in the zone now.
    pub live: usize,
    /// Whether this is the deletion of a GlobalHostname, which alone is never held.
    pub deletion: bool,
    /// `guard.maxWithdrawPercent`.
    pub max_percent: u8,
    /// The window.
    pub window: Duration,
}

impl Guard {
    /// As an earlier process left it.
    pub fn restored(kept: Kept, now: Now) -> Self {
        let counts = kept.past.filter(|past| past.until > now.wall);
        Self {
            past: counts
                .map(|past| (now.mono_at(past.until), past.sets, past.live))
                .into_iter()
                .collect(),
            told: kept.past,
            spent: kept.spent,
            ..Self::default()
        }
    }

    /// What outlives a restart.
    pub fn kept(&self) -> Kept {
        Kept {
            past: self.told,
            spent: self.spent.clone(),
        }
    }

    /// Whether a hostname's withdrawal may go on. What is held is remembered until it passes or is wanted no more.
    pub fn passes(
        &mut self,
        hostname: &HostnameKey,
        withdrawal: &Withdrawal,
        sets: usize,
        stand: Stand,
        now: Mono,
    ) -> bool {
        self.window = stand.window;
        self.past.retain(|(until, _, _)| now < *until);
        self.accepted.remove(hostname);
        if withdrawal.is_empty() {
            self.release(hostname);
            return true;
        }
        let lately: usize = self.past.iter().map(|(_, sets, _)| sets).sum();
        let sum = lately + self.accepted.values().map(|(sets, _)| sets).sum::<usize>() + sets;
        let live_then = self.past.first().map_or(stand.live, |(_, _, live)| *live);
        let alone = stand.deletion && sum == sets;
        let many = !alone && sum > ALWAYS && sum * 100 > live_then * usize::from(stand.max_percent);
        if many && self.granted.get(hostname) != Some(withdrawal) {
            self.since.get_or_insert(now);
            self.held.insert(hostname.clone(), withdrawal.clone());
            return false;
        }
        self.held.remove(hostname);
        self.accepted.insert(hostname.clone(), (sets, stand.live));
        true
    }

    /// An accepted withdrawal is in the zone.
    pub fn applied(&mut self, hostname: &HostnameKey, now: Now) {
        if let Some((sets, live)) = self.accepted.remove(hostname) {
            let until = now.mono + self.window;
            self.past.push((until, sets, live));
            self.told = Some(Past {
                until: now.wall_at(until),
                sets: self.past.iter().map(|(_, sets, _)| sets).sum(),
                live: self.past.first().map_or(live, |(_, _, live)| *live),
            });
        }
        self.release(hostname);
    }

    /// A hostname wants no withdrawal any more.
    pub fn release(&mut self, hostname: &HostnameKey) {
        self.held.remove(hostname);
        self.granted.remove(hostname);
        if self.held.is_empty() {
            self.since = None;
        }
    }

    /// A person confirmed a hash; whether it is that of what is held now.
    pub fn confirm(&mut self, hash: &str) -> bool {
        let fits = self.hash().is_some_and(|held| held == hash);
        if fits {
            self.granted.append(&mut self.held);
            self.spent = Some(hash.to_owned());
            self.since = None;
        }
        fits
    }

    /// The hash of all that is held; `None` if nothing is.
    pub fn hash(&self) -> Option<String> {
        if self.held.is_empty() {
            return None;
        }
        let mut text: String = self.spent.iter().map(|spent| format!("after {spent}\n")).collect();
        for (hostname, clusters) in &self.held {
            text.push_str(&format!("{hostname} {clusters:?}\n"));
        }
        Some(short_hash(&text))
    }

    /// What is held, by hostname.
    pub fn held(&self) -> &BTreeMap<HostnameKey, Withdrawal> {
        &self.held
    }

    /// How many live sets the zone had when the window began, as far as something was withdrawn in it.
    pub fn live(&self) -> usize {
        self.past.first().map_or(0, |(_, _, live)| *live)
    }

    /// Since when something is held.
    pub fn since(&self) -> Option<Mono> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> HostnameKey {
        HostnameKey::new("shop", &format!("h{n}"))
    }

    fn now(mono: u64) -> Now {
        Now {
            mono: Mono(mono),
            wall: Wall::from_millisecond(1_800_000_000_000 + i64::try_from(mono).unwrap()).unwrap(),
        }
    }

    fn east() -> Withdrawal {
        [ClusterName::parse("east").unwrap()].into()
    }

    fn stand(live: usize) -> Stand {
        Stand {
            live,
            deletion: false,
            max_percent: 50,
            window: Duration::from_secs(600),
        }
    }

    /// Asks for one withdrawal a hostname, each applied at once; returns how many passed.
    fn wave(guard: &mut Guard, hostnames: usize, live: usize) -> usize {
        let mut passed = 0;
        for n in 0..hostnames {
            if guard.passes(&key(n), &east(), 1, stand(live - passed), Mono(1_000)) {
                guard.applied(&key(n), now(1_000));
                passed += 1;
            }
        }
        passed
    }

    #[test]
    fn up_to_ten_always_pass_and_beyond_that_half_of_the_zone() {
        assert_eq!(wave(&mut Guard::default(), 10, 12), 10);
        assert_eq!(wave(&mut Guard::default(), 12, 12), 10);
        assert_eq!(wave(&mut Guard::default(), 60, 100), 50);
    }

    #[test]
    fn what_is_held_passes_once_its_hash_is_confirmed_and_not_with_another() {
        let mut guard = Guard::default();
        wave(&mut guard, 12, 12);
        let hash = guard.hash().unwrap();
        assert!(!guard.confirm("0000"));
        assert!(!guard.passes(&key(10), &east(), 1, stand(2), Mono(2_000)));
        assert!(guard.confirm(&hash));
        assert!(guard.passes(&key(10), &east(), 1, stand(2), Mono(2_000)));
        guard.applied(&key(10), now(2_000));
        assert!(guard.passes(&key(11), &east(), 1, stand(2), Mono(2_000)));
        assert_eq!(guard.hash(), None);
    }

    /// A confirmation works once, though the annotation may stand for ever.
    #[test]
    fn the_same_withdrawal_later_needs_another_word() {
        let mut guard = Guard::default();
        wave(&mut guard, 11, 12);
        let hash = guard.hash().unwrap();
        assert!(guard.confirm(&hash));
        assert!(guard.passes(&key(10), &east(), 1, stand(2), Mono(2_000)));
        guard.applied(&key(10), now(2_000));
        assert!(!guard.passes(&key(10), &east(), 1, stand(2), Mono(3_000)));
        assert!(!guard.confirm(&hash));
    }

    /// An operator that is started again and again lets no more go than one that runs on.
    #[test]
    fn a_restart_forgets_neither_what_went_nor_what_was_confirmed() {
        let mut guard = Guard::default();
        wave(&mut guard, 11, 12);
        let hash = guard.hash().unwrap();
        // The monotonic clock of every process begins at 0.
        let at = |wall: u64| Now {
            mono: Mono(0),
            ..now(wall)
        };
        let mut again = Guard::restored(guard.kept(), at(2_000));
        assert!(!again.passes(&key(10), &east(), 1, stand(2), Mono(100)));
        assert!(again.confirm(&hash));
        assert!(again.passes(&key(10), &east(), 1, stand(2), Mono(100)));
        again.applied(&key(10), now(2_000));
        let mut third = Guard::restored(again.kept(), at(3_000));
        assert!(!third.passes(&key(10), &east(), 1, stand(2), Mono(100)));
        assert!(!third.confirm(&hash), "that word is spent");
        let mut late = Guard::restored(again.kept(), at(2_000 + 600_000));
        assert!(
            late.passes(&key(10), &east(), 1, stand(2), Mono(100)),
            "the window is over"
        );
    }

    #[test]
    fn after_the_window_the_count_begins_anew() {
        let mut guard = Guard::default();
        wave(&mut guard, 12, 12);
        let later = Mono(1_000 + 600_000);
        assert!(guard.passes(&key(10), &east(), 1, stand(2), later));
    }

    #[test]
    fn a_withdrawal_that_is_wanted_no_more_is_not_held() {
        let mut guard = Guard::default();
        wave(&mut guard, 12, 12);
        for n in 10..12 {
            guard.passes(&key(n), &Withdrawal::new(), 0, stand(2), Mono(1_500));
        }
        assert_eq!(guard.hash(), None);
    }
}
