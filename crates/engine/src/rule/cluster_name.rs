//! The cluster name of one cluster under one hostname: what to do next, from what the zone and the member say now.
//!
//! Invariant: a function of its input; asked again in an unchanged world it asks for the same. It goes on from the
//! zone and the objects alone: `ClusterNameMemory` holds nothing but since when something is waited for, and losing it
//! only makes waits longer. Every step of DESIGN.md, section 3, is observed before the next. Deliberately absent:
//! which names (`rule/names.rs`), which address (`rule/usable_address.rs`), whether a member is refused
//! (`rule/dialect.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
pub use truce_api::Adoption;
use truce_api::Reason;

use super::confirm::Confirm;
use super::dialect::PLAIN;
use super::endpoint::{self, Identity};
use super::pairs::Place;
use super::{handover, release};
use crate::effect::{Change, MemberEffect};
use crate::event::DnsEndpointSeen;
use crate::reason::Problem;
use crate::time::{Mono, Now, Timings};
use crate::value::address::Address;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::{ClusterName, HostnameKey, HubId, ZoneRef};
use crate::value::observed::Observed;
use crate::world::members::{Dialect, ExternalDns, MemberSpec};
use crate::world::zones::Records;

/// Who writes a cluster name in the end.
#[derive(Debug, Clone, Copy)]
pub enum Writer<'a> {
    /// The hub: the member has no ExternalDNS for the zone.
    Hub,
    /// This ExternalDNS of the member.
    Member(&'a ExternalDns),
}

/// All that a cluster name depends on.
#[derive(Debug, Clone)]
pub struct ClusterNameInput<'a> {
    /// The own hub.
    pub hub: &'a HubId,
    /// The GlobalHostname.
    pub hostname: &'a HostnameKey,
    /// The cluster.
    pub cluster: &'a ClusterName,
    /// The cluster name; `None`: there shall be none any more.
    pub name: Option<&'a RecordName>,
    /// Another cluster name that this hostname still holds in this cluster (the template changed, or there shall be
    /// none): it is released. The annotation of the DNSEndpoint is looked at too.
    pub held_name: Option<&'a RecordName>,
    /// The zone's own name.
    pub zone: &'a DnsName,
    /// TTL of records that are no alias, seconds.
    pub ttl: u32,
    /// On every alias.
    pub evaluate_target_health: bool,
    /// Who writes it in the end.
    pub writer: Writer<'a>,
    /// The address to publish: usable now, or the last one. `None`: not known.
    pub address: Option<&'a Address>,
    /// Whether 192.0.2.1 may stand before the first address.
    pub placeholder: bool,
    /// Whether a DNSEndpoint may have been offered, by the status as it was last written (`adoption` is not `Hub`).
    pub maybe_offered: bool,
    /// The zone as read.
    pub records: &'a Records,
    /// When the last read of a name that brought its sets was sent; needed for the names in `reads` only.
    pub read_at: &'a BTreeMap<RecordName, Mono>,
    /// This hostname's DNSEndpoint in the member (`endpoint_name`).
    pub endpoint: Observed<Option<&'a DnsEndpointSeen>>,
    /// The fence DNSEndpoint beside it (`fence_name`).
    pub fence: Observed<Option<&'a DnsEndpointSeen>>,
    /// This moment.
    pub now: Now,
    /// The table of timings.
    pub timings: &'a Timings,
    /// As the last step left it.
    pub memory: &'a ClusterNameMemory,
    /// What a person agreed to on the GlobalHostname.
    pub confirm: Confirm<'a>,
    /// Whether a person accepted that what cannot be released is left behind.
    pub abandoned: bool,
    /// Whether nothing may be written.
    pub paused: bool,
}

/// What something is waited for; the memory holds since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Wait {
    /// The member's ExternalDNS to read the DNSEndpoint.
    Observe,
    /// The same of the emptied one.
    ObserveEmpty,
    /// The same of the fence.
    ObserveFence,
    /// Record caches to run out after the fence.
    Cache,
    /// The member to delete its records.
    MemberDeletes,
    /// The member to publish what it read.
    Publish,
    /// The proof that nothing is left.
    Proof,
    /// Nothing: a release began while the placeholder stood, so no DNSEndpoint was ever offered.
    NeverOffered,
}

/// Since when something is waited for. May be lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterNameMemory {
    since: BTreeMap<Wait, Mono>,
}

