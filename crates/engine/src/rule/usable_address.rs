//! Which observed address of one source in one cluster counts.
//!
//! A state machine, one for each (cluster, source). Invariant: an address is published only after it was seen without a
//! gap for as long as DESIGN.md, section 6, says; it is given up only after two complete reads and the grace, all of
//! them without an address; while nothing is known, nothing changes, and what was counted so far does not count any
//! more. Deliberately absent: what becomes of the cluster under the shared name (`shared.rs`), and the last address
//! under its cluster name, which is `Memory::last`.

use serde::{Deserialize, Serialize};
use truce_api::Reason;

use super::service_address::{About, address_of};
use crate::event::ServiceSeen;
use crate::reason::Problem;
use crate::time::{Mono, Timings};
use crate::value::address::{Address, AddressKind};
use crate::value::observed::Observed;

/// What is remembered between two looks at one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    last: Option<Address>,
    gone: bool,
    /// Boxed: nearly always it is nothing.
    waiting: Option<Box<Waiting>>,
}

impl Memory {
    /// Begins with an address that is in use already: the zone has it (after a restart), or the hostname's source was
    /// changed and the old one's address serves until the new one has its own.
    pub fn in_use(address: Address) -> Self {
        Self {
            last: Some(address),
            ..Self::default()
        }
    }

    /// The usable address.
    pub fn usable(&self) -> Option<&Address> {
        self.last.as_ref().filter(|_| !self.gone)
    }

    /// The last usable address, even if it is gone: what the cluster name keeps.
    pub fn last(&self) -> Option<&Address> {
        self.last.as_ref()
    }

    /// Whether an address of this kind is seen that has not held long enough.
    pub fn settles_to(&self, kind: AddressKind) -> bool {
        matches!(self.waiting.as_deref(), Some(Waiting::Settling { address, .. }) if address.kind() == kind)
    }

    /// Whether there was an address and it is gone for good.
    pub fn is_gone(&self) -> bool {
        self.gone
    }
}

/// What is being waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Waiting {
    /// That a new address holds.
    Settling {
        /// Which.
        address: Address,
        /// Since when it was seen without a gap.
        since: Mono,
    },
    /// That an absence is certain.
    Absent {
        /// Since when nothing usable was seen.
        since: Mono,
        /// The first complete read from then on.
        first: Option<Mono>,
        /// The first one that came long enough after that.
        second: Option<Mono>,
    },
}

/// What one look brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// For the next look.
    pub memory: Memory,
    /// Why what is seen is not what is used: `AddressSettling`, `SourceNotFound`, `NoAddress`, `AddressUnusable`,
    /// `AddressGone`. `None` while nothing is known: that is said of the member.
    pub problem: Option<Problem>,
    /// When to look again even if nothing happens.
    pub wake: Option<Mono>,
    /// Whether another complete read of the Services in that namespace is wanted now.
    pub wants_read: bool,
}

/// One look at a source: `seen` is what its watch knows, `listed_at` when its last complete list came.
pub fn look(
    about: About<'_>,
    seen: &Observed<Option<&ServiceSeen>>,
    listed_at: Option<Mono>,
    memory: &Memory,
    now: Mono,
    timings: &Timings,
) -> Outcome {
    let Some(seen) = seen.fresh() else {
        return unknown(memory);
    };
    match address_of(about, *seen) {
        Ok(address) => present(about, address, memory, now, timings),
        Err(why) => absent(about, why, listed_at, memory, now, timings),
    }
}

/// Nothing changes. What was being waited for has to be seen anew, since nobody looked meanwhile.
fn unknown(memory: &Memory) -> Outcome {
    Outcome {
        memory: Memory {
            waiting: None,
            ..memory.clone()
        },
        problem: None,
        wake: None,
        wants_read: false,
    }
}

