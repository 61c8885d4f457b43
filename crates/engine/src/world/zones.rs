//! Facts about zones: the checked spec, and what is known of the records.
//!
//! Invariant: `Records` is what Route 53 said last, name by name, with the hub's own accepted batches applied.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use truce_api::DNSZoneStatus;

use super::hostnames::LabelSelector;
use crate::effect::Change;
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::{HostedZoneId, ZoneRef};
use crate::value::record::{RecordData, RecordSet, SetKey};

/// One DNSZone object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ZoneFacts {
    /// Its name.
    pub name: ZoneRef,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.creationTimestamp`.
    pub created: Wall,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// Whether it carries Truce's finalizer.
    pub finalizer: bool,
    /// `dns.truce.dev/confirm`.
    pub confirm: Option<String>,
    /// `dns.truce.dev/paused: "true"`.
    pub paused: bool,
    /// The spec, or what is wrong with it.
    pub spec: Result<Arc<ZoneSpec>, Vec<Problem>>,
    /// The status as the API server has it.
    pub status: DNSZoneStatus,
}

impl AsRef<ZoneFacts> for ZoneFacts {
    fn as_ref(&self) -> &ZoneFacts {
        self
    }
}

/// A DNSZone's spec, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSpec {
    /// The zone's own name.
    pub domain: DnsName,
    /// The hosted zone.
    pub hosted_zone: HostedZoneId,
    /// The account it must be in.
    pub account: String,
    /// Who may declare which names.
    pub claims: Vec<Claim>,
    /// Names nobody may declare.
    pub protected: Vec<NamePattern>,
    /// Rates and sizes.
    pub limits: Limits,
    /// Percent of the live sets that derived withdrawals may take within the guard's window.
    pub max_withdraw_percent: u8,
}

/// One claim of a DNSZone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Whose.
    pub namespaces: Namespaces,
    /// Which names.
    pub hostnames: Vec<NamePattern>,
    /// Namespaces of sources in members; `None`: the GlobalHostname's own only.
    pub source_namespaces: Option<BTreeSet<String>>,
}

/// Namespaces by name or by labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Namespaces {
    /// By name.
    Names(BTreeSet<String>),
    /// By labels.
    Selector(LabelSelector),
}

/// A name, or `*.` and a name: any number of labels below that, and the wildcard itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamePattern(DnsName);

impl NamePattern {
    /// From the checked name.
    pub fn new(name: DnsName) -> Self {
        Self(name)
    }

    /// Whether it covers `name`.
    pub fn covers(&self, name: &DnsName) -> bool {
        if !self.0.is_wildcard() {
            return self.0 == *name;
        }
        self.0
            .parent()
            .is_some_and(|parent| name.is_within(&parent) && *name != parent)
    }
}

/// Rates per AWS account and sizes of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Requests a second.
    pub requests_per_second: u32,
    /// Record changes a second.
    pub changes_per_second: u32,
    /// Record sets that the zone may hold.
    pub record_sets: u32,
    /// Between two complete reads.
    pub audit_interval: Duration,
}

/// The record sets of a zone, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    by_name: BTreeMap<RecordName, Vec<RecordSet>>,
    count: usize,
    /// Who has aliases to a name: target, then the aliases' names.
    aliases: BTreeMap<DnsName, BTreeSet<RecordName>>,
}

impl Records {
    /// The sets of one name, sorted; none if there are none.
    pub fn at(&self, name: &RecordName) -> &[RecordSet] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Replaces the sets of one name; whether that changed anything.
    pub fn set(&mut self, name: &RecordName, mut sets: Vec<RecordSet>) -> bool {
        sets.sort();
        let before = self.by_name.get(name).map_or(0, Vec::len);
        let changed = self.at(name) != sets.as_slice();
        self.count = self.count - before + sets.len();
        if changed {
            self.index_aliases(name, &sets);
        }
        if sets.is_empty() {
            self.by_name.remove(name);
        } else {
            self.by_name.insert(name.clone(), sets);
        }
        changed
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
        let deleted: BTreeSet<SetKey> = changes.iter().filter_map(deleted_key).collect();
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
        self.by_name.iter().map(|(name, sets)| (name, sets.as_slice()))
    }

    /// The names at or below `name`, in Route 53's order.
    pub fn below<'a>(&'a self, name: &'a RecordName) -> impl Iterator<Item = (&'a RecordName, &'a [RecordSet])> {
        self.by_name
            .range(name.clone()..)
            .take_while(move |(other, _)| other.name().is_within(name.name()))
            .map(|(name, sets)| (name, sets.as_slice()))
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
        self.by_name
            .range(first..)
            .take_while(move |(name, _)| stays(name))
            .map(|(name, sets)| (name, sets.as_slice()))
    }
}

fn deleted_key(change: &Change) -> Option<SetKey> {
    match change {
        Change::Delete(owned) => Some(owned.get().key()),
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
    use crate::value::ids::HubId;
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

    #[test]
    fn aliases_are_found_by_their_target_until_they_go() {
        let zone = HostedZoneId::parse("Z1").unwrap();
        let target = DnsName::parse("_truce-primary.app.example.com").unwrap();
        let alias = RecordSet {
            name: RecordName::listed("app.example.com"),
            record_type: RecordType::A,
            routing: Routing::Simple,
            data: RecordData::Alias {
                zone,
                target: target.clone(),
                evaluate_target_health: true,
            },
            health_check: None,
        };
        let mut records = Records::default();
        records.set(&alias.name, vec![alias.clone()]);
        assert_eq!(records.aliases_to(&target).collect::<Vec<_>>(), [&alias.name]);
        records.set(&alias.name, Vec::new());
        assert_eq!(records.aliases_to(&target).count(), 0);
    }
}
