//! Accepted changes on their way to all servers of Route 53.
//!
//! Invariant: a change counts as INSYNC when Route 53 says so, or, where its id is not known (the answer was lost),
//! when it is older than `insync_patience` and the zone could be read. Bound: 256 changes are looked at; beyond that the
//! oldest is joined to the next, so its hostnames wait longer, never shorter.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::time::{Mono, Wall};
use crate::value::ids::HostnameKey;

/// Most changes that are looked at one by one.
const MAX_PENDING: usize = 256;
/// A change that has been pending for long is looked at this many times more rarely than its age.
const AGE_SHARE: u32 = 8;

/// The last change of a hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastChange {
    /// Route 53's id; empty if the answer was lost.
    pub change_id: String,
    /// When Route 53 took it.
    pub at: Wall,
    /// Since when a change of the hostname has been pending; `None`: all are INSYNC.
    pub pending_since: Option<Mono>,
}

#[derive(Debug, Clone)]
struct Pending {
    /// `None` if the answer was lost.
    change_id: Option<String>,
    since: Mono,
    due: Mono,
    hostnames: BTreeSet<HostnameKey>,
}

/// How a pending change is looked at next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Ask for this change.
    Change(String),
    /// Its id is not known: a read of the zone that succeeds will do.
    Settle,
}

/// The changes of one zone.
#[derive(Debug, Clone)]
pub struct Programmed {
    poll: Duration,
    patience: Duration,
    pending: VecDeque<Pending>,
    last: BTreeMap<HostnameKey, LastChange>,
    latest: Option<String>,
}

impl Programmed {
    /// `poll` is the time between two looks at a young change, `patience` the age at which one without id counts.
    pub fn new(poll: Duration, patience: Duration) -> Self {
        Self {
            poll,
            patience,
            pending: VecDeque::new(),
            last: BTreeMap::new(),
            latest: None,
        }
    }

    /// The last change of a hostname by this process.
    pub fn of(&self, hostname: &HostnameKey) -> Option<&LastChange> {
        self.last.get(hostname)
    }

    /// Route 53's id of the newest change whose id is known.
    pub fn latest(&self) -> Option<String> {
        self.latest.clone()
    }

    /// Forgets a hostname that lives here no more.
    pub fn forget(&mut self, hostname: &HostnameKey) {
        self.last.remove(hostname);
        for pending in &mut self.pending {
            pending.hostnames.remove(hostname);
        }
        self.pending.retain(|pending| !pending.hostnames.is_empty());
    }

    /// A change was accepted.
    pub fn accepted(&mut self, change_id: Option<String>, hostnames: BTreeSet<HostnameKey>, at: Wall, now: Mono) {
        self.latest = change_id.clone().or_else(|| self.latest.take());
        if hostnames.is_empty() {
            return;
        }
        for hostname in &hostnames {
            let pending_since = self
                .last
                .get(hostname)
                .and_then(|last| last.pending_since)
                .unwrap_or(now);
            let last = LastChange {
                change_id: change_id.clone().unwrap_or_default(),
                at,
                pending_since: Some(pending_since),
            };
            self.last.insert(hostname.clone(), last);
        }
        let wait = if change_id.is_some() { self.poll } else { self.patience };
        self.pending.push_back(Pending {
            change_id,
            since: now,
            due: now + wait,
            hostnames,
        });
        if self.pending.len() > MAX_PENDING
            && let Some(oldest) = self.pending.pop_front()
            && let Some(next) = self.pending.front_mut()
        {
            next.hostnames.extend(oldest.hostnames);
        }
    }

    /// What to look at next, and when: the earliest due, the oldest of those.
    pub fn next(&self) -> Option<(Mono, Look)> {
        let pending = self.pending.iter().min_by_key(|pending| pending.due)?;
        let look = pending.change_id.clone().map_or(Look::Settle, Look::Change);
        Some((pending.due, look))
    }