fn present(about: About<'_>, address: Address, memory: &Memory, now: Mono, timings: &Timings) -> Outcome {
    let hold = match memory.usable() {
        None => timings.settle,
        Some(used) if used.kind() == address.kind() => return settled(address),
        Some(_) => timings.kind_change_settle,
    };
    let since = match memory.waiting.as_deref() {
        Some(Waiting::Settling { address: before, since }) if *before == address => *since,
        None | Some(Waiting::Settling { .. } | Waiting::Absent { .. }) => now,
    };
    let counts_at = since + hold;
    if counts_at <= now {
        return settled(address);
    }
    let problem = Problem::new(
        Reason::AddressSettling,
        format!(
            "{about} has the new address {}, which counts after it was seen for {} s{}",
            address.display().join(", "),
            hold.as_secs_f64(),
            stays(memory)
        ),
    );
    Outcome {
        memory: Memory {
            waiting: Some(Box::new(Waiting::Settling { address, since })),
            ..memory.clone()
        },
        problem: Some(problem),
        wake: Some(counts_at),
        wants_read: false,
    }
}

fn settled(address: Address) -> Outcome {
    Outcome {
        memory: Memory::in_use(address),
        problem: None,
        wake: None,
        wants_read: false,
    }
}

fn absent(
    about: About<'_>,
    why: Problem,
    listed_at: Option<Mono>,
    memory: &Memory,
    now: Mono,
    timings: &Timings,
) -> Outcome {
    if memory.usable().is_none() {
        return Outcome {
            memory: Memory {
                waiting: None,
                ..memory.clone()
            },
            problem: Some(if memory.gone { gone(about, &why) } else { why }),
            wake: None,
            wants_read: false,
        };
    }
    let (since, mut first, mut second) = match memory.waiting.as_deref() {
        Some(Waiting::Absent { since, first, second }) => (*since, *first, *second),
        None | Some(Waiting::Settling { .. }) => (now, None, None),
    };
    let read = |not_before: Mono| listed_at.filter(|at| *at >= not_before);
    first = first.or_else(|| read(since));
    second = second.or_else(|| read(first? + timings.absence_reread));
    let over_at = second.map(|second| second + timings.absence_grace);
    let over = over_at.is_some_and(|at| at <= now);
    let next_read = first.map_or(now, |first| first + timings.absence_reread);
    let problem = if over {
        gone(about, &why)
    } else {
        let message = format!("{}{}", why.message, stays(memory));
        Problem::new(why.reason, message)
    };
    let waiting = (!over).then(|| Box::new(Waiting::Absent { since, first, second }));
    let wants_read = second.is_none() && next_read <= now;
    Outcome {
        memory: Memory {
            gone: over,
            waiting,
            ..memory.clone()
        },
        problem: Some(problem),
        wake: match over_at {
            _ if over || wants_read => None,
            Some(over_at) => Some(over_at),
            None => Some(next_read),
        },
        wants_read,
    }
}

fn gone(about: About<'_>, why: &Problem) -> Problem {
    let text = format!("{}; the address that {about} had is given up", why.message);
    Problem::new(Reason::AddressGone, text)
}

fn stays(memory: &Memory) -> String {
    memory.usable().map_or_else(String::new, |used| {
        format!("; until then {} stays in use", used.display().join(", "))
    })
}

#[cfg(test)]
mod tests {
    use truce_api::Reason;

    use super::*;
    use crate::value::ids::ClusterName;
    use crate::world::hostnames::Source;

    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const ELB: &str = "lb-east-1.us-east-1.elb.amazonaws.com";
    const NEXT_ELB: &str = "lb-east-2.us-east-1.elb.amazonaws.com";

    /// One source over time, with its clock in milliseconds.
    struct Story {
        memory: Memory,
        listed_at: Option<Mono>,
        now: u64,
    }

    impl Story {
        fn new() -> Self {
            Self {
                memory: Memory::default(),
                listed_at: Some(Mono(0)),
                now: 0,
            }
        }

        fn using(address: &str) -> Self {
            let Ok(used) = address_of(about(&east(), &gateway()), Some(&service(address))) else {
                panic!("{address} cannot be used");
            };
            Self {
                memory: Memory::in_use(used),
                ..Self::new()
            }
        }

        /// A look after `later` milliseconds.
        fn after(&mut self, later: u64, seen: &Observed<Option<ServiceSeen>>) -> Outcome {
            self.now += later;
            let seen = match seen {
                Observed::Unknown => Observed::Unknown,
                Observed::Fresh(value) => Observed::Fresh(value.as_ref()),
                Observed::Stale { value, since } => Observed::Stale {
                    value: value.as_ref(),
                    since: *since,
                },
            };
            let (cluster, source) = (east(), gateway());
            let about = about(&cluster, &source);
            let timings = Timings::default();
            let outcome = look(about, &seen, self.listed_at, &self.memory, Mono(self.now), &timings);
            self.memory = outcome.memory.clone();
            outcome
        }

