//! A zone's rules and its answers, written down a second time from the Route 53 API reference and developer guide.

use std::collections::{BTreeMap, BTreeSet};

use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::record::{FailoverRole, RecordData, RecordSet, RecordType, Routing};

use super::world::World;

/// What Route 53 would refuse, or answer wrongly, in these sets; empty if all is well.
pub(crate) fn faults(world: &World, sets: &[RecordSet]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut groups: BTreeMap<(&RecordName, RecordType), Vec<&RecordSet>> = BTreeMap::new();
    for set in sets {
        groups.entry((&set.name, set.record_type)).or_default().push(set);
        if !world.shared.covers(&set.name) {
            faults.push(format!("{} is outside the hostname", set.name));
        }
    }
    for ((name, record_type), group) in &groups {
        faults.extend(group_fault(group).map(|fault| format!("{name} {record_type}: {fault}")));
        let beside = groups.keys().filter(|(other, _)| other == name).count();
        if *record_type == RecordType::Cname && (beside > 1 || world.apex && **name == *world.shared.name()) {
            faults.push(format!("{name}: CNAME beside others, or at the zone's own name"));
        }
        let behind = group
            .iter()
            .filter_map(|set| cname_target(set))
            .map(|target| RecordName::listed(target.as_str()));
        for target in behind.filter(|target| world.shared.covers(target)) {
            if !groups.keys().any(|(name, _)| **name == target) {
                faults.push(format!("{name}: CNAME to {target}, which has no set"));
            }
        }
        for set in group {
            let Some(target) = own_target(world, set) else { continue };
            if !groups.contains_key(&(&target, *record_type)) {
                faults.push(format!("{name} {record_type}: alias to {target}, which has no set"));
            }
        }
        let pointed_at = sets.iter().any(|set| {
            own_target(world, set).is_some_and(|target| target == **name && set.record_type == *record_type)
                || cname_target(set).is_some_and(|target| target == *name.name())
        });
        if **name != *world.shared.name() && !pointed_at {
            faults.push(format!("{name} {record_type}: nothing points at this group"));
        }
    }
    for record_type in [RecordType::A, RecordType::Aaaa, RecordType::Cname] {
        if alias_levels(world, sets, world.shared.name(), record_type) > 3 {
            faults.push(format!("{record_type}: more than three alias levels"));
        }
    }
    if sets.len() > 1 && sets.iter().any(holds_placeholder) {
        faults.push("192.0.2.1 beside another set".to_owned());
    }
    faults
}

fn group_fault(group: &[&RecordSet]) -> Option<&'static str> {
    let kinds: BTreeSet<u8> = group.iter().map(|set| kind(&set.routing)).collect();
    let ids: BTreeSet<_> = group.iter().map(|set| set.routing.id()).collect();
    let ttls: BTreeSet<u32> = group.iter().filter_map(|set| ttl(set)).collect();
    let values = |set: &&RecordSet| matches!(&set.data, RecordData::Values { values, .. } if values.is_empty());
    let weights: Vec<u8> = group.iter().filter_map(|set| weight(set)).collect();
    let regions: Vec<_> = group.iter().filter_map(|set| region(set)).collect();
    let roles: Vec<FailoverRole> = group.iter().filter_map(|set| role(set)).collect();
    let bare_primary = |set: &&RecordSet| {
        role(set) == Some(FailoverRole::Primary)
            && matches!(set.data, RecordData::Values { .. })
            && set.health_check.is_none()
    };
    [
        (kinds.len() > 1, "two policies"),
        (ids.len() < group.len(), "one set identifier twice"),
        (
            kind(&group[0].routing) == 1 && ttls.len() > 1,
            "two TTLs in a weighted group",
        ),
        (group.iter().any(values), "a set without values"),
        (
            !weights.is_empty() && weights.iter().all(|weight| *weight == 0),
            "only zero weights",
        ),
        (
            regions.iter().collect::<BTreeSet<_>>().len() < regions.len(),
            "a latency region twice",
        ),
        (
            roles.iter().collect::<BTreeSet<_>>().len() < roles.len(),
            "a failover role twice",
        ),
        (roles == [FailoverRole::Secondary], "SECONDARY without PRIMARY"),
        (
            group.iter().any(bare_primary),
            "a non-alias PRIMARY without health check",
        ),
    ]
    .into_iter()
    .find_map(|(broken, fault)| broken.then_some(fault))
}

