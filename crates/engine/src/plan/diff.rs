//! Wanted against read, for a shared name: changes with their preconditions.
//!
//! Invariant: every deletion is of an owned set exactly as read; whatever stands in the way without being owned is
//! named, and then nothing is changed. Deliberately absent: order and limits (`zone/`).

use std::collections::BTreeMap;

use crate::effect::Change;
use crate::value::dns_name::RecordName;
use crate::value::ids::{HostnameKey, HubId};
use crate::value::owned::{HeldClaim, Owned, digest, is_placeholder, single_txt};
use crate::value::ownership::{ClaimText, TXT_TTL};
use crate::value::record::{RecordData, RecordSet, RecordType, Routing, SetKey};
use crate::value::shared_name::SharedName;
use crate::world::zones::Records;

/// What the zone has under a shared name.
#[derive(Debug, Clone)]
pub struct Present {
    /// The claim, if it is ours.
    pub claim: Option<HeldClaim>,
    /// Our sets under shared name and groups, without the claim.
    pub owned: Vec<Owned<RecordSet>>,
    /// Sets of others under these names.
    pub foreign: Vec<RecordSet>,
}

/// The claim of a shared name, if this hub holds it for a hostname.
pub fn claim(records: &Records, shared: &SharedName, hub: &HubId, hostname: &HostnameKey) -> Option<HeldClaim> {
    let sets = records.at(shared.claim());
    let claim = sets.iter().find_map(|set| HeldClaim::read(shared, set, hub));
    claim.filter(|claim| claim.text().hostname == *hostname)
}

/// Reads what is present under a shared name, by the claim of this hub for a hostname.
pub fn present(records: &Records, shared: &SharedName, hub: &HubId, hostname: &HostnameKey) -> Present {
    let claim = claim(records, shared, hub, hostname);
    let mut found = Present {
        claim,
        owned: Vec::new(),
        foreign: Vec::new(),
    };
    for (name, sets) in names(records, shared) {
        for set in sets {
            let is_claim = name == shared.claim();
            match found.claim.as_ref().and_then(|claim| Owned::under_claim(set, claim)) {
                Some(_) if is_claim => {}
                Some(owned) => found.owned.push(owned),
                None => found.foreign.push(set.clone()),
            }
        }
    }
    found
}

/// The names of the zone that belong to the shared name, with their sets.
fn names<'a>(records: &'a Records, shared: &'a SharedName) -> Vec<(&'a RecordName, &'a [RecordSet])> {
    let own = records.at(shared.name());
    let mut found = if own.is_empty() {
        Vec::new()
    } else {
        vec![(shared.name(), own)]
    };
    let groups = records.beside(shared.claim());
    found.extend(groups.filter(|(name, _)| shared.covers(name) && *name != shared.name()));
    found
}

/// What stands in the way of `wanted`: a foreign set under a claim's or group's name, one of a wanted type under a
/// wanted name, or a CNAME, which excludes every other type (RFC 1034, section 3.6.2).
pub fn in_the_way<'a>(found: &'a Present, shared: &SharedName, wanted: &[RecordSet]) -> Vec<&'a RecordSet> {
    let blocks = |set: &&RecordSet| {
        if set.name != *shared.name() {
            return true;
        }
        let at_name = || wanted.iter().filter(|w| w.name == set.name);
        let cname = |t: RecordType| t == RecordType::Cname;
        // A claim makes simple sets ours; one that was there before it never is.
        let addresses = matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname);
        if found.claim.is_none() && addresses && set.routing == Routing::Simple {
            return true;
        }
        at_name().any(|w| w.record_type == set.record_type || cname(w.record_type) || cname(set.record_type))
    };
    found.foreign.iter().filter(blocks).collect()
}

/// The changes from what is present to what is wanted; `confirmed` are foreign sets that a person agreed to replace.
pub fn changes(
    found: &Present,
    confirmed: Vec<Owned<RecordSet>>,
    claim: Option<RecordSet>,
    wanted: &[RecordSet],
    records: &Records,
) -> Vec<Change> {
    let mut want: BTreeMap<SetKey, &RecordSet> = wanted.iter().map(|set| (set.key(), set)).collect();
    let mut changes: Vec<Change> = Vec::new();
    let rewritten = policy_switches(found, wanted);
    for owned in &found.owned {
        let set = owned.get();
        let same = want.get(&set.key()).is_some_and(|w| *w == set);
        if same && !rewritten.contains(&(set.name.clone(), set.record_type)) {
            want.remove(&set.key());
        } else {
            changes.push(Change::Delete(owned.clone()));
        }
    }
    changes.extend(confirmed.into_iter().map(Change::Delete));
    changes.extend(want.into_values().cloned().map(Change::Create));
    referrers(found, records, &mut changes);
    claim_change(found, claim, records, &mut changes);
    changes
}

