//! Taking a cluster name back: from the member to nobody, or to the hub.
//!
//! Invariant: each step is observed before the next: DNSEndpoint emptied, that generation read by the member, its
//! records gone (policy sync: by the member; upsert-only: by the hub after the fence), the DNSEndpoint deleted, the
//! zone read and clean, the finalizer off. What is not proven to be ours is never deleted (DESIGN.md, section 3).

use std::collections::BTreeSet;

use truce_api::Reason;

use super::cluster_name::{Wait, Work};
use super::fence_endpoint;
use super::pairs::{Holder, Holding, Pairs};
use super::publishing::observed;
use crate::effect::MemberEffect;
use crate::event::DnsEndpointSeen;
use crate::value::dns_name::RecordName;
use crate::value::owned::is_placeholder;
use crate::value::record::RecordType;
use crate::world::members::{ExternalDns, ExternalDnsPolicy};

/// The next step of releasing `held`; whether nothing is left of it. Without a wanted name the DNSEndpoint goes too.
pub(super) fn name(work: &mut Work<'_>, held: Option<&RecordName>) -> bool {
    if !work.input.abandoned && held.is_some_and(|name| held_by_unnamed(work, name)) {
        return false;
    }
    if work.external_dns().is_none() {
        return hub_lets_go(work, held) && stray_object_is_gone(work);
    }
    if work.input.abandoned {
        return give_up(work, held);
    }
    let Some(object) = work.endpoint() else {
        return unreachable(work, held);
    };
    let clean = match (held, object) {
        (Some(name), _) => retire(work, name, None),
        (None, _) => true,
    };
    clean && (work.input.name.is_some() || object_goes(work, held, object))
}

/// The member lets go of `name`, and `then` stands in its place, the hub's (nothing, if it is `None`). True once that
/// is so and no run of the member's ExternalDNS can want it any more.
pub(super) fn retire(work: &mut Work<'_>, name: &RecordName, then: Option<&Pairs>) -> bool {
    let Some(external_dns) = work.external_dns() else {
        return hub_lets_go(work, Some(name));
    };
    let holding = holding(work, name);
    let Some(object) = work.endpoint() else {
        return false;
    };
    let members = holding.any(Holder::Member);
    match object {
        // Made anew, empty, so that the member's silence can be observed.
        None if members => {
            empty(work, name, external_dns, None);
            left_in_zone(work, name, &holding);
            return false;
        }
        None => {}
        Some(object) if !object.endpoints.is_empty() => {
            empty(work, name, external_dns, Some(object));
            left_object(work, object);
            left_in_zone(work, name, &holding);
            return false;
        }
        Some(object) if !knows_it_is_empty(work, external_dns, object, members) => {
            left_in_zone(work, name, &holding);
            return false;
        }
        Some(_) => {}
    }
    if members {
        left_in_zone(work, name, &holding);
        if let Some(object) = object {
            members_pairs_go(work, name, external_dns, object, &holding, then);
        }
        return false;
    }
    let nothing = Pairs::new();
    let changes = holding.towards(&work.place(name), then.unwrap_or(&nothing));
    let done = changes.is_empty();
    work.out.changes.extend(changes);
    done
}

/// A DNSEndpoint that somebody is deleting, although the name is wanted: released, then let go.
pub(super) fn object(work: &mut Work<'_>, name: &RecordName, object: &DnsEndpointSeen, then: Option<&Pairs>) {
    let kept = match then {
        Some(pairs) => pairs.clone(),
        None => return,
    };
    if retire(work, name, Some(&kept)) && object.finalizer {
        drop_finalizer(work, object);
    }
}

/// The fence is not needed any more.
pub(super) fn fence_goes(work: &mut Work<'_>) {
    if work.out.endpoint.is_some() {
        return;
    }
    if let Some(Some(fence)) = work.fence().filter(|fence| fence.is_some_and(|fence| !fence.deleting)) {
        work.out.endpoint = Some(delete(fence));
    }
}

/// The hub writes the name itself: a DNSEndpoint from before, when the member had an ExternalDNS, goes.
pub(super) fn stray_object(work: &mut Work<'_>) {
    stray_object_is_gone(work);
}

fn stray_object_is_gone(work: &mut Work<'_>) -> bool {
    fence_goes(work);
    match work.endpoint() {
        Some(Some(object)) => {
            object_step(work, object);
            false
        }
        Some(None) | None => work.out.endpoint.is_none(),
    }
}

/// Deletes a DNSEndpoint, or lets it go if it is being deleted.
fn object_step(work: &mut Work<'_>, object: &DnsEndpointSeen) {
    left_object(work, object);
    if work.out.endpoint.is_some() {
        return;
    }
    if !object.deleting {
        work.out.endpoint = Some(delete(object));
    } else if object.finalizer {
        drop_finalizer(work, object);
    }
}

fn delete(object: &DnsEndpointSeen) -> MemberEffect {
    MemberEffect::DeleteEndpoint {
        namespace: object.namespace.clone(),
        name: object.name.clone(),
        uid: object.uid.clone(),
    }
}

