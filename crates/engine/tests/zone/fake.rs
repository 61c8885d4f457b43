//! A small Route 53 for one zone: atomic batches in order, exact deletes, read-your-writes lists in pages.
//!
//! Rules from docs/route53.md 1.3 to 1.5 and 4, those that matter to a batch as a whole. The texts are those of 1.7.

use std::collections::{BTreeMap, BTreeSet};

use truce_engine::effect::{Change, ZoneEffect};
use truce_engine::event::{Class, Cursor, Failure, Outcome, Success};
use truce_engine::time::Wall;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::record::{RecordData, RecordSet, RecordType, SetKey};

/// One hosted zone.
#[derive(Debug, Clone)]
pub(crate) struct Fake {
    pub(crate) sets: BTreeMap<SetKey, RecordSet>,
    pub(crate) page: usize,
    /// Names that nobody may write; refused without a name in the text if `silent`.
    pub(crate) protected: BTreeSet<RecordName>,
    /// How a protected name is refused.
    pub(crate) refusal: Refusal,
    pub(crate) account: String,
    pub(crate) private: bool,
    pub(crate) insync: bool,
    /// Every batch that was asked for.
    pub(crate) submits: Vec<Vec<Change>>,
    pub(crate) accepted: usize,
    pub(crate) lists: usize,
    pub(crate) checks: usize,
}

/// How a protected name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// InvalidChangeBatch with the names.
    Named,
    /// InvalidChangeBatch without any.
    Silent,
    /// AccessDenied, which never names a record.
    Denied,
}

impl Fake {
    pub(crate) fn new() -> Self {
        Self {
            sets: BTreeMap::new(),
            page: 300,
            protected: BTreeSet::new(),
            refusal: Refusal::Named,
            account: "111111111111".to_owned(),
            private: false,
            insync: true,
            submits: Vec::new(),
            accepted: 0,
            lists: 0,
            checks: 0,
        }
    }

    pub(crate) fn put(&mut self, set: RecordSet) {
        self.sets.insert(set.key(), set);
    }

    pub(crate) fn at(&self, name: &RecordName) -> Vec<RecordSet> {
        let mut sets: Vec<_> = self.sets.values().filter(|set| set.name == *name).cloned().collect();
        sets.sort();
        sets
    }

    pub(crate) fn answer(&mut self, effect: &ZoneEffect, at: Wall) -> Outcome {
        match effect {
            ZoneEffect::Verify { .. } => Ok(Success::Zone {
                account: self.account.clone(),
                name: "example.com.".to_owned(),
                private: self.private,
                record_sets: self.sets.len() as u64,
            }),
            ZoneEffect::ReadPage { start, .. } => {
                self.lists += 1;
                Ok(self.list(start.as_ref()))
            }
            ZoneEffect::ReadName { name, .. } => {
                self.lists += 1;
                Ok(Success::Name { sets: self.at(name) })
            }
            ZoneEffect::Submit { changes, .. } => {
                self.submits.push(changes.clone());
                self.apply(changes)?;
                Ok(Success::Submitted {
                    change_id: format!("C{}", self.accepted),
                    at,
                })
            }
            ZoneEffect::CheckChange { .. } => {
                self.checks += 1;
                Ok(Success::Change { insync: self.insync })
            }
        }
    }

    fn list(&self, start: Option<&Cursor>) -> Success {
        let from = |key: &SetKey| match start {
            None => true,
            Some(cursor) => {
                let first = (
                    RecordName::listed(&cursor.name),
                    RecordType::parse(&cursor.record_type).unwrap(),
                    cursor.set_identifier.as_deref(),
                );
                (&key.0, key.1, key.2.as_ref().map(|id| id.as_str())) >= (&first.0, first.1, first.2)
            }
        };
        let mut rest = self.sets.iter().filter(|(key, _)| from(key));
        let sets = rest.by_ref().take(self.page).map(|(_, set)| set.clone()).collect();
        let next = rest.next().map(|((name, kind, id), _)| Cursor {
            name: format!("{name}."),
            record_type: kind.to_string(),
            set_identifier: id.as_ref().map(|id| id.as_str().to_owned()),
        });
        Success::Page { sets, next }
    }

    /// All or nothing, in order.
    pub(crate) fn apply(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let mut sets = self.sets.clone();
        let mut errors = Vec::new();
        for change in changes {
            let set = change.set();
            if self.protected.contains(&set.name) {
                errors.push(match self.refusal {
                    Refusal::Named => format!("[name='{}.', type='{}'] is protected", set.name, set.record_type),
                    Refusal::Silent | Refusal::Denied => "a record set is protected".to_owned(),
                });
            } else if let Err(text) = one(&mut sets, change) {
                errors.push(text);
            }
        }
        if !errors.is_empty() {
            let denied = self.refusal == Refusal::Denied && errors.iter().any(|e| e.contains("protected"));
            return Err(Failure {
                class: if denied { Class::Denied } else { Class::Conflict },
                code: if denied { "AccessDenied" } else { "InvalidChangeBatch" }.to_owned(),
                message: format!("[{}]", errors.join(", ")),
                ambiguous: false,
            });
        }
        self.sets = sets;
        self.accepted += 1;
        Ok(())
    }
}

fn one(sets: &mut BTreeMap<SetKey, RecordSet>, change: &Change) -> Result<(), String> {
    let set = change.set();
    let called = format!("resource record set [name='{}.', type='{}']", set.name, set.record_type);
    match change {
        Change::Delete(owned) => match sets.get(&set.key()) {
            None => Err(format!("Tried to delete {called} but it was not found")),
            Some(there) if there != owned.get() => Err(format!(
                "Tried to delete {called} but the values provided do not match the current values"
            )),
            Some(_) => {
                sets.remove(&set.key());
                Ok(())
            }
        },
        Change::Create(set) => {
            let mut same_name = sets.values().filter(|other| other.name == set.name);
            let cname = |other: &RecordSet| other.record_type == RecordType::Cname;
            if sets.contains_key(&set.key()) {
                return Err(format!("Tried to create {called} but it already exists"));
            }
            if same_name.any(|other| cname(other) != cname(set)) {
                return Err(format!(
                    "RRSet of type {} with DNS name {}. is not permitted because a conflicting RRSet of type CNAME \
                     with the same DNS name already exists in zone example.com.",
                    set.record_type, set.name
                ));
            }
            let mixed = |other: &RecordSet| {
                other.name == set.name
                    && other.record_type == set.record_type
                    && std::mem::discriminant(&other.routing) != std::mem::discriminant(&set.routing)
            };
            if sets.values().any(mixed) {
                return Err(format!(
                    "RRSet with DNS name {}., type {} cannot be created as other RRSets exist with the same name and \
                     type.",
                    set.name, set.record_type
                ));
            }
            if let RecordData::Alias { target, .. } = &set.data {
                let there = |other: &RecordSet| other.name.name() == target && other.record_type == set.record_type;
                let load_balancer = target.as_str().ends_with(".amazonaws.com");
                if !load_balancer && !sets.values().any(there) {
                    return Err(format!(
                        "Tried to create an alias that targets {target}., type {} in zone Z1, but that target was not \
                         found",
                        set.record_type
                    ));
                }
            }
            sets.insert(set.key(), set.clone());
            Ok(())
        }
    }
}
