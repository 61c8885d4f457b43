//! One hosted zone: its record sets, who refers to whom by alias, every version, and the state that DNS serves.
//!
//! Invariant: `sets` is the newest committed version; `served` is the newest version that is INSYNC; each change
//! costs in proportion to itself, never to the zone. Deliberately absent: the rules of a change (`change`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::names::Name;
use super::protections::Protections;
use super::record::{Data, Key, Policy, RecordSet, RecordType};
use super::zones::Vpc;

/// Most versions that a zone remembers; the oldest go first.
pub const HISTORY_LIMIT: usize = 20_000;
/// TTL of the NS set that a new zone has, in seconds.
const APEX_NS_TTL: u32 = 172_800;
/// TTL of the SOA that a new zone has, in seconds.
const APEX_SOA_TTL: u32 = 900;

/// One key before and after a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Key.
    pub key: Key,
    /// What stood there.
    pub before: Option<Arc<RecordSet>>,
    /// What stands there now.
    pub after: Option<Arc<RecordSet>>,
}

/// One committed batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Counts from 1, the zone's creation.
    pub number: u64,
    /// When it was committed, in milliseconds since the epoch.
    pub at_ms: u64,
    /// When it is INSYNC, in milliseconds since the epoch.
    pub insync_at_ms: u64,
    /// Change id.
    pub change_id: String,
    /// Access key of who did it.
    pub access_key: String,
    /// What changed, in key order.
    pub diff: Vec<Diff>,
}

/// A hosted zone.
#[derive(Debug)]
pub struct Zone {
    /// Id, `Z...`.
    pub id: String,
    /// Name.
    pub name: Name,
    /// Account that owns it.
    pub account: String,
    /// Caller reference of its creation.
    pub caller_reference: String,
    /// Comment.
    pub comment: Option<String>,
    /// Whether it is a private zone; private zones are not served over DNS.
    pub private: bool,
    /// The VPC of a private zone.
    pub vpc: Option<Vpc>,
    /// Id of the delegation set that its name servers come from.
    pub delegation_set: Option<String>,
    /// Names of its four name servers, without final dot.
    pub name_servers: Vec<String>,
    /// Names and types that nobody may change.
    pub protections: Protections,
    /// Until when an earlier change keeps it busy, in milliseconds since the epoch.
    pub busy_until_ms: u64,
    sets: BTreeMap<Key, Arc<RecordSet>>,
    referrers: BTreeMap<(Box<str>, RecordType), BTreeSet<Key>>,
    served: BTreeMap<Key, Arc<RecordSet>>,
    pending: VecDeque<Arc<Version>>,
    history: VecDeque<Arc<Version>>,
    version: u64,
}

impl Zone {
    /// An empty zone; [`Zone::apex_sets`] gives what it must be filled with.
    #[must_use]
    pub fn new(id: String, name: Name, account: String, name_servers: Vec<String>) -> Self {
        Self {
            caller_reference: format!("truce-aws-emulator-{id}"),
            id,
            name,
            account,
            comment: None,
            private: false,
            vpc: None,
            delegation_set: None,
            name_servers,
            protections: Protections::default(),
            busy_until_ms: 0,
            sets: BTreeMap::new(),
            referrers: BTreeMap::new(),
            served: BTreeMap::new(),
            pending: VecDeque::new(),
            history: VecDeque::new(),
            version: 0,
        }
    }

    /// The NS and SOA sets that Route 53 gives a new zone.
    #[must_use]
    pub fn apex_sets(&self) -> [RecordSet; 2] {
        let first = self.name_servers.first().map_or("", String::as_str);
        let soa = format!("{first}. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400");
        let ns = self.name_servers.iter().map(|s| format!("{s}.")).collect();
        let set = |rtype, ttl, values| RecordSet {
            name: self.name.clone(),
            rtype,
            set_id: None,
            policy: Policy::Simple,
            data: Data::Records { ttl, values },
            health_check: None,
        };
        [
            set(RecordType::Ns, APEX_NS_TTL, ns),
            set(RecordType::Soa, APEX_SOA_TTL, vec![soa]),
        ]
    }

