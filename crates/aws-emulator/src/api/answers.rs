//! Answer bodies: from the core's values to XML.

use crate::core::error::{ApiError, Code};
use crate::core::list::Page;
use crate::core::places::Place;
use crate::core::policy::{Policy, Site};
use crate::core::record::{Data, RecordSet};
use crate::core::service::{Change, Vpc};
use crate::core::zone::Zone;

use super::requests::NAMESPACE;
use super::route::Protocol;
use super::xml::Writer;
use super::{elbv2, sts};

/// An error document (route53.md 1.1).
pub(crate) fn error(error: &ApiError, protocol: Protocol, request_id: &str) -> String {
    if protocol == Protocol::RestJson {
        return serde_json::json!({ "message": error.message }).to_string();
    }
    if error.code == Code::UnknownOperationException {
        return "<?xml version=\"1.0\"?>\n<UnknownOperationException/>".to_owned();
    }
    let namespace = match protocol {
        Protocol::RestXml | Protocol::RestJson => NAMESPACE,
        Protocol::Query => sts::NAMESPACE,
        Protocol::LoadBalancingQuery => elbv2::NAMESPACE,
    };
    Writer::document("ErrorResponse", namespace, |w| {
        w.nest("Error", |w| {
            w.leaf("Type", "Sender");
            w.leaf("Code", error.code.as_str());
            w.leaf("Message", &error.message);
            entries(w, error);
        });
        w.leaf("RequestId", request_id);
    })
}

/// The entries of a batch that failed, for the calls that list them.
fn entries(w: &mut Writer, error: &ApiError) {
    if error.entries.is_empty() {
        return;
    }
    w.nest("Errors", |w| {
        for entry in &error.entries {
            w.nest("ProtectionError", |w| {
                w.leaf("RecordName", &entry.name);
                w.leaf("RecordType", &entry.rtype);
                w.leaf("Code", entry.code);
                w.leaf("Message", &entry.message);
            });
        }
    });
}

/// UpdateHostedZoneCommentResponse.
pub(crate) fn update_comment(zone: &Zone) -> String {
    Writer::document("UpdateHostedZoneCommentResponse", NAMESPACE, |w| zone_element(w, zone))
}

/// A `ChangeInfo` in a document of this name, with the time in ISO 8601.
pub(crate) fn change_info(root: &str, change: &Change, now_ms: u64) -> String {
    Writer::document(root, NAMESPACE, |w| change_element(w, change, now_ms))
}

fn change_element(w: &mut Writer, change: &Change, now_ms: u64) {
    w.nest("ChangeInfo", |w| {
        w.leaf("Id", &format!("/change/{}", change.id));
        w.leaf("Status", change.status(now_ms));
        w.leaf("SubmittedAt", &iso(change.submitted_at_ms));
        w.maybe("Comment", change.comment.as_deref());
    });
}

/// A time in ISO 8601, to the second.
pub(crate) fn iso_seconds(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |t| format!("{t:.0}"))
}

/// A time in ISO 8601.
pub(super) fn iso(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |t| format!("{t:.3}"))
}

/// GetHostedZoneResponse.
pub(crate) fn get_hosted_zone(zone: &Zone) -> String {
    Writer::document("GetHostedZoneResponse", NAMESPACE, |w| {
        zone_element(w, zone);
        delegation_set(w, zone);
        if let Some(vpc) = &zone.vpc {
            w.nest("VPCs", |w| vpc_element(w, vpc));
        }
    })
}

fn vpc_element(w: &mut Writer, vpc: &Vpc) {
    w.nest("VPC", |w| {
        w.leaf("VPCRegion", &vpc.region);
        w.leaf("VPCId", &vpc.id);
    });
}

/// CreateHostedZoneResponse.
pub(crate) fn create_hosted_zone(zone: &Zone, change: &Change, now_ms: u64) -> String {
    Writer::document("CreateHostedZoneResponse", NAMESPACE, |w| {
        zone_element(w, zone);
        change_element(w, change, now_ms);
        delegation_set(w, zone);
        if let Some(vpc) = &zone.vpc {
            vpc_element(w, vpc);
        }
    })
}

fn zone_element(w: &mut Writer, zone: &Zone) {
    w.nest("HostedZone", |w| {
        w.leaf("Id", &format!("/hostedzone/{}", zone.id));
        w.leaf("Name", zone.name.as_str());
        w.leaf("CallerReference", &zone.caller_reference);
        w.nest("Config", |w| {
            w.maybe("Comment", zone.comment.as_deref());
            w.leaf("PrivateZone", if zone.private { "true" } else { "false" });
        });
        w.leaf("ResourceRecordSetCount", &zone.len().to_string());
    });
}

fn delegation_set(w: &mut Writer, zone: &Zone) {
    if zone.private {
        return;
    }
    w.nest("DelegationSet", |w| {
        if let Some(id) = &zone.delegation_set {
            w.leaf("Id", &format!("/delegationset/{id}"));
        }
        w.nest("NameServers", |w| {
            for server in &zone.name_servers {
                w.leaf("NameServer", server);
            }
        });
    });
}

