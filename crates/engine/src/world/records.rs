//! The record sets of a zone, name by name.
//!
//! Invariant: `Records` is what Route 53 said last, with the hub's own accepted batches applied. Deliberately absent:
//! what to read and when (`zone/`).

use std::collections::{BTreeMap, BTreeSet};

use crate::effect::Change;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::record::{RecordData, RecordSet, SetKey};

/// The record sets of a zone, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// In the order of the names. A list, since it is looked up all the time and changed rarely: half the comparisons of
    /// a tree, and no room to spare in its nodes.
    by_name: Vec<(RecordName, Box<[RecordSet]>)>,
    count: usize,
    /// Who has aliases to a name: target, then the aliases' names.
    aliases: BTreeMap<DnsName, BTreeSet<RecordName>>,
}

impl Records {
    /// The sets of one name, sorted; none if there are none.
    pub fn at(&self, name: &RecordName) -> &[RecordSet] {
        self.find(name).map_or(&[], |at| &self.by_name[at].1)
    }

    /// The same name; where the records have it, in their text, so that it takes no room of its own.
    pub fn share(&self, name: RecordName) -> RecordName {
        self.find(&name).map_or(name, |at| self.by_name[at].0.clone())
    }

    fn find(&self, name: &RecordName) -> Result<usize, usize> {
        self.by_name.binary_search_by(|(other, _)| other.cmp(name))
    }

