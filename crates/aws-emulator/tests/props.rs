//! Properties over random sequences of batches: whole or nothing, walks that meet every set once in order, versions
//! that add up to the zone, and an index of aliases that says what the zone says.

#![expect(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use truce_aws_emulator::core::accounts::{Accounts, Caller};
use truce_aws_emulator::core::change::Rules;
use truce_aws_emulator::core::list::Start;
use truce_aws_emulator::core::record::{Key, RecordType};
use truce_aws_emulator::core::service::{NewZone, Service};
use truce_aws_emulator::core::shape::{RawAlias, RawChange, RawGeoLocation, RawGeoproximity, RawSet};

const ZONE: &str = "ZEXAMPLE0001";
const NAMES: [&str; 7] = [
    "example.com",
    "a.example.com",
    "a-b.example.com",
    "x.a.example.com",
    "*.a.example.com",
    "b.example.com",
    "b.example.org",
];
const REGIONS: [&str; 2] = ["us-east-1", "us-west-2"];

/// A change to make; a DELETE takes a set that is there, so that batches are not all refused.
#[derive(Debug, Clone)]
enum Step {
    Create(RawSet),
    Upsert(RawSet),
    Delete(RawSet),
    DeleteNth(usize),
    Swap(usize, RawSet),
}

fn data() -> impl Strategy<Value = (String, Option<Vec<String>>, Option<RawAlias>)> {
    let values = |rtype: &'static str, values: &'static [&'static str]| {
        proptest::sample::subsequence(values, 1..=values.len())
            .prop_map(move |v| (rtype.to_owned(), Some(v.into_iter().map(str::to_owned).collect()), None))
    };
    let alias = (
        prop::sample::select(&["A", "AAAA", "CNAME"][..]),
        prop::sample::select(&NAMES[..]),
    )
        .prop_map(|(rtype, name)| {
            let target = RawAlias {
                hosted_zone_id: ZONE.to_owned(),
                dns_name: name.to_owned(),
                evaluate_target_health: Some(true),
            };
            (rtype.to_owned(), None, Some(target))
        });
    prop_oneof![
        3 => values("A", &["192.0.2.1", "192.0.2.2"]),
        1 => values("AAAA", &["2001:db8::1"]),
        1 => values("CNAME", &["x.example.net"]),
        1 => values("TXT", &["\"one\"", "\"two\""]),
        1 => values("MX", &["10 mail.example.net", "20 Mail.example.net."]),
        3 => alias,
    ]
}

/// The routing fields of a set, without name, type and data.
fn policy() -> impl Strategy<Value = RawSet> {
    let id = || prop::sample::select(&["x", "y"][..]).prop_map(|id| Some(id.to_owned()));
    let weighted = (id(), 0..3i64).prop_map(|(set_identifier, weight)| RawSet {
        set_identifier,
        weight: Some(weight),
        ..RawSet::default()
    });
    let latency = prop::sample::select(&REGIONS[..]).prop_map(|region| RawSet {
        set_identifier: Some(region.to_owned()),
        region: Some(region.to_owned()),
        ..RawSet::default()
    });
    let geolocation = (id(), prop::sample::select(&["*", "DE"][..])).prop_map(|(set_identifier, code)| RawSet {
        set_identifier,
        geo_location: Some(RawGeoLocation {
            country_code: Some(code.to_owned()),
            ..RawGeoLocation::default()
        }),
        ..RawSet::default()
    });
    let geoproximity = (id(), -1..2i64).prop_map(|(set_identifier, bias)| RawSet {
        set_identifier,
        geo_proximity_location: Some(RawGeoproximity {
            aws_region: Some("us-east-1".to_owned()),
            bias: (bias != 0).then_some(bias),
            ..RawGeoproximity::default()
        }),
        ..RawSet::default()
    });
    let multivalue = id().prop_map(|set_identifier| RawSet {
        set_identifier,
        multi_value_answer: Some(true),
        ..RawSet::default()
    });
    prop_oneof![
        4 => Just(RawSet::default()),
        4 => weighted,
        2 => latency,
        1 => geolocation,
        1 => geoproximity,
        1 => multivalue,
    ]
}

fn set() -> impl Strategy<Value = RawSet> {
    (
        prop::sample::select(&NAMES[..]),
        data(),
        policy(),
        prop::sample::select(&[60, 300][..]),
    )
        .prop_map(|(name, (rtype, values, alias_target), policy, ttl)| RawSet {
            name: name.to_owned(),
            rtype,
            ttl: values.is_some().then_some(ttl),
            values,
            alias_target,
            ..policy
        })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => set().prop_map(Step::Create),
        3 => set().prop_map(Step::Upsert),
        1 => set().prop_map(Step::Delete),
        2 => any::<usize>().prop_map(Step::DeleteNth),
        1 => (any::<usize>(), set()).prop_map(|(n, set)| Step::Swap(n, set)),
    ]
}

