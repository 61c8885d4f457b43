//! What must be true of every version of the zone and of every batch, told from the zone and the hub's objects alone.
//!
//! Deliberately absent: any use of the engine's plans or rules; only its types of records and texts are used.

use std::collections::{BTreeMap, BTreeSet};

use truce_engine::Engine;
use truce_engine::effect::Change;
use truce_engine::time::Now;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::ownership::{ClaimText, OwnershipText};
use truce_engine::value::record::{FailoverRole, RecordData, RecordSet, RecordType, Routing, SetKey};
use truce_engine::value::shared_name::SharedName;

use crate::sim::{ObjectKey, Objects, Observer, txt_name};

type Sets = BTreeMap<SetKey, RecordSet>;

const FAMILIES: [RecordType; 2] = [RecordType::A, RecordType::Aaaa];
const ADDRESSES: [RecordType; 3] = [RecordType::A, RecordType::Aaaa, RecordType::Cname];

/// What other people have in the zone, and what may be lost; shared between the world and its observer.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Sets of somebody else: never changed by anyone but the test.
    pub(crate) foreign: Sets,
    /// Families that an address lost, so that a name may lose them.
    pub(crate) lost: BTreeSet<RecordType>,
    /// What was found.
    pub(crate) faults: Vec<String>,
}

/// The observer.
pub(crate) struct Oracle {
    facts: std::rc::Rc<std::cell::RefCell<Facts>>,
    shared: Vec<SharedName>,
    before: Sets,
    /// Hostnames that have been live, with the families that they have answered in by A or AAAA.
    had: BTreeMap<ObjectKey, BTreeSet<RecordType>>,
    incremental: bool,
    asked: usize,
}

/// Law 13 is looked at every so many times that the engine is asked, which takes most of the time.
const INCREMENTAL_EVERY: usize = 3;

impl Oracle {
    /// `incremental`: whether law 13 is looked at.
    pub(crate) fn new(facts: std::rc::Rc<std::cell::RefCell<Facts>>, names: &[&str], incremental: bool) -> Self {
        let shared = |name: &&str| SharedName::new(RecordName::listed(name)).unwrap();
        Self {
            facts,
            shared: names.iter().map(shared).collect(),
            before: Sets::new(),
            had: BTreeMap::new(),
            incremental,
            asked: 0,
        }
    }

    fn fault(&self, text: String) {
        self.facts.borrow_mut().faults.push(text);
    }

    fn is_foreign(&self, set: &RecordSet) -> bool {
        self.facts.borrow().foreign.contains_key(&set.key())
    }

    /// Law 2: every set of somebody else is there, as it was.
    fn bystanders(&self, sets: &Sets) {
        let changed: Vec<SetKey> = {
            let facts = self.facts.borrow();
            let changed = facts.foreign.iter().filter(|(key, set)| sets.get(key) != Some(set));
            changed.map(|(key, _)| key.clone()).collect()
        };
        for key in changed {
            self.fault(format!("law 2: somebody else's {key:?} is {:?}", sets.get(&key)));
        }
    }

