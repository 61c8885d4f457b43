//! Request bodies: from the XML tree to the raw forms that `core::shape` checks.
//!
//! Invariant: an element that the schema does not have is refused, as AWS's schema check does.

use crate::core::error::{ApiError, Code};
use crate::core::service::{NewZone, Vpc};
use crate::core::shape::{RawAlias, RawChange, RawCidr, RawCoordinates, RawGeoLocation, RawGeoproximity, RawSet};

use super::xml::{self, Element};

/// Namespace of Route 53's documents.
pub(crate) const NAMESPACE: &str = "https://route53.amazonaws.com/doc/2013-04-01/";

/// Elements of other routing policies; known to the schema, not implemented yet.
const OTHER_POLICIES: [&str; 1] = ["AZAffinity"];

/// The root of a body, which must have this name.
pub(crate) fn root(body: &[u8], expected: &str) -> Result<Element, ApiError> {
    let root =
        xml::parse(body).map_err(|e| ApiError::new(Code::MalformedInput, format!("Unable to parse request: {e}")))?;
    if root.name != expected {
        return Err(ApiError::new(
            Code::MalformedInput,
            format!("{} is not valid, expected {expected}", root.name),
        ));
    }
    if root.namespace.as_deref() != Some(NAMESPACE) {
        return Err(ApiError::invalid_input(format!(
            "Invalid XML ; cvc-elt.1.a: Cannot find the declaration of element '{expected}'."
        )));
    }
    Ok(root)
}

/// A ChangeResourceRecordSetsRequest: comment and changes.
pub(crate) fn change_batch(body: &[u8]) -> Result<(Option<String>, Vec<RawChange>), ApiError> {
    let root = root(body, "ChangeResourceRecordSetsRequest")?;
    only(&root, &["ChangeBatch"])?;
    let batch = required(&root, "ChangeBatch")?;
    only(batch, &["Comment", "Changes"])?;
    let comment = batch.text_of("Comment").map(str::to_owned);
    let changes = required(batch, "Changes")?;
    only(changes, &["Change"])?;
    let changes = changes.children.iter().map(change).collect::<Result<_, _>>()?;
    Ok((comment, changes))
}

fn change(element: &Element) -> Result<RawChange, ApiError> {
    only(element, &["Action", "ResourceRecordSet"])?;
    Ok(RawChange {
        action: required(element, "Action")?.text.clone(),
        record_set: record_set(required(element, "ResourceRecordSet")?)?,
    })
}

fn record_set(element: &Element) -> Result<RawSet, ApiError> {
    let known = [
        "Name",
        "Type",
        "SetIdentifier",
        "Weight",
        "Region",
        "Failover",
        "GeoLocation",
        "GeoProximityLocation",
        "CidrRoutingConfig",
        "MultiValueAnswer",
        "TTL",
        "ResourceRecords",
        "AliasTarget",
        "HealthCheckId",
        "TrafficPolicyInstanceId",
    ];
    let all: Vec<&str> = known.into_iter().chain(OTHER_POLICIES).collect();
    only(element, &all)?;
    let text = |name: &str| element.text_of(name).map(str::to_owned);
    Ok(RawSet {
        name: required(element, "Name")?.text.clone(),
        rtype: required(element, "Type")?.text.clone(),
        set_identifier: text("SetIdentifier"),
        weight: integer(element, "Weight")?,
        region: text("Region"),
        failover: text("Failover"),
        geo_location: element.child("GeoLocation").map(geo_location).transpose()?,
        geo_proximity_location: element.child("GeoProximityLocation").map(geoproximity).transpose()?,
        cidr_routing_config: element.child("CidrRoutingConfig").map(cidr).transpose()?,
        multi_value_answer: boolean(element, "MultiValueAnswer")?,
        other_policies: element
            .children
            .iter()
            .filter(|c| OTHER_POLICIES.contains(&c.name.as_str()))
            .map(|c| c.name.clone())
            .collect(),
        ttl: integer(element, "TTL")?,
        values: element.child("ResourceRecords").map(values).transpose()?,
        alias_target: element.child("AliasTarget").map(alias).transpose()?,
        health_check_id: text("HealthCheckId"),
        traffic_policy_instance_id: text("TrafficPolicyInstanceId"),
    })
}

fn geo_location(element: &Element) -> Result<RawGeoLocation, ApiError> {
    only(element, &["ContinentCode", "CountryCode", "SubdivisionCode"])?;
    let text = |name: &str| element.text_of(name).map(str::to_owned);
    Ok(RawGeoLocation {
        continent_code: text("ContinentCode"),
        country_code: text("CountryCode"),
        subdivision_code: text("SubdivisionCode"),
    })
}

fn geoproximity(element: &Element) -> Result<RawGeoproximity, ApiError> {
    only(element, &["AWSRegion", "LocalZoneGroup", "Coordinates", "Bias"])?;
    let text = |name: &str| element.text_of(name).map(str::to_owned);
    let coordinates = element.child("Coordinates").map(|at| {
        only(at, &["Latitude", "Longitude"])?;
        Ok(RawCoordinates {
            latitude: required(at, "Latitude")?.text.clone(),
            longitude: required(at, "Longitude")?.text.clone(),
        })
    });
    Ok(RawGeoproximity {
        aws_region: text("AWSRegion"),
        local_zone_group: text("LocalZoneGroup"),
        coordinates: coordinates.transpose()?,
        bias: integer(element, "Bias")?,
    })
}

