//! Property tests of `rule/holder.rs`: however hostnames come, change and go, the holder of a name is the one that the
//! rule names over all of them at once (laws 8 and 13).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use truce_engine::rule::holder::{Reservations, Wishes};
use truce_engine::time::Wall;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::ids::HostnameKey;

const NAMES: usize = 6;

fn name(at: usize) -> RecordName {
    RecordName::listed(&format!("n{at}.example.com"))
}

fn key(at: usize) -> HostnameKey {
    HostnameKey::new(if at.is_multiple_of(2) { "shop" } else { "web" }, &format!("h{at}"))
}

/// One hostname comes, changes or goes (`None`).
type Change = (usize, Option<Wishes>);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let names = proptest::collection::btree_map((0..NAMES).prop_map(name), any::<bool>(), 0..4);
    let wishes = (0..4_i64, names).prop_map(|(created, names)| Wishes {
        created: Wall::from_second(created).unwrap_or_default(),
        names,
    });
    proptest::collection::vec((0..6_usize, proptest::option::weighted(0.8, wishes)), 0..24)
}

/// The rule as DESIGN.md, section 1, says it, over all hostnames at once.
fn holder(all: &BTreeMap<HostnameKey, Wishes>, name: &RecordName) -> Option<HostnameKey> {
    let mut wanting: Vec<_> = all
        .iter()
        .filter(|(_, wishes)| wishes.names.contains_key(name))
        .collect();
    let holds = |wishes: &Wishes| wishes.names.get(name) == Some(&true);
    if wanting.iter().any(|(_, wishes)| holds(wishes)) {
        wanting.retain(|(_, wishes)| holds(wishes));
    }
    wanting.sort_by(|(a, x), (b, y)| (x.created, &a.namespace, &a.name).cmp(&(y.created, &b.namespace, &b.name)));
    wanting.first().map(|(key, _)| (*key).clone())
}

fn standing(all: &Reservations, key: &HostnameKey) -> Vec<(String, HostnameKey)> {
    let lost = all.lost(key).into_iter();
    lost.map(|(name, holder)| (name.to_string(), holder.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_holder_is_the_one_that_the_rule_names(changes in changes()) {
        let mut index = Reservations::default();
        let mut all = BTreeMap::new();
        for (at, wishes) in changes {
            let before: BTreeMap<_, _> = all.keys().map(|key: &HostnameKey| (key.clone(), standing(&index, key))).collect();
            let touched = index.replace(&key(at), wishes.clone());
            match wishes {
                Some(wishes) => all.insert(key(at), wishes),
                None => all.remove(&key(at)),
            };
            for at in 0..NAMES {
                prop_assert_eq!(index.holder(&name(at)).cloned(), holder(&all, &name(at)));
            }
            // Whoever's standing changed was named, so that it is planned anew.
            for (other, before) in before {
                let changed = standing(&index, &other) != before;
                prop_assert!(!changed || other == key(at) || touched.contains(&other), "{} was not named", other);
            }
        }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(changes in changes()) {
        let last: BTreeMap<_, _> = changes.iter().cloned().collect();
        let mut story = Reservations::default();
        for (at, wishes) in changes {
            story.replace(&key(at), wishes);
        }
        let mut at_once = Reservations::default();
        for (at, wishes) in last.into_iter().rev() {
            at_once.replace(&key(at), wishes);
        }
        prop_assert_eq!(story, at_once);
    }

    /// Among hostnames that hold nothing yet, at least one has all its names: nobody waits for each other in a ring.
    #[test]
    fn somebody_always_goes_on(changes in changes()) {
        let mut index = Reservations::default();
        let mut there = BTreeSet::new();
        for (at, wishes) in changes {
            let fresh = wishes.map(|wishes| Wishes {
                names: wishes.names.into_keys().map(|name| (name, false)).collect(),
                ..wishes
            });
            if fresh.is_some() { there.insert(key(at)) } else { there.remove(&key(at)) };
            index.replace(&key(at), fresh);
        }
        prop_assert!(there.is_empty() || there.iter().any(|key| index.lost(key).is_empty()));
    }
}