    /// Law 4 and Route 53's rules: one policy, no group of zeros, no alias to nothing, one set a region and role.
    fn groups(&self, sets: &Sets) {
        let mut groups: BTreeMap<(&RecordName, RecordType), Vec<&RecordSet>> = BTreeMap::new();
        for set in sets.values() {
            groups.entry((&set.name, set.record_type)).or_default().push(set);
        }
        for ((name, record_type), group) in &groups {
            let own: Vec<&&RecordSet> = group.iter().filter(|set| !self.is_foreign(set)).collect();
            let policies: BTreeSet<u8> = group.iter().map(|set| policy(set)).collect();
            if policies.len() > 1 {
                self.fault(format!("law 4: two policies at {name} {record_type}"));
            }
            let zero = |set: &&&RecordSet| matches!(set.routing, Routing::Weighted { weight: 0, .. });
            if !own.is_empty() && own.iter().all(zero) {
                self.fault(format!("law 4: only weights 0 at {name} {record_type}"));
            }
            let mut places = BTreeSet::new();
            for set in &own {
                let place = match &set.routing {
                    Routing::Latency { region, .. } => region.to_string(),
                    Routing::Failover { role, .. } => format!("{role:?}"),
                    Routing::Simple | Routing::Weighted { .. } | Routing::Foreign { .. } => continue,
                };
                if !places.insert(place.clone()) {
                    self.fault(format!("two sets for {place} at {name} {record_type}"));
                }
            }
            let roles =
                |role| move |set: &&&RecordSet| matches!(&set.routing, Routing::Failover { role: r, .. } if *r == role);
            if own.iter().any(roles(FailoverRole::Secondary)) && !own.iter().any(roles(FailoverRole::Primary)) {
                self.fault(format!("SECONDARY without PRIMARY at {name} {record_type}"));
            }
            for set in &own {
                if !resolves(sets, set, 0) {
                    self.fault(format!("law 4: {name} {record_type} points to nothing: {set:?}"));
                }
            }
        }
    }

    /// Laws 3 and 4 of each claimed name: it answers in what it has answered in; no placeholder beside or after.
    fn hostnames(&mut self, sets: &Sets, objects: &Objects, who: &str) {
        let mut claimed = BTreeMap::new();
        for shared in self.shared.clone() {
            let claim = sets
                .values()
                .find(|set| set.name == *shared.claim() && !self.is_foreign(set));
            let text = claim.and_then(|set| ClaimText::read(value(set)?));
            if let Some(text) = text {
                let key = (
                    "GlobalHostname".to_owned(),
                    text.hostname.namespace.to_string(),
                    text.hostname.name.to_string(),
                );
                if claimed.insert(key, shared.clone()).is_some() {
                    self.fault(format!("{} claims two names", text.hostname));
                }
            } else if sets
                .values()
                .any(|set| shared.covers(&set.name) && ours(set) && !self.is_foreign(set))
            {
                let other = self.shared.iter().any(|s| {
                    *s != shared && sets.values().any(|set| set.name == *s.claim()) && s.name() == shared.name()
                });
                if !other && !self.is_cluster_name(sets, shared.name()) {
                    self.fault(format!("sets of {} without its claim", shared.name()));
                }
            }
        }
        for (key, had) in std::mem::take(&mut self.had) {
            let gone = objects
                .get(&key)
                .is_none_or(|object| !object["metadata"]["deletionTimestamp"].is_null());
            if gone {
                continue;
            }
            if !claimed.contains_key(&key) {
                self.fault(format!("law 4: {key:?} lost its claim by {who}"));
            }
            self.had.insert(key, had);
        }
        for (key, shared) in &claimed {
            self.answers(key, shared, sets, objects, who);
        }
    }

    fn is_cluster_name(&self, sets: &Sets, name: &RecordName) -> bool {
        ADDRESSES
            .iter()
            .any(|t| sets.values().any(|set| set.name == txt_name(name, *t)))
    }

