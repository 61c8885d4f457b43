//! Laws 2, 7, 9 to 12 of DESIGN.md for one zone under random edits, faults, foreign writers and restarts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use truce_engine::effect::{Change, ZoneEffect};
use truce_engine::event::{Class, Failure, Outcome};
use truce_engine::time::Mono;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::ids::SetIdentifier;
use truce_engine::value::owned::HeldClaim;
use truce_engine::value::record::{RecordSet, RecordType, Routing};
use truce_engine::zone::runtime::{Step, ZoneNews};

use crate::fake::{Fake, Refusal};
use crate::world::{World, hub, lost, now, set, sets, shared, spec, throttled};

const HOSTS: [&str; 5] = ["a", "b", "a-b", "c", "d"];
const CLUSTERS: [&str; 3] = ["east", "north", "west"];
/// Longer than the longest backoff and two audits.
const CALM: Duration = Duration::from_secs(40 * 60);
const QUIET: Duration = Duration::from_secs(20 * 60);
/// Between audits; rarer than by default, so that more runs fit into a minute.
const AUDIT: Duration = Duration::from_secs(15 * 60);

/// What happens to the next call.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The answer is lost; whether Route 53 took the call.
    Lost { taken: bool },
    /// The answer is lost, and the call arrives after so many others.
    Late { after: u8 },
    /// Rate exceeded.
    Throttled,
    /// 503.
    Broken,
}

/// What somebody else does in the zone.
#[derive(Debug, Clone, Copy)]
enum Foreign {
    /// A CNAME where nothing is.
    Cname,
    /// A weighted set beside the hub's.
    Sibling,
    /// Deletes a set of the hub.
    Delete { nth: u8 },
    /// Changes the TTL of a set of the hub.
    Change { nth: u8 },
}

#[derive(Debug, Clone)]
enum Action {
    Edit {
        host: &'static str,
        clusters: BTreeMap<&'static str, u8>,
    },
    Fault(Fault),
    Foreign {
        host: &'static str,
        what: Foreign,
    },
    Protect {
        host: &'static str,
        on: bool,
    },
    /// The process ends with a call in flight, which Route 53 takes after so many calls of the next process, if ever.
    Restart {
        late: Option<u8>,
    },
    Calls(u8),
    Seconds(u16),
}

fn host() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&HOSTS[..])
}

fn action() -> impl Strategy<Value = Action> {
    let fault = prop_oneof![
        any::<bool>().prop_map(|taken| Fault::Lost { taken }),
        (0..12_u8).prop_map(|after| Fault::Late { after }),
        Just(Fault::Throttled),
        Just(Fault::Broken),
    ];
    let foreign = prop_oneof![
        Just(Foreign::Cname),
        Just(Foreign::Sibling),
        (0..8_u8).prop_map(|nth| Foreign::Delete { nth }),
        (0..8_u8).prop_map(|nth| Foreign::Change { nth }),
    ];
    let clusters = prop::collection::btree_map(prop::sample::select(&CLUSTERS[..]), 0..3_u8, 0..=3);
    prop_oneof![
        6 => (host(), clusters).prop_map(|(host, clusters)| Action::Edit { host, clusters }),
        6 => fault.prop_map(Action::Fault),
        3 => (host(), foreign).prop_map(|(host, what)| Action::Foreign { host, what }),
        1 => (host(), any::<bool>()).prop_map(|(host, on)| Action::Protect { host, on }),
        1 => prop::option::of(0..12_u8).prop_map(|late| Action::Restart { late }),
        6 => (0..5_u8).prop_map(Action::Calls),
        2 => (1..400_u16).prop_map(Action::Seconds),
    ]
}

/// The zone, one process, and what is on its way.
struct Run {
    world: World,
    fake: Fake,
    fault: Option<Fault>,
    late: Vec<(u8, Vec<Change>)>,
    /// Sets of others, which must be there at the end.
    foreign: BTreeSet<RecordSet>,
}

fn world() -> World {
    let mut spec = spec();
    spec.limits.audit_interval = AUDIT;
    World::with("uid", spec)
}