        /// The same just after a complete read.
        fn read_after(&mut self, later: u64, seen: &Observed<Option<ServiceSeen>>) -> Outcome {
            self.listed_at = Some(Mono(self.now + later));
            self.after(later, seen)
        }

        fn usable(&self) -> Option<String> {
            self.memory.usable().map(|address| address.display().join(","))
        }
    }

    fn east() -> ClusterName {
        ClusterName::parse("east").unwrap()
    }

    fn gateway() -> Source {
        Source::Service {
            namespace: "shop".into(),
            name: "gateway".into(),
        }
    }

    fn about<'a>(cluster: &'a ClusterName, source: &'a Source) -> About<'a> {
        About { cluster, source }
    }

    fn service(address: &str) -> ServiceSeen {
        ServiceSeen {
            namespace: "shop".to_owned(),
            name: "gateway".to_owned(),
            load_balancer: true,
            dual_stack: false,
            internal: false,
            ips: address.parse().into_iter().collect(),
            hostnames: if address.is_empty() || address.parse::<std::net::IpAddr>().is_ok() {
                vec![]
            } else {
                vec![address.to_owned()]
            },
        }
    }

    /// Seen with this address; empty: without any.
    fn seen(address: &str) -> Observed<Option<ServiceSeen>> {
        Observed::Fresh(Some(service(address)))
    }

    fn reason(outcome: &Outcome) -> Option<Reason> {
        outcome.problem.as_ref().map(|problem| problem.reason)
    }

    #[test]
    fn the_first_address_must_hold() {
        let mut story = Story::new();
        let first = story.after(0, &seen("203.0.113.7"));
        assert_eq!((story.usable(), reason(&first)), (None, Some(Reason::AddressSettling)));
        assert_eq!(first.wake, Some(Mono(5 * SECOND)));
        // Another one begins anew.
        assert_eq!(
            story.after(4 * SECOND, &seen("203.0.113.8")).wake,
            Some(Mono(9 * SECOND))
        );
        story.after(5 * SECOND - 1, &seen("203.0.113.8"));
        assert_eq!(story.usable(), None);
        let held = story.after(1, &seen("203.0.113.8"));
        assert_eq!(
            (story.usable().as_deref(), held.problem, held.wake),
            (Some("203.0.113.8"), None, None)
        );
    }

    #[test]
    fn the_same_kind_replaces_at_once_and_another_must_hold() {
        let mut story = Story::using(ELB);
        story.after(0, &seen(NEXT_ELB));
        assert_eq!(story.usable().as_deref(), Some(NEXT_ELB));
        let other = story.after(SECOND, &seen("203.0.113.7"));
        assert_eq!(reason(&other), Some(Reason::AddressSettling));
        assert!(
            other
                .problem
                .unwrap()
                .message
                .contains(&format!("until then {NEXT_ELB} stays in use"))
        );
        assert_eq!(story.usable().as_deref(), Some(NEXT_ELB));
        story.after(30 * SECOND, &seen("203.0.113.7"));
        assert_eq!(story.usable().as_deref(), Some("203.0.113.7"));
    }

    /// Case T17.
    #[test]
    fn a_private_address_for_a_few_seconds_never_shows() {
        let mut story = Story::using(ELB);
        assert_eq!(
            reason(&story.after(SECOND, &seen("10.20.3.7"))),
            Some(Reason::AddressUnusable)
        );
        assert_eq!(story.after(4 * SECOND, &seen(ELB)).problem, None);
        assert_eq!(story.usable().as_deref(), Some(ELB));
        let mut first = Story::new();
        first.after(0, &seen("10.20.3.7"));
        first.after(4 * SECOND, &seen(ELB));
        first.after(4 * SECOND, &seen(ELB));
        assert_eq!(first.usable(), None);
        first.after(SECOND, &seen(ELB));
        assert_eq!(first.usable().as_deref(), Some(ELB));
    }