fn cidr(element: &Element) -> Result<RawCidr, ApiError> {
    only(element, &["CollectionId", "LocationName"])?;
    Ok(RawCidr {
        collection_id: required(element, "CollectionId")?.text.clone(),
        location_name: required(element, "LocationName")?.text.clone(),
    })
}

fn values(element: &Element) -> Result<Vec<String>, ApiError> {
    only(element, &["ResourceRecord"])?;
    element
        .children
        .iter()
        .map(|record| {
            only(record, &["Value"])?;
            Ok(required(record, "Value")?.text.clone())
        })
        .collect()
}

fn alias(element: &Element) -> Result<RawAlias, ApiError> {
    only(element, &["HostedZoneId", "DNSName", "EvaluateTargetHealth"])?;
    Ok(RawAlias {
        hosted_zone_id: required(element, "HostedZoneId")?.text.clone(),
        dns_name: required(element, "DNSName")?.text.clone(),
        evaluate_target_health: boolean(element, "EvaluateTargetHealth")?,
    })
}

/// A CreateHostedZoneRequest.
pub(crate) fn create_hosted_zone(body: &[u8]) -> Result<NewZone, ApiError> {
    let root = root(body, "CreateHostedZoneRequest")?;
    only(
        &root,
        &["Name", "VPC", "CallerReference", "HostedZoneConfig", "DelegationSetId"],
    )?;
    let config = root.child("HostedZoneConfig");
    let private = config.map(|c| boolean(c, "PrivateZone")).transpose()?.flatten();
    let vpc = root.child("VPC").map(|vpc| {
        only(vpc, &["VPCRegion", "VPCId"])?;
        Ok(Vpc {
            region: required(vpc, "VPCRegion")?.text.clone(),
            id: required(vpc, "VPCId")?.text.clone(),
        })
    });
    Ok(NewZone {
        id: None,
        name: required(&root, "Name")?.text.clone(),
        caller_reference: required(&root, "CallerReference")?.text.clone(),
        comment: config.and_then(|c| c.text_of("Comment")).map(str::to_owned),
        private: private.unwrap_or(false),
        vpc: vpc.transpose()?,
        delegation_set: root
            .text_of("DelegationSetId")
            .map(|id| id.trim_start_matches("/delegationset/").to_owned()),
    })
}

/// Resource ids of a ListTagsForResourcesRequest.
pub(crate) fn tags_for_resources(body: &[u8]) -> Result<Vec<String>, ApiError> {
    let root = root(body, "ListTagsForResourcesRequest")?;
    only(&root, &["ResourceIds"])?;
    let ids = required(&root, "ResourceIds")?;
    only(ids, &["ResourceId"])?;
    Ok(ids.children.iter().map(|c| c.text.clone()).collect())
}

/// The child of this name, which the schema demands.
pub(super) fn required<'e>(element: &'e Element, child: &str) -> Result<&'e Element, ApiError> {
    element.child(child).ok_or_else(|| {
        ApiError::invalid_input(format!(
            "Invalid XML ; cvc-complex-type.2.4.b: The content of element '{}' is not complete. One of '{{\"{NAMESPACE}\":{child}}}' is expected.",
            element.name
        ))
    })
}

/// No other children than these.
pub(super) fn only(element: &Element, known: &[&str]) -> Result<(), ApiError> {
    match element.children.iter().find(|c| !known.contains(&c.name.as_str())) {
        Some(other) => Err(ApiError::invalid_input(format!(
            "Invalid XML ; cvc-complex-type.2.4.a: Invalid content was found starting with element '{}'.",
            other.name
        ))),
        None => Ok(()),
    }
}

/// A child that is a whole number.
pub(super) fn integer(element: &Element, child: &str) -> Result<Option<i64>, ApiError> {
    let Some(text) = element.text_of(child) else {
        return Ok(None);
    };
    text.trim().parse().map(Some).map_err(|_| {
        ApiError::invalid_input(format!(
            "Invalid XML ; cvc-datatype-valid.1.2.1: '{text}' is not a valid value for 'integer'."
        ))
    })
}

/// A child that is true or false.
pub(super) fn boolean(element: &Element, child: &str) -> Result<Option<bool>, ApiError> {
    match element.text_of(child).map(str::trim) {
        None => Ok(None),
        Some("true" | "1") => Ok(Some(true)),
        Some("false" | "0") => Ok(Some(false)),
        Some(text) => Err(ApiError::invalid_input(format!(
            "Invalid XML ; cvc-datatype-valid.1.2.1: '{text}' is not a valid value for 'boolean'."
        ))),
    }
}

/// A value that a closed list has not.
pub(super) fn not_in_list(value: &str, list: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-enumeration-valid: Value '{value}' is not facet-valid with respect to enumeration '{list}'. It must be a value from the enumeration."
    ))
}
