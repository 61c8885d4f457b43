//! Changes and record sets as they were sent: every field optional that the API has as optional.
//!
//! Invariant: writing a stored set as a [`RawSet`] and sending it back means the same set.

use serde::{Deserialize, Serialize};

use crate::core::places::Place;
use crate::core::policy::{Policy, Site};
use crate::core::record::{Data, RecordSet};

/// One change as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawChange {
    /// `CREATE`, `DELETE` or `UPSERT`.
    pub action: String,
    /// The record set.
    pub record_set: RawSet,
}

/// A record set as it was sent, as a configuration writes it, or as the admin pages show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawSet {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub rtype: String,
    /// Set identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_identifier: Option<String>,
    /// Weight, 0 to 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
    /// Latency region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// `PRIMARY` or `SECONDARY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<String>,
    /// Where the client is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geo_location: Option<RawGeoLocation>,
    /// Where the resource is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geo_proximity_location: Option<RawGeoproximity>,
    /// Which networks the client's address is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr_routing_config: Option<RawCidr>,
    /// Multivalue answer routing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_value_answer: Option<bool>,
    /// Names of other policy elements that were present; known, and refused as not supported yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_policies: Vec<String>,
    /// Seconds, 0 to 2147483647.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
    /// Values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// Alias target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_target: Option<RawAlias>,
    /// Health check id.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "healthCheckID")]
    pub health_check_id: Option<String>,
    /// Traffic policy instance; known, and refused as not supported yet.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "trafficPolicyInstanceID")]
    pub traffic_policy_instance_id: Option<String>,
}

/// An alias target as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawAlias {
    /// Hosted zone id of the target.
    #[serde(rename = "hostedZoneID")]
    pub hosted_zone_id: String,
    /// Name of the target.
    #[serde(rename = "dnsName")]
    pub dns_name: String,
    /// `EvaluateTargetHealth`; the schema demands it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluate_target_health: Option<bool>,
}

/// A `GeoLocation` as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RawGeoLocation {
    /// Continent code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continent_code: Option<String>,
    /// Country code, or `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
    /// Subdivision code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subdivision_code: Option<String>,
}

/// A `GeoProximityLocation` as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RawGeoproximity {
    /// AWS region.
    #[serde(skip_serializing_if = "Option::is_none", rename = "awsRegion")]
    pub aws_region: Option<String>,
    /// Local zone group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_zone_group: Option<String>,
    /// Coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<RawCoordinates>,
    /// -99 to 99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<i64>,
}

/// `Coordinates` as they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawCoordinates {
    /// Degrees north.
    pub latitude: String,
    /// Degrees east.
    pub longitude: String,
}

/// A `CidrRoutingConfig` as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawCidr {
    /// Id of the collection.
    #[serde(rename = "collectionID")]
    pub collection_id: String,
    /// Name of a location, or `*`.
    pub location_name: String,
}

impl From<&RecordSet> for RawSet {
    fn from(set: &RecordSet) -> Self {
        let mut raw = Self {
            name: set.name.to_string(),
            rtype: set.rtype.to_string(),
            set_identifier: set.set_id.clone(),
            health_check_id: set.health_check.clone(),
            ..Self::default()
        };
        match &set.policy {
            Policy::Simple => {}
            Policy::Weighted(weight) => raw.weight = Some(i64::from(*weight)),
            Policy::Latency(region) => raw.region = Some(region.clone()),
            Policy::Failover(role) => raw.failover = Some(role.as_str().to_owned()),
            Policy::Geolocation(place) => raw.geo_location = Some(place.into()),
            Policy::Geoproximity(site, bias) => raw.geo_proximity_location = Some(geoproximity(site, *bias)),
            Policy::Multivalue => raw.multi_value_answer = Some(true),
            Policy::Cidr { collection, location } => {
                raw.cidr_routing_config = Some(RawCidr {
                    collection_id: collection.clone(),
                    location_name: location.clone(),
                });
            }
        }
        match &set.data {
            Data::Records { ttl, values } => {
                raw.ttl = Some(i64::from(*ttl));
                raw.values = Some(values.clone());
            }
            Data::Alias(alias) => {
                raw.alias_target = Some(RawAlias {
                    hosted_zone_id: alias.zone_id.clone(),
                    dns_name: alias.name.to_string(),
                    evaluate_target_health: Some(alias.evaluate_target_health),
                });
            }
        }
        raw
    }
}

impl From<&Place> for RawGeoLocation {
    fn from(place: &Place) -> Self {
        let mut raw = Self::default();
        match place {
            Place::Default => raw.country_code = Some("*".to_owned()),
            Place::Continent(code) => raw.continent_code = Some(code.clone()),
            Place::Country(code) => raw.country_code = Some(code.clone()),
            Place::Subdivision(country, code) => {
                raw.country_code = Some(country.clone());
                raw.subdivision_code = Some(code.clone());
            }
        }
        raw
    }
}

fn geoproximity(site: &Site, bias: i8) -> RawGeoproximity {
    let mut raw = RawGeoproximity {
        bias: (bias != 0).then_some(i64::from(bias)),
        ..RawGeoproximity::default()
    };
    match site {
        Site::Region(region) => raw.aws_region = Some(region.clone()),
        Site::LocalZoneGroup(group) => raw.local_zone_group = Some(group.clone()),
        Site::Coordinates(latitude, longitude) => {
            raw.coordinates = Some(RawCoordinates {
                latitude: latitude.clone(),
                longitude: longitude.clone(),
            });
        }
    }
    raw
}
