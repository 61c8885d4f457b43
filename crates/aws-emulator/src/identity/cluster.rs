//! EKS clusters: what DescribeCluster tells, and who may come in by access entries.
//!
//! Invariant: an entry that EKS would refuse is refused when it is read. Deliberately absent: access policies (what
//! an entry may do is RBAC's, by its groups), the aws-auth ConfigMap, everything inside a cluster.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use crate::core::accounts::DEFAULT_ACCOUNT;
use crate::core::regions;

use super::arn::{self, Arn};
use super::directory::IdentityError;

/// Prefixes that a user name of an access entry must not have (EKS User Guide, "Create access entries").
const RESERVED: [&str; 5] = ["system:", "eks:", "aws:", "amazon:", "iam:"];

/// A cluster.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterConfig {
    /// Name; also what a token of the cluster is bound to.
    pub name: String,
    /// Account; default 111111111111.
    #[serde(default = "default_account")]
    pub account: String,
    /// Region.
    pub region: String,
    /// URL of the API server.
    pub endpoint: String,
    /// Certificate authority of the API server: PEM, or base64 of PEM as DescribeCluster gives it.
    pub certificate_authority: String,
    /// Kubernetes version.
    #[serde(default = "default_version")]
    pub version: String,
    /// Whether access entries count.
    #[serde(default)]
    pub authentication_mode: AuthenticationMode,
    /// Who may come in.
    #[serde(default)]
    pub access_entries: Vec<AccessEntry>,
}

fn default_account() -> String {
    DEFAULT_ACCOUNT.to_owned()
}

fn default_version() -> String {
    "1.33".to_owned()
}

/// `accessConfig.authenticationMode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuthenticationMode {
    /// Access entries only.
    #[default]
    Api,
    /// Both; the ConfigMap is not read here.
    ApiAndConfigMap,
    /// The ConfigMap only, which is not read here: nobody comes in.
    ConfigMap,
}

impl AuthenticationMode {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "API",
            Self::ApiAndConfigMap => "API_AND_CONFIG_MAP",
            Self::ConfigMap => "CONFIG_MAP",
        }
    }
}

/// An access entry of type STANDARD.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessEntry {
    /// ARN of a role or user, path included; not that of a session.
    #[serde(rename = "principalARN")]
    pub principal_arn: String,
    /// User name, with `{{SessionName}}` for the session's name; made up as EKS does if absent.
    #[serde(default)]
    pub username: Option<String>,
    /// Kubernetes groups.
    #[serde(default)]
    pub groups: Vec<String>,
}

impl AccessEntry {
    /// The user name, or the one that EKS gives: the session's ARN for a role, the user's ARN for a user.
    #[must_use]
    pub fn username(&self) -> String {
        if let Some(username) = &self.username {
            return username.clone();
        }
        match Arn::parse(&self.principal_arn) {
            Some(parsed) if parsed.is_role() => {
                let name = parsed.resource.rsplit('/').next().unwrap_or_default();
                arn::session(parsed.account, name, "{{SessionName}}")
            }
            Some(_) | None => self.principal_arn.clone(),
        }
    }
}

impl ClusterConfig {
    /// ARN.
    #[must_use]
    pub fn arn(&self) -> String {
        format!("arn:aws:eks:{}:{}:cluster/{}", self.region, self.account, self.name)
    }