impl Run {
    fn new(refusal: Refusal, page: usize) -> Self {
        let mut fake = Fake::new();
        fake.refusal = refusal;
        fake.page = page;
        let bystander = set(
            &RecordName::listed("www.example.com"),
            RecordType::A,
            Routing::Simple,
            "198.51.100.1",
        );
        fake.put(bystander.clone());
        Self {
            world: world(),
            fake,
            fault: None,
            late: Vec::new(),
            foreign: BTreeSet::from([bystander]),
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Edit { host, clusters } => {
                self.world.wants.insert((*host).to_owned(), sets(host, clusters));
            }
            Action::Fault(fault) => self.fault = Some(*fault),
            Action::Foreign { host, what } => self.interfere(host, *what),
            Action::Protect { host, on: true } => {
                self.fake.protected.insert(shared(host).name().clone());
            }
            Action::Protect { host, on: false } => {
                self.fake.protected.remove(shared(host).name());
            }
            Action::Restart { late } => self.restart(*late),
            Action::Calls(calls) => {
                let end = self.world.now + Duration::from_secs(60);
                for _ in 0..*calls {
                    self.step(end);
                }
            }
            Action::Seconds(seconds) => self.until(self.world.now + Duration::from_secs(u64::from(*seconds))),
        }
    }

    fn interfere(&mut self, host: &str, what: Foreign) {
        let name = shared(host).name().clone();
        let mine: Vec<RecordSet> = self
            .fake
            .at(&name)
            .into_iter()
            .filter(|s| !self.foreign.contains(s))
            .collect();
        let nth = |n: u8| mine.get(usize::from(n)).cloned();
        match what {
            Foreign::Cname if self.fake.at(&name).is_empty() && self.fake.at(shared(host).claim()).is_empty() => {
                self.put_foreign(set(&name, RecordType::Cname, Routing::Simple, "x.example.net"));
            }
            Foreign::Sibling if !mine.is_empty() => {
                let id = SetIdentifier::listed("other/x");
                self.put_foreign(set(
                    &name,
                    RecordType::A,
                    Routing::Weighted { id, weight: 1 },
                    "198.51.100.7",
                ));
            }
            Foreign::Cname | Foreign::Sibling => {}
            Foreign::Delete { nth: n } => {
                if let Some(set) = nth(n) {
                    self.fake.sets.remove(&set.key());
                }
            }
            Foreign::Change { nth: n } => {
                if let Some(mut set) = nth(n) {
                    set.health_check = Some("0000".into());
                    self.fake.put(set);
                }
            }
        }
    }

    fn put_foreign(&mut self, set: RecordSet) {
        self.fake.put(set.clone());
        self.foreign.insert(set);
    }

    fn restart(&mut self, late: Option<u8>) {
        if let Step::Do(ZoneEffect::Submit { changes, .. }) = self.world.next()
            && let Some(after) = late
        {
            self.late.push((after, changes));
        }
        self.budget_was_kept();
        let mut next = world();
        next.wants = self.world.wants.clone();
        self.world = next;
    }

    /// One call, or a wait that ends at `end`.
    fn step(&mut self, end: Mono) {
        match self.world.next() {
            Step::Wait(until) => {
                assert!(until.is_none_or(|until| until > self.world.now), "a wait that is over");
                self.world.now = until.unwrap_or(end).min(end).max(self.world.now);
            }
            Step::Do(effect) => {
                let outcome = self.call(&effect);
                self.world.now = self.world.now + Duration::from_millis(20);
                self.world.done(outcome);
                self.arrive();
            }
        }
    }

    fn call(&mut self, effect: &ZoneEffect) -> Outcome {
        if let ZoneEffect::Submit { changes, .. } = effect {
            self.lawful(changes);
        }
        let at = now(self.world.now).wall;
        match self.fault.take() {
            None => self.fake.answer(effect, at),
            Some(Fault::Lost { taken }) => {
                if taken {
                    let _ = self.fake.answer(effect, at);
                }
                Err(lost())
            }
            Some(Fault::Late { after }) => {
                if let ZoneEffect::Submit { changes, .. } = effect {
                    self.late.push((after, changes.clone()));
                }
                Err(lost())
            }
            Some(Fault::Throttled) => Err(throttled()),
            Some(Fault::Broken) => Err(Failure {
                class: Class::Retry,
                code: "ServiceUnavailable".to_owned(),
                message: "503".to_owned(),
                ambiguous: false,
            }),
        }
    }

