//! What a zone holds under a cluster name: records with their ownership TXTs, and who may write each pair.
//!
//! Invariant: a record and its TXT are one; a record counts as held only if a TXT proves it. Deliberately absent: what
//! shall be there.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::{PLAIN, TYPES, ownership_txt};
use crate::effect::Change;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::{HostnameKey, HubId};
use crate::value::owned::{Owned, Owner, single_txt};
use crate::value::ownership::OwnershipText;
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
use crate::world::members::Dialect;
use crate::world::zones::Records;

/// A record with its ownership TXT, as they shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The record.
    pub record: RecordSet,
    /// Its ownership TXT.
    pub txt: RecordSet,
}

/// Pairs under one name, by the record's type.
pub type Pairs = BTreeMap<RecordType, Pair>;

/// Who may write a pair, by its TXT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// The hub.
    Hub,
    /// The member's ExternalDNS, for this hostname's DNSEndpoint.
    Member,
}

/// A pair in the zone, or what is left of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Who may write it.
    pub holder: Holder,
    /// The record, if it is there.
    pub record: Option<RecordSet>,
    /// The TXTs that prove it, at least one; two after a member got a `--txt-prefix`.
    pub txts: Vec<RecordSet>,
}

/// Where to look, and whom to look for.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The cluster name.
    pub name: &'a RecordName,
    /// The zone's own name.
    pub zone: &'a DnsName,
    /// How the member names its ownership TXTs.
    pub dialect: &'a Dialect,
    /// The own hub.
    pub hub: &'a HubId,
    /// The GlobalHostname: what the hub holds for another one is as foreign as anybody's.
    pub hostname: &'a HostnameKey,
    /// The name of its DNSEndpoint, which the hub's TXTs name where the member has an ExternalDNS.
    pub endpoint: &'a str,
    /// The member's owner id and this hostname's DNSEndpoint (`crd/<namespace>/<name>`), if it has an ExternalDNS.
    pub member: Option<(&'a str, &'a str)>,
}

/// What the zone holds under a cluster name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Pairs by type.
    pub held: BTreeMap<RecordType, Held>,
    /// Sets that stand in the way and that nobody of ours may write.
    pub strangers: Vec<RecordSet>,
}

