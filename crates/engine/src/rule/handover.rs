//! A cluster name that is wanted: the hub makes it exist, offers it to the member, and hands it over.
//!
//! Invariant: no ownership TXT names a member before it has read the DNSEndpoint for it; no DNSEndpoint names what is
//! not in the zone with the same content; 192.0.2.1 never replaces an address. Once a member holds a pair, the hub
//! writes the DNSEndpoint only (DESIGN.md, section 3). Deliberately absent: taking it back (`rule/release.rs`).

use std::collections::BTreeSet;

use truce_api::{Adoption, Reason};

use super::cluster_name::{Work, Writer};
use super::pairs::{Holder, Holding, Pairs};
use super::publishing::{awaits_observation, awaits_publication, observed};
use super::{endpoint, release};
use crate::effect::{Change, MemberEffect};
use crate::event::{DnsEndpointSeen, Endpoint};
use crate::reason::Problem;
use crate::value::address::{Address, PLACEHOLDER};
use crate::value::dns_name::RecordName;
use crate::value::owned::{Owned, is_placeholder, is_replaceable};
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
use crate::world::members::{ExternalDns, ExternalDnsPolicy};

/// How many sets in the way a message names; a group of another policy may have a hundred.
const SHOWN: usize = 3;

/// What is wanted of one name, and what is there.
struct Wanted<'w> {
    name: &'w RecordName,
    /// `spec.endpoints` for the address, if one is known.
    content: Option<Vec<Endpoint>>,
    /// The pairs as the hub writes them; `None`: what is there stays.
    pairs: Option<Pairs>,
    holding: Holding,
}

/// The next step for a wanted name. `free`: the DNSEndpoint is not needed for another name's release.
pub(super) fn name(work: &mut Work<'_>, name: &RecordName, free: bool) {
    if let Some(problem) = too_long(work, name) {
        work.out.problems.push(problem);
        return;
    }
    let wanted = wanted(work, name);
    if wanted.holding.any(Holder::Member) {
        work.out.adoption = Some(Adoption::Adopted);
        if free {
            adopted(work, &wanted);
        }
        return;
    }
    let Some(mut changes) = way_is_free(work, &wanted.holding) else {
        work.out.adoption = wanted.holding.any(Holder::Hub).then_some(Adoption::Hub);
        return;
    };
    let object = if free { work.endpoint().flatten() } else { None };
    let seen = work.input.endpoint.value().copied().flatten();
    let offered = free && seen.is_some_and(|object| !object.endpoints.is_empty());
    work.out.adoption = Some(if offered { Adoption::Offered } else { Adoption::Hub });
    if let Some(object) = object.filter(|object| object.deleting) {
        deleted_by_somebody(work, object);
        release::object(work, name, object, wanted.pairs.as_ref());
        return;
    }
    if let (Some(object), Some(external_dns)) = (object, work.external_dns())
        && !object.endpoints.is_empty()
        && object.observed_generation.is_some()
        && !wanted.holding.any(Holder::Hub)
    {
        members_own(work, &wanted, external_dns, object);
        return;
    }
    let handed = object.and_then(|object| handed_over(work, &wanted, object));
    if let Some(pairs) = handed.as_ref().or(wanted.pairs.as_ref()) {
        changes.extend(wanted.holding.towards(&work.place(name), pairs));
    }
    if changes.is_empty() && free {
        offer(work, &wanted);
    }
    if wanted.holding.held.is_empty() && changes.is_empty() {
        work.out.adoption = None;
    }
    work.out.changes.extend(if work.out.changes.is_empty() {
        changes
    } else {
        Vec::new()
    });
}

/// A name whose ownership TXT could not be written is not written at all.
fn too_long(work: &Work<'_>, name: &RecordName) -> Option<Problem> {
    let input = work.input;
    let place = work.place(name);
    let cname = matches!(input.address, Some(Address::Name(_)));
    let limit = place.dialect.label_limit(cname);
    let label = name.name().first_label();
    let worst = if cname { RecordType::Cname } else { RecordType::Aaaa };
    if label.len() > limit {
        return Some(Problem::new(
            Reason::LabelTooLong,
            format!(
                "the first label of {name} has {} characters; at most {limit} leave room for its ownership TXT: shorten \
                 hostname, cluster name or clusterHostname",
                label.len()
            ),
        ));
    }
    if place.txt_name(worst).is_none() {
        let message = format!("the ownership TXT of {name} would be too long or outside the zone; shorten the name");
        return Some(Problem::new(Reason::LabelTooLong, message));
    }
    work.external_dns()
        .and_then(|external_dns| work.resource_problem(external_dns))
}

