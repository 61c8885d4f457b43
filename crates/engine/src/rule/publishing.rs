//! Does a member do what its DNSEndpoint says: has its ExternalDNS read it, does the zone follow.
//!
//! Invariant: words only; nothing is written because a member is silent. Point reads are asked for only while
//! something is awaited. Deliberately absent: the member's flags (`rule/dialect.rs`).

use std::collections::BTreeSet;

use truce_api::Reason;

use super::cluster_name::{Wait, Work};
use crate::event::DnsEndpointSeen;
use crate::value::dns_name::RecordName;
use crate::world::members::ExternalDns;

/// Whether ExternalDNS has read this very generation (source/crd.go: written when it lists its sources).
pub(super) fn observed(object: &DnsEndpointSeen) -> bool {
    object.observed_generation == Some(object.generation)
}

/// The DNSEndpoint waits to be read: after three intervals that is said, after a while with the likely causes.
pub(super) fn awaits_observation(work: &mut Work<'_>, external_dns: &ExternalDns, object: &DnsEndpointSeen) {
    let since = work.since(Wait::Observe);
    if !work.reached(since + work.patience(external_dns)) {
        return;
    }
    let mut message = format!(
        "the ExternalDNS {:?} of cluster {} has not read DNSEndpoint {}/{} (generation {}, observed {}); until then \
         the hub writes the name",
        external_dns.owner_id,
        work.input.cluster,
        object.namespace,
        object.name,
        object.generation,
        object
            .observed_generation
            .map_or_else(|| "none".to_owned(), |g| g.to_string()),
    );
    let causes = work.input.timings.adoption_causes.max(work.patience(external_dns));
    if work.reached(since + causes) {
        message.push_str(
            ". Look whether it runs, has --source=crd, may update dnsendpoints/status (RBAC), and whether --namespace, \
             --label-filter or --annotation-filter hides the object",
        );
    }
    work.problem(Reason::AdoptionPending, message);
}

/// The zone differs from what the member read. True once that lasts for more than three intervals.
pub(super) fn awaits_publication(
    work: &mut Work<'_>,
    external_dns: &ExternalDns,
    name: &RecordName,
    names: &BTreeSet<RecordName>,
) -> bool {
    let since = work.since(Wait::Publish);
    work.look_at(names, since, external_dns.interval);
    if !work.reached(since + work.patience(external_dns)) {
        return false;
    }
    let message = format!(
        "the ExternalDNS {:?} of cluster {} read its DNSEndpoint, but {name} is not as that says. Look at its log for \
         refused changes (IAM role), at --domain-filter, --zone-id-filter, --exclude-target-net and \
         --managed-record-types, whether --txt-owner-id is {:?}, and whether its pod runs",
        external_dns.owner_id, work.input.cluster, external_dns.owner_id,
    );
    work.problem(Reason::MemberNotPublishing, message);
    true
}
