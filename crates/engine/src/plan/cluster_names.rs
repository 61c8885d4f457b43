//! The cluster names of a hostname: which there shall be, and what each needs next.
//!
//! Invariant: a cluster that holds anything of this hostname (a DNSEndpoint, an owned record, or by its status) is
//! asked about until nothing is left. Deliberately absent: the steps themselves (`rule/cluster_name.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use truce_api::Adoption;

use super::accept::Placed;
use super::clusters::Found;
use super::input::{HostnamePlan, PlanInput, ZoneView};
use super::memory::HostnameMemory;
use super::progress::failure_problem;
use super::unit::{Part, Priority, Unit};
use crate::effect::{Effect, MemberEffect, Sink};
use crate::event::MemberKind;
use crate::reason::Problem;
use crate::rule::cluster_name::{self, ClusterNameInput, ClusterNameOutput, Writer, external_dns_for};
use crate::rule::dialect::{PLAIN, TYPES};
use crate::rule::endpoint::{endpoint_name, fence_name};
use crate::value::dns_name::RecordName;
use crate::value::ids::ClusterName;
use crate::value::observed::Observed;
use crate::value::owned::single_txt;
use crate::value::ownership::OwnershipText;
use crate::world::Member;
use crate::world::hostnames::Hostname;
use crate::world::members::ExternalDns;
use crate::world::seen::Touched;

/// One cluster name after its step.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// The name that there shall be.
    pub name: Option<RecordName>,
    /// Who writes it.
    pub adoption: Option<Adoption>,
    /// Whether the hub is to write it for good: the member has no ExternalDNS for the zone.
    pub hub_writes: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// What is left of one that shall go.
    pub left: Vec<String>,
    /// Whether anything is there or wanted.
    pub holds: bool,
}

/// What the step of every cluster needs.
pub struct Steps<'a, 'w> {
    /// The plan's input.
    pub input: &'a PlanInput<'w>,
    /// The hostname.
    pub hostname: &'a Hostname,
    /// Where it lives.
    pub placed: &'a Placed,
    /// Its zone.
    pub zone: &'a ZoneView<'w>,
    /// Whether nothing may be written.
    pub paused: bool,
}

impl Steps<'_, '_> {
    /// The clusters beyond `selected` that may hold something of this hostname.
    pub fn holding(&self, selected: &BTreeSet<ClusterName>) -> BTreeSet<ClusterName> {
        let told = self
            .hostname
            .status
            .clusters
            .iter()
            .filter_map(|cluster| ClusterName::parse(&cluster.name).ok());
        let told: BTreeSet<_> = told.collect();
        let members = &self.input.world.members;
        let object = endpoint_name(&self.input.config.hub, &self.hostname.key);
        let holds = |(name, member): &(&ClusterName, &Member)| {
            told.contains(*name)
                || self.external_dns(member).is_some_and(|external_dns| {
                    member
                        .seen
                        .endpoint(&external_dns.namespace, &object)
                        .value()
                        .copied()
                        .flatten()
                        .is_some()
                })
                || self.owns_name(name, &object)
        };
        let others = members.iter().filter(|(name, _)| !selected.contains(*name));
        others.filter(holds).map(|(name, _)| name.clone()).collect()
    }

    /// Whether the cluster name that would be this cluster's is ours in the zone, by an ownership TXT. A stranger's record
    /// there is no business of a cluster that is not selected.
    fn owns_name(&self, cluster: &ClusterName, object: &str) -> bool {
        let Some(Ok(name)) = self.placed.names.clusters.get(cluster) else {
            return false;
        };
        // The resource names the DNSEndpoint that the name has or would have, so it tells whose of two hostnames it is.
        let own = |text: OwnershipText| {
            let resource = text.resource.unwrap_or_default();
            resource.rsplit('/').next() == Some(object)
        };
        let sets = name.txts.iter().flat_map(|txt| self.zone.records.at(txt));
        sets.filter_map(|set| OwnershipText::read(single_txt(set)?)).any(own)
    }