    fn answers(&mut self, key: &ObjectKey, shared: &SharedName, sets: &Sets, objects: &Objects, who: &str) {
        let own: Vec<&RecordSet> = sets
            .values()
            .filter(|set| set.name == *shared.name() && ADDRESSES.contains(&set.record_type) && !self.is_foreign(set))
            .collect();
        let placeholder = |set: &&&RecordSet| value(set) == Some("192.0.2.1");
        let placeholders = own.iter().filter(placeholder).count();
        let deleting = objects
            .get(key)
            .is_none_or(|object| !object["metadata"]["deletionTimestamp"].is_null());
        if placeholders > 0 && own.len() > placeholders {
            self.fault(format!("law 3: 192.0.2.1 beside a live set of {key:?} by {who}"));
        }
        if deleting {
            return;
        }
        let had = self.had.get(key).cloned();
        if placeholders > 0 {
            if had.is_some() {
                self.fault(format!("law 3: 192.0.2.1 under {key:?} after a live set, by {who}"));
            }
            return;
        }
        if own.is_empty() && had.is_none() {
            return;
        }
        let answers: BTreeSet<RecordType> = FAMILIES
            .into_iter()
            .filter(|family| {
                own.iter()
                    .any(|set| set.record_type == *family && resolves(sets, set, 0))
            })
            .collect();
        let mut had = had.unwrap_or_default();
        if own.iter().any(|set| set.record_type == RecordType::Cname) {
            // In which families a CNAME answers is known only as far as it leads to addresses of the zone.
            let behind = |family: &RecordType| own.iter().any(|set| cname_leads_to(sets, set, *family));
            had.retain(behind);
        } else {
            if answers.is_empty() {
                self.fault(format!("law 3: {key:?} answers no more, by {who}: {own:?}"));
            }
            let failover = own.iter().any(|set| matches!(set.routing, Routing::Failover { .. }));
            let may_go = |family: &RecordType| failover || self.facts.borrow().lost.contains(family);
            had.retain(|family| answers.contains(family) || !may_go(family));
            for family in had.difference(&answers) {
                self.fault(format!("law 3: {key:?} answers no more in {family}, by {who}"));
            }
            had.extend(answers);
        }
        self.had.insert(key.clone(), had);
    }

    /// Section 3: a cluster name and its ownership TXT are never without each other.
    fn pairs(&self, sets: &Sets) {
        let at = |name: &RecordName, record_type| {
            let key: SetKey = (name.clone(), record_type, None);
            sets.get(&key).filter(|set| !self.is_foreign(set))
        };
        for set in sets.values().filter(|set| !self.is_foreign(set)) {
            let covered = self.shared.iter().any(|shared| {
                shared.covers(&set.name)
                    && sets
                        .values()
                        .any(|s| s.name == *shared.claim() && value(s).and_then(ClaimText::read).is_some())
            });
            if ADDRESSES.contains(&set.record_type) && !covered {
                let txt = txt_name(&set.name, set.record_type);
                if at(&txt, RecordType::Txt).is_none() {
                    self.fault(format!("half a pair: {} {} without {txt}", set.name, set.record_type));
                }
            }
            if set.record_type == RecordType::Txt && value(set).and_then(OwnershipText::read).is_some() {
                let found = ADDRESSES.into_iter().any(|record_type| {
                    let front = format!("{}-", record_type.as_str().to_lowercase());
                    let name = set.name.as_str().strip_prefix(&front);
                    name.is_some_and(|name| at(&RecordName::listed(name), record_type).is_some())
                });
                if !found {
                    self.fault(format!("half a pair: {} without its record", set.name));
                }
            }
        }
    }

    /// Law 1: members write their cluster names only; the hub nothing that a member owns before and after.
    fn writers(&self, who: &str, sets: &Sets) {
        let keys: BTreeSet<&SetKey> = sets.keys().chain(self.before.keys()).collect();
        let owner = |sets: &Sets, name: &RecordName, record_type| {
            let txt: SetKey = (txt_name(name, record_type), RecordType::Txt, None);
            sets.get(&txt)
                .and_then(|set| OwnershipText::read(value(set)?))
                .map(|text| text.owner)
        };
        for key in keys {
            if sets.get(key) == self.before.get(key) || !ADDRESSES.contains(&key.1) {
                continue;
            }
            let (was, is) = (owner(&self.before, &key.0, key.1), owner(sets, &key.0, key.1));
            let own = format!("ed-{who}");
            let foreign = self.facts.borrow().foreign.contains_key(key);
            let wrong = match who {
                _ if foreign || who == "somebody" => false,
                "hub" => was.is_some() && was == is && was.as_deref() != Some("demo"),
                _ => was.as_ref() != Some(&own) && is.as_ref() != Some(&own),
            };
            if wrong {
                self.fault(format!("law 1: {who} wrote {key:?}, owned by {was:?}, then {is:?}"));
            }
        }
    }
}