    /// The certificate authority as DescribeCluster gives it: base64 of PEM.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.certificate_authority.trim_start().starts_with("-----BEGIN") {
            BASE64_STANDARD.encode(&self.certificate_authority)
        } else {
            self.certificate_authority.trim().to_owned()
        }
    }

    /// The entry of this user or role, if the mode lets entries count.
    #[must_use]
    pub fn entry(&self, principal: &str) -> Option<&AccessEntry> {
        if self.authentication_mode == AuthenticationMode::ConfigMap {
            return None;
        }
        let mut entries = self.access_entries.iter();
        entries.find(|entry| entry.principal_arn.eq_ignore_ascii_case(principal))
    }

    fn check(&self, place: &str) -> Result<(), IdentityError> {
        let wrong = |field: &str, reason: &str| Err(IdentityError::new(format!("{place}{field}"), reason));
        let mut name = self.name.bytes();
        let first = name.next().is_some_and(|b| b.is_ascii_alphanumeric());
        if !first || self.name.len() > 100 || !name.all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            return wrong(
                ".name",
                "1 to 100 of letters, digits, - and _, beginning with a letter or digit",
            );
        }
        if !arn::is_account(&self.account) {
            return wrong(".account", "an account id is twelve digits, in quotes");
        }
        if regions::find(&self.region).is_none() {
            return wrong(".region", "not an AWS region; write one such as us-east-1");
        }
        if !self.endpoint.starts_with("https://") {
            return wrong(".endpoint", "write the API server's URL, https://...");
        }
        let decoded = BASE64_STANDARD.decode(self.authority());
        if !decoded.is_ok_and(|pem| pem.trim_ascii_start().starts_with(b"-----BEGIN CERTIFICATE-----")) {
            return wrong(".certificateAuthority", "write a PEM certificate, or the base64 of one");
        }
        if self.authentication_mode == AuthenticationMode::ConfigMap && !self.access_entries.is_empty() {
            return wrong(
                ".accessEntries",
                "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.",
            );
        }
        let mut seen = BTreeMap::new();
        for (n, entry) in self.access_entries.iter().enumerate() {
            let place = format!("{place}.accessEntries[{n}]");
            check_entry(entry, &place)?;
            if seen.insert(entry.principal_arn.to_lowercase(), n).is_some() {
                let reason = "The specified access entry resource is already in use on this cluster.";
                return Err(IdentityError::new(format!("{place}.principalARN"), reason));
            }
        }
        Ok(())
    }
}

fn check_entry(entry: &AccessEntry, place: &str) -> Result<(), IdentityError> {
    let wrong = |field: &str, reason: String| Err(IdentityError::new(format!("{place}.{field}"), reason));
    let parsed = Arn::parse(&entry.principal_arn);
    let principal = parsed.is_some_and(|a| a.is_role() || (a.service == "iam" && a.resource.starts_with("user/")));
    if !principal {
        let reason = "The principalArn parameter format is not valid: write the ARN of an IAM role or user";
        return wrong("principalARN", reason.to_owned());
    }
    let reserved = |text: &str| RESERVED.into_iter().find(|prefix| text.starts_with(prefix));
    if let Some(prefix) = entry.username.as_deref().and_then(reserved) {
        return wrong("username", format!("The username must not begin with {prefix}"));
    }
    // A group may carry any name but those that Kubernetes keeps for itself.
    match entry.groups.iter().find(|group| group.starts_with("system:")) {
        Some(group) => wrong(
            "groups",
            format!("The kubernetes group name {group} is invalid, it cannot start with system:"),
        ),
        None => Ok(()),
    }
}

/// All clusters, by account, region and name.
#[derive(Debug, Clone, Default)]
pub struct Clusters(BTreeMap<(String, String, String), ClusterConfig>);

impl Clusters {
    /// The clusters of a configuration.
    ///
    /// # Errors
    /// What is wrong, and at which field.
    pub fn new(configs: &[ClusterConfig]) -> Result<Self, IdentityError> {
        let mut clusters = Self::default();
        for (n, config) in configs.iter().enumerate() {
            let place = format!("clusters[{n}]");
            if clusters.get(&config.account, &config.region, &config.name).is_some() {
                let reason = format!("Cluster already exists with name: {}", config.name);
                return Err(IdentityError::new(format!("{place}.name"), reason));
            }
            clusters.put(config.clone(), &place)?;
        }
        Ok(clusters)
    }

    /// Adds or replaces one; `place` stands before the field of an error.
    ///
    /// # Errors
    /// What is wrong, and at which field.
    pub fn put(&mut self, config: ClusterConfig, place: &str) -> Result<(), IdentityError> {
        config.check(place)?;
        let key = (config.account.clone(), config.region.clone(), config.name.clone());
        self.0.insert(key, config);
        Ok(())
    }

    /// The cluster of this name.
    #[must_use]
    pub fn get(&self, account: &str, region: &str, name: &str) -> Option<&ClusterConfig> {
        self.0.get(&(account.to_owned(), region.to_owned(), name.to_owned()))
    }
}
