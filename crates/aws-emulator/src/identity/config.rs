//! The part of the configuration that says who there is: accounts, users, roles, identity providers.
//!
//! Invariant: an unknown field is an error that names it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::policy::Document;
use super::web::ProviderConfig;

/// An account.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AccountConfig {
    /// Users by name.
    pub users: BTreeMap<String, UserConfig>,
    /// Roles by name.
    pub roles: BTreeMap<String, RoleConfig>,
    /// OIDC providers by issuer, `https://...`.
    pub oidc_providers: BTreeMap<String, ProviderConfig>,
}

/// An IAM user.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UserConfig {
    /// Path, `/` or `/.../`.
    pub path: Option<String>,
    /// Access key id -> secret access key.
    pub access_keys: BTreeMap<String, String>,
    /// Identity policies; without any it may do nothing but GetCallerIdentity and be trusted by name.
    pub policies: Vec<Document>,
}

/// An IAM role.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleConfig {
    /// Path, `/` or `/.../`.
    #[serde(default)]
    pub path: Option<String>,
    /// Longest session, in seconds: 3600 to 43200; default 3600.
    #[serde(default)]
    pub max_session_duration: Option<u64>,
    /// Trust policy.
    pub trust: Document,
    /// Identity policies.
    #[serde(default)]
    pub policies: Vec<Document>,
}