impl Observer for Oracle {
    fn asked(&mut self, engine: &Engine, now: Now) {
        self.asked += 1;
        if self.incremental && self.asked.is_multiple_of(INCREMENTAL_EVERY) {
            for fault in crate::laws::incremental_is_full(engine, now) {
                self.fault(fault);
            }
        }
    }

    /// Law 9.
    fn batch(&mut self, changes: &[Change]) {
        let elements: usize = changes.iter().map(|change| change.set().elements()).sum();
        let characters: usize = changes.iter().map(|change| change.set().characters()).sum();
        if elements > 1_000 || characters > 32_000 {
            self.fault(format!(
                "law 9: a batch of {elements} elements, {characters} characters"
            ));
        }
        let fence = |change: &Change| change.set().name.as_str().starts_with("_truce-hub-demo.");
        if !changes.first().is_some_and(fence) {
            self.fault("a batch that does not begin with the fence".to_owned());
        }
        let place = |name: &str, record_type, create| {
            let hit = |change: &Change| {
                let set = change.set();
                matches!(change, Change::Create(_)) == create
                    && set.name.as_str() == name
                    && set.record_type == record_type
            };
            changes.iter().position(hit)
        };
        for (at, change) in changes.iter().enumerate() {
            let set = change.set();
            let RecordData::Alias { target, .. } = &set.data else {
                continue;
            };
            let create = matches!(change, Change::Create(_));
            let Some(target) = place(target.as_str(), set.record_type, create) else {
                continue;
            };
            if (create && target > at) || (!create && target < at) {
                self.fault(format!("law 9: {} and its target are in the wrong order", set.name));
            }
        }
    }

    fn version(&mut self, who: &str, sets: &Sets, objects: &Objects, _now: Now) {
        self.bystanders(sets);
        self.groups(sets);
        self.hostnames(sets, objects, who);
        self.pairs(sets);
        self.writers(who, sets);
        self.before = sets.clone();
    }
}

/// Whether a CNAME leads to addresses of a family in the zone.
fn cname_leads_to(sets: &Sets, cname: &RecordSet, family: RecordType) -> bool {
    let target = value(cname).unwrap_or_default().trim_end_matches('.');
    sets.values()
        .any(|set| set.name.as_str() == target && set.record_type == family)
}

fn value(set: &RecordSet) -> Option<&str> {
    match &set.data {
        RecordData::Values { values, .. } => values.first().map(AsRef::as_ref),
        RecordData::Alias { .. } | RecordData::Opaque => None,
    }
}

fn ours(set: &RecordSet) -> bool {
    ADDRESSES.contains(&set.record_type)
}

fn policy(set: &RecordSet) -> u8 {
    match &set.routing {
        Routing::Simple => 0,
        Routing::Weighted { .. } => 1,
        Routing::Latency { .. } => 2,
        Routing::Failover { .. } => 3,
        Routing::Foreign { .. } => 4,
    }
}

/// Whether a set leads to an answer: values do, an alias or CNAME into the zone if something of weight is there.
fn resolves(sets: &Sets, set: &RecordSet, depth: u8) -> bool {
    let leads = |name: &str, types: &[RecordType]| {
        let there = sets
            .values()
            .filter(|other| other.name.as_str() == name && types.contains(&other.record_type));
        let weighs = |other: &&RecordSet| !matches!(other.routing, Routing::Weighted { weight: 0, .. });
        there.filter(weighs).any(|other| resolves(sets, other, depth + 1))
    };
    let inside = |name: &str| name.ends_with("example.com");
    match &set.data {
        _ if depth > 3 => false,
        RecordData::Alias { target, .. } if inside(target.as_str()) => leads(target.as_str(), &[set.record_type]),
        RecordData::Values { values, .. } if set.record_type == RecordType::Cname => {
            let target = values.first().map_or("", AsRef::as_ref).trim_end_matches('.');
            !inside(target) || leads(target, &ADDRESSES)
        }
        RecordData::Values { .. } | RecordData::Alias { .. } | RecordData::Opaque => true,
    }
}
