//! The routing fields of one change: exactly one with a set identifier, none without, each in its range
//! (route53.md 1.7, I2 and I3; the API reference of ResourceRecordSet, GeoLocation, GeoProximityLocation,
//! CidrRoutingConfig).

use super::words::{expected_one_of, missing, not_in_enumeration, not_of_pattern, out_of_range, too_long, unsupported};
use super::{RawChange, RawCidr, RawCoordinates, RawGeoLocation, RawGeoproximity};
use crate::core::error::ApiError;
use crate::core::places::{self, Place};
use crate::core::policy::{Policy, Role, Site};
use crate::core::regions;

/// The fields that select a policy, as the service lists them in its answers.
const FIELDS: &str = "Weight, Region, Failover, GeoLocation, or MultiValueAnswer";
/// Longest name of a local zone group, in characters.
const MAX_LOCAL_ZONE_GROUP: usize = 64;
/// Longest name of a CIDR location, in characters.
const MAX_LOCATION: usize = 16;
/// Pattern of a CIDR collection's id.
const UUID: &str = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}";

/// The policy that the fields of a change select.
pub(super) fn policy(change: &RawChange) -> Result<Policy, ApiError> {
    let set = &change.record_set;
    if let Some(other) = set.other_policies.first() {
        return Err(unsupported(&format!("routing policy {other}")));
    }
    let present = [
        set.weight.is_some(),
        set.region.is_some(),
        set.failover.is_some(),
        set.multi_value_answer.is_some(),
        set.geo_location.is_some(),
        set.geo_proximity_location.is_some(),
        set.cidr_routing_config.is_some(),
    ]
    .into_iter()
    .filter(|p| *p)
    .count();
    if set.set_identifier.is_none() {
        return match present {
            0 => Ok(Policy::Simple),
            _ => Err(missing("SetIdentifier", change)),
        };
    }
    if present != 1 {
        return Err(expected_one_of(FIELDS, present > 1, change));
    }
    if let Some(weight) = set.weight {
        return u8::try_from(weight)
            .map(Policy::Weighted)
            .map_err(|_| out_of_range(weight, 0, 255, "ResourceRecordSetWeight"));
    }
    if let Some(region) = &set.region {
        return Ok(Policy::Latency(region.clone()));
    }
    if let Some(role) = &set.failover {
        return failover(role);
    }
    if let Some(location) = &set.geo_location {
        return geolocation(location).map(Policy::Geolocation);
    }
    if let Some(location) = &set.geo_proximity_location {
        return geoproximity(location, change);
    }
    if let Some(config) = &set.cidr_routing_config {
        return cidr(config);
    }
    match set.multi_value_answer {
        Some(true) => Ok(Policy::Multivalue),
        // The element means nothing but true (route53.md 1.5); own words.
        _ => Err(ApiError::invalid_input(
            "Invalid request: The value of 'MultiValueAnswer' must be true.",
        )),
    }
}

fn failover(role: &str) -> Result<Policy, ApiError> {
    match role {
        "PRIMARY" => Ok(Policy::Failover(Role::Primary)),
        "SECONDARY" => Ok(Policy::Failover(Role::Secondary)),
        other => Err(not_in_enumeration(other, "[PRIMARY, SECONDARY]")),
    }
}

/// A continent alone, or a country with a subdivision or without; the texts are own words.
fn geolocation(location: &RawGeoLocation) -> Result<Place, ApiError> {
    let refuse = |why: String| Err(ApiError::invalid_input(format!("Invalid request: {why}")));
    match (
        location.continent_code.as_deref(),
        location.country_code.as_deref(),
        location.subdivision_code.as_deref(),
    ) {
        (None, None, None) => {
            refuse("Expected exactly one of [ContinentCode, or CountryCode], but found none in GeoLocation".to_owned())
        }
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            refuse("ContinentCode cannot be given with CountryCode or SubdivisionCode in GeoLocation".to_owned())
        }
        (None, None, Some(_)) => refuse("Missing field 'CountryCode' in GeoLocation".to_owned()),
        (Some(code), None, None) if places::is_continent(code) => Ok(Place::Continent(code.to_owned())),
        (None, Some("*"), None) => Ok(Place::Default),
        (None, Some(code), None) if places::continent_of(code).is_some() => Ok(Place::Country(code.to_owned())),
        (None, Some(country), Some(code)) if places::is_subdivision(country, code) => {
            Ok(Place::Subdivision(country.to_owned(), code.to_owned()))
        }
        (continent, country, subdivision) => refuse(format!(
            "The geolocation {} does not exist",
            [continent, country, subdivision]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("/")
        )),
    }
}