fn kind(routing: &Routing) -> u8 {
    match routing {
        Routing::Simple => 0,
        Routing::Weighted { .. } => 1,
        Routing::Latency { .. } => 2,
        Routing::Failover { .. } => 3,
        Routing::Foreign { .. } => 4,
    }
}

fn ttl(set: &RecordSet) -> Option<u32> {
    match &set.data {
        RecordData::Values { ttl, .. } => Some(*ttl),
        _ => None,
    }
}

fn weight(set: &RecordSet) -> Option<u8> {
    match set.routing {
        Routing::Weighted { weight, .. } => Some(weight),
        _ => None,
    }
}

fn region(set: &RecordSet) -> Option<&str> {
    match &set.routing {
        Routing::Latency { region, .. } => Some(region.as_str()),
        _ => None,
    }
}

fn role(set: &RecordSet) -> Option<FailoverRole> {
    match set.routing {
        Routing::Failover { role, .. } => Some(role),
        _ => None,
    }
}

pub(crate) fn holds_placeholder(set: &RecordSet) -> bool {
    matches!(&set.data, RecordData::Values { values, .. } if values.iter().any(|value| **value == *"192.0.2.1"))
}

/// The target of an alias into the own zone.
fn own_target(world: &World, set: &RecordSet) -> Option<RecordName> {
    match &set.data {
        RecordData::Alias { zone, target, .. } if *zone == world.hosted_zone => {
            Some(RecordName::listed(target.as_str()))
        }
        _ => None,
    }
}

fn cname_target(set: &RecordSet) -> Option<DnsName> {
    match &set.data {
        RecordData::Values { values, .. } if set.record_type == RecordType::Cname => {
            Some(DnsName::from_route53(&values[0]))
        }
        _ => None,
    }
}

fn alias_levels(world: &World, sets: &[RecordSet], at: &RecordName, record_type: RecordType) -> usize {
    let here = sets
        .iter()
        .filter(|set| set.name == *at && set.record_type == record_type);
    here.map(|set| match (&set.data, own_target(world, set)) {
        (_, Some(target)) => 1 + alias_levels(world, sets, &target, record_type),
        (RecordData::Alias { .. }, None) => 1,
        _ => 0,
    })
    .max()
    .unwrap_or(0)
}

/// What resolvers may get: for each type under the shared name, the clusters whose own set can be the answer (weight
/// above 0; every region, both roles). The simple set has no cluster's name and counts as `""`.
pub(crate) fn answers(world: &World, sets: &[RecordSet]) -> BTreeMap<RecordType, BTreeSet<String>> {
    let types = [RecordType::A, RecordType::Aaaa, RecordType::Cname];
    let mut all: BTreeMap<_, _> = types
        .map(|record_type| (record_type, reached(world, sets, world.shared.name(), record_type)))
        .into();
    all.retain(|_, clusters| !clusters.is_empty());
    all
}

fn reached(world: &World, sets: &[RecordSet], at: &RecordName, record_type: RecordType) -> BTreeSet<String> {
    let here = sets
        .iter()
        .filter(|set| set.name == *at && set.record_type == record_type);
    let mut all = BTreeSet::new();
    for set in here.filter(|set| weight(set) != Some(0) && !holds_placeholder(set)) {
        if let Some(target) = own_target(world, set) {
            all.extend(reached(world, sets, &target, record_type));
        } else {
            let id = set.routing.id().map_or("", |id| id.as_str());
            all.insert(id.strip_prefix("hub-1/").unwrap_or(id).to_owned());
        }
    }
    all
}
