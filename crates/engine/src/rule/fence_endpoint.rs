//! The fence: a DNSEndpoint for a name in no zone, by which a member shows that its older runs are over.
//!
//! Invariant: ExternalDNS runs one after another, and each reads the zone, lists its sources (writing
//! observedGeneration) and then applies; after two observed changes no run is alive that began before the first. The
//! fence's content names the emptied DNSEndpoint and the step, so a fence of an earlier release proves nothing.
//! Deliberately absent: record caches, which are waited for on top.

use std::collections::BTreeMap;

use truce_api::Reason;

use super::cluster_name::{Wait, Work};
use super::publishing::observed;
use crate::effect::MemberEffect;
use crate::event::{DnsEndpointSeen, Endpoint};
use crate::value::dns_name::RecordName;
use crate::world::members::ExternalDns;

/// A name that nobody can have a zone for (RFC 6761, section 6.4).
const NOWHERE: &str = "fence.truce.invalid";

/// What the fence's endpoint points at: TEST-NET-2 (RFC 5737).
const TARGET: &str = "198.51.100.1";

/// Changes of the fence that must be observed.
const STEPS: u8 = 2;

/// Whether every run of the member's ExternalDNS from before `object` was emptied is over; else the next step.
pub(super) fn passed(
    work: &mut Work<'_>,
    name: &RecordName,
    external_dns: &ExternalDns,
    object: &DnsEndpointSeen,
) -> bool {
    let Some(fence) = work.fence() else {
        return false;
    };
    let step = fence.and_then(|fence| (1..=STEPS).find(|step| fence.endpoints == [content(object, *step)]));
    let next = match (fence, step) {
        (Some(fence), _) if fence.deleting => return false,
        (Some(fence), Some(step)) if observed(fence) && step == STEPS => return true,
        (Some(fence), Some(step)) if observed(fence) => step + 1,
        (Some(_), Some(_)) => {
            awaited(work, external_dns);
            return false;
        }
        (Some(_) | None, None) | (None, Some(_)) => 1,
    };
    let apply = work
        .identity(external_dns)
        .apply(name, vec![content(object, next)], true);
    work.out.endpoint = Some(MemberEffect::ApplyEndpoint(apply));
    false
}

fn content(object: &DnsEndpointSeen, step: u8) -> Endpoint {
    let uid: String = object.uid.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    Endpoint {
        dns_name: format!("{}-{}-{step}.{NOWHERE}", uid.to_ascii_lowercase(), object.generation),
        record_type: "A".to_owned(),
        targets: vec![TARGET.to_owned()],
        record_ttl: None,
        provider_specific: BTreeMap::new(),
    }
}

fn awaited(work: &mut Work<'_>, external_dns: &ExternalDns) {
    let since = work.since(Wait::ObserveFence);
    if work.reached(since + work.patience(external_dns)) {
        let message = format!(
            "the ExternalDNS {:?} of cluster {} does not read the DNSEndpoint {} any more; start it",
            external_dns.owner_id,
            work.input.cluster,
            super::endpoint::fence_name(&work.endpoint_name)
        );
        work.problem(Reason::ReleaseBlocked, message);
    }
}