/// Aliases of ours whose whole target group is replaced are replaced too: Route 53 may refuse to delete a set that an
/// alias still points to, even if the batch creates it again (facts on Route 53, section 2: not settled).
fn referrers(found: &Present, records: &Records, changes: &mut Vec<Change>) {
    let mut more = Vec::new();
    for set in records.referrers(changes) {
        let owned = found.owned.iter().find(|owned| *owned.get() == set);
        let deleted = changes
            .iter()
            .any(|change| matches!(change, Change::Delete(other) if *other.get() == set));
        if let (Some(owned), false) = (owned, deleted) {
            more.extend([Change::Delete(owned.clone()), Change::Create(set.clone())]);
        }
    }
    changes.extend(more);
}

/// Groups whose policy or TTL changes: Route 53 takes such a change only if every set of the group is deleted and
/// created in one batch (API reference, ResourceRecordSet: one policy, and one TTL of weighted sets, per name and type).
fn policy_switches(found: &Present, wanted: &[RecordSet]) -> Vec<(RecordName, RecordType)> {
    let kind = |set: &RecordSet| {
        let ttl = match &set.data {
            RecordData::Values { ttl, .. } => Some(*ttl),
            RecordData::Alias { .. } | RecordData::Opaque => None,
        };
        (std::mem::discriminant(&set.routing), ttl)
    };
    let differs = |set: &RecordSet| {
        let same_group = |w: &&RecordSet| w.name == set.name && w.record_type == set.record_type;
        wanted.iter().filter(same_group).any(|w| {
            let ((policy, ttl), (wanted_policy, wanted_ttl)) = (kind(set), kind(w));
            policy != wanted_policy || ttl.zip(wanted_ttl).is_some_and(|(a, b)| a != b)
        })
    };
    let sets = found.owned.iter().map(Owned::get);
    sets.filter(|set| differs(set))
        .map(|set| (set.name.clone(), set.record_type))
        .collect()
}

/// The claim is created with the first set, deleted with the last, and replaced with the sets of simple routing.
fn claim_change(found: &Present, claim: Option<RecordSet>, records: &Records, changes: &mut Vec<Change>) {
    let held = found.claim.as_ref();
    let says = |claim: &RecordSet| single_txt(claim).and_then(ClaimText::read);
    if let (Some(held), Some(claim)) = (held, &claim)
        && says(claim).as_ref() == Some(held.text())
    {
        return;
    }
    if let Some(held) = held {
        let sets = records.at(held.shared().claim()).iter();
        changes.extend(sets.filter_map(|set| Owned::under_claim(set, held)).map(Change::Delete));
    }
    changes.extend(claim.map(Change::Create));
}

/// The claim TXT of a hostname with these sets.
pub fn claim_set(shared: &SharedName, hub: &HubId, hostname: &HostnameKey, sets: &[RecordSet]) -> RecordSet {
    let simple = sets
        .iter()
        .filter(|set| set.name == *shared.name() && set.routing == Routing::Simple && !is_placeholder(set));
    let text = ClaimText {
        hub: hub.clone(),
        hostname: hostname.clone(),
        simple: simple.map(digest).collect(),
    };
    RecordSet {
        name: shared.claim().clone(),
        record_type: RecordType::Txt,
        routing: Routing::Simple,
        data: RecordData::values(TXT_TTL, [text.write()]),
        health_check: None,
    }
}

/// A set in words, for a message: type, name, and what it answers.
pub fn describe(set: &RecordSet) -> String {
    let answer = match &set.data {
        RecordData::Values { values, .. } => values.join(" "),
        RecordData::Alias { target, .. } => format!("alias to {target}"),
        RecordData::Opaque => "a traffic policy".to_owned(),
    };
    let id = set.routing.id().map(|id| format!(" [{id}]")).unwrap_or_default();
    format!("{} {}{id} {answer}", set.name, set.record_type)
}