fn changes(steps: &[Step], sets: &[RawSet]) -> Vec<RawChange> {
    let change = |action: &str, record_set: &RawSet| RawChange {
        action: action.to_owned(),
        record_set: record_set.clone(),
    };
    // The apex's own sets come first in the list; they cannot be deleted.
    let nth = |n: usize| sets.get(2 + n % sets.len().saturating_sub(2).max(1)).or(sets.first());
    let mut out = Vec::new();
    for step in steps {
        match step {
            Step::Create(set) => out.push(change("CREATE", set)),
            Step::Upsert(set) => out.push(change("UPSERT", set)),
            Step::Delete(set) => out.push(change("DELETE", set)),
            Step::DeleteNth(n) => out.extend(nth(*n).map(|set| change("DELETE", set))),
            Step::Swap(n, with) => {
                out.extend(nth(*n).map(|set| change("DELETE", set)));
                out.push(change("CREATE", with));
            }
        }
    }
    out
}

fn service() -> (Service, Caller) {
    let accounts = Accounts::default();
    let caller = accounts.caller("AKIDTEST");
    let mut service = Service::new(accounts, Rules::default());
    let zone = NewZone {
        id: Some(ZONE.to_owned()),
        name: "example.com".to_owned(),
        caller_reference: "test".to_owned(),
        ..NewZone::default()
    };
    service.create_zone(&caller, zone, 0).expect("a new zone");
    (service, caller)
}

fn sets(service: &Service) -> Vec<RawSet> {
    service
        .zone(ZONE)
        .expect("the zone")
        .iter()
        .map(|(_, set)| RawSet::from(&**set))
        .collect()
}

/// Every alias of the zone is in the index under its target, and nothing else is.
fn check_index(service: &Service) {
    let zone = service.zone(ZONE).expect("the zone");
    let mut expected: BTreeMap<(String, RecordType), BTreeSet<Key>> = BTreeMap::new();
    for (key, set) in zone.iter() {
        if let Some(alias) = set.alias() {
            expected
                .entry((alias.name.order(), set.rtype))
                .or_default()
                .insert(key.clone());
        }
    }
    for name in NAMES {
        let order = truce_aws_emulator::core::names::Name::parse(name).expect(name).order();
        for rtype in RecordType::ALL {
            let found: BTreeSet<Key> = zone.referrers(&order, rtype).cloned().collect();
            assert_eq!(
                found,
                expected.get(&(order.clone(), rtype)).cloned().unwrap_or_default()
            );
        }
    }
}

/// A walk with this page size meets every set once, in order.
fn check_walk(service: &Service, caller: &Caller, size: usize) {
    let mut walked = Vec::new();
    let mut start = Start::default();
    loop {
        let page = service.list(caller, ZONE, &start, size).expect("a page");
        assert!(page.sets.len() <= size);
        walked.extend(page.sets.iter().map(|set| RawSet::from(&**set)));
        let Some(next) = page.next else { break };
        start = Start {
            name: Some(next.name().to_string()),
            rtype: Some(next.rtype.to_string()),
            identifier: next.set_id.map(Into::into),
        };
    }
    assert_eq!(walked, sets(service));
}

/// The differences of all versions, one after another, give the zone; so does what is served when all are INSYNC.
fn check_versions(service: &mut Service) {
    let zone = service.zones_mut().next().expect("the zone");
    zone.advance(u64::MAX);
    let mut replayed = BTreeMap::new();
    for version in zone.versions_after(0) {
        for diff in &version.diff {
            assert_eq!(replayed.get(&diff.key), diff.before.as_ref());
            match &diff.after {
                Some(set) => replayed.insert(diff.key.clone(), set.clone()),
                None => replayed.remove(&diff.key),
            };
        }
    }
    let now: BTreeMap<_, _> = zone.iter().map(|(key, set)| (key.clone(), set.clone())).collect();
    assert_eq!(replayed, now);
    for (key, set) in &now {
        assert!(zone.served().group(&key.order, key.rtype).any(|served| served == set));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn batches_are_whole_or_nothing(
        batches in prop::collection::vec(prop::collection::vec(step(), 1..5), 1..20),
        page in 1..8usize,
    ) {
        let (mut service, caller) = service();
        for steps in &batches {
            let before = sets(&service);
            let version = service.zone(ZONE).expect("the zone").version();
            let result = service.change(&caller, ZONE, None, &changes(steps, &before), 0);
            let after = service.zone(ZONE).expect("the zone").version();
            match result {
                Ok((_, made)) => prop_assert_eq!((after, made.number), (version + 1, version + 1)),
                Err(_) => {
                    prop_assert_eq!(after, version);
                    prop_assert_eq!(sets(&service), before);
                }
            }
            check_index(&service);
        }
        check_walk(&service, &caller, page);
        check_versions(&mut service);
    }
}