/// Exactly one site, with a bias of -99 to 99.
fn geoproximity(location: &RawGeoproximity, change: &RawChange) -> Result<Policy, ApiError> {
    let bias = location.bias.unwrap_or(0);
    let bias = i8::try_from(bias)
        .ok()
        .filter(|b| (-99..=99).contains(b))
        .ok_or_else(|| out_of_range(bias, -99, 99, "Bias"))?;
    let site = match (&location.aws_region, &location.local_zone_group, &location.coordinates) {
        (Some(region), None, None) if regions::find(region).is_some() => Site::Region(region.clone()),
        // Own words.
        (Some(region), None, None) => {
            return Err(ApiError::invalid_input(format!(
                "Invalid request: The region {region} does not exist"
            )));
        }
        (None, Some(group), None) => {
            if group.chars().count() > MAX_LOCAL_ZONE_GROUP {
                return Err(too_long(group, MAX_LOCAL_ZONE_GROUP, "LocalZoneGroup"));
            }
            Site::LocalZoneGroup(group.clone())
        }
        (None, None, Some(at)) => coordinates(at)?,
        (region, group, at) => {
            let many = usize::from(region.is_some()) + usize::from(group.is_some()) + usize::from(at.is_some()) > 1;
            return Err(expected_one_of(
                "AWSRegion, LocalZoneGroup, or Coordinates",
                many,
                change,
            ));
        }
    };
    Ok(Policy::Geoproximity(site, bias))
}

fn coordinates(at: &RawCoordinates) -> Result<Site, ApiError> {
    degrees(&at.latitude, 2, 90.0)
        .ok_or_else(|| not_of_pattern(&at.latitude, "[-+]?[0-9]{1,2}(\\.[0-9]{0,2})?", "Latitude"))?;
    degrees(&at.longitude, 3, 180.0)
        .ok_or_else(|| not_of_pattern(&at.longitude, "[-+]?[0-9]{1,3}(\\.[0-9]{0,2})?", "Longitude"))?;
    Ok(Site::Coordinates(at.latitude.clone(), at.longitude.clone()))
}

/// Digits before the point, at most two after it, and no more than `max` either way.
fn degrees(text: &str, digits: usize, max: f64) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let formed = (1..=digits).contains(&whole.len()) && part.len() <= 2 && all_digits(whole) && all_digits(part);
    text.trim_end_matches('.')
        .parse::<f64>()
        .ok()
        .filter(|d| formed && d.abs() <= max)
}

fn cidr(config: &RawCidr) -> Result<Policy, ApiError> {
    if !is_uuid(&config.collection_id) {
        return Err(not_of_pattern(&config.collection_id, UUID, "UUID"));
    }
    let name = &config.location_name;
    if name.chars().count() > MAX_LOCATION {
        return Err(too_long(name, MAX_LOCATION, "CidrLocationNameDefaultAllowed"));
    }
    let of_pattern = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'*');
    if name.is_empty() || !name.bytes().all(of_pattern) {
        return Err(not_of_pattern(
            name,
            "[0-9A-Za-z_\\-\\*]+",
            "CidrLocationNameDefaultAllowed",
        ));
    }
    Ok(Policy::Cidr {
        collection: config.collection_id.clone(),
        location: name.clone(),
    })
}

fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == lengths.len()
        && parts.iter().zip(lengths).all(|(part, length)| {
            part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        })
}
