//! Who may not be withdrawn: the last that served, and what the zone still knows of it.
//!
//! Invariant: somebody is kept only in a family in which nobody selected, live and undrained would answer. Deliberately
//! absent: the sets themselves, which the policy in force lays out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use truce_api::Reason;

use super::policy::list;
use super::shared::{ClusterInput, SharedInput};
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::address::Address;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::elb;
use crate::value::ids::{ClusterName, HubId};
use crate::value::owned::is_placeholder;
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
use crate::value::region::Region;
use crate::value::shared_name::{Group, SharedName};

/// What the zone has of one cluster under the shared name and its groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Published {
    /// The types of its sets; whether one of that type has a weight other than 0.
    types: BTreeMap<RecordType, bool>,
    /// Whether its sets carry its name.
    pub named: bool,
    /// The region that its set, or the group around it, names.
    pub region: Option<Region>,
}

impl Published {
    /// Whether it is in the zone in a family. What stands as a CNAME has every family, and the reverse.
    pub fn has(&self, record_type: RecordType) -> bool {
        self.lookup(record_type).is_some()
    }

    /// Whether it is an answer in a family: there, and not with weight 0.
    pub fn serves(&self, record_type: RecordType) -> bool {
        self.lookup(record_type) == Some(true)
    }

    fn lookup(&self, record_type: RecordType) -> Option<bool> {
        let own = self.types.get(&record_type).copied();
        let other = || match record_type {
            RecordType::Cname => self.types.values().copied().max(),
            _ => self.types.get(&RecordType::Cname).copied(),
        };
        own.or_else(other)
    }

    /// Whether it is in the zone at all.
    pub fn is_published(&self) -> bool {
        !self.types.is_empty()
    }

    /// The types in which it is an answer, as they stand.
    pub fn serves_in(&self) -> impl Iterator<Item = RecordType> {
        self.types
            .iter()
            .filter(|(_, serves)| **serves)
            .map(|(record_type, _)| *record_type)
    }
}

/// What the zone has of each cluster.
///
/// A simple set carries no cluster's name: see `simple_owner`.
pub fn published(input: &SharedInput<'_>) -> BTreeMap<ClusterName, Published> {
    let mut all: BTreeMap<ClusterName, Published> = BTreeMap::new();
    for set in input.published {
        let Some(cluster) = set.routing.id().and_then(|id| id.cluster(input.hub)) else {
            continue;
        };
        let (serves, region) = match &set.routing {
            Routing::Weighted { weight, .. } => (*weight > 0, region_of_group(input, &set.name)),
            Routing::Latency { region, .. } => (true, Some(*region)),
            Routing::Failover { .. } => (true, None),
            Routing::Simple | Routing::Foreign { .. } => continue,
        };
        let entry = all.entry(cluster).or_default();
        *entry.types.entry(set.record_type).or_default() |= serves;
        entry.named = true;
        entry.region = entry.region.max(region);
    }
    if let Some(address) = published_simple(input.published, input.shared) {
        let simple = |set: &&RecordSet| set.name == *input.shared.name() && set.routing == Routing::Simple;
        if let Some(owner) = simple_owner(input, &address) {
            let entry = all.entry(owner.clone()).or_default();
            let types = input.published.iter().filter(simple);
            entry.types.extend(types.map(|set| (set.record_type, true)));
        }
    }
    all
}

/// Whose the simple set is: that of the selected cluster with its address, or of another with it; else of the selected
/// one, whose address has changed; else of one whose address is gone.
fn simple_owner<'a>(input: &'a SharedInput<'_>, address: &Address) -> Option<&'a ClusterName> {
    let rank = |cluster: &ClusterInput| {
        let exact = cluster.address.as_ref() == Some(address);
        (exact, cluster.selected, cluster.address.is_none())
    };
    let best = input
        .clusters
        .values()
        .map(rank)
        .max()
        .filter(|best| *best != (false, false, false))?;
    let owners = input.clusters.iter().filter(|(_, cluster)| rank(cluster) == best);
    keep(owners.map(|(name, cluster)| Candidate {
        cluster: name,
        serves: true,
        draining: cluster.draining,
        addressed: cluster.address.is_some(),
        standby: cluster.standby,
    }))
}

/// The region whose weighted group has this name.
fn region_of_group(input: &SharedInput<'_>, name: &RecordName) -> Option<Region> {
    let (label, _) = name.as_str().split_once('.')?;
    let (claim, _) = input.shared.claim().as_str().split_once('.')?;
    let group = label.strip_prefix(claim)?.strip_prefix('-')?;
    let region = ["primary-", "secondary-"]
        .iter()
        .find_map(|role| group.strip_prefix(role));
    Region::known(region.unwrap_or(group))
}

/// The address that the zone has for a cluster, parsed back from its own sets; `None` if it has none with its set
/// identifier. The zone does not tell whether a Network Load Balancer behind a CNAME is dual-stack: it is taken for not.
pub fn published_address(
    published: &[RecordSet],
    shared: &SharedName,
    hub: &HubId,
    cluster: &ClusterName,
) -> Option<Address> {
    let own = published
        .iter()
        .filter(|set| set.routing.id().is_some_and(|id| id.is_of(hub, cluster)));
    address_of(own, published, || shared.group(&Group::Ip(cluster.clone())).ok())
}