fn wanted<'w>(work: &Work<'_>, name: &'w RecordName) -> Wanted<'w> {
    let input = work.input;
    let place = work.place(name);
    let content = input
        .address
        .map(|address| endpoint::content(name, address, input.ttl, input.evaluate_target_health));
    let offered = || Some(work.endpoint().flatten()?.endpoints.as_slice());
    let types: BTreeSet<RecordType> = match content.as_deref().or_else(offered) {
        Some(endpoints) if !endpoints.is_empty() => {
            let types = endpoints.iter().map(|e| RecordType::parse(&e.record_type));
            types.flatten().collect()
        }
        _ => BTreeSet::from([RecordType::A]),
    };
    let holding = place.read(input.records, &types);
    let hubs = |records| place.pairs(records, input.hub.as_str(), work.resource());
    let live = holding
        .held
        .values()
        .filter_map(|held| held.record.as_ref())
        .any(|record| !is_placeholder(record));
    let pairs = match &content {
        Some(endpoints) => endpoint::records(name, endpoints).and_then(hubs),
        None if live => None,
        None if input.placeholder => hubs(vec![placeholder(name, input.ttl)]),
        None => Some(Pairs::new()),
    };
    Wanted {
        name,
        content,
        pairs,
        holding,
    }
}

fn placeholder(name: &RecordName, ttl: u32) -> RecordSet {
    RecordSet {
        name: name.clone(),
        record_type: RecordType::A,
        routing: Routing::Simple,
        data: RecordData::values(ttl, [PLACEHOLDER.to_string()]),
        health_check: None,
    }
}

/// What must be deleted first because a person agreed; `None` if something stands in the way, which is named.
fn way_is_free(work: &mut Work<'_>, holding: &Holding) -> Option<Vec<Change>> {
    let strangers = &holding.strangers;
    if strangers.is_empty() {
        return Some(Vec::new());
    }
    let what = format!("{strangers:?}");
    let writable = strangers.iter().all(is_replaceable);
    let confirm = work.input.confirm;
    if let (Some(word), true) = (confirm.word, writable) {
        let hash = confirm.hash(&what);
        let confirmed = strangers.iter().map(|set| Owned::confirmed(set, word, &hash));
        if let Some(sets) = confirmed.collect::<Option<Vec<_>>>() {
            work.out.confirmed = true;
            return Some(sets.into_iter().map(Change::Delete).collect());
        }
    }
    let mut shown: Vec<String> = strangers.iter().take(SHOWN).map(|set| stranger(work, set)).collect();
    if strangers.len() > SHOWN {
        shown.push(format!("{} more", strangers.len() - SHOWN));
    }
    let way_out = if writable {
        format!("Delete it, or let Truce replace it: {}", confirm.command(&what))
    } else {
        "Truce cannot replace it exactly: delete it".to_owned()
    };
    let message = format!("in the way of the cluster name: {}. {way_out}", shown.join("; "));
    work.problem(Reason::RecordConflict, message);
    None
}

/// Name, type, value and owner of a set in the way.
fn stranger(work: &Work<'_>, set: &RecordSet) -> String {
    let value = match &set.data {
        RecordData::Values { values, .. } => values.iter().take(3).map(AsRef::as_ref).collect::<Vec<_>>().join(" "),
        RecordData::Alias { target, .. } => format!("ALIAS {target}"),
        RecordData::Opaque => "a traffic policy".to_owned(),
    };
    let owner = work.place(&set.name).owner_of(work.input.records, set);
    let owner = owner.map_or_else(String::new, |owner| format!(" (owner {owner:?})"));
    let mut value = value;
    if value.chars().count() > 120 {
        value = value.chars().take(120).chain("...".chars()).collect();
    }
    format!("{} {} {value}{owner}", set.name, set.record_type)
}

/// The pairs as the member shall have them, if this is the moment: it has read what is wanted, and the hub holds the
/// name.
fn handed_over(work: &Work<'_>, wanted: &Wanted<'_>, object: &DnsEndpointSeen) -> Option<Pairs> {
    let external_dns = work.external_dns()?;
    let as_wanted = match &wanted.content {
        Some(content) => endpoint::same(content, &object.endpoints),
        None => !object.endpoints.is_empty(),
    };
    let ready =
        as_wanted && observed(object) && object.finalizer && !object.deleting && wanted.holding.any(Holder::Hub);
    ready.then_some(())?;
    member_pairs(work, wanted.name, external_dns, object)
}

/// What the member makes of its DNSEndpoint.
fn member_pairs(
    work: &Work<'_>,
    name: &RecordName,
    external_dns: &ExternalDns,
    object: &DnsEndpointSeen,
) -> Option<Pairs> {
    let records = endpoint::records(name, &object.endpoints)?;
    work.place(name).pairs(records, &external_dns.owner_id, work.resource())
}

/// The zone is as the hub wants it: the DNSEndpoint is offered, and waits to be read.
fn offer(work: &mut Work<'_>, wanted: &Wanted<'_>) {
    let external_dns = match work.input.writer {
        Writer::Hub => return release::stray_object(work),
        Writer::Member(external_dns) => external_dns,
    };
    let same = wanted.pairs.as_ref().is_some_and(|pairs| wanted.holding.is(pairs));
    let Some(content) = wanted.content.as_ref().filter(|_| same) else {
        return;
    };
    match work.endpoint() {
        None => {}
        Some(Some(object)) if is_as_wanted(work, wanted.name, external_dns, content, object) => {
            if !observed(object) {
                awaits_observation(work, external_dns, object);
            }
            release::fence_goes(work);
        }
        Some(_) => apply(work, wanted.name, external_dns, content),
    }
}

