//! `k8s-aws-v1.` tokens: the rules of aws-iam-authenticator (`pkg/token/token.go`, `pkg/server/server.go`), and whom
//! a token stands for.
//!
//! Invariant: a token is bound to the name of one cluster, because that name is a signed header of the presigned
//! GetCallerIdentity; it is verified exactly as STS would verify that request. Deliberately absent: any other kind of
//! token.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::core::error::ApiError;
use crate::core::regions::REGIONS;

use super::cluster::ClusterConfig;
use super::directory::Identity;
use super::principal::{Kind, Principal};
use super::service::Service;
use super::signature::{self, SignedRequest};

/// What every token begins with.
pub const PREFIX: &str = "k8s-aws-v1.";
/// Longest token, in bytes.
const MAX_TOKEN: usize = 4 * 1024;
/// Milliseconds from `X-Amz-Date` to the end of a token.
const LIFETIME_MS: u64 = 15 * 60 * 1000;
/// The header that binds a token to a cluster.
const CLUSTER_HEADER: &str = "x-k8s-aws-id";
/// Query parameters of a token, in lower case; no other is let through.
const ALLOWED: [&str; 9] = [
    "action",
    "version",
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
];
/// Regions of the aws partition that have a FIPS host of STS.
const FIPS: [&str; 4] = ["us-east-1", "us-east-2", "us-west-1", "us-west-2"];

/// Why a token is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token is not what the authenticator takes.
    #[error("input token was not properly formatted: {0}")]
    Format(String),
    /// STS refuses the request inside.
    #[error("sts getCallerIdentity failed: error from AWS (expected 200, got {status}). {error}")]
    Sts {
        /// HTTP status.
        status: u16,
        /// What STS says.
        error: ApiError,
    },
    /// Nobody in the cluster.
    #[error("ARN is not mapped: {0}")]
    NotMapped(String),
}

/// Whom the cluster sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubernetesUser {
    /// User name.
    pub username: String,
    /// `aws-iam-authenticator:ACCOUNT:ID`.
    pub uid: String,
    /// Groups.
    pub groups: Vec<String>,
    /// More of the caller.
    pub extra: BTreeMap<&'static str, Vec<String>>,
}

fn format(message: impl Into<String>) -> TokenError {
    TokenError::Format(message.into())
}

impl Identity {
    /// Verifies a token for a cluster.
    ///
    /// # Errors
    /// Why the cluster does not let its bearer in.
    pub fn review(&self, cluster: &ClusterConfig, token: &str, now_ms: u64) -> Result<KubernetesUser, TokenError> {
        let url = decode(token)?;
        let (host, target) = take_apart(&url)?;
        let query = target.split_once('?').map_or("", |(_, query)| query);
        check_query(query, now_ms)?;
        let request = SignedRequest {
            method: "GET",
            target,
            headers: vec![
                ("host", host),
                (CLUSTER_HEADER, &cluster.name),
                ("accept", "application/json"),
            ],
            body: &[],
        };
        let principal = self.ask_sts(&request, host, now_ms).map_err(|error| TokenError::Sts {
            status: error.code.status(),
            error,
        })?;
        mapped(cluster, &principal)
    }

    /// GetCallerIdentity as the STS at this host answers it.
    fn ask_sts(&self, request: &SignedRequest<'_>, host: &str, now_ms: u64) -> Result<Principal, ApiError> {
        use crate::core::error::Code;
        let presented = signature::present(request)?.ok_or_else(|| {
            ApiError::new(
                Code::MissingAuthenticationToken,
                "Request is missing Authentication Token",
            )
        })?;
        let principal = self.authenticate(&presented, request, Service::Sts, now_ms)?;
        let expected = region_of(host).unwrap_or("us-east-1");
        if presented.region != expected {
            return Err(ApiError::new(
                Code::SignatureDoesNotMatch,
                format!(
                    "Credential should be scoped to a valid region, not '{}'. ",
                    presented.region
                ),
            ));
        }
        Ok(principal)
    }
}