fn drop_finalizer(work: &mut Work<'_>, object: &DnsEndpointSeen) {
    work.out.endpoint = Some(MemberEffect::DropFinalizer {
        namespace: object.namespace.clone(),
        name: object.name.clone(),
        uid: object.uid.clone(),
    });
}

fn empty(work: &mut Work<'_>, name: &RecordName, external_dns: &ExternalDns, object: Option<&DnsEndpointSeen>) {
    let mut apply = work.identity(external_dns).apply(name, Vec::new(), false);
    // Kubernetes refuses new finalizers on an object that is being deleted.
    apply.finalizer = object.is_none_or(|object| object.finalizer || !object.deleting);
    work.out.endpoint = Some(MemberEffect::ApplyEndpoint(apply));
}

fn holding(work: &Work<'_>, name: &RecordName) -> Holding {
    work.place(name).read(work.input.records, &BTreeSet::new())
}

/// Whether the member's ExternalDNS has read that its DNSEndpoint is empty. One that never read any generation is not
/// there (or may not say so) and holds nothing: after three intervals it is not waited for.
fn knows_it_is_empty(work: &mut Work<'_>, external_dns: &ExternalDns, object: &DnsEndpointSeen, members: bool) -> bool {
    if observed(object) {
        return true;
    }
    let since = work.since(Wait::ObserveEmpty);
    let late = work.reached(since + work.patience(external_dns));
    if late && !members && object.observed_generation.is_none() {
        return true;
    }
    left_object(work, object);
    if late {
        let message = format!(
            "the ExternalDNS {:?} of cluster {} does not read DNSEndpoint {}/{}, so it is not known whether it has let \
             go of the name; start it, or give up what is left with {}",
            external_dns.owner_id,
            work.input.cluster,
            object.namespace,
            object.name,
            abandon(work)
        );
        work.problem(Reason::ReleaseBlocked, message);
    }
    false
}

/// The member knows that the name is not wanted: policy sync deletes it, for upsert-only the hub does after the fence.
fn members_pairs_go(
    work: &mut Work<'_>,
    name: &RecordName,
    external_dns: &ExternalDns,
    object: &DnsEndpointSeen,
    holding: &Holding,
    then: Option<&Pairs>,
) {
    match external_dns.policy {
        ExternalDnsPolicy::Sync => {
            let since = work.since(Wait::MemberDeletes);
            let names = names(work, name, holding);
            work.look_at(&names, since, external_dns.interval);
            if work.reached(since + work.patience(external_dns)) {
                let message = format!(
                    "the ExternalDNS {:?} of cluster {} has read that {name} is not wanted but does not delete it; look \
                     at its log and IAM role, and whether its --policy is sync as the MemberCluster says (else write \
                     policy: upsert-only there)",
                    external_dns.owner_id, work.input.cluster
                );
                work.problem(Reason::ReleaseBlocked, message);
            }
        }
        ExternalDnsPolicy::UpsertOnly => {
            if !fence_endpoint::passed(work, name, external_dns, object) {
                return;
            }
            let since = work.since(Wait::Cache);
            let names = names(work, name, holding);
            if !work.reached(since + external_dns.record_cache) || !work.read_since(&names, since) {
                return;
            }
            let place = work.place(name);
            let mut changes: Vec<_> = holding.held.values().flat_map(|held| place.deletes(held)).collect();
            changes.extend(
                then.iter()
                    .flat_map(|pairs| pairs.values())
                    .flat_map(|pair| pair.creates()),
            );
            work.out.changes.extend(changes);
        }
    }
}

/// The names under which something of `name` stands or may stand.
fn names(work: &Work<'_>, name: &RecordName, holding: &Holding) -> BTreeSet<RecordName> {
    let place = work.place(name);
    let at_name = work.input.records.at(name).iter().map(|set| set.record_type);
    let types = at_name.chain(holding.held.keys().copied());
    let txts = types
        .filter(|record_type| super::dialect::TYPES.contains(record_type))
        .filter_map(|record_type| place.txt_name(record_type));
    txts.chain([name.clone()]).collect()
}

/// Nothing is left in the zone: fence and DNSEndpoint go, the zone is read once more, the finalizer comes off.
fn object_goes(work: &mut Work<'_>, held: Option<&RecordName>, object: Option<&DnsEndpointSeen>) -> bool {
    fence_goes(work);
    if work.out.endpoint.is_some() {
        return false;
    }
    let Some(object) = object else {
        return true;
    };
    if object.deleting && object.finalizer {
        let since = work.since(Wait::Proof);
        let names = held
            .map(|name| names(work, name, &holding(work, name)))
            .unwrap_or_default();
        if !work.read_since(&names, since) {
            left_object(work, object);
            return false;
        }
    }
    object_step(work, object);
    false
}

