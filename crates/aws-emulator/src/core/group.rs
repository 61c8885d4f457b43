//! The rules between the sets of one (name, type) and between the types of one name (route53.md 1.5, 1.6, 10.6, 10.7).
//!
//! Invariant: judged on the state that the earlier changes of the batch left.

use super::policy::{Policy, Role};
use super::record::{RecordSet, RecordType};
use super::regions;
use super::violation::{Subject, Violation};
use super::zone::Zone;

/// Why this set may not stand where it would.
#[must_use]
pub fn check(zone: &Zone, set: &RecordSet, subject: &Subject) -> Vec<Violation> {
    let order = set.name.order();
    let mut violations = Vec::new();
    violations.extend(place(zone, set));
    violations.extend(cname(zone, set, &order));
    violations.extend(attributes(set));
    violations.extend(siblings(zone, set, &order, subject));
    violations
}

/// Types that may not stand at some names: CNAME at the apex, SOA below it, NS at a wildcard.
fn place(zone: &Zone, set: &RecordSet) -> Option<Violation> {
    let apex = set.name == zone.name;
    let place = match set.rtype {
        RecordType::Cname if apex => "at apex",
        RecordType::Soa if !apex => "below apex",
        RecordType::Ns if set.name.is_wildcard() => "at a wildcard",
        _ => return None,
    };
    Some(Violation::TypeNotPermitted {
        name: set.name.to_string(),
        rtype: set.rtype,
        place,
        zone: zone.name.to_string(),
    })
}

/// A CNAME excludes every other type at its name, both ways.
fn cname(zone: &Zone, set: &RecordSet, order: &str) -> Option<Violation> {
    let name = set.name.to_string();
    let zone_name = zone.name.to_string();
    if set.rtype == RecordType::Cname {
        let beside = zone.at_name(order).any(|other| other.rtype != RecordType::Cname);
        // At the apex the SOA is always there; the more telling text has been given already.
        return (beside && set.name != zone.name).then_some(Violation::CnameBesideOthers { name, zone: zone_name });
    }
    zone.group(order, RecordType::Cname)
        .next()
        .map(|_| Violation::BesideCname {
            name,
            rtype: set.rtype,
            zone: zone_name,
        })
}

/// What the set alone shows.
fn attributes(set: &RecordSet) -> Vec<Violation> {
    let mut violations = Vec::new();
    if !takes(&set.policy, set.rtype) {
        violations.push(Violation::TypeWithoutPolicy {
            name: set.name.to_string(),
            rtype: set.rtype,
            policy: set.policy.word(),
        });
    }
    violations.extend(match &set.policy {
        Policy::Latency(region) if regions::find(region).is_none() => Some(Violation::UnknownRegion(region.clone())),
        Policy::Failover(Role::Primary) if set.alias().is_none() && set.health_check.is_none() => {
            Some(Violation::PrimaryWithoutHealthCheck)
        }
        Policy::Multivalue if set.alias().is_some() => Some(Violation::MultivalueAlias {
            name: set.name.to_string(),
            rtype: set.rtype,
        }),
        Policy::Simple
        | Policy::Weighted(_)
        | Policy::Latency(_)
        | Policy::Failover(_)
        | Policy::Geolocation(_)
        | Policy::Geoproximity(..)
        | Policy::Multivalue
        | Policy::Cidr { .. } => None,
    });
    violations
}

/// Which types a policy takes (the API reference of ResourceRecordSet, Type).
fn takes(policy: &Policy, rtype: RecordType) -> bool {
    match policy {
        Policy::Simple => true,
        Policy::Multivalue => !matches!(
            rtype,
            RecordType::Cname | RecordType::Ds | RecordType::Ns | RecordType::Soa
        ),
        Policy::Weighted(_)
        | Policy::Latency(_)
        | Policy::Failover(_)
        | Policy::Geolocation(_)
        | Policy::Geoproximity(..)
        | Policy::Cidr { .. } => !matches!(rtype, RecordType::Ds | RecordType::Ns | RecordType::Soa),
    }
}

/// What the other sets of the group forbid; the first reason is enough.
fn siblings(zone: &Zone, set: &RecordSet, order: &str, subject: &Subject) -> Option<Violation> {
    let mut count = 0;
    for other in zone.group(order, set.rtype) {
        count += 1;
        if let Some(violation) = beside(set, other, subject) {
            return Some(violation);
        }
    }
    (count >= set.policy.most_sets()).then(|| Violation::GroupFull {
        name: set.name.to_string(),
        rtype: set.rtype,
        policy: set.policy.word(),
    })
}

fn beside(set: &RecordSet, other: &RecordSet, subject: &Subject) -> Option<Violation> {
    let subject = subject.clone();
    match (&set.policy, &other.policy) {
        (Policy::Simple, _) => Some(Violation::OtherSetsExist(subject)),
        (Policy::Multivalue, theirs) => {
            (*theirs != Policy::Multivalue).then_some(Violation::NonMultivalueExists(subject))
        }
        (mine, theirs) if !mine.same_kind(theirs) => Some(Violation::OtherPolicyExists {
            subject,
            policy: mine.word(),
        }),
        (Policy::Weighted(_), _) => {
            let differs = set.ttl().zip(other.ttl()).is_some_and(|(a, b)| a != b);
            differs.then_some(Violation::WeightedTtlDiffers(subject))
        }
        (Policy::Latency(region), theirs) => (set.policy == *theirs).then(|| Violation::RegionTaken {
            subject,
            region: region.clone(),
        }),
        (Policy::Failover(role), theirs) => {
            (set.policy == *theirs).then_some(Violation::RoleTaken { subject, role: *role })
        }
        (Policy::Geolocation(place), theirs) => (set.policy == *theirs).then(|| Violation::PlaceTaken {
            subject,
            place: place.to_string(),
        }),
        (Policy::Cidr { location, .. }, theirs) => (set.policy == *theirs).then(|| Violation::LocationTaken {
            subject,
            location: location.clone(),
        }),
        (Policy::Geoproximity(..), _) => None,
    }
}