    /// What was on its way arrives.
    fn arrive(&mut self) {
        let (due, later): (Vec<_>, Vec<_>) = self.late.drain(..).partition(|(after, _)| *after == 0);
        self.late = later.into_iter().map(|(after, changes)| (after - 1, changes)).collect();
        for (_, changes) in due {
            let _ = self.fake.apply(&changes);
        }
    }

    /// Laws 2 and 9 for one batch.
    fn lawful(&self, changes: &[Change]) {
        assert_eq!(
            changes[0].set().name.as_str(),
            "_truce-hub-prod.example.com",
            "the fence comes first"
        );
        let elements: usize = changes.iter().map(|c| c.set().elements()).sum();
        let characters: usize = changes.iter().map(|c| c.set().characters()).sum();
        assert!(elements <= 1000 && characters <= 32_000);
        for change in changes {
            assert!(!self.foreign.contains(change.set()), "{change:?} is someone else's");
        }
    }

    fn until(&mut self, end: Mono) {
        while self.world.now < end {
            self.step(end);
        }
    }

    /// Law 11, over windows of several lengths.
    fn budget_was_kept(&self) {
        let calls = &self.world.calls;
        for (at, (from, _)) in calls.iter().enumerate() {
            for seconds in [1, 10] {
                let inside = calls[at..]
                    .iter()
                    .take_while(|(when, _)| *when - *from < Duration::from_secs(seconds));
                assert!(inside.count() as u64 <= 5 * seconds + 5);
            }
        }
    }

    /// Every hostname is as wanted, or was never the hub's to write.
    fn converged(&self) {
        let model: Vec<_> = self
            .world
            .runtime
            .records()
            .iter()
            .flat_map(|(_, sets)| sets.to_vec())
            .collect();
        let mut zone: Vec<_> = self.fake.sets.values().cloned().collect();
        zone.sort_by(|a, b| (&a.name, a).cmp(&(&b.name, b)));
        assert_eq!(model, zone, "the model is the zone");
        for set in &self.foreign {
            assert_eq!(self.fake.sets.get(&set.key()), Some(set), "someone else's");
        }
        for (host, wanted) in &self.world.wants {
            let shared = shared(host);
            let at = |name: &RecordName| self.fake.at(name).into_iter().filter(|s| !self.foreign.contains(s));
            let own: BTreeSet<_> = at(shared.name()).chain(at(shared.claim())).collect();
            let blocked = self.fake.at(shared.name()).iter().any(|s| self.foreign.contains(s))
                && !self
                    .fake
                    .at(shared.claim())
                    .iter()
                    .any(|t| HeldClaim::read(&shared, t, &hub()).is_some());
            assert!(
                own == *wanted || (blocked && own.is_empty()),
                "{host}: {own:?} for {wanted:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_zone_ends_as_wanted(
        actions in prop::collection::vec(action(), 1..40),
        refusal in prop::sample::select(&[Refusal::Named, Refusal::Silent, Refusal::Denied][..]),
        page in 1..8_usize,
    ) {
        let mut run = Run::new(refusal, page);
        for action in &actions {
            run.act(action);
        }
        run.fault = None;
        run.until(run.world.now + Duration::from_secs(30));
        // A request does not stay on its way for ever.
        while !run.late.is_empty() {
            run.arrive();
        }
        run.fake.protected.clear();
        run.until(run.world.now + CALM);
        run.converged();
        run.budget_was_kept();
        // Law 7: nothing is written any more, and nothing is said.
        let submits = run.fake.submits.len();
        run.world.news.clear();
        run.until(run.world.now + QUIET);
        prop_assert_eq!(run.fake.submits.len(), submits);
        prop_assert_eq!(&run.world.news, &Vec::<ZoneNews>::new());
        prop_assert_eq!(run.world.runtime.problem(), None);
    }
}