/// Whether an ExternalDNS that the MemberCluster does not name (any more, or by another owner id) holds the name for
/// this hostname's DNSEndpoint: nobody here can tell it to let go, so that is said.
fn held_by_unnamed(work: &mut Work<'_>, name: &RecordName) -> bool {
    let place = work.place(name);
    let named = work.external_dns().map(|external_dns| external_dns.owner_id.as_str());
    let others = |record_type: &RecordType| {
        let owner = place.owner_before(work.input.records, *record_type)?;
        (Some(owner.as_str()) != named).then_some((*record_type, owner))
    };
    let found: Vec<(RecordType, String)> = super::dialect::TYPES.iter().filter_map(others).collect();
    let Some((_, owner)) = found.first() else {
        return false;
    };
    let message = format!(
        "the ExternalDNS {owner:?} of cluster {cluster} holds {name} for this hostname, but MemberCluster {cluster} does \
         not name it under externalDNS: write it there until the name is released, or give up what is left with {}",
        abandon(work),
        cluster = work.input.cluster,
    );
    work.problem(Reason::ReleaseBlocked, message);
    for (record_type, owner) in found {
        let left = format!("{record_type} {name} with its ownership TXT (owner {owner:?}) and a DNSEndpoint");
        work.out.left.push(left);
    }
    true
}

/// Without a member's ExternalDNS all is the hub's.
fn hub_lets_go(work: &mut Work<'_>, held: Option<&RecordName>) -> bool {
    let Some(name) = held else {
        return true;
    };
    let changes = holding(work, name).towards(&work.place(name), &Pairs::new());
    let done = changes.is_empty();
    work.out.changes.extend(changes);
    done
}

/// The member cannot be read. Where the placeholder still stands, or nothing does, no DNSEndpoint was ever offered,
/// since it is written only after the address; else the release waits.
fn unreachable(work: &mut Work<'_>, held: Option<&RecordName>) -> bool {
    let found = held.map(|name| holding(work, name));
    let real = found.iter().flat_map(|found| found.held.values()).any(|held| {
        held.holder == Holder::Member || held.record.as_ref().is_some_and(|record| !is_placeholder(record))
    });
    if work.waits(Wait::NeverOffered) || (!real && !work.input.maybe_offered) {
        work.since(Wait::NeverOffered);
        return hub_lets_go(work, held);
    }
    left_behind(work, held);
    let message = format!(
        "cluster {} cannot be read, so its ExternalDNS cannot be told to let go. Left: {}. Bring it back, or give this \
         up with {}",
        work.input.cluster,
        work.out.left.join("; "),
        abandon(work)
    );
    work.problem(Reason::ReleaseBlocked, message);
    false
}

/// A person gave it up: the hub deletes its own, lets the objects go where it can, and lists the rest.
fn give_up(work: &mut Work<'_>, held: Option<&RecordName>) -> bool {
    left_behind(work, held);
    let clean = hub_lets_go(work, held);
    match work.endpoint() {
        None => clean,
        Some(None) => {
            fence_goes(work);
            clean && work.out.endpoint.is_none()
        }
        Some(Some(object)) => {
            fence_goes(work);
            if work.out.endpoint.is_none() {
                object_step(work, object);
            }
            false
        }
    }
}

fn left_behind(work: &mut Work<'_>, held: Option<&RecordName>) {
    if let Some(name) = held {
        let found = holding(work, name);
        left_in_zone(work, name, &found);
    }
    match work.endpoint() {
        Some(None) => {}
        Some(Some(object)) => left_object(work, object),
        None => {
            let (Some(external_dns), name) = (work.external_dns(), &work.endpoint_name) else {
                return;
            };
            let namespace = &external_dns.namespace;
            let left = format!(
                "in cluster {} perhaps DNSEndpoint {namespace}/{name}, which this removes: kubectl patch dnsendpoint \
                 {name} -n {namespace} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}' && kubectl delete \
                 dnsendpoint {name} -n {namespace}",
                work.input.cluster
            );
            work.out.left.push(left);
        }
    }
}

fn left_object(work: &mut Work<'_>, object: &DnsEndpointSeen) {
    let left = format!(
        "DNSEndpoint {}/{} in cluster {}",
        object.namespace, object.name, work.input.cluster
    );
    if !work.out.left.contains(&left) {
        work.out.left.push(left);
    }
}

fn left_in_zone(work: &mut Work<'_>, name: &RecordName, holding: &Holding) {
    let owner = work.external_dns().map(|external_dns| external_dns.owner_id.clone());
    for (record_type, _) in holding.of(Holder::Member) {
        let owner = owner.as_deref().unwrap_or_default();
        work.out
            .left
            .push(format!("{record_type} {name} with its ownership TXT (owner {owner:?})"));
    }
}

/// The command with which a person gives up what is left.
fn abandon(work: &Work<'_>) -> String {
    let key = work.input.hostname;
    format!(
        "kubectl annotate ghn {} -n {} --overwrite dns.truce.dev/abandon={}",
        key.name, key.namespace, work.input.cluster
    )
}
