//! The shape of a batch: from optional fields to checked ones (route53.md 1.7 I1 to I5, 10.1).
//!
//! Invariant: the first error alone is reported, as `InvalidInput`; nothing here looks at a zone. The raw form is
//! also what the journal, the configuration and the admin pages read and write.

use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::record::{Policy, RecordSet, RecordType, Role};

/// Longest set identifier, in characters.
const MAX_SET_ID: usize = 128;
/// Longest value, in characters.
const MAX_VALUE: usize = 4000;
/// Longest comment, in characters.
const MAX_COMMENT: usize = 256;
/// Record types that Route 53 has and this double does not keep yet.
const OTHER_TYPES: [&str; 11] = [
    "CAA", "DS", "HTTPS", "MX", "NAPTR", "PTR", "SPF", "SRV", "SSHFP", "SVCB", "TLSA",
];

/// Action of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Action {
    /// Must not exist yet.
    Create,
    /// Must exist exactly so.
    Delete,
    /// Replaces or creates.
    Upsert,
}

impl Action {
    /// The name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Delete => "DELETE",
            Self::Upsert => "UPSERT",
        }
    }
}

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
    /// Multivalue answer routing; known, and refused as not supported yet.
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

/// A change of the right shape, not yet looked at with the zone in view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Action.
    pub action: Action,
    /// Name as sent.
    pub name: String,
    /// Type.
    pub rtype: RecordType,
    /// Set identifier.
    pub set_id: Option<String>,
    /// Policy; a latency region is not checked yet.
    pub policy: Policy,
    /// Values or alias.
    pub data: DraftData,
    /// Health check id.
    pub health_check: Option<String>,
}

/// Values or alias of a [`Draft`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftData {
    /// Own values.
    Records {
        /// Seconds.
        ttl: u32,
        /// Values as sent.
        values: Vec<String>,
    },
    /// Alias; name as sent.
    Alias {
        /// Hosted zone id of the target.
        zone_id: String,
        /// Name as sent.
        name: String,
        /// `EvaluateTargetHealth`.
        evaluate_target_health: bool,
    },
}

/// Checks comment and changes in the order in which they stand.
///
/// # Errors
/// The first thing that is wrong, as `InvalidInput`.
pub fn check(comment: Option<&str>, changes: &[RawChange]) -> Result<Vec<Draft>, ApiError> {
    if let Some(comment) = comment
        && comment.chars().count() > MAX_COMMENT
    {
        return Err(too_long(comment, MAX_COMMENT, "ResourceDescription"));
    }
    if changes.is_empty() {
        return Err(incomplete("Changes", "Change"));
    }
    changes.iter().map(draft).collect()
}

fn draft(change: &RawChange) -> Result<Draft, ApiError> {
    let set = &change.record_set;
    let action = match change.action.as_str() {
        "CREATE" => Action::Create,
        "DELETE" => Action::Delete,
        "UPSERT" => Action::Upsert,
        other => return Err(not_in_enumeration(other, "[CREATE, DELETE, UPSERT]")),
    };
    let rtype = record_type(&set.rtype)?;
    if let Some(id) = &set.set_identifier {
        let length = id.chars().count();
        if length == 0 {
            return Err(ApiError::invalid_input(
                "Invalid XML ; cvc-minLength-valid: Value '' with length = '0' is not facet-valid with respect to minLength '1' for type 'ResourceRecordSetIdentifier'.",
            ));
        }
        if length > MAX_SET_ID {
            return Err(too_long(id, MAX_SET_ID, "ResourceRecordSetIdentifier"));
        }
    }
    let policy = policy(change)?;
    let data = data(change)?;
    Ok(Draft {
        action,
        name: set.name.clone(),
        rtype,
        set_id: set.set_identifier.clone(),
        policy,
        data,
        health_check: set.health_check_id.clone(),
    })
}

fn record_type(text: &str) -> Result<RecordType, ApiError> {
    if let Some(rtype) = RecordType::from_api(text) {
        return Ok(rtype);
    }
    if OTHER_TYPES.contains(&text) {
        return Err(unsupported(&format!("record type {text}")));
    }
    Err(not_in_enumeration(
        text,
        "[SOA, A, TXT, NS, CNAME, MX, NAPTR, PTR, SRV, SPF, AAAA, CAA, DS, TLSA, SSHFP, SVCB, HTTPS]",
    ))
}