    /// Case T16.
    #[test]
    fn an_empty_status_changes_nothing_until_it_is_certain_and_the_grace_is_over() {
        let mut story = Story::using("203.0.113.7");
        let empty = story.after(SECOND, &seen(""));
        assert_eq!(reason(&empty), Some(Reason::NoAddress));
        assert!(empty.wants_read, "the read before the absence proves nothing");
        let once = story.read_after(SECOND, &seen(""));
        assert_eq!((once.wants_read, once.wake), (false, Some(Mono(62 * SECOND))));
        // A read that comes too early is no second one.
        story.read_after(30 * SECOND, &seen(""));
        assert!(story.after(30 * SECOND, &seen("")).wants_read);
        let twice = story.read_after(SECOND, &seen(""));
        assert_eq!(
            (twice.wants_read, twice.wake),
            (false, Some(Mono(63 * SECOND + 10 * MINUTE)))
        );
        story.after(10 * MINUTE - 1, &seen(""));
        assert_eq!(story.usable().as_deref(), Some("203.0.113.7"));
        assert_eq!(reason(&story.after(1, &seen(""))), Some(Reason::AddressGone));
        assert_eq!(story.usable(), None);
        assert!(story.memory.is_gone());
        assert_eq!(story.memory.last().unwrap().display(), ["203.0.113.7"]);
        // It comes back as a first address does.
        assert_eq!(
            reason(&story.after(0, &seen("203.0.113.7"))),
            Some(Reason::AddressSettling)
        );
        story.after(5 * SECOND, &seen("203.0.113.7"));
        assert_eq!(story.usable().as_deref(), Some("203.0.113.7"));
        assert!(!story.memory.is_gone());
    }

    #[test]
    fn an_address_that_comes_back_ends_the_absence() {
        let mut story = Story::using("203.0.113.7");
        story.read_after(0, &seen(""));
        story.read_after(MINUTE, &seen(""));
        story.after(9 * MINUTE, &seen("203.0.113.7"));
        let again = story.after(0, &seen(""));
        assert!(again.wants_read);
        story.read_after(0, &seen(""));
        story.after(10 * MINUTE, &seen(""));
        assert_eq!(story.usable().as_deref(), Some("203.0.113.7"));
    }

    /// Case T36 (d): the list is complete, and empty.
    #[test]
    fn a_service_that_is_missing_is_given_the_same_time() {
        let mut story = Story::using(ELB);
        let missing = Observed::Fresh(None);
        assert_eq!(reason(&story.read_after(0, &missing)), Some(Reason::SourceNotFound));
        assert_eq!(story.read_after(MINUTE, &missing).wake, Some(Mono(11 * MINUTE)));
        story.after(10 * MINUTE, &missing);
        assert_eq!(story.usable(), None);
    }

    /// Case T18: deleted, made anew after 20 s, the new name 90 s later.
    #[test]
    fn a_replaced_load_balancer_takes_over_at_once() {
        let mut story = Story::using(ELB);
        story.after(0, &Observed::Fresh(None));
        story.after(20 * SECOND, &seen(""));
        assert_eq!(story.usable().as_deref(), Some(ELB));
        story.after(90 * SECOND, &seen(NEXT_ELB));
        assert_eq!(story.usable().as_deref(), Some(NEXT_ELB));
    }

    /// Case T36 (a) to (c).
    #[test]
    fn while_nothing_is_known_nothing_changes_and_no_time_counts() {
        let stale = Observed::Stale {
            value: None,
            since: Mono(0),
        };
        for blind in [Observed::Unknown, stale] {
            let mut story = Story::using(ELB);
            story.read_after(0, &seen(""));
            story.read_after(MINUTE, &seen(""));
            let outcome = story.after(60 * MINUTE, &blind);
            assert_eq!((outcome.problem, outcome.wake, outcome.wants_read), (None, None, false));
            assert_eq!(story.usable().as_deref(), Some(ELB));
            // Back again: what was counted before does not count.
            let back = story.read_after(SECOND, &seen(""));
            assert_eq!(story.usable().as_deref(), Some(ELB));
            assert_eq!(back.wake, Some(Mono(story.now + MINUTE)));
        }
    }

    #[test]
    fn without_any_address_before_there_is_nothing_to_read_again() {
        let mut story = Story::new();
        let outcome = story.after(0, &Observed::Fresh(None));
        assert_eq!(reason(&outcome), Some(Reason::SourceNotFound));
        assert_eq!((outcome.wake, outcome.wants_read), (None, false));
    }
}
