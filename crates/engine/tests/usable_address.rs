//! Property tests of `rule/usable_address.rs`: whatever a member shows and whenever it is looked at, an address is used
//! and given up only after what DESIGN.md, section 6, asks for was really seen.
//!
//! The oracle keeps every look and judges by that history alone; it knows nothing of the state machine's memory.

#![expect(clippy::expect_used, reason = "tests")]

use std::time::Duration;

use proptest::prelude::*;
use truce_engine::event::ServiceSeen;
use truce_engine::rule::service_address::About;
use truce_engine::rule::usable_address::{Memory, Outcome, look};
use truce_engine::time::{Mono, Timings};
use truce_engine::value::address::AddressKind;
use truce_engine::value::ids::ClusterName;
use truce_engine::value::observed::Observed;
use truce_engine::world::hostnames::Source;

/// What a member shows at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Unknown,
    Stale,
    Missing,
    /// A Service with this entry of its status; empty: none.
    Service(&'static str),
}

/// Entries that may be published, with their kinds.
const GOOD: &[(&str, AddressKind)] = &[
    ("203.0.113.7", AddressKind::Ips),
    ("198.51.100.7", AddressKind::Ips),
    ("lb-1.us-east-1.elb.amazonaws.com", AddressKind::Alias),
    ("lb-2.us-east-1.elb.amazonaws.com", AddressKind::Alias),
    ("lb.example.net", AddressKind::Name),
];

impl Shown {
    fn fresh(self) -> bool {
        !matches!(self, Self::Unknown | Self::Stale)
    }

    /// The entry, if it may be published.
    fn good(self) -> Option<&'static str> {
        match self {
            Self::Service(entry) => GOOD.iter().map(|(good, _)| *good).find(|good| *good == entry),
            Self::Unknown | Self::Stale | Self::Missing => None,
        }
    }
}

fn kind(entry: &str) -> AddressKind {
    let found = GOOD.iter().find(|(good, _)| *good == entry);
    found.expect("only good entries are used").1
}

/// One look: how much later, what is shown, and whether a complete read has just come.
#[derive(Debug, Clone, Copy)]
struct Step {
    later: u64,
    shown: Shown,
    read: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let later = prop_oneof![
        0..6_000_u64,
        25_000..35_000_u64,
        55_000..65_000_u64,
        590_000..610_000_u64,
        0..1_u64,
    ];
    let shown = prop_oneof![
        1 => Just(Shown::Unknown),
        1 => Just(Shown::Stale),
        2 => Just(Shown::Missing),
        4 => Just(Shown::Service("")),
        1 => Just(Shown::Service("10.20.3.7")),
        1 => Just(Shown::Service("192.0.2.1")),
        1 => Just(Shown::Service("internal-x.us-east-1.elb.amazonaws.com")),
        8 => proptest::sample::select(GOOD).prop_map(|(entry, _)| Shown::Service(entry)),
    ];
    // Runs of one thing, since that is what waits are about.
    let run = (shown, proptest::collection::vec((later, any::<bool>()), 1..6));
    proptest::collection::vec(run, 1..8).prop_map(|runs| {
        let of_run = |(shown, looks): (Shown, Vec<(u64, bool)>)| {
            let step = move |(later, read)| Step { later, shown, read };
            looks.into_iter().map(step).collect::<Vec<_>>()
        };
        runs.into_iter().flat_map(of_run).collect()
    })
}

/// One source over time.
#[derive(Default)]
struct Story {
    memory: Memory,
    now: u64,
    listed_at: Option<Mono>,
    /// Every look: when, what was shown, when the last complete read had come.
    looks: Vec<(u64, Shown, Option<Mono>)>,
}

impl Story {
    fn look(&self, shown: Shown) -> Outcome {
        let service = |entry: &str| ServiceSeen {
            namespace: "shop".to_owned(),
            name: "gateway".to_owned(),
            load_balancer: true,
            dual_stack: false,
            internal: false,
            ips: entry.parse().into_iter().collect(),
            hostnames: match entry.parse::<std::net::IpAddr>() {
                Err(_) if !entry.is_empty() => vec![entry.to_owned()],
                _ => vec![],
            },
        };
        let object = match shown {
            Shown::Service(entry) => Some(service(entry)),
            Shown::Unknown | Shown::Stale | Shown::Missing => None,
        };
        let seen = match shown {
            Shown::Unknown => Observed::Unknown,
            Shown::Stale => Observed::Stale {
                value: None,
                since: Mono(0),
            },
            Shown::Missing | Shown::Service(_) => Observed::Fresh(object.as_ref()),
        };
        let (cluster, source) = (ClusterName::parse("east").expect("a label"), source());
        let about = About {
            cluster: &cluster,
            source: &source,
        };
        let timings = Timings::default();
        look(about, &seen, self.listed_at, &self.memory, Mono(self.now), &timings)
    }