/// ListHostedZonesResponse.
pub(crate) fn list_hosted_zones(zones: &[&Zone], marker: Option<&str>, next: Option<&str>, max: usize) -> String {
    Writer::document("ListHostedZonesResponse", NAMESPACE, |w| {
        zone_elements(w, zones);
        w.maybe("Marker", marker);
        w.leaf("IsTruncated", truth(next.is_some()));
        w.maybe("NextMarker", next);
        w.leaf("MaxItems", &max.to_string());
    })
}

/// ListHostedZonesByNameResponse.
pub(crate) fn list_hosted_zones_by_name(
    zones: &[&Zone],
    asked: (Option<&str>, Option<&str>),
    next: Option<&Zone>,
    max: usize,
) -> String {
    Writer::document("ListHostedZonesByNameResponse", NAMESPACE, |w| {
        zone_elements(w, zones);
        w.maybe("DNSName", asked.0);
        w.maybe("HostedZoneId", asked.1);
        w.leaf("IsTruncated", truth(next.is_some()));
        w.maybe("NextDNSName", next.map(|z| z.name.as_str()));
        w.maybe("NextHostedZoneId", next.map(|z| z.id.as_str()));
        w.leaf("MaxItems", &max.to_string());
    })
}

fn zone_elements(w: &mut Writer, zones: &[&Zone]) {
    w.nest("HostedZones", |w| {
        for zone in zones {
            zone_element(w, zone);
        }
    });
}

/// ListResourceRecordSetsResponse.
pub(crate) fn list_record_sets(page: &Page, max: usize) -> String {
    Writer::document("ListResourceRecordSetsResponse", NAMESPACE, |w| {
        w.nest("ResourceRecordSets", |w| {
            for set in &page.sets {
                record_set(w, set);
            }
        });
        w.leaf("IsTruncated", truth(page.next.is_some()));
        if let Some(next) = &page.next {
            w.leaf("NextRecordName", next.name().as_str());
            w.leaf("NextRecordType", next.rtype.as_str());
            w.maybe("NextRecordIdentifier", next.set_id.as_deref());
        }
        w.leaf("MaxItems", &max.to_string());
    })
}

fn record_set(w: &mut Writer, set: &RecordSet) {
    w.nest("ResourceRecordSet", |w| {
        w.leaf("Name", set.name.as_str());
        w.leaf("Type", set.rtype.as_str());
        w.maybe("SetIdentifier", set.set_id.as_deref());
        policy(w, &set.policy);
        match &set.data {
            Data::Records { ttl, values } => {
                w.leaf("TTL", &ttl.to_string());
                w.nest("ResourceRecords", |w| {
                    for value in values {
                        w.nest("ResourceRecord", |w| w.leaf("Value", value));
                    }
                });
            }
            Data::Alias(alias) => w.nest("AliasTarget", |w| {
                w.leaf("HostedZoneId", &alias.zone_id);
                w.leaf("DNSName", alias.name.as_str());
                w.leaf("EvaluateTargetHealth", truth(alias.evaluate_target_health));
            }),
        }
        w.maybe("HealthCheckId", set.health_check.as_deref());
        if let Policy::Cidr { collection, location } = &set.policy {
            w.nest("CidrRoutingConfig", |w| {
                w.leaf("CollectionId", collection);
                w.leaf("LocationName", location);
            });
        }
        if let Policy::Geoproximity(site, bias) = &set.policy {
            geoproximity(w, site, *bias);
        }
    });
}

/// The policies whose elements stand before the TTL.
fn policy(w: &mut Writer, policy: &Policy) {
    match policy {
        Policy::Simple | Policy::Geoproximity(..) | Policy::Cidr { .. } => {}
        Policy::Weighted(weight) => w.leaf("Weight", &weight.to_string()),
        Policy::Latency(region) => w.leaf("Region", region),
        Policy::Geolocation(place) => w.nest("GeoLocation", |w| match place {
            Place::Default => w.leaf("CountryCode", "*"),
            Place::Continent(code) => w.leaf("ContinentCode", code),
            Place::Country(code) => w.leaf("CountryCode", code),
            Place::Subdivision(country, code) => {
                w.leaf("CountryCode", country);
                w.leaf("SubdivisionCode", code);
            }
        }),
        Policy::Failover(role) => w.leaf("Failover", role.as_str()),
        Policy::Multivalue => w.leaf("MultiValueAnswer", "true"),
    }
}

fn geoproximity(w: &mut Writer, site: &Site, bias: i8) {
    w.nest("GeoProximityLocation", |w| {
        match site {
            Site::Region(region) => w.leaf("AWSRegion", region),
            Site::LocalZoneGroup(group) => w.leaf("LocalZoneGroup", group),
            Site::Coordinates(latitude, longitude) => w.nest("Coordinates", |w| {
                w.leaf("Latitude", latitude);
                w.leaf("Longitude", longitude);
            }),
        }
        w.leaf("Bias", &bias.to_string());
    });
}

/// `true` or `false`.
pub(super) fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