    /// What a look brought; the hostnames of a change that is INSYNC now.
    pub fn looked(&mut self, look: &Look, insync: bool, now: Mono) -> BTreeSet<HostnameKey> {
        let found = self.pending.iter().position(|pending| match look {
            Look::Change(id) => pending.change_id.as_ref() == Some(id),
            Look::Settle => pending.change_id.is_none() && pending.due <= now,
        });
        let Some(at) = found else {
            return BTreeSet::new();
        };
        if !insync {
            if let Some(pending) = self.pending.get_mut(at) {
                pending.due = now + self.poll.max((now - pending.since) / AGE_SHARE);
            }
            return BTreeSet::new();
        }
        let hostnames = self
            .pending
            .remove(at)
            .map(|pending| pending.hostnames)
            .unwrap_or_default();
        for hostname in &hostnames {
            let still = self
                .pending
                .iter()
                .filter(|p| p.hostnames.contains(hostname))
                .map(|p| p.since);
            let since = still.min();
            if let Some(last) = self.last.get_mut(hostname) {
                last.pending_since = since;
            }
        }
        hostnames
    }

    /// Route 53 does not know the change's id (any more): from now on it is one without.
    pub fn unknown(&mut self, change_id: &str, now: Mono) {
        let patience = self.patience;
        for pending in &mut self.pending {
            if pending.change_id.as_deref() == Some(change_id) {
                pending.change_id = None;
                pending.due = now.max(pending.since + patience);
            }
        }
    }

    /// A look failed; later again.
    pub fn postpone(&mut self, look: &Look, until: Mono) {
        for pending in &mut self.pending {
            let same = match look {
                Look::Change(id) => pending.change_id.as_ref() == Some(id),
                Look::Settle => pending.change_id.is_none(),
            };
            if same {
                pending.due = pending.due.max(until);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Wall = Wall::UNIX_EPOCH;

    fn programmed() -> Programmed {
        Programmed::new(Duration::from_millis(500), Duration::from_secs(60))
    }

    fn hosts(names: &[&str]) -> BTreeSet<HostnameKey> {
        names.iter().map(|name| HostnameKey::new("shop", name)).collect()
    }

    fn change(id: &str) -> Look {
        Look::Change(id.to_owned())
    }

    #[test]
    fn a_hostname_is_pending_until_all_its_changes_are_insync() {
        let mut all = programmed();
        all.accepted(Some("C1".to_owned()), hosts(&["a", "b"]), AT, Mono(0));
        all.accepted(Some("C2".to_owned()), hosts(&["a"]), AT, Mono(100));
        assert_eq!(all.next(), Some((Mono(500), change("C1"))));
        assert_eq!(all.looked(&change("C2"), true, Mono(700)), hosts(&["a"]));
        let of = |all: &Programmed, name: &str| all.of(&HostnameKey::new("shop", name)).unwrap().clone();
        assert_eq!(of(&all, "a").pending_since, Some(Mono(0)), "C1 is still on its way");
        assert_eq!(all.looked(&change("C1"), true, Mono(900)), hosts(&["a", "b"]));
        assert_eq!(
            (of(&all, "a").pending_since, of(&all, "a").change_id),
            (None, "C2".to_owned())
        );
    }

    #[test]
    fn an_old_change_is_looked_at_more_rarely() {
        let mut all = programmed();
        all.accepted(Some("C1".to_owned()), hosts(&["a"]), AT, Mono(0));
        assert_eq!(all.looked(&change("C1"), false, Mono(500)), hosts(&[]));
        assert_eq!(all.next(), Some((Mono(1000), change("C1"))));
        all.looked(&change("C1"), false, Mono(40_000));
        assert_eq!(all.next(), Some((Mono(45_000), change("C1"))));
    }

    #[test]
    fn a_change_without_id_counts_after_the_patience_only() {
        let mut all = programmed();
        all.accepted(None, hosts(&["a"]), AT, Mono(0));
        assert_eq!(all.next(), Some((Mono(60_000), Look::Settle)));
        assert_eq!(all.looked(&Look::Settle, true, Mono(59_999)), hosts(&[]));
        assert_eq!(all.looked(&Look::Settle, true, Mono(60_000)), hosts(&["a"]));
        all.accepted(Some("C1".to_owned()), hosts(&["a"]), AT, Mono(70_000));
        all.unknown("C1", Mono(80_000));
        assert_eq!(all.next(), Some((Mono(130_000), Look::Settle)));
    }

    #[test]
    fn beyond_the_bound_hostnames_wait_with_the_next_change() {
        let mut all = programmed();
        for n in 0..=MAX_PENDING {
            all.accepted(Some(format!("C{n}")), hosts(&[&format!("h{n}")]), AT, Mono(0));
        }
        assert_eq!(all.pending.len(), MAX_PENDING);
        assert_eq!(all.looked(&change("C1"), true, Mono(600)), hosts(&["h0", "h1"]));
    }
}
