//! Record sets of the SDK to and from the engine's.
//!
//! Invariant: what converts to a writable set converts back to the same; anything that the engine's type cannot hold
//! becomes `Routing::Foreign` or `RecordData::Opaque`, and such a set is refused on the way out. Deliberately absent:
//! which sets are whose.

use std::sync::Arc;

use aws_sdk_route53::error::BuildError;
use aws_sdk_route53::types::{
    AliasTarget, Change as SdkChange, ChangeAction, ResourceRecord, ResourceRecordSet, ResourceRecordSetFailover,
    ResourceRecordSetRegion, RrType,
};
use truce_engine::effect::Change;
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::{HostedZoneId, SetIdentifier};
use truce_engine::value::record::{FailoverRole, RecordData, RecordSet, RecordType, Routing};
use truce_engine::value::region::Region;

/// Why a change cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It was read with something that cannot be repeated.
    #[error("the record set {name} {record_type} has a routing policy or a target that Truce does not write")]
    NotWritable {
        /// Its name.
        name: RecordName,
        /// Its type.
        record_type: RecordType,
    },
    /// A field that Route 53 requires is missing.
    #[error("the change is not complete: {0}")]
    Incomplete(#[from] BuildError),
}

/// A set as listed; `None` for a record type that Route 53 did not have when this was written.
#[must_use]
pub fn from_sdk(set: &ResourceRecordSet) -> Option<RecordSet> {
    Some(RecordSet {
        name: RecordName::listed(set.name()),
        record_type: RecordType::parse(set.r#type().as_str())?,
        routing: routing(set),
        data: data(set),
        health_check: set.health_check_id().map(Arc::from),
    })
}

fn routing(set: &ResourceRecordSet) -> Routing {
    let Some(id) = set.set_identifier().map(SetIdentifier::listed) else {
        return Routing::Simple;
    };
    let policies = [
        set.weight().is_some(),
        set.region().is_some(),
        set.failover().is_some(),
        set.geo_location().is_some(),
        set.multi_value_answer().is_some(),
        set.cidr_routing_config().is_some(),
        set.geo_proximity_location().is_some(),
    ];
    let known = if policies.into_iter().filter(|set| *set).count() == 1 {
        known_routing(set, &id)
    } else {
        None
    };
    known.unwrap_or(Routing::Foreign { id })
}

fn known_routing(set: &ResourceRecordSet, id: &SetIdentifier) -> Option<Routing> {
    let id = id.clone();
    if let Some(weight) = set.weight() {
        let weight = u8::try_from(weight).ok()?;
        return Some(Routing::Weighted { id, weight });
    }
    if let Some(region) = set.region() {
        let region = Region::known(region.as_str())?;
        return Some(Routing::Latency { id, region });
    }
    let role = match set.failover()? {
        ResourceRecordSetFailover::Primary => FailoverRole::Primary,
        ResourceRecordSetFailover::Secondary => FailoverRole::Secondary,
        _ => return None,
    };
    Some(Routing::Failover { id, role })
}

fn data(set: &ResourceRecordSet) -> RecordData {
    if set.traffic_policy_instance_id().is_some() {
        return RecordData::Opaque;
    }
    if let Some(alias) = set.alias_target() {
        return match HostedZoneId::parse(alias.hosted_zone_id()) {
            Ok(zone) => RecordData::Alias {
                zone,
                target: DnsName::from_route53(alias.dns_name()),
                evaluate_target_health: alias.evaluate_target_health(),
            },
            Err(_) => RecordData::Opaque,
        };
    }
    match set.ttl().map(u32::try_from) {
        Some(Ok(ttl)) if !set.resource_records().is_empty() => {
            RecordData::values(ttl, set.resource_records().iter().map(ResourceRecord::value))
        }
        _ => RecordData::Opaque,
    }
}

/// A set as it is sent.
///
/// # Errors
/// If it cannot be repeated exactly.
pub fn to_sdk(set: &RecordSet) -> Result<ResourceRecordSet, RecordError> {
    let not_writable = || RecordError::NotWritable {
        name: set.name.clone(),
        record_type: set.record_type,
    };
    let mut sdk = ResourceRecordSet::builder()
        .name(set.name.as_str())
        .r#type(RrType::from(set.record_type.as_str()))
        .set_set_identifier(set.routing.id().map(ToString::to_string))
        .set_health_check_id(set.health_check.as_deref().map(str::to_owned));
    sdk = match &set.routing {
        Routing::Simple => sdk,
        Routing::Weighted { weight, .. } => sdk.weight(i64::from(*weight)),
        Routing::Latency { region, .. } => sdk.region(ResourceRecordSetRegion::from(region.as_str())),
        Routing::Failover { role, .. } => sdk.failover(match role {
            FailoverRole::Primary => ResourceRecordSetFailover::Primary,
            FailoverRole::Secondary => ResourceRecordSetFailover::Secondary,
        }),
        Routing::Foreign { .. } => return Err(not_writable()),
    };
    sdk = match &set.data {
        RecordData::Values { ttl, values } => {
            let records = values
                .iter()
                .map(|value| ResourceRecord::builder().value(&**value).build());
            sdk.ttl(i64::from(*ttl))
                .set_resource_records(Some(records.collect::<Result<_, _>>()?))
        }
        RecordData::Alias {
            zone,
            target,
            evaluate_target_health,
        } => sdk.alias_target(
            AliasTarget::builder()
                .hosted_zone_id(zone.as_str())
                .dns_name(target.as_str())
                .evaluate_target_health(*evaluate_target_health)
                .build()?,
        ),
        RecordData::Opaque => return Err(not_writable()),
    };
    Ok(sdk.build()?)
}

/// A change as it is sent.
///
/// # Errors
/// If its set cannot be repeated exactly.
pub fn change(change: &Change) -> Result<SdkChange, RecordError> {
    let action = match change {
        Change::Create(_) => ChangeAction::Create,
        Change::Delete(_) => ChangeAction::Delete,
    };
    Ok(SdkChange::builder()
        .action(action)
        .resource_record_set(to_sdk(change.set())?)
        .build()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_route53::types::GeoLocation;

    fn listed(kind: RrType) -> aws_sdk_route53::types::builders::ResourceRecordSetBuilder {
        ResourceRecordSet::builder().name("app.example.com.").r#type(kind)
    }

    fn values(
        set: aws_sdk_route53::types::builders::ResourceRecordSetBuilder,
        values: &[&str],
    ) -> aws_sdk_route53::types::builders::ResourceRecordSetBuilder {
        values.iter().fold(set.ttl(60), |set, value| {
            set.resource_records(ResourceRecord::builder().value(*value).build().unwrap())
        })
    }

    #[test]
    fn what_truce_writes_comes_back_the_same() {
        let alias = AliasTarget::builder()
            .hosted_zone_id("Z26RNL4JYFTOTI")
            .dns_name("k8s-web-1.elb.us-east-1.amazonaws.com")
            .evaluate_target_health(true)
            .build()
            .unwrap();
        let id = "prod/east";
        for sdk in [
            values(listed(RrType::A), &["203.0.113.1", "203.0.113.2"]),
            values(listed(RrType::Txt), &["\"heritage=truce,truce/owner=prod\""]),
            values(listed(RrType::Aaaa), &["2001:db8::1"])
                .set_identifier(id)
                .weight(0),
            listed(RrType::A)
                .set_identifier(id)
                .region(ResourceRecordSetRegion::UsEast1)
                .alias_target(alias),
            values(listed(RrType::Cname), &["lb.example.net"])
                .set_identifier(id)
                .failover(ResourceRecordSetFailover::Secondary)
                .health_check_id("7a8b9c0d"),
        ] {
            let set = from_sdk(&sdk.build().unwrap()).unwrap();
            assert_eq!(from_sdk(&to_sdk(&set).unwrap()).unwrap(), set);
        }
    }

    #[test]
    fn a_set_is_read_with_all_its_parts() {
        let sdk = values(listed(RrType::A), &["203.0.113.2", "203.0.113.1"])
            .set_identifier("prod/east")
            .weight(100)
            .build()
            .unwrap();
        let set = from_sdk(&sdk).unwrap();
        assert_eq!(set.name.as_str(), "app.example.com");
        assert_eq!(set.data, RecordData::values(60, ["203.0.113.1", "203.0.113.2"]));
        let id = SetIdentifier::listed("prod/east");
        assert_eq!(set.routing, Routing::Weighted { id, weight: 100 });
    }

    #[test]
    fn what_cannot_be_repeated_is_seen_but_never_written() {
        let geo = values(listed(RrType::A), &["203.0.113.1"])
            .set_identifier("de")
            .geo_location(GeoLocation::builder().country_code("DE").build());
        let policy = listed(RrType::A).traffic_policy_instance_id("1");
        let new_region = values(listed(RrType::A), &["203.0.113.1"])
            .set_identifier("x")
            .region(ResourceRecordSetRegion::from("mars-north-1"));
        for sdk in [geo, policy, new_region] {
            let set = from_sdk(&sdk.build().unwrap()).unwrap();
            assert!(matches!(to_sdk(&set), Err(RecordError::NotWritable { .. })), "{set:?}");
        }
        assert_eq!(
            from_sdk(&values(listed(RrType::from("NEW")), &["x"]).build().unwrap()),
            None
        );
    }
}