/// The address of a simple set under the shared name itself, which is that of the one cluster under simple routing;
/// `None` if there is none but the placeholder.
pub fn published_simple(published: &[RecordSet], shared: &SharedName) -> Option<Address> {
    let simple =
        |set: &&RecordSet| set.name == *shared.name() && set.routing == Routing::Simple && !is_placeholder(set);
    let target = published.iter().filter(simple).find_map(cname_target);
    let ip_name = target
        .map(|name| RecordName::listed(name.as_str()))
        .filter(|name| shared.covers(name));
    address_of(published.iter().filter(simple), published, || ip_name)
}

/// The address that sets of one cluster make up; behind a CNAME to `ip_name` stand the IPs under that name.
fn address_of<'s>(
    own: impl Iterator<Item = &'s RecordSet>,
    published: &'s [RecordSet],
    ip_name: impl FnOnce() -> Option<RecordName>,
) -> Option<Address> {
    let mut ips: Vec<IpAddr> = Vec::new();
    let (mut alias, mut dual_stack, mut name) = (None, false, None);
    for set in own {
        match (&set.data, set.record_type) {
            (RecordData::Alias { zone, target, .. }, RecordType::A | RecordType::Aaaa) => {
                alias = Some((zone.clone(), target.clone()));
                dual_stack |= set.record_type == RecordType::Aaaa;
            }
            (_, RecordType::Cname) => name = name.max(cname_target(set)),
            _ => ips.extend(ips_of(set)),
        }
    }
    if let Some((zone, target)) = alias {
        return Some(Address::Alias {
            zone,
            target,
            dual_stack,
        });
    }
    match name {
        None => Address::from_ips(ips),
        Some(name) if ip_name().is_some_and(|ip_name| *ip_name.name() == name) => {
            let behind = published
                .iter()
                .filter(|set| set.name.name() == &name && set.routing == Routing::Simple);
            Address::from_ips(behind.flat_map(ips_of))
        }
        Some(name) => {
            let dual_stack = elb::without_dualstack(&name) != name.as_str();
            Some(Address::from_name(name, dual_stack))
        }
    }
}

fn ips_of(set: &RecordSet) -> Vec<IpAddr> {
    match (&set.data, set.record_type) {
        (RecordData::Values { values, .. }, RecordType::A | RecordType::Aaaa) => {
            values.iter().filter_map(|value| value.parse().ok()).collect()
        }
        _ => Vec::new(),
    }
}

fn cname_target(set: &RecordSet) -> Option<DnsName> {
    match (&set.data, set.record_type) {
        (RecordData::Values { values, .. }, RecordType::Cname) => {
            values.first().map(|value| DnsName::from_route53(value))
        }
        _ => None,
    }
}

/// Somebody who could be kept: not live and undrained, but still in the zone, with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'c> {
    /// Who.
    pub cluster: &'c ClusterName,
    /// Whether it is an answer now, in the family asked about.
    pub serves: bool,
    /// When its drain began, if it is being drained.
    pub draining: Option<Wall>,
    /// Whether its address is still seen, not only in the zone.
    pub addressed: bool,
    /// Whether it is a standby.
    pub standby: bool,
}

/// Who of them is kept: one that is an answer now before one with weight 0; among those one that nobody drains, then
/// the one whose drain began last, then one whose address is still there, then a non-standby, then by name.
pub fn keep<'c>(candidates: impl IntoIterator<Item = Candidate<'c>>) -> Option<&'c ClusterName> {
    candidates
        .into_iter()
        .max_by_key(|c| {
            (
                c.serves,
                c.draining.is_none(),
                c.draining,
                c.addressed,
                !c.standby,
                Reverse(c.cluster),
            )
        })
        .map(|c| c.cluster)
}

/// What a person agrees to who gives up a family; `None` where nothing else would be left.
fn giving_up(any_live: bool, cluster: &ClusterName, record_type: RecordType) -> Option<String> {
    (any_live && record_type != RecordType::Cname).then(|| format!("give up {record_type} of {cluster}"))
}

/// Whether a person gave up the family in which only this cluster is kept; others go on answering in another family.
pub fn given_up(input: &SharedInput<'_>, any_live: bool, cluster: &ClusterName, record_type: RecordType) -> bool {
    giving_up(any_live, cluster, record_type).is_some_and(|what| input.confirm.agrees(&what))
}

/// That a cluster is kept: in which families, why it should have gone, and what would let it go.
pub fn problem(
    shared: &SharedInput<'_>,
    any_live: bool,
    cluster: &ClusterName,
    families: &BTreeSet<RecordType>,
    input: &ClusterInput,
) -> Problem {
    let cause = match input {
        ClusterInput { selected: false, .. } => "it is not selected any more",
        ClusterInput { draining: Some(_), .. } => "it is being drained",
        ClusterInput { .. } => "its address is gone",
    };
    let give_up = families
        .iter()
        .filter_map(|family| Some((family, giving_up(any_live, cluster, *family)?)))
        .map(|(family, what)| format!("answer without {family}: {}", shared.confirm.command(&what)));
    let way_out: Vec<String> = give_up.collect();
    let way_out = match way_out.is_empty() {
        true => "delete the GlobalHostname".to_owned(),
        false => way_out.join("; "),
    };
    let message = format!(
        "{cluster} is kept in {} although {cause}: no other selected, undrained cluster has an address there; bring one, or \
         {way_out}",
        list(families)
    );
    Problem::new(Reason::LastServing, message)
}
