//! UpdateHealthCheck: which settings change, and which are emptied (the API reference of UpdateHealthCheck).
//!
//! Deliberately absent: whether the result holds together, which `config` says.

use super::HealthCheckConfig;
use crate::core::error::ApiError;
use crate::core::shape::not_in_enumeration;

/// What UpdateHealthCheck changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// The version that the caller believes in.
    pub version: Option<u64>,
    /// New settings; the kind of it does not count, nor what cannot be changed.
    pub config: HealthCheckConfig,
    /// `Inverted`, if given.
    pub inverted: Option<bool>,
    /// `Disabled`, if given.
    pub disabled: Option<bool>,
    /// Elements to empty.
    pub reset: Vec<String>,
}

impl Update {
    /// The settings after the update, not yet checked.
    ///
    /// # Errors
    /// `InvalidInput` for an element that cannot be reset.
    pub fn apply(&self, old: &HealthCheckConfig) -> Result<HealthCheckConfig, ApiError> {
        let new = self.config.clone();
        let mut out = old.clone();
        for element in &self.reset {
            match element.as_str() {
                "FullyQualifiedDomainName" => out.domain_name = None,
                "Regions" => out.regions = Vec::new(),
                "ResourcePath" => out.resource_path = None,
                "ChildHealthChecks" => out.children = Vec::new(),
                other => {
                    return Err(not_in_enumeration(
                        other,
                        "[FullyQualifiedDomainName, Regions, ResourcePath, ChildHealthChecks]",
                    ));
                }
            }
        }
        out.ip_address = new.ip_address.or(out.ip_address);
        out.port = new.port.or(out.port);
        out.resource_path = new.resource_path.or(out.resource_path);
        out.domain_name = new.domain_name.or(out.domain_name);
        out.search_string = new.search_string.or(out.search_string);
        out.failure_threshold = new.failure_threshold.or(out.failure_threshold);
        out.inverted = self.inverted.unwrap_or(out.inverted);
        out.disabled = self.disabled.unwrap_or(out.disabled);
        out.health_threshold = new.health_threshold.or(out.health_threshold);
        out.enable_sni = new.enable_sni.or(out.enable_sni);
        out.alarm = new.alarm.or(out.alarm);
        out.insufficient_data = new.insufficient_data.or(out.insufficient_data);
        if !new.children.is_empty() {
            out.children = new.children;
        }
        if !new.regions.is_empty() {
            out.regions = new.regions;
        }
        Ok(out)
    }
}
