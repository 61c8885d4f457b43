//! Whether a record set is healthy: by its health check, and for an alias that evaluates its target by the target
//! (route53.md 2, 3).
//!
//! Invariant: a group is healthy while one member is; a set without a check is always healthy.

use crate::core::elb;
use crate::core::record::{Alias, RecordSet, RecordType};
use crate::core::service::Service;
use crate::core::zone::Zone;

/// Most aliases followed; changes allow no more than 3.
pub(super) const MAX_ALIASES: usize = 8;

/// Whether the set is healthy in the served state of its zone.
pub(super) fn healthy(service: &Service, zone: &Zone, set: &RecordSet) -> bool {
    set_healthy(service, zone, set, 0)
}

fn set_healthy(service: &Service, zone: &Zone, set: &RecordSet, depth: usize) -> bool {
    let checked = set.health_check.as_deref().is_none_or(|id| service.health.healthy(id));
    let target = match set.alias() {
        Some(alias) if alias.evaluate_target_health && depth < MAX_ALIASES => {
            target_healthy(service, zone, set.rtype, alias, depth)
        }
        _ => true,
    };
    checked && target
}

fn target_healthy(service: &Service, zone: &Zone, rtype: RecordType, alias: &Alias, depth: usize) -> bool {
    if alias.zone_id == zone.id {
        return zone
            .served()
            .group(&alias.name.order(), rtype)
            .any(|member| set_healthy(service, zone, member, depth + 1));
    }
    elb::parse(&alias.name).is_none_or(|lb| !service.unhealthy_load_balancers.contains(&lb.name))
}