fn is_as_wanted(
    work: &Work<'_>,
    name: &RecordName,
    external_dns: &ExternalDns,
    content: &[Endpoint],
    object: &DnsEndpointSeen,
) -> bool {
    endpoint::same(content, &object.endpoints) && work.identity(external_dns).is_on(object, name)
}

fn apply(work: &mut Work<'_>, name: &RecordName, external_dns: &ExternalDns, content: &[Endpoint]) {
    let object = work.identity(external_dns).apply(name, content.to_vec(), false);
    work.out.endpoint = Some(MemberEffect::ApplyEndpoint(object));
}

/// The member has read the DNSEndpoint and nothing is in the zone: it creates the name itself. If the hub did, a
/// member that drops what it reads (a filter) and the hub would go on for ever.
fn members_own(work: &mut Work<'_>, wanted: &Wanted<'_>, external_dns: &ExternalDns, object: &DnsEndpointSeen) {
    if let Some(content) = &wanted.content
        && !is_as_wanted(work, wanted.name, external_dns, content, object)
    {
        return apply(work, wanted.name, external_dns, content);
    }
    if awaits_publication(work, external_dns, wanted.name, &BTreeSet::from([wanted.name.clone()])) {
        work.out.adoption = Some(Adoption::NotPublishing);
    }
}

/// The member holds the name: the hub writes its DNSEndpoint and watches.
fn adopted(work: &mut Work<'_>, wanted: &Wanted<'_>) {
    let confirmed = way_is_free(work, &wanted.holding).unwrap_or_default();
    work.out.changes.extend(confirmed);
    let Some(external_dns) = work.external_dns() else {
        return;
    };
    let object = match work.endpoint() {
        None => return,
        Some(object) => object,
    };
    let Some(object) = object else {
        gone_by_somebody(work);
        if let Some(content) = &wanted.content {
            apply(work, wanted.name, external_dns, content);
        }
        return;
    };
    if object.deleting {
        deleted_by_somebody(work, object);
        release::object(work, wanted.name, object, wanted.pairs.as_ref());
        return;
    }
    if needs_release(wanted, external_dns) {
        release::retire(work, wanted.name, wanted.pairs.as_ref());
        return;
    }
    match &wanted.content {
        Some(content) if !is_as_wanted(work, wanted.name, external_dns, content, object) => {
            return apply(work, wanted.name, external_dns, content);
        }
        None if object.endpoints.is_empty() => return,
        _ => {}
    }
    if !observed(object) {
        return awaits_observation(work, external_dns, object);
    }
    publishes(work, wanted, external_dns, object);
}

/// Whether the zone is as the member's DNSEndpoint says; what is still the hub's of it goes over.
fn publishes(work: &mut Work<'_>, wanted: &Wanted<'_>, external_dns: &ExternalDns, object: &DnsEndpointSeen) {
    let Some(pairs) = member_pairs(work, wanted.name, external_dns, object) else {
        return;
    };
    if wanted.holding.is(&pairs) {
        return release::fence_goes(work);
    }
    let place = work.place(wanted.name);
    let changes = if wanted.holding.any(Holder::Hub) {
        wanted.holding.towards(&place, &pairs)
    } else {
        Vec::new()
    };
    let mut names = BTreeSet::from([wanted.name.clone()]);
    let differs = |t: &RecordType| {
        !wanted
            .holding
            .held
            .get(t)
            .is_some_and(|held| pairs.get(t).is_some_and(|p| held.is(p)))
    };
    let types = pairs.keys().chain(wanted.holding.held.keys());
    names.extend(types.filter(|t| differs(t)).filter_map(|t| place.txt_name(*t)));
    work.out.changes.extend(changes);
    if awaits_publication(work, external_dns, wanted.name, &names) {
        work.out.adoption = Some(Adoption::NotPublishing);
    }
}

/// What upsert-only cannot do: take a type away (facts of ExternalDNS, 4.1: A or AAAA to CNAME or back, a family that
/// goes).
fn needs_release(wanted: &Wanted<'_>, external_dns: &ExternalDns) -> bool {
    let Some(pairs) = wanted.pairs.as_ref().filter(|_| wanted.content.is_some()) else {
        return false;
    };
    let goes = |(record_type, _): (RecordType, _)| !pairs.contains_key(&record_type);
    external_dns.policy == ExternalDnsPolicy::UpsertOnly && wanted.holding.of(Holder::Member).any(goes)
}

fn deleted_by_somebody(work: &mut Work<'_>, object: &DnsEndpointSeen) {
    let message = format!(
        "somebody deleted DNSEndpoint {}/{} in cluster {}; the name is released and the object made anew",
        object.namespace, object.name, work.input.cluster
    );
    work.problem(Reason::DNSEndpointDeleted, message);
}

fn gone_by_somebody(work: &mut Work<'_>) {
    let message = format!(
        "DNSEndpoint {} in cluster {} is gone although the member publishes the name; it is made anew",
        work.endpoint_name, work.input.cluster
    );
    work.problem(Reason::DNSEndpointDeleted, message);
}