impl Place<'_> {
    /// The name of the TXT of a type.
    pub fn txt_name(&self, record_type: RecordType) -> Option<RecordName> {
        self.dialect.txt_name(self.name, record_type, self.zone)
    }

    /// The pairs of these records with ownership TXTs of `owner` and `resource`; `None` if a TXT cannot be named.
    pub fn pairs(&self, records: Vec<RecordSet>, owner: &str, resource: &str) -> Option<Pairs> {
        let pair = |record: RecordSet| {
            let txt = ownership_txt(&self.txt_name(record.record_type)?, owner, resource);
            Some((record.record_type, Pair { record, txt }))
        };
        records.into_iter().map(pair).collect()
    }

    /// Reads what the zone holds. `wanted` are the types that shall be written: what blocks only others is no
    /// stranger.
    pub fn read(&self, records: &Records, wanted: &BTreeSet<RecordType>) -> Holding {
        let at_name = records.at(self.name);
        let mut found = Holding {
            held: BTreeMap::new(),
            strangers: Vec::new(),
        };
        for record_type in TYPES {
            let of_type = at_name.iter().filter(|set| set.record_type == record_type);
            let (simple, mut others): (Vec<_>, Vec<_>) = of_type.partition(|set| is_plain(set));
            let (proofs, at_txt) = self.proofs(records, record_type);
            let holder = proofs.first().map(|(holder, _)| *holder);
            match holder {
                Some(holder) if others.is_empty() => {
                    let held = Held {
                        holder,
                        record: simple.first().map(|set| (*set).clone()),
                        txts: proofs.into_iter().map(|(_, txt)| txt.clone()).collect(),
                    };
                    found.held.insert(record_type, held);
                }
                Some(_) | None => others.extend(simple),
            }
            if wanted.contains(&record_type) {
                others.extend(at_txt);
            }
            found.strangers.extend(others.into_iter().cloned());
        }
        let excludes = |set: &&RecordSet| !TYPES.contains(&set.record_type) && self.excludes(set, wanted);
        found.strangers.extend(at_name.iter().filter(excludes).cloned());
        found.strangers.sort();
        found
    }

    /// A delegation takes the name out of the zone; a CNAME stands beside nothing (RFC 1034, sections 3.6.2 and 4.2.1).
    fn excludes(&self, set: &RecordSet, wanted: &BTreeSet<RecordType>) -> bool {
        set.record_type == RecordType::Ns || wanted.contains(&RecordType::Cname)
    }

    /// The TXTs that prove the pair of a type, and what else stands at the TXT's name and blocks it.
    fn proofs<'r>(
        &self,
        records: &'r Records,
        record_type: RecordType,
    ) -> (Vec<(Holder, &'r RecordSet)>, Vec<&'r RecordSet>) {
        let (mut proofs, mut blocking) = (Vec::new(), Vec::new());
        let Some(name) = self.txt_name(record_type) else {
            return (proofs, blocking);
        };
        for set in records.at(&name) {
            match set.record_type {
                RecordType::Txt => match self.holder(set) {
                    Some(holder) => proofs.push((holder, set)),
                    None => blocking.push(set),
                },
                RecordType::Cname | RecordType::Ns => blocking.push(set),
                _ => {}
            }
        }
        // Written before the member had an ExternalDNS with an affix of its own.
        let other = (*self.dialect != PLAIN).then_some(PLAIN);
        let plain = other.and_then(|plain| plain.txt_name(self.name, record_type, self.zone));
        let plain = plain.filter(|plain| *plain != name);
        let hubs = |set: &&RecordSet| self.holder(set) == Some(Holder::Hub);
        let hub_held = proofs.iter().all(|(holder, _)| *holder == Holder::Hub);
        if let (Some(plain), true) = (plain, hub_held) {
            proofs.extend(records.at(&plain).iter().filter(hubs).map(|set| (Holder::Hub, set)));
        }
        (proofs, blocking)
    }

    fn holder(&self, txt: &RecordSet) -> Option<Holder> {
        let text = single_txt(txt).and_then(OwnershipText::read)?;
        is_plain(txt).then_some(())?;
        if text.owner == self.hub.as_str() {
            return self.is_own(text.resource.as_deref()?).then_some(Holder::Hub);
        }
        let (owner_id, resource) = self.member?;
        let ours = text.owner == owner_id && text.resource.as_deref() == Some(resource);
        ours.then_some(Holder::Member)
    }

    /// Whether the hub's TXT with this resource is for this hostname, written with or without an ExternalDNS in the
    /// member.
    fn is_own(&self, resource: &str) -> bool {
        let endpoint = || resource.strip_prefix("crd/")?.split_once('/').map(|(_, name)| name);
        match resource.strip_prefix("globalhostname/") {
            Some(key) => key.split_once('/') == Some((&*self.hostname.namespace, &*self.hostname.name)),
            None => endpoint() == Some(self.endpoint),
        }
    }

    /// The owner other than the hub whose TXT of a type names this hostname's DNSEndpoint, whichever namespace that is in.
    pub fn owner_before(&self, records: &Records, record_type: RecordType) -> Option<String> {
        let names = [self.dialect, &PLAIN].map(|dialect| dialect.txt_name(self.name, record_type, self.zone));
        let sets = names.iter().flatten().flat_map(|name| records.at(name));
        let mut texts = sets.filter_map(single_txt).filter_map(OwnershipText::read);
        let theirs = |text: &OwnershipText| {
            let resource = text.resource.as_deref().unwrap_or_default();
            text.owner != self.hub.as_str() && resource.starts_with("crd/") && self.is_own(resource)
        };
        texts.find(theirs).map(|text| text.owner)
    }

    /// The owner that an ownership TXT names for a set: its own text, or the TXT of a record under this place's name.
    pub fn owner_of(&self, records: &Records, set: &RecordSet) -> Option<String> {
        let text = |txt: &RecordSet| single_txt(txt).and_then(OwnershipText::read).map(|text| text.owner);
        if set.record_type == RecordType::Txt {
            return text(set);
        }
        let name = self.txt_name(set.record_type)?;
        records.at(&name).iter().find_map(text)
    }

    fn owner(&self, holder: Holder) -> Option<Owner<'_>> {
        match holder {
            Holder::Hub => Some(Owner::Hub(self.hub)),
            Holder::Member => self
                .member
                .map(|(owner_id, resource)| Owner::ReleasedMember { owner_id, resource }),
        }
    }

    /// Deletes what is left of a pair, exactly as read. Of a member's pair only after its release.
    pub fn deletes(&self, held: &Held) -> Vec<Change> {
        let (Some(owner), Some(proof)) = (self.owner(held.holder), held.txts.first()) else {
            return Vec::new();
        };
        let record = held
            .record
            .iter()
            .filter_map(|set| Owned::by_ownership(set, proof, owner));
        let txts = held.txts.iter().filter_map(|txt| Owned::by_ownership(txt, txt, owner));
        record.chain(txts).map(Change::Delete).collect()
    }
}

impl Held {
    /// Whether the zone has exactly this pair.
    pub fn is(&self, pair: &Pair) -> bool {
        self.record.as_ref() == Some(&pair.record) && self.txts == [pair.txt.clone()]
    }
}

impl Pair {
    /// Creates both.
    pub fn creates(&self) -> [Change; 2] {
        [Change::Create(self.record.clone()), Change::Create(self.txt.clone())]
    }
}

impl Holding {
    /// The pairs that `holder` may write.
    pub fn of(&self, holder: Holder) -> impl Iterator<Item = (RecordType, &Held)> {
        self.held
            .iter()
            .filter(move |(_, held)| held.holder == holder)
            .map(|(record_type, held)| (*record_type, held))
    }

    /// Whether `holder` may write any.
    pub fn any(&self, holder: Holder) -> bool {
        self.of(holder).next().is_some()
    }

    /// Whether the zone has exactly these pairs, whoever may write them.
    pub fn is(&self, pairs: &Pairs) -> bool {
        self.held.len() == pairs.len()
            && pairs
                .iter()
                .all(|(record_type, pair)| self.held.get(record_type).is_some_and(|held| held.is(pair)))
    }

    /// What leads from the pairs that the hub may write to `wanted`, both halves of a pair together, so that the
    /// exact deletion of the TXT proves the ownership again when the batch is applied. A pair of the member stays.
    pub fn towards(&self, place: &Place<'_>, wanted: &Pairs) -> Vec<Change> {
        let mut changes = Vec::new();
        for (record_type, held) in self.of(Holder::Hub) {
            if !wanted.get(&record_type).is_some_and(|pair| held.is(pair)) {
                changes.extend(place.deletes(held));
            }
        }
        for (record_type, pair) in wanted {
            if self
                .held
                .get(record_type)
                .is_none_or(|held| held.holder == Holder::Hub && !held.is(pair))
            {
                changes.extend(pair.creates());
            }
        }
        changes
    }
}

/// A set without routing that can be repeated exactly.
fn is_plain(set: &RecordSet) -> bool {
    set.routing == Routing::Simple && set.data != RecordData::Opaque
}
