//! Hostnames with what they want, a planner for them, and the loop that drives one zone through virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use truce_engine::effect::{Change, ZoneEffect};
use truce_engine::event::{Class, Failure, Outcome};
use truce_engine::pace::budget::Budget;
use truce_engine::plan::unit::{Part, Priority, Unit};
use truce_engine::time::{Mono, Now, Timings, Wall};
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::{ClusterName, HostedZoneId, HostnameKey, HubId, SetIdentifier, ZoneRef};
use truce_engine::value::owned::{HeldClaim, Owned};
use truce_engine::value::ownership::{ClaimText, TXT_TTL};
use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing};
use truce_engine::value::shared_name::SharedName;
use truce_engine::world::zones::{Limits, ZoneSpec};
use truce_engine::zone::runtime::{Step, ZoneNews, ZoneRuntime};

use crate::fake::Fake;

pub(crate) const AUDIT: Duration = Duration::from_secs(300);

pub(crate) fn hub() -> HubId {
    HubId::parse("prod").unwrap()
}

pub(crate) fn spec() -> ZoneSpec {
    ZoneSpec {
        domain: DnsName::parse("example.com").unwrap(),
        hosted_zone: HostedZoneId::parse("Z1").unwrap(),
        account: "111111111111".to_owned(),
        claims: Vec::new(),
        protected: Vec::new(),
        limits: Limits {
            requests_per_second: 5,
            changes_per_second: 100,
            record_sets: 9500,
            audit_interval: AUDIT,
        },
        max_withdraw_percent: 30,
    }
}

pub(crate) fn now(mono: Mono) -> Now {
    Now {
        mono,
        wall: Wall::from_millisecond(1_800_000_000_000 + i64::try_from(mono.0).unwrap()).unwrap(),
    }
}

pub(crate) fn key(host: &str) -> HostnameKey {
    HostnameKey::new("shop", host)
}

pub(crate) fn shared(host: &str) -> SharedName {
    SharedName::new(RecordName::listed(&format!("{host}.example.com"))).unwrap()
}

pub(crate) fn set(name: &RecordName, record_type: RecordType, routing: Routing, value: &str) -> RecordSet {
    RecordSet {
        name: name.clone(),
        record_type,
        routing,
        data: RecordData::values(if record_type == RecordType::Txt { TXT_TTL } else { 60 }, [value]),
        health_check: None,
    }
}

pub(crate) fn claim(host: &str) -> RecordSet {
    let text = ClaimText {
        hub: hub(),
        hostname: key(host),
        simple: std::collections::BTreeSet::new(),
    };
    set(shared(host).claim(), RecordType::Txt, Routing::Simple, &text.write())
}

pub(crate) fn weighted(host: &str, cluster: &str, weight: u8) -> RecordSet {
    let id = SetIdentifier::of_cluster(&hub(), &ClusterName::parse(cluster).unwrap());
    let routing = Routing::Weighted { id, weight };
    set(shared(host).name(), RecordType::A, routing, "203.0.113.1")
}

/// The sets of a hostname with these clusters and weights; without any cluster: nothing, not even the claim.
pub(crate) fn sets(host: &str, clusters: &BTreeMap<&'static str, u8>) -> BTreeSet<RecordSet> {
    let mut sets: BTreeSet<_> = clusters.iter().map(|(name, w)| weighted(host, name, *w)).collect();
    if !sets.is_empty() {
        sets.insert(claim(host));
    }
    sets
}

/// What stands in the zone under a hostname's names, as read.
fn standing(runtime: &ZoneRuntime, host: &str) -> Vec<RecordSet> {
    let shared = shared(host);
    let names = [shared.name().clone(), shared.claim().clone()];
    names
        .iter()
        .flat_map(|name| runtime.records().at(name))
        .cloned()
        .collect()
}

/// One process driving one zone.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) runtime: ZoneRuntime,
    pub(crate) budget: Budget,
    pub(crate) now: Mono,
    pub(crate) wants: BTreeMap<String, BTreeSet<RecordSet>>,
    pub(crate) priority: Priority,
    pub(crate) news: Vec<ZoneNews>,
    /// When calls were made, with the changes in each.
    pub(crate) calls: Vec<(Mono, usize)>,
}