    fn onwards(&self, name: &RecordName) -> impl Iterator<Item = (&RecordName, &[RecordSet])> + use<'_> {
        let first = self.find(name).unwrap_or_else(|at| at);
        self.by_name[first..].iter().map(|(name, sets)| (name, sets.as_ref()))
    }

    /// Replaces the sets of one name; whether that changed anything.
    pub fn set(&mut self, name: &RecordName, mut sets: Vec<RecordSet>) -> bool {
        sets.sort();
        let before = self.at(name);
        if before == sets.as_slice() {
            return false;
        }
        self.count = self.count - before.len() + sets.len();
        self.index_aliases(name, &sets);
        // One text for all of them: a zone has tens of thousands of names.
        sets.iter_mut().for_each(|set| set.name = name.clone());
        match self.find(name) {
            Ok(at) if sets.is_empty() => drop(self.by_name.remove(at)),
            Ok(at) => self.by_name[at] = (name.clone(), sets.into()),
            Err(at) => self.by_name.insert(at, (name.clone(), sets.into())),
        }
        true
    }

    /// The hub's own batch, which Route 53 accepted (its lists are read-your-writes): the names it changed. A change
    /// that does not fit, which Route 53 would not have accepted, is passed over.
    pub fn apply(&mut self, changes: &[Change]) -> BTreeSet<RecordName> {
        let mut names: BTreeMap<RecordName, Vec<RecordSet>> = BTreeMap::new();
        for change in changes {
            let set = change.set();
            let sets = names
                .entry(set.name.clone())
                .or_insert_with(|| self.at(&set.name).to_vec());
            match change {
                Change::Create(set) if sets.iter().all(|other| other.key() != set.key()) => sets.push(set.clone()),
                Change::Create(_) => {}
                Change::Delete(owned) => sets.retain(|other| other != owned.get()),
            }
        }
        let changed = |(name, sets): (RecordName, Vec<RecordSet>)| self.set(&name, sets).then_some(name);
        names.into_iter().filter_map(changed).collect()
    }

    /// Whether the changes fit what is known: each deleted set is there exactly so, each created one is not there or
    /// is deleted by the same changes. What does not fit was planned on something older.
    pub fn fits(&self, changes: &[Change]) -> bool {
        let deleted: BTreeSet<SetKey> = changes.iter().filter_map(deleted_set).map(RecordSet::key).collect();
        changes.iter().all(|change| match change {
            Change::Delete(owned) => self.at(&owned.get().name).contains(owned.get()),
            Change::Create(set) => {
                let free = self.at(&set.name).iter().all(|other| other.key() != set.key());
                free || deleted.contains(&set.key())
            }
        })
    }

    /// The names that hold an alias to `target`.
    pub fn aliases_to(&self, target: &DnsName) -> impl Iterator<Item = &RecordName> {
        self.aliases.get(target).into_iter().flatten()
    }

    /// The aliases that stand in the zone, are not deleted by `changes`, and whose target group (name and type) loses
    /// all the sets that it has now: while the batch is applied they would point at nothing. A unit deletes them too
    /// and creates them again; their order is then `zone/order.rs`'s. Includes aliases to those aliases.
    pub fn referrers(&self, changes: &[Change]) -> BTreeSet<RecordSet> {
        let mut deleted: BTreeSet<RecordSet> = changes.iter().filter_map(deleted_set).cloned().collect();
        let mut found = BTreeSet::new();
        let mut frontier: Vec<RecordSet> = deleted.iter().cloned().collect();
        while let Some(set) = frontier.pop() {
            let mut group = self.at(&set.name).iter().filter(|s| s.record_type == set.record_type);
            if !group.all(|s| deleted.contains(s)) {
                continue;
            }
            let names = self.aliases_to(set.name.name());
            let same_type = names
                .flat_map(|name| self.at(name))
                .filter(|a| a.record_type == set.record_type);
            for alias in same_type.filter(|alias| alias_target(alias) == Some(set.name.name())) {
                if deleted.insert(alias.clone()) {
                    found.insert(alias.clone());
                    frontier.push(alias.clone());
                }
            }
        }
        found
    }

    fn index_aliases(&mut self, name: &RecordName, sets: &[RecordSet]) {
        let old: Vec<DnsName> = self.at(name).iter().filter_map(alias_target).cloned().collect();
        for target in old {
            if let Some(names) = self.aliases.get_mut(&target) {
                names.remove(name);
                if names.is_empty() {
                    self.aliases.remove(&target);
                }
            }
        }
        for target in sets.iter().filter_map(alias_target) {
            self.aliases.entry(target.clone()).or_default().insert(name.clone());
        }
    }

    /// How many sets there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// All names with their sets, in Route 53's order.
    pub fn iter(&self) -> impl Iterator<Item = (&RecordName, &[RecordSet])> {
        self.by_name.iter().map(|(name, sets)| (name, sets.as_ref()))
    }

    /// The names at or below `name`, in Route 53's order.
    pub fn below<'a>(&'a self, name: &'a RecordName) -> impl Iterator<Item = (&'a RecordName, &'a [RecordSet])> {
        self.onwards(name)
            .take_while(move |(other, _)| other.name().is_within(name.name()))
    }

    /// The names beside `claim` whose label continues its own, and the claim itself, in Route 53's order.
    pub fn beside<'a>(&'a self, claim: &'a RecordName) -> impl Iterator<Item = (&'a RecordName, &'a [RecordSet])> {
        let label = claim.name().first_label();
        let parent = claim.as_str().split_once('.').map_or("", |(_, parent)| parent);
        // '-' sorts before the dot that ends a label, so the continued labels come before the claim itself.
        let first = RecordName::listed(&format!("{label}-.{parent}"));
        let stays = move |name: &RecordName| {
            let front = name
                .as_str()
                .strip_suffix(parent)
                .and_then(|front| front.strip_suffix('.'));
            front.is_some_and(|front| front.rsplit('.').next().is_some_and(|l| l.starts_with(label)))
        };
        self.onwards(&first).take_while(move |(name, _)| stays(name))
    }
}

fn deleted_set(change: &Change) -> Option<&RecordSet> {
    match change {
        Change::Delete(owned) => Some(owned.get()),
        Change::Create(_) => None,
    }
}