    fn wanted_name(&self, cluster: &ClusterName) -> Option<&RecordName> {
        self.placed
            .names
            .clusters
            .get(cluster)?
            .as_ref()
            .ok()
            .map(|name| &name.name)
    }

    fn external_dns<'m>(&self, member: &'m Member) -> Option<&'m ExternalDns> {
        external_dns_for(member.spec()?, &self.placed.zone)
    }

    /// The names of the ownership TXTs of a cluster name.
    fn txt_names<'n>(
        &'n self,
        name: &'n RecordName,
        external_dns: Option<&'n ExternalDns>,
    ) -> impl Iterator<Item = RecordName> + 'n {
        let dialect = external_dns.map_or(&PLAIN, |external_dns| &external_dns.dialect);
        let domain = &self.placed.zone_spec.domain;
        TYPES
            .iter()
            .filter_map(move |kind| dialect.txt_name(name, *kind, domain))
    }

    /// Does the step of one cluster. `found` is what is known of it, if its MemberCluster is valid; `wanted` whether
    /// there shall be a cluster name.
    pub fn cluster(
        &self,
        cluster: &ClusterName,
        member: &Member,
        found: &Found,
        wanted: bool,
        memory: &mut HostnameMemory,
        plan: &mut HostnamePlan,
    ) -> Named {
        let external_dns = self.external_dns(member);
        let (endpoint, fence) = self.objects(cluster, member, external_dns, plan);
        let computed = self.placed.names.clusters.get(cluster);
        let name = computed
            .filter(|_| wanted)
            .and_then(|name| name.as_ref().ok())
            .map(|name| &name.name);
        let told = self.told(cluster);
        let held = told.as_ref().or(if wanted { None } else { self.wanted_name(cluster) });
        let held = held.filter(|held| Some(*held) != name);
        // A name that is to go is reserved by nobody, yet it is read with its TXTs.
        if let Some(held) = held {
            let txts = self.txt_names(held, external_dns);
            plan.depends.names.extend(txts.chain([held.clone()]));
        }
        let refused = self.input.external_dns.get(cluster);
        let hub_writes = external_dns.is_none();
        let own = memory.clusters.entry(cluster.clone()).or_default();
        let offered = self
            .hostname
            .status
            .clusters
            .iter()
            .find(|status| status.name == cluster.as_str());
        let step = cluster_name::step(&ClusterNameInput {
            hub: &self.input.config.hub,
            hostname: &self.hostname.key,
            cluster,
            name,
            held_name: held,
            zone: &self.placed.zone_spec.domain,
            ttl: self.placed.spec.ttl,
            evaluate_target_health: self.placed.spec.evaluate_target_health,
            writer: external_dns.map_or(Writer::Hub, Writer::Member),
            address: found.last_address.as_ref(),
            placeholder: self.placed.spec.placeholder,
            maybe_offered: offered.is_some_and(|status| status.adoption.is_some_and(|a| a != Adoption::Hub)),
            records: self.zone.records,
            read_at: self.zone.read_at,
            endpoint,
            fence,
            now: self.input.now,
            timings: &self.input.config.timings,
            memory: &own.name,
            confirm: memory.words.confirm(self.hostname),
            abandoned: self.abandoned(cluster, member),
            paused: self.paused || (refused.is_some() && wanted),
        });
        let mut named = self.take(cluster, step, own, plan);
        // The status goes on naming what is still held: after a restart nothing else may tell of it.
        named.name = held.filter(|_| named.holds).or(name).cloned();
        // And that a DNSEndpoint was offered for it: with the zone clean already, a restart would else take the member
        // that it has not read yet for one that never had any.
        let told = offered
            .and_then(|status| status.adoption)
            .filter(|told| *told != Adoption::Hub);
        if !wanted && named.holds && named.adoption.is_none_or(|adoption| adoption == Adoption::Hub) {
            named.adoption = told.or(named.adoption);
        }
        named.hub_writes = hub_writes;
        let too_long = computed.filter(|_| wanted).and_then(|name| name.as_ref().err());
        named.problems.extend(
            too_long
                .into_iter()
                .chain(refused.into_iter().flatten().filter(|_| wanted))
                .cloned(),
        );
        named.problems.extend(self.write_failure(cluster, plan));
        named
    }

    fn objects<'m>(
        &self,
        cluster: &ClusterName,
        member: &'m Member,
        external_dns: Option<&ExternalDns>,
        plan: &mut HostnamePlan,
    ) -> (
        Observed<Option<&'m crate::event::DnsEndpointSeen>>,
        Observed<Option<&'m crate::event::DnsEndpointSeen>>,
    ) {
        let Some(ExternalDns { namespace, .. }) = external_dns else {
            return (Observed::Fresh(None), Observed::Fresh(None));
        };
        let object = endpoint_name(&self.input.config.hub, &self.hostname.key);
        let fence = fence_name(&object);
        for name in [&object, &fence] {
            let touched = Touched {
                kind: MemberKind::DnsEndpoint,
                namespace: namespace.as_str().into(),
                name: name.as_str().into(),
            };
            plan.depends.objects.insert(Arc::new((cluster.clone(), touched)));
        }
        (
            member.seen.endpoint(namespace, &object),
            member.seen.endpoint(namespace, &fence),
        )
    }

    /// The cluster name as the status has it: the one held if the template was changed.
    fn told(&self, cluster: &ClusterName) -> Option<RecordName> {
        let status = self
            .hostname
            .status
            .clusters
            .iter()
            .find(|status| status.name == cluster.as_str())?;
        let name = crate::value::dns_name::DnsName::parse(status.cluster_hostname.as_deref()?).ok()?;
        RecordName::within(name, &self.placed.zone_spec.domain)
    }

    fn abandoned(&self, cluster: &ClusterName, member: &Member) -> bool {
        let named = |abandon: &Option<ClusterName>| abandon.as_ref() == Some(cluster);
        named(&self.hostname.abandon) || named(&member.facts.abandon)
    }

    fn take(
        &self,
        cluster: &ClusterName,
        step: ClusterNameOutput,
        memory: &mut super::memory::ClusterMemory,
        plan: &mut HostnamePlan,
    ) -> Named {
        let ClusterNameOutput {
            changes,
            endpoint,
            reads,
            adoption,
            problems,
            left,
            wake,
            gone,
            confirmed,
            memory: next,
        } = step;
        plan.confirms |= confirmed;
        if !changes.is_empty() {
            plan.units.push(Unit {
                hostname: self.hostname.key.clone(),
                part: Part::ClusterHostname(cluster.clone()),
                priority: Priority::Onboarding,
                changes,
            });
        }
        if let Some(effect) = endpoint {
            plan.endpoints.insert(cluster.clone(), effect);
        }
        plan.depends.names.extend(reads.iter().map(|(name, _)| name.clone()));
        plan.reads.extend(reads);
        plan.wake_at(wake);
        memory.name = next;
        Named {
            hub_writes: false,
            name: None,
            adoption,
            problems,
            left,
            holds: !gone,
        }
    }

    /// Why the DNSEndpoint could not be written, if it could not.
    fn write_failure(&self, cluster: &ClusterName, plan: &HostnamePlan) -> Option<Problem> {
        let effect: &MemberEffect = plan.endpoints.get(cluster)?;
        let Sink::Endpoint(_, namespace, name) = Effect::Member(cluster.clone(), effect.clone()).sink() else {
            return None;
        };
        let failure = (self.input.endpoint_failure)(cluster, &namespace, &name)?;
        Some(failure_problem(&failure))
    }
}

/// Which record sets of the zone belong to cluster names of this hostname: for counting.
pub fn count(records: &crate::world::zones::Records, names: &BTreeMap<ClusterName, Named>) -> usize {
    names
        .values()
        .filter(|named| named.adoption.is_some())
        .filter_map(|named| named.name.as_ref())
        .map(|name| records.at(name).len() * 2)
        .sum()
}
