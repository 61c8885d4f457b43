//! Alias targets: present at that moment, in the right zone, at most three aliases in a row (route53.md 2, 10.8).

use super::elb;
use super::names::Name;
use super::record::{Alias, RecordType};
use super::violation::{Subject, Violation};
use super::zone::Zone;

/// Most aliases one after another, the one to a load balancer included.
pub const MAX_LEVELS: usize = 3;

/// Why an alias of this type may not be created now.
#[must_use]
pub fn check(zone: &Zone, name: &Name, rtype: RecordType, alias: &Alias) -> Vec<Violation> {
    if matches!(rtype, RecordType::Ns | RecordType::Soa) {
        return vec![Violation::TypeCannotAlias {
            name: name.to_string(),
            rtype,
        }];
    }
    let missing = || Violation::AliasTargetNotFound {
        target: alias.name.to_string(),
        rtype,
        zone_id: alias.zone_id.clone(),
    };
    let outside = || Violation::AliasTargetOutsideZone {
        target: alias.name.to_string(),
        rtype,
        zone_id: alias.zone_id.clone(),
    };
    let (inside, found) = if alias.zone_id == zone.id {
        let order = alias.name.order();
        (
            alias.name.is_within(&zone.name),
            zone.group(&order, rtype).next().is_some(),
        )
    } else if elb::is_canonical_zone(&alias.zone_id) {
        let inside = elb::parse(&alias.name).is_some_and(|lb| lb.canonical_zone() == alias.zone_id);
        (inside, matches!(rtype, RecordType::A | RecordType::Aaaa))
    } else {
        (true, false)
    };
    match (inside, found) {
        (false, _) => vec![outside(), missing()],
        (true, false) => vec![missing()],
        (true, true) => Vec::new(),
    }
}

/// Whether an alias in the zone is part of a chain of more than [`MAX_LEVELS`], or of a circle.
#[must_use]
pub fn too_deep(zone: &Zone, name: &Name, rtype: RecordType, alias: &Alias) -> bool {
    let below = if alias.zone_id == zone.id {
        levels_below(zone, &alias.name.order(), rtype, MAX_LEVELS)
    } else {
        0
    };
    below + 1 + levels_above(zone, &name.order(), rtype, MAX_LEVELS) > MAX_LEVELS
}

/// Aliases one after another from this (name, type) down; looks no further than `limit`.
fn levels_below(zone: &Zone, order: &str, rtype: RecordType, limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    zone.group(order, rtype)
        .filter_map(|set| set.alias())
        .map(|alias| match alias.zone_id == zone.id {
            true => 1 + levels_below(zone, &alias.name.order(), rtype, limit - 1),
            false => 1,
        })
        .max()
        .unwrap_or(0)
}

/// Aliases one after another that lead to this (name, type); looks no further than `limit`.
fn levels_above(zone: &Zone, order: &str, rtype: RecordType, limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    zone.referrers(order, rtype)
        .map(|key| 1 + levels_above(zone, &key.order, key.rtype, limit - 1))
        .max()
        .unwrap_or(0)
}

/// Something deleted that an alias of the zone still names.
#[must_use]
pub fn still_named(zone: &Zone, subject: &Subject, order: &str) -> Option<Violation> {
    if zone.group(order, subject.rtype).next().is_some() {
        return None;
    }
    let key = zone.referrers(order, subject.rtype).next()?;
    Some(Violation::TargetInUse {
        target: subject.clone(),
        alias: Subject {
            name: key.name().to_string(),
            rtype: key.rtype,
            set_id: key.set_id.as_deref().map(str::to_owned),
        },
    })
}