impl World {
    pub(crate) fn new(instance: &str) -> Self {
        Self::with(instance, spec())
    }

    pub(crate) fn with(instance: &str, spec: ZoneSpec) -> Self {
        let limits = spec.limits.clone();
        Self {
            runtime: ZoneRuntime::new(
                ZoneRef::new("example-com"),
                hub(),
                instance.to_owned(),
                spec,
                &Timings::default(),
                Mono(0),
            ),
            budget: Budget::new(limits.requests_per_second, limits.changes_per_second, Mono(0)),
            now: Mono(0),
            wants: BTreeMap::new(),
            priority: Priority::Address,
            news: Vec::new(),
            calls: Vec::new(),
        }
    }

    pub(crate) fn want(&mut self, host: &str, clusters: &[(&'static str, u8)]) {
        let clusters = clusters.iter().copied().collect();
        self.wants.insert(host.to_owned(), sets(host, &clusters));
    }

    /// What a plan would ask for: nothing while something of someone else stands in the way.
    pub(crate) fn plan(&self, host: &str) -> Vec<Unit> {
        let wanted = &self.wants[host];
        let shared = shared(host);
        let there = standing(&self.runtime, host);
        let claim = self.runtime.records().at(shared.claim());
        let held = claim.iter().find_map(|txt| HeldClaim::read(&shared, txt, &hub()));
        let mut changes = Vec::new();
        match held {
            None if !there.is_empty() => return Vec::new(),
            None => {}
            Some(held) => {
                let gone = there.iter().filter(|set| !wanted.contains(*set));
                let owned = gone.filter_map(|set| Owned::under_claim(set, &held));
                changes.extend(owned.map(Change::Delete));
            }
        }
        changes.extend(
            wanted
                .iter()
                .filter(|set| !there.contains(set))
                .cloned()
                .map(Change::Create),
        );
        if changes.is_empty() {
            return Vec::new();
        }
        vec![Unit {
            hostname: key(host),
            part: Part::Shared,
            priority: self.priority,
            changes,
        }]
    }

    pub(crate) fn replan(&mut self) {
        if !self.runtime.ready() {
            return;
        }
        let hosts: Vec<String> = self.wants.keys().cloned().collect();
        for host in hosts {
            let units = self.plan(&host);
            self.runtime.set_units(&key(&host), units);
        }
    }

    pub(crate) fn next(&mut self) -> Step {
        self.replan();
        let step = self.runtime.next(now(self.now), &mut self.budget);
        self.news.extend(self.runtime.news());
        if let Step::Do(effect) = &step {
            let changes = match effect {
                ZoneEffect::Submit { changes, .. } => changes.len(),
                _ => 0,
            };
            self.calls.push((self.now, changes));
        }
        step
    }

    pub(crate) fn done(&mut self, outcome: Outcome) {
        let news = self.runtime.done(outcome, now(self.now));
        self.news.extend(news);
    }

    /// Runs until `end`, each call taking 20 ms.
    pub(crate) fn run(&mut self, fake: &mut Fake, end: Duration) {
        self.run_until(fake, Mono(0) + end, |_, _| false);
    }

    /// Runs until `stop` says so after a call, or `end`.
    pub(crate) fn run_until(&mut self, fake: &mut Fake, end: Mono, stop: impl Fn(&Self, &ZoneEffect) -> bool) {
        while self.now < end {
            match self.next() {
                Step::Do(effect) => {
                    let outcome = fake.answer(&effect, now(self.now).wall);
                    self.now = self.now + Duration::from_millis(20);
                    self.done(outcome);
                    if stop(self, &effect) {
                        return;
                    }
                }
                Step::Wait(until) => {
                    assert!(until.is_none_or(|until| until > self.now), "a wait that is over");
                    self.now = until.unwrap_or(end).min(end);
                }
            }
        }
    }
}

/// The failure of a call whose answer never came.
pub(crate) fn lost() -> Failure {
    Failure {
        class: Class::Retry,
        code: "Timeout".to_owned(),
        message: "no answer in time".to_owned(),
        ambiguous: true,
    }
}

pub(crate) fn throttled() -> Failure {
    Failure {
        class: Class::Throttled,
        code: "Throttling".to_owned(),
        message: "Rate exceeded".to_owned(),
        ambiguous: false,
    }
}
