//! A batch against what is known of the records: whether it fits, and what it makes of them.
//!
//! Invariant: Route 53's lists are read-your-writes, so an accepted batch is applied to the model at once and exactly.

use std::collections::{BTreeMap, BTreeSet};

use crate::effect::Change;
use crate::value::dns_name::RecordName;
use crate::value::record::{RecordSet, SetKey};
use crate::world::zones::Records;

/// Applies the hub's own batch, which Route 53 accepted: the names it changed. A change that does not fit, which Route
/// 53 would not have accepted, is passed over.
pub fn apply(records: &mut Records, changes: &[Change]) -> BTreeSet<RecordName> {
    let mut names: BTreeMap<RecordName, Vec<RecordSet>> = BTreeMap::new();
    for change in changes {
        let name = &change.set().name;
        let sets = names.entry(name.clone()).or_insert_with(|| records.at(name).to_vec());
        match change {
            Change::Create(set) if sets.iter().all(|other| other.key() != set.key()) => sets.push(set.clone()),
            Change::Create(_) => {}
            Change::Delete(owned) => sets.retain(|other| other != owned.get()),
        }
    }
    let changed = |(name, sets): (RecordName, Vec<RecordSet>)| records.set(&name, sets).then_some(name);
    names.into_iter().filter_map(changed).collect()
}

/// Whether the changes fit what is known: each deleted set is there exactly so, each created one is not there or is
/// deleted by the same changes. What does not fit was planned on something older.
pub fn fits(records: &Records, changes: &[Change]) -> bool {
    let deleted: BTreeSet<SetKey> = changes.iter().filter_map(deleted_key).collect();
    changes.iter().all(|change| match change {
        Change::Delete(owned) => records.at(&owned.get().name).contains(owned.get()),
        Change::Create(set) => {
            let there = records.at(&set.name).iter().any(|other| other.key() == set.key());
            !there || deleted.contains(&set.key())
        }
    })
}

fn deleted_key(change: &Change) -> Option<SetKey> {
    match change {
        Change::Delete(owned) => Some(owned.get().key()),
        Change::Create(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ids::HubId;
    use crate::value::owned::Owned;
    use crate::value::ownership::{FenceText, TXT_TTL};
    use crate::value::record::{RecordData, RecordType, Routing};

    fn fence(batch: u64) -> RecordSet {
        let text = FenceText {
            instance: "uid".to_owned(),
            term: 1,
            batch,
        };
        RecordSet {
            name: RecordName::listed("_truce-hub-prod.example.com"),
            record_type: RecordType::Txt,
            routing: Routing::Simple,
            data: RecordData::values(TXT_TTL, [text.write(&hub())]),
            health_check: None,
        }
    }

    fn hub() -> HubId {
        HubId::parse("prod").unwrap()
    }

    fn replace(old: &RecordSet, new: &RecordSet) -> Vec<Change> {
        let owned = Owned::fence(old, &hub()).unwrap();
        vec![Change::Delete(owned), Change::Create(new.clone())]
    }

    #[test]
    fn an_accepted_batch_is_in_the_model_and_counted_once() {
        let mut records = Records::default();
        let names = BTreeSet::from([fence(1).name]);
        assert_eq!(apply(&mut records, &[Change::Create(fence(1))]), names);
        assert_eq!(apply(&mut records, &replace(&fence(1), &fence(2))), names);
        assert_eq!((records.at(&fence(1).name), records.count()), (&[fence(2)][..], 1));
    }

    #[test]
    fn what_was_planned_on_something_older_does_not_fit() {
        let mut records = Records::default();
        apply(&mut records, &[Change::Create(fence(1))]);
        assert!(fits(&records, &replace(&fence(1), &fence(2))));
        assert!(!fits(&records, &replace(&fence(0), &fence(2))), "not as read");
        assert!(!fits(&records, &[Change::Create(fence(2))]), "the key is taken");
    }
}