    fn step(&mut self, step: Step) -> Outcome {
        self.now += step.later;
        if step.read && step.shown.fresh() {
            self.listed_at = Some(Mono(self.now));
        }
        let outcome = self.look(step.shown);
        self.memory = outcome.memory.clone();
        self.looks.push((self.now, step.shown, self.listed_at));
        outcome
    }

    fn usable(&self) -> Option<String> {
        self.memory.usable().map(|address| address.display().join(","))
    }

    /// For how long all looks up to now have satisfied `what`, without a gap.
    fn held_for(&self, what: impl Fn(Shown) -> bool) -> Duration {
        let run = self.looks.iter().rev().take_while(|(_, shown, _)| what(*shown));
        let since = run.last().map_or(self.now, |(at, _, _)| *at);
        Mono(self.now) - Mono(since)
    }

    /// The complete reads of the run of looks without an address that ends now.
    fn reads_without_address(&self) -> Vec<Mono> {
        let absent = |shown: &Shown| shown.fresh() && shown.good().is_none();
        let run: Vec<_> = self
            .looks
            .iter()
            .rev()
            .take_while(|(_, shown, _)| absent(shown))
            .collect();
        let since = run.last().map_or(Mono(self.now), |(at, _, _)| Mono(*at));
        let mut reads: Vec<_> = run
            .iter()
            .filter_map(|(_, _, read)| *read)
            .filter(|read| *read >= since)
            .collect();
        reads.sort();
        reads.dedup();
        reads
    }
}

fn source() -> Source {
    Source::Service {
        namespace: "shop".into(),
        name: "gateway".into(),
    }
}

/// Judges one step by the history.
fn judge(story: &Story, before: Option<&str>, outcome: &Outcome, step: Step) -> Result<(), TestCaseError> {
    let timings = Timings::default();
    let after = story.usable();
    if !step.shown.fresh() {
        prop_assert_eq!(before, after.as_deref(), "nothing known, yet something changed");
    }
    if let Some(wake) = outcome.wake {
        prop_assert!(wake > Mono(story.now), "a wake that has passed");
    }
    match (before, after.as_deref()) {
        (before, after) if before == after => {}
        (None, Some(new)) => {
            let held = story.held_for(|shown| shown.good() == Some(new));
            prop_assert!(held >= timings.settle, "{new} was used after {held:?}");
        }
        (Some(old), Some(new)) => {
            prop_assert_eq!(step.shown.good(), Some(new));
            let held = story.held_for(|shown| shown.good() == Some(new));
            let asked = if kind(old) == kind(new) {
                Duration::ZERO
            } else {
                timings.kind_change_settle
            };
            prop_assert!(held >= asked, "{new} replaced {old} after {held:?}");
        }
        (Some(old), None) => {
            let reads = story.reads_without_address();
            let certain = reads.iter().find(|read| {
                let first = reads.first().copied().unwrap_or_default();
                **read - first >= timings.absence_reread
            });
            prop_assert!(certain.is_some(), "{old} was given up after the reads {reads:?}");
            let grace = certain.map(|read| Mono(story.now) - *read).unwrap_or_default();
            prop_assert!(
                grace >= timings.absence_grace,
                "{old} was given up {grace:?} after the second read"
            );
        }
        (None, None) => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Safety, in every state of every story; and a look without news changes nothing.
    #[test]
    fn nothing_changes_without_what_the_design_asks_for(steps in steps()) {
        let mut story = Story::default();
        for step in steps {
            let before = story.usable();
            let outcome = story.step(step);
            judge(&story, before.as_deref(), &outcome, step)?;
            prop_assert_eq!(&story.look(step.shown), &Outcome { ..outcome.clone() }, "the same look, another outcome");
        }
    }

    /// Liveness: from any state, what stays as it is comes through, if wakes and reads are served.
    #[test]
    fn what_holds_comes_through(steps in steps(), last in proptest::sample::select(GOOD), absent in any::<bool>()) {
        let mut story = Story::default();
        for step in steps {
            story.step(step);
        }
        let shown = if absent { Shown::Missing } else { Shown::Service(last.0) };
        let began = story.now;
        let mut step = Step { later: 0, shown, read: false };
        for _ in 0..8 {
            let outcome = story.step(step);
            step = match (outcome.wants_read, outcome.wake) {
                (true, _) => Step { later: 1, shown, read: true },
                (false, Some(wake)) => Step { later: wake.0 - story.now, shown, read: false },
                (false, None) => break,
            };
        }
        let took = Mono(story.now) - Mono(began);
        let timings = Timings::default();
        if absent {
            prop_assert_eq!(story.usable(), None);
            let most = timings.absence_reread + timings.absence_grace + Duration::from_millis(2);
            prop_assert!(took <= most, "{:?}", took);
        } else {
            prop_assert_eq!(story.usable(), Some(last.0.to_owned()));
            prop_assert!(took <= timings.kind_change_settle, "{:?}", took);
        }
    }
}