/// What to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterNameOutput {
    /// For the zone, all or nothing.
    pub changes: Vec<Change>,
    /// For the member: an `ApplyEndpoint`, `DeleteEndpoint` or `DropFinalizer`; one object at a time.
    pub endpoint: Option<MemberEffect>,
    /// Names to read in the zone, each not before a moment.
    pub reads: Vec<(RecordName, Mono)>,
    /// Who writes the wanted name now; `None` if none is wanted or nothing is there.
    pub adoption: Option<Adoption>,
    /// What is wrong or noteworthy.
    pub problems: Vec<Problem>,
    /// What a release still waits for, or leaves behind if it is given up.
    pub left: Vec<String>,
    /// When to ask again if nothing happens.
    pub wake: Option<Mono>,
    /// Nothing is left of the name to be released (`held_name`, or of all if no name is wanted).
    pub gone: bool,
    /// Whether something in the way is replaced because a person agreed to it.
    pub confirmed: bool,
    /// For the next step.
    pub memory: ClusterNameMemory,
}

/// What to do next for a cluster name.
pub fn step(input: &ClusterNameInput) -> ClusterNameOutput {
    let mut work = Work::new(input);
    let held = work.held_name();
    let releases = input.name.is_none() || held.is_some();
    if releases {
        work.out.gone = release::name(&mut work, held.as_ref());
    }
    if let Some(name) = input.name {
        let free = !releases || work.out.gone;
        handover::name(&mut work, name, free);
    }
    let mut out = work.out;
    if input.paused {
        out.changes.clear();
        out.endpoint = None;
    }
    out.changes.sort();
    out.reads.sort();
    out
}

/// The ExternalDNS of a member that serves a zone: the first that does.
pub fn external_dns_for<'a>(spec: &'a MemberSpec, zone: &ZoneRef) -> Option<&'a ExternalDns> {
    spec.external_dns
        .iter()
        .find(|external_dns| external_dns.zones.as_ref().is_none_or(|zones| zones.contains(zone)))
}

/// A step in the making.
pub(super) struct Work<'a> {
    pub(super) input: &'a ClusterNameInput<'a>,
    /// Name and resource of the DNSEndpoint.
    pub(super) endpoint_name: String,
    resource: String,
    pub(super) out: ClusterNameOutput,
}

impl<'a> Work<'a> {
    fn new(input: &'a ClusterNameInput<'a>) -> Self {
        let endpoint_name = endpoint::endpoint_name(input.hub, input.hostname);
        let resource = match input.writer {
            Writer::Hub => format!("globalhostname/{}", input.hostname),
            Writer::Member(external_dns) => endpoint::resource(&external_dns.namespace, &endpoint_name),
        };
        let mut work = Self {
            input,
            endpoint_name,
            resource,
            out: ClusterNameOutput::default(),
        };
        work.foreign_object();
        work
    }

    /// A DNSEndpoint of this name with another hub's label is nobody's of ours: it is never written.
    fn foreign_object(&mut self) {
        let input = self.input;
        let seen = [&input.endpoint, &input.fence];
        let objects = seen.iter().filter_map(|seen| seen.value().copied().flatten());
        let others: Vec<_> = objects.filter(|object| !self.is_ours(object)).collect();
        for other in others {
            self.out.problems.push(Problem::new(
                Reason::RecordConflict,
                format!(
                    "DNSEndpoint {}/{} in cluster {} carries the label {} of another hub; it is not touched: delete \
                     it there, or give the hubs different ids",
                    other.namespace,
                    other.name,
                    input.cluster,
                    endpoint::HUB_ID_LABEL
                ),
            ));
        }
    }

    fn is_ours(&self, object: &DnsEndpointSeen) -> bool {
        object.labels.get(endpoint::HUB_ID_LABEL).map(String::as_str) == Some(self.input.hub.as_str())
    }