fn alias_target(set: &RecordSet) -> Option<&DnsName> {
    match &set.data {
        RecordData::Alias { target, .. } => Some(target),
        RecordData::Values { .. } | RecordData::Opaque => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ids::{HostedZoneId, HubId};
    use crate::value::owned::Owned;
    use crate::value::ownership::{FenceText, TXT_TTL};
    use crate::value::record::{RecordType, Routing};

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
        let name = fence(1).name;
        assert_eq!(
            records.apply(&[Change::Create(fence(1))]),
            BTreeSet::from([name.clone()])
        );
        assert_eq!(
            records.apply(&replace(&fence(1), &fence(2))),
            BTreeSet::from([name.clone()])
        );
        assert_eq!((records.at(&name), records.count()), (&[fence(2)][..], 1));
    }

    #[test]
    fn what_was_planned_on_something_older_does_not_fit() {
        let mut records = Records::default();
        records.apply(&[Change::Create(fence(1))]);
        assert!(records.fits(&replace(&fence(1), &fence(2))));
        assert!(!records.fits(&replace(&fence(0), &fence(2))), "not as read");
        assert!(!records.fits(&[Change::Create(fence(2))]), "the key is taken");
    }

    fn set(name: &str, record_type: RecordType, data: RecordData) -> RecordSet {
        RecordSet {
            name: RecordName::listed(name),
            record_type,
            routing: Routing::Simple,
            data,
            health_check: None,
        }
    }

    fn alias(name: &str, target: &str) -> RecordSet {
        let data = RecordData::Alias {
            zone: HostedZoneId::parse("Z1").unwrap(),
            target: DnsName::parse(target).unwrap(),
            evaluate_target_health: true,
        };
        set(name, RecordType::A, data)
    }

    fn delete(set: &RecordSet) -> Change {
        Change::Delete(Owned::confirmed(set, "hash", "hash").unwrap())
    }

    #[test]
    fn aliases_are_found_by_their_target_until_they_go() {
        let alias = alias("app.example.com", "_truce-primary.app.example.com");
        let target = DnsName::parse("_truce-primary.app.example.com").unwrap();
        let mut records = Records::default();
        records.set(&alias.name, vec![alias.clone()]);
        assert_eq!(records.aliases_to(&target).collect::<Vec<_>>(), [&alias.name]);
        records.set(&alias.name, Vec::new());
        assert_eq!(records.aliases_to(&target).count(), 0);
    }

    #[test]
    fn an_alias_to_a_group_that_is_deleted_whole_is_a_referrer_through_all_levels() {
        let v4 = |name: &str| set(name, RecordType::A, RecordData::values(60, ["203.0.113.1"]));
        let root = alias("app.example.com", "_truce-primary.app.example.com");
        let middle = alias("_truce-primary.app.example.com", "_truce-primary-x.app.example.com");
        let leaf = v4("_truce-primary-x.app.example.com");
        let other = v4("_truce-primary-y.app.example.com");
        let mut records = Records::default();
        for set in [&root, &middle, &leaf, &other] {
            records.set(&set.name, vec![set.clone()]);
        }
        let both = BTreeSet::from([middle.clone(), root.clone()]);
        let changes = [delete(&leaf), Change::Create(leaf.clone())];
        assert_eq!(records.referrers(&changes), both);
        assert_eq!(records.referrers(&[delete(&other)]), BTreeSet::new());
        let whole = [delete(&leaf), delete(&middle), delete(&root)];
        assert_eq!(records.referrers(&whole), BTreeSet::new());
        let v6 = set(
            leaf.name.as_str(),
            RecordType::Aaaa,
            RecordData::values(60, ["2001:db8::1"]),
        );
        records.set(&leaf.name, vec![leaf.clone(), v6.clone()]);
        assert_eq!(
            records.referrers(&changes),
            both,
            "an AAAA does not hold an alias of type A"
        );
        assert_eq!(records.referrers(&[delete(&v6)]), BTreeSet::new());
    }
}