    /// How many record sets the zone has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether the zone has no record set at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Number of the newest version.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The set under this key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Arc<RecordSet>> {
        self.sets.get(key)
    }

    /// Record sets from this key on, in list order.
    pub fn from_key<'a>(&'a self, start: &Key) -> impl Iterator<Item = (&'a Key, &'a Arc<RecordSet>)> + use<'a> {
        self.sets.range(start.clone()..)
    }

    /// All record sets in list order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Arc<RecordSet>)> {
        self.sets.iter()
    }

    /// The sets of one (name, type).
    pub fn group(&self, order: &str, rtype: RecordType) -> impl Iterator<Item = &Arc<RecordSet>> {
        group_of(&self.sets, order, rtype)
    }

    /// The sets of one name.
    pub fn at_name(&self, order: &str) -> impl Iterator<Item = &Arc<RecordSet>> {
        name_of(&self.sets, order)
    }

    /// Keys of the aliases that target this (name, type).
    pub fn referrers(&self, order: &str, rtype: RecordType) -> impl Iterator<Item = &Key> {
        self.referrers.get(&(order.into(), rtype)).into_iter().flatten()
    }

    /// Puts or removes a set and returns what stood there.
    pub(super) fn put(&mut self, key: Key, set: Option<Arc<RecordSet>>) -> Option<Arc<RecordSet>> {
        if let Some(target) = set.as_deref().and_then(|s| self.own_target(s)) {
            self.referrers.entry(target).or_default().insert(key.clone());
        }
        let (old, same_target) = match &set {
            Some(new) => {
                let old = self.sets.insert(key.clone(), Arc::clone(new));
                let same = old.as_deref().and_then(|o| self.own_target(o)) == self.own_target(new);
                (old, same)
            }
            None => (self.sets.remove(&key), false),
        };
        if !same_target
            && let Some(target) = old.as_deref().and_then(|o| self.own_target(o))
            && let Some(keys) = self.referrers.get_mut(&target)
        {
            keys.remove(&key);
            if keys.is_empty() {
                self.referrers.remove(&target);
            }
        }
        old
    }

    /// What an alias of this zone to a record of this zone targets.
    fn own_target(&self, set: &RecordSet) -> Option<(Box<str>, RecordType)> {
        let alias = set.alias().filter(|a| a.zone_id == self.id)?;
        Some((alias.name.order().into(), set.rtype))
    }

    /// Records a committed batch; it is served from `insync_at_ms` on, never before an earlier one.
    pub(super) fn commit(&mut self, mut version: Version) -> Arc<Version> {
        self.version += 1;
        version.number = self.version;
        if let Some(last) = self.pending.back() {
            version.insync_at_ms = version.insync_at_ms.max(last.insync_at_ms);
        }
        let version = Arc::new(version);
        self.pending.push_back(Arc::clone(&version));
        self.history.push_back(Arc::clone(&version));
        if self.history.len() > HISTORY_LIMIT {
            self.history.pop_front();
        }
        version
    }

    /// Makes every version that is INSYNC by `now_ms` the served one, whole batches only.
    pub fn advance(&mut self, now_ms: u64) {
        while let Some(next) = self.pending.front() {
            if next.insync_at_ms > now_ms {
                break;
            }
            for diff in &next.diff {
                match &diff.after {
                    Some(set) => self.served.insert(diff.key.clone(), Arc::clone(set)),
                    None => self.served.remove(&diff.key),
                };
            }
            self.pending.pop_front();
        }
    }

    /// What DNS answers from; call [`Zone::advance`] first.
    #[must_use]
    pub fn served(&self) -> Served<'_> {
        Served(&self.served)
    }

    /// Remembered versions after `since`, oldest first.
    pub fn versions_after(&self, since: u64) -> impl Iterator<Item = &Arc<Version>> {
        self.history.iter().filter(move |v| v.number > since)
    }
}

/// The INSYNC record sets of a zone.
#[derive(Debug, Clone, Copy)]
pub struct Served<'a>(&'a BTreeMap<Key, Arc<RecordSet>>);

impl<'a> Served<'a> {
    /// Whether nothing is served yet.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The sets of one (name, type).
    pub fn group(self, order: &str, rtype: RecordType) -> impl Iterator<Item = &'a Arc<RecordSet>> + use<'a> {
        group_of(self.0, order, rtype)
    }

    /// Whether the name has any record set.
    #[must_use]
    pub fn has_name(self, order: &str) -> bool {
        name_of(self.0, order).next().is_some()
    }

    /// Whether the name or any name below it has a record set: then it exists (RFC 4592, 2.2.2).
    #[must_use]
    pub fn exists(self, order: &str) -> bool {
        self.0
            .range(first_key(order, RecordType::A)..)
            .next()
            .is_some_and(|(key, _)| key.order.starts_with(order))
    }
}

fn first_key(order: &str, rtype: RecordType) -> Key {
    Key {
        order: order.into(),
        rtype,
        set_id: None,
    }
}

fn group_of<'a>(
    sets: &'a BTreeMap<Key, Arc<RecordSet>>,
    order: &str,
    rtype: RecordType,
) -> impl Iterator<Item = &'a Arc<RecordSet>> + use<'a> {
    let start = first_key(order, rtype);
    let wanted = start.clone();
    sets.range(start..)
        .take_while(move |(key, _)| key.order == wanted.order && key.rtype == rtype)
        .map(|(_, set)| set)
}

fn name_of<'a>(
    sets: &'a BTreeMap<Key, Arc<RecordSet>>,
    order: &str,
) -> impl Iterator<Item = &'a Arc<RecordSet>> + use<'a> {
    let start = first_key(order, RecordType::A);
    let wanted = start.order.clone();
    sets.range(start..)
        .take_while(move |(key, _)| key.order == wanted)
        .map(|(_, set)| set)
}