fn decode(token: &str) -> Result<String, TokenError> {
    if token.len() > MAX_TOKEN {
        return Err(format("token is too large"));
    }
    let encoded = token
        .strip_prefix(PREFIX)
        .ok_or_else(|| format(format!("token is missing expected \"{PREFIX}\" prefix")))?;
    let bytes = BASE64_URL_SAFE_NO_PAD
        .decode(encoded)
        .map_err(|error| format(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| format(error.to_string()))
}

/// Host, and path with query.
fn take_apart(url: &str) -> Result<(&str, &str), TokenError> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme != "https" {
        return Err(format(format!("unexpected scheme \"{scheme}\" in pre-signed URL")));
    }
    let (host, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if host != "sts.amazonaws.com" && region_of(host).is_none() {
        return Err(format(format!("unexpected hostname \"{host}\" in pre-signed URL")));
    }
    if target.split('?').next() != Some("/") || target.contains('#') {
        return Err(format("unexpected path in pre-signed URL"));
    }
    Ok((host, target))
}

/// Region of a regional host of STS in the aws partition.
fn region_of(host: &str) -> Option<&'static str> {
    let region = host.strip_suffix(".amazonaws.com")?;
    let (fips, region) = match region.strip_prefix("sts-fips.") {
        Some(region) => (true, region),
        None => (false, region.strip_prefix("sts.")?),
    };
    let found = REGIONS.iter().map(|r| r.name).find(|name| *name == region)?;
    let partition = !found.starts_with("cn-") && !found.starts_with("us-gov-");
    (partition && (!fips || FIPS.contains(&found))).then_some(found)
}

fn check_query(query: &str, now_ms: u64) -> Result<(), TokenError> {
    let mut parameters: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        let lower = key.to_lowercase();
        if !ALLOWED.contains(&lower.as_str()) {
            return Err(format(format!("non-whitelisted query parameter \"{key}\"")));
        }
        if parameters.insert(lower, value.into_owned()).is_some() {
            return Err(format("query parameter with multiple values not supported"));
        }
    }
    let get = |key: &str| parameters.get(key).map_or("", String::as_str);
    if get("action") != "GetCallerIdentity" {
        return Err(format("unexpected action parameter in pre-signed URL"));
    }
    let mut signed = get("x-amz-signedheaders").split(';');
    if !signed.any(|name| name.eq_ignore_ascii_case(CLUSTER_HEADER)) {
        return Err(format(format!(
            "client did not sign the {CLUSTER_HEADER} header in the pre-signed URL"
        )));
    }
    let expires = get("x-amz-expires").parse::<i64>();
    if !expires.as_ref().is_ok_and(|seconds| (0..=900).contains(seconds)) {
        let got = expires.unwrap_or(0);
        return Err(format(format!(
            "invalid X-Amz-Expires parameter in pre-signed URL: {got}"
        )));
    }
    let date = get("x-amz-date");
    if date.is_empty() {
        return Err(format("X-Amz-Date parameter must be present in pre-signed URL"));
    }
    let signed_at = signature::date_ms(date).map_err(|error| {
        format(format!(
            "error parsing X-Amz-Date parameter {date} into format 20060102T150405Z: {}",
            error.message
        ))
    })?;
    if now_ms > signed_at + LIFETIME_MS {
        return Err(format(format!(
            "X-Amz-Date parameter is expired (15 minute expiration) {date}"
        )));
    }
    Ok(())
}

fn mapped(cluster: &ClusterConfig, principal: &Principal) -> Result<KubernetesUser, TokenError> {
    let (canonical, session) = match &principal.kind {
        Kind::Session { role, name } => (role, name.as_str()),
        Kind::User | Kind::Unverified => (&principal.arn, ""),
    };
    let entry = cluster
        .entry(canonical)
        .ok_or_else(|| TokenError::NotMapped(canonical.clone()))?;
    let id = principal.user_id.split(':').next().unwrap_or_default();
    let username = entry
        .username()
        .replace("{{AccountID}}", &principal.account)
        .replace("{{AccessKeyID}}", &principal.access_key)
        .replace("{{SessionNameRaw}}", session)
        .replace("{{SessionName}}", &session.replace('@', "-"));
    let extra = [
        ("accessKeyId", principal.access_key.clone()),
        ("arn", principal.arn.clone()),
        ("canonicalArn", canonical.clone()),
        ("principalId", id.to_owned()),
        ("sessionName", session.to_owned()),
    ];
    Ok(KubernetesUser {
        username,
        uid: format!("aws-iam-authenticator:{}:{id}", principal.account),
        groups: entry.groups.clone(),
        extra: extra.into_iter().map(|(key, value)| (key, vec![value])).collect(),
    })
}
