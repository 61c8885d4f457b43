//! A hosted zone as far as these tests need it: atomic batches, exact DELETE, CREATE of what is not there, CNAME alone.

use std::collections::BTreeMap;

use truce_engine::value::record::{RecordSet, RecordType, SetKey};

/// Who sent a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actor {
    Hub,
    Member,
    Somebody,
}

/// One change of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Create(RecordSet),
    Delete(RecordSet),
    Upsert(RecordSet),
}

impl Act {
    pub(crate) fn set(&self) -> &RecordSet {
        let (Self::Create(set) | Self::Delete(set) | Self::Upsert(set)) = self;
        set
    }
}

/// The zone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Zone {
    sets: BTreeMap<SetKey, RecordSet>,
    /// Batches sent, refused ones too, by actor.
    pub(crate) sent: Vec<(Actor, bool)>,
}

impl Zone {
    pub(crate) fn sets(&self) -> impl Iterator<Item = &RecordSet> {
        self.sets.values()
    }

    pub(crate) fn at(&self, name: &str) -> Vec<RecordSet> {
        self.sets().filter(|set| set.name.as_str() == name).cloned().collect()
    }

    pub(crate) fn apply(&mut self, actor: Actor, acts: &[Act]) -> Result<(), String> {
        let result = self.applied(acts);
        self.sent.push((actor, result.is_ok()));
        self.sets = result?;
        Ok(())
    }

    fn applied(&self, acts: &[Act]) -> Result<BTreeMap<SetKey, RecordSet>, String> {
        let mut next = self.sets.clone();
        for act in acts {
            let set = act.set();
            match act {
                Act::Create(_) if next.contains_key(&set.key()) => return Err(format!("exists: {set:?}")),
                Act::Delete(_) => {
                    if next.remove(&set.key()).as_ref() != Some(set) {
                        return Err(format!("not found or differs: {set:?}"));
                    }
                }
                Act::Create(_) | Act::Upsert(_) => {
                    next.insert(set.key(), set.clone());
                }
            }
        }
        for cname in next.values().filter(|set| set.record_type == RecordType::Cname) {
            if next.values().filter(|set| set.name == cname.name).count() > 1 {
                return Err(format!("CNAME beside others: {cname:?}"));
            }
        }
        Ok(next)
    }
}
