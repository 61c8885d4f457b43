//! The shape of a batch: from optional fields to checked ones (route53.md 1.7 I1 to I5, 10.1).
//!
//! Invariant: the first error alone is reported, as `InvalidInput`; nothing here looks at a zone. The raw form is
//! also what the journal, the configuration and the admin pages read and write.

mod raw;
mod routing;
mod words;

use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::record::{Policy, RecordType};
use words::{expected_one_of, incomplete, unsupported};

pub use raw::{RawAlias, RawChange, RawCidr, RawCoordinates, RawGeoLocation, RawGeoproximity, RawSet};
pub(in crate::core) use words::{not_in_enumeration, not_of_pattern, out_of_range, too_long, too_short};

/// Longest set identifier, in characters.
const MAX_SET_ID: usize = 128;
/// Longest value, in characters.
const MAX_VALUE: usize = 4000;
/// Longest comment, in characters.
const MAX_COMMENT: usize = 256;
/// Longest health check id, in characters.
const MAX_HEALTH_CHECK_ID: usize = 64;

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
            return Err(too_short("ResourceRecordSetIdentifier"));
        }
        if length > MAX_SET_ID {
            return Err(too_long(id, MAX_SET_ID, "ResourceRecordSetIdentifier"));
        }
    }
    if let Some(id) = &set.health_check_id
        && id.chars().count() > MAX_HEALTH_CHECK_ID
    {
        return Err(too_long(id, MAX_HEALTH_CHECK_ID, "HealthCheckId"));
    }
    let policy = routing::policy(change)?;
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
    RecordType::from_api(text).ok_or_else(|| {
        not_in_enumeration(
            text,
            "[SOA, A, TXT, NS, CNAME, MX, NAPTR, PTR, SRV, SPF, AAAA, CAA, DS, TLSA, SSHFP, SVCB, HTTPS]",
        )
    })
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
        return Err(expected_one_of(
            "AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId",
            present > 1,
            change,
        ));
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