    /// The DNSEndpoint, if it is freshly known; `Some(None)`: it does not exist.
    pub(super) fn endpoint(&self) -> Option<Option<&'a DnsEndpointSeen>> {
        self.fresh(&self.input.endpoint)
    }

    /// The same of the fence.
    pub(super) fn fence(&self) -> Option<Option<&'a DnsEndpointSeen>> {
        self.fresh(&self.input.fence)
    }

    fn fresh(&self, seen: &Observed<Option<&'a DnsEndpointSeen>>) -> Option<Option<&'a DnsEndpointSeen>> {
        let seen = *seen.fresh()?;
        seen.is_none_or(|object| self.is_ours(object)).then_some(seen)
    }

    /// The name to be released, if there is one: given, or as the DNSEndpoint tells after a restart.
    fn held_name(&self) -> Option<RecordName> {
        let told = || {
            let object = self.input.endpoint.value().copied().flatten()?;
            let annotation = object.annotations.get(endpoint::CLUSTER_HOSTNAME_ANNOTATION);
            let text = annotation.or(object.endpoints.first().map(|endpoint| &endpoint.dns_name))?;
            RecordName::within(DnsName::parse(text).ok()?, self.input.zone)
        };
        let held = self.input.held_name.cloned().or_else(told)?;
        (Some(&held) != self.input.name).then_some(held)
    }

    pub(super) fn external_dns(&self) -> Option<&'a ExternalDns> {
        match self.input.writer {
            Writer::Hub => None,
            Writer::Member(external_dns) => Some(external_dns),
        }
    }

    pub(super) fn identity(&self, external_dns: &'a ExternalDns) -> Identity<'a> {
        Identity {
            hub: self.input.hub,
            hostname: self.input.hostname,
            external_dns,
        }
    }

    /// Where a name and its TXTs stand.
    pub(super) fn place<'b>(&'b self, name: &'b RecordName) -> Place<'b> {
        let external_dns = self.external_dns();
        let dialect: &Dialect = external_dns.map_or(&PLAIN, |external_dns| &external_dns.dialect);
        Place {
            name,
            zone: self.input.zone,
            dialect,
            hub: self.input.hub,
            hostname: self.input.hostname,
            endpoint: &self.endpoint_name,
            member: external_dns.map(|e| (e.owner_id.as_str(), self.resource.as_str())),
        }
    }

    /// What the ownership TXTs name as the source.
    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    /// How long a member may take before its silence is worth a word.
    pub(super) fn patience(&self, external_dns: &ExternalDns) -> Duration {
        external_dns.interval * self.input.timings.adoption_intervals + external_dns.record_cache
    }

    /// Since when this is waited for: from now on, if it is new.
    pub(super) fn since(&mut self, wait: Wait) -> Mono {
        let known = self.input.memory.since.get(&wait).copied();
        let since = known.unwrap_or(self.input.now.mono);
        self.out.memory.since.insert(wait, since);
        since
    }

    /// Whether the memory holds this.
    pub(super) fn waits(&self, wait: Wait) -> bool {
        self.input.memory.since.contains_key(&wait)
    }

    /// Whether a moment has come; if not, the step is asked again then.
    pub(super) fn reached(&mut self, at: Mono) -> bool {
        let reached = at <= self.input.now.mono;
        if !reached {
            self.out.wake = Some(self.out.wake.map_or(at, |wake| wake.min(at)));
        }
        reached
    }

    /// Whether all these names were read since `after`; asks for those that were not.
    pub(super) fn read_since(&mut self, names: &BTreeSet<RecordName>, after: Mono) -> bool {
        let read = |name: &&RecordName| self.input.read_at.get(*name).is_none_or(|at| *at < after);
        let missing: Vec<_> = names.iter().filter(read).cloned().collect();
        self.out.reads.extend(missing.iter().cloned().map(|name| (name, after)));
        missing.is_empty()
    }

    /// Asks to look at these names again and again while a member is to write them: soon at first, at last once in
    /// an interval.
    pub(super) fn look_at(&mut self, names: &BTreeSet<RecordName>, since: Mono, interval: Duration) {
        let (first, longest) = (
            self.input.timings.member_poll,
            interval.max(self.input.timings.member_poll),
        );
        for name in names {
            let last = self.input.read_at.get(name).copied().filter(|at| *at >= since);
            let due = match last {
                None => since + first,
                Some(at) => at + ((at - since) / 2).clamp(first, longest),
            };
            self.reached(due);
            self.out.reads.push((name.clone(), due));
        }
    }

    pub(super) fn problem(&mut self, reason: Reason, message: impl Into<String>) {
        self.out.problems.push(Problem::new(reason, message));
    }

    /// Whether owner id, namespace and DNSEndpoint name fit into a TXT.
    pub(super) fn resource_problem(&self, external_dns: &ExternalDns) -> Option<Problem> {
        super::dialect::resource_problem(&external_dns.owner_id, &external_dns.namespace, &self.endpoint_name)
    }
}