/// I2 and I3: exactly one policy field with a set identifier, none without.
fn policy(change: &RawChange) -> Result<Policy, ApiError> {
    let set = &change.record_set;
    if let Some(other) = set.other_policies.first() {
        return Err(unsupported(&format!("routing policy {other}")));
    }
    let present = usize::from(set.weight.is_some())
        + usize::from(set.region.is_some())
        + usize::from(set.failover.is_some())
        + usize::from(set.multi_value_answer.is_some());
    if set.set_identifier.is_none() {
        return match present {
            0 => Ok(Policy::Simple),
            _ => Err(ApiError::invalid_input(format!(
                "Invalid request: Missing field 'SetIdentifier' in {}",
                whereabouts(change)
            ))),
        };
    }
    if present != 1 {
        let found = if present == 0 { "none" } else { "more than one" };
        return Err(ApiError::invalid_input(format!(
            "Invalid request: Expected exactly one of [Weight, Region, Failover, GeoLocation, or MultiValueAnswer], but found {found} in {}",
            whereabouts(change)
        )));
    }
    if let Some(weight) = set.weight {
        return u8::try_from(weight)
            .map(Policy::Weighted)
            .map_err(|_| out_of_range(weight, 0, 255, "ResourceRecordSetWeight"));
    }
    if let Some(region) = &set.region {
        return Ok(Policy::Latency(region.clone()));
    }
    match set.failover.as_deref() {
        Some("PRIMARY") => Ok(Policy::Failover(Role::Primary)),
        Some("SECONDARY") => Ok(Policy::Failover(Role::Secondary)),
        Some(other) => Err(not_in_enumeration(other, "[PRIMARY, SECONDARY]")),
        None => Err(unsupported("routing policy MultiValueAnswer")),
    }
}

/// I1 and I4: values with a TTL, or an alias.
fn data(change: &RawChange) -> Result<DraftData, ApiError> {
    let set = &change.record_set;
    if let Some(alias) = &set.alias_target
        && alias.evaluate_target_health.is_none()
    {
        return Err(incomplete("AliasTarget", "EvaluateTargetHealth"));
    }
    if set.values.as_ref().is_some_and(Vec::is_empty) {
        return Err(incomplete("ResourceRecords", "ResourceRecord"));
    }
    let records = usize::from(set.ttl.is_some() || set.values.is_some());
    let instance = usize::from(set.traffic_policy_instance_id.is_some());
    let present = records + instance + usize::from(set.alias_target.is_some());
    let half = records == 1 && !(set.ttl.is_some() && set.values.is_some());
    if present != 1 || half {
        let found = if present > 1 { "more than one" } else { "none" };
        return Err(ApiError::invalid_input(format!(
            "Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found {found} in {}",
            whereabouts(change)
        )));
    }
    match (&set.alias_target, set.ttl, &set.values) {
        (Some(alias), ..) => Ok(DraftData::Alias {
            zone_id: alias.hosted_zone_id.trim_start_matches("/hostedzone/").to_owned(),
            name: alias.dns_name.clone(),
            evaluate_target_health: alias.evaluate_target_health.unwrap_or_default(),
        }),
        (None, Some(ttl), Some(values)) => records_data(ttl, values),
        (None, ..) => Err(unsupported("TrafficPolicyInstanceId")),
    }
}

fn records_data(ttl: i64, values: &[String]) -> Result<DraftData, ApiError> {
    let in_range = u32::try_from(ttl).ok().filter(|t| i32::try_from(*t).is_ok());
    let ttl = in_range.ok_or_else(|| out_of_range(ttl, 0, i64::from(i32::MAX), "TTL"))?;
    for value in values {
        if value.chars().count() > MAX_VALUE {
            return Err(too_long(value, MAX_VALUE, "RData"));
        }
    }
    Ok(DraftData::Records {
        ttl,
        values: values.to_vec(),
    })
}

fn whereabouts(change: &RawChange) -> String {
    let set = &change.record_set;
    format!(
        "Change with [Action={}, Name={}, Type={}, SetIdentifier={}]",
        change.action,
        set.name,
        set.rtype,
        set.set_identifier.as_deref().unwrap_or("null")
    )
}

fn unsupported(what: &str) -> ApiError {
    ApiError::invalid_input(format!("truce-aws-emulator does not implement {what} yet"))
}

fn not_in_enumeration(value: &str, enumeration: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-enumeration-valid: Value '{value}' is not facet-valid with respect to enumeration '{enumeration}'. It must be a value from the enumeration."
    ))
}

fn incomplete(element: &str, expected: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-complex-type.2.4.b: The content of element '{element}' is not complete. One of '{{\"https://route53.amazonaws.com/doc/2013-04-01/\":{expected}}}' is expected."
    ))
}

fn too_long(value: &str, limit: usize, kind: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-maxLength-valid: Value '{value}' with length = '{}' is not facet-valid with respect to maxLength '{limit}' for type '{kind}'.",
        value.chars().count()
    ))
}

fn out_of_range(value: i64, low: i64, high: i64, kind: &str) -> ApiError {
    let (facet, bound) = if value < low {
        ("minInclusive", low)
    } else {
        ("maxInclusive", high)
    };
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-{facet}-valid: Value '{value}' is not facet-valid with respect to {facet} '{bound}' for type '{kind}'."
    ))
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
        }
        match &set.data {
            super::record::Data::Records { ttl, values } => {
                raw.ttl = Some(i64::from(*ttl));
                raw.values = Some(values.clone());
            }
            super::record::Data::Alias(alias) => {
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
