//! Health checks: the store, its calls, and what each says at this moment (route53.md 3).
//!
//! Invariant: a check is healthy until somebody sets what its checkers see; a disabled one sees health for ever;
//! `Inverted` flips either. Deliberately absent: checkers that really ask an endpoint.

mod config;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::accounts::Caller;
use super::error::{ApiError, Code};
use super::shape::{too_long, too_short};

pub use config::{Alarm, CHECKER_REGIONS, HealthCheckConfig, Kind};
pub use update::Update;

/// Most health checks of an account (route53.md 1.2).
pub const MAX_HEALTH_CHECKS: usize = 200;
/// Longest caller reference, in characters.
const MAX_REFERENCE: usize = 64;

/// One health check.
#[derive(Debug, Clone, PartialEq)]
pub struct HealthCheck {
    /// Id, a UUID.
    pub id: String,
    /// Account that owns it.
    pub account: String,
    /// Caller reference of its creation.
    pub caller_reference: String,
    /// Settings.
    pub config: HealthCheckConfig,
    /// Counts from 1.
    pub version: u64,
    /// What its checkers see; `None` before they have seen anything, which counts as healthy.
    pub seen: Option<bool>,
}

/// All health checks.
#[derive(Debug, Default)]
pub struct HealthChecks {
    checks: BTreeMap<String, HealthCheck>,
    /// Account and caller reference of everything ever created.
    references: BTreeMap<(String, String), String>,
    made: u64,
}

impl HealthChecks {
    /// Adds a check that is only an id, as a configuration names them.
    pub fn add_bare(&mut self, account: &str, id: &str) {
        let check = HealthCheck {
            id: id.to_owned(),
            account: account.to_owned(),
            caller_reference: format!("config-{id}"),
            config: HealthCheckConfig {
                kind: Kind::Tcp,
                ip_address: Some("192.0.2.1".to_owned()),
                port: Some(80),
                ..HealthCheckConfig::default()
            },
            version: 1,
            seen: None,
        };
        self.checks.insert(id.to_owned(), check);
    }

    /// The check with this id, whoever owns it.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&HealthCheck> {
        self.checks.get(id)
    }

    /// The caller's check with this id.
    ///
    /// # Errors
    /// `NoSuchHealthCheck`.
    pub fn get(&self, caller: &Caller, id: &str) -> Result<&HealthCheck, ApiError> {
        self.checks
            .get(id)
            .filter(|check| check.account == caller.account)
            .ok_or_else(|| ApiError::no_such_health_check(id))
    }

    /// The caller's checks, in id order.
    pub fn of<'c>(&'c self, caller: &'c Caller) -> impl Iterator<Item = &'c HealthCheck> {
        self.checks.values().filter(|c| c.account == caller.account)
    }

    /// Sets what the checkers of a check see; `None` for nothing yet. False if there is no such check.
    pub fn set_seen(&mut self, id: &str, seen: Option<bool>) -> bool {
        let check = self.checks.get_mut(id);
        check.map(|check| check.seen = seen).is_some()
    }

    /// What a check says now. A check that is gone says healthy; AWS promises nothing there.
    #[must_use]
    pub fn healthy(&self, id: &str) -> bool {
        let Some(check) = self.checks.get(id) else {
            return true;
        };
        let config = &check.config;
        let seen = match config.kind {
            _ if config.disabled => true,
            // Children cannot be calculated ones, so this ends.
            Kind::Calculated => {
                let healthy = config.children.iter().filter(|child| self.healthy(child)).count();
                healthy >= usize::from(config.health_threshold.unwrap_or(0))
            }
            _ => check.seen.unwrap_or(true),
        };
        seen != config.inverted
    }

    /// CreateHealthCheck; the same reference with the same settings gives what is there.
    ///
    /// # Errors
    /// Bad settings, a used reference, a child that does not exist, too many.
    pub fn create(
        &mut self,
        caller: &Caller,
        reference: &str,
        config: HealthCheckConfig,
    ) -> Result<&HealthCheck, ApiError> {
        if reference.is_empty() {
            return Err(too_short("HealthCheckNonce"));
        }
        if reference.chars().count() > MAX_REFERENCE {
            return Err(too_long(reference, MAX_REFERENCE, "HealthCheckNonce"));
        }
        let config = config.checked()?;
        let key = (caller.account.clone(), reference.to_owned());
        if let Some(id) = self.references.get(&key) {
            let id = id.clone();
            let same = self.checks.get(&id).is_some_and(|check| check.config == config);
            return match same {
                true => self.get(caller, &id),
                false => Err(ApiError::new(
                    Code::HealthCheckAlreadyExists,
                    "A health check with the same caller reference has already been created.",
                )),
            };
        }
        self.check_children(caller, &config)?;
        if self.of(caller).count() >= MAX_HEALTH_CHECKS {
            return Err(ApiError::new(
                Code::TooManyHealthChecks,
                format!("Cannot have more than {MAX_HEALTH_CHECKS} health checks."),
            ));
        }
        self.made += 1;
        let id = made_up_id(&caller.account, reference, self.made);
        self.references.insert(key, id.clone());
        let check = HealthCheck {
            id: id.clone(),
            account: caller.account.clone(),
            caller_reference: reference.to_owned(),
            config,
            version: 1,
            seen: None,
        };
        Ok(self.checks.entry(id).or_insert(check))
    }

    /// UpdateHealthCheck.
    ///
    /// # Errors
    /// Another version than the one given, or settings that would be bad.
    pub fn update(&mut self, caller: &Caller, id: &str, update: &Update) -> Result<&HealthCheck, ApiError> {
        let check = self.get(caller, id)?;
        if update.version.is_some_and(|v| v != check.version) {
            return Err(ApiError::new(
                Code::HealthCheckVersionMismatch,
                format!("The health check is at version {}.", check.version),
            ));
        }
        let config = update.apply(&check.config)?.checked()?;
        self.check_children(caller, &config)?;
        if let Some(check) = self.checks.get_mut(id) {
            check.config = config;
            check.version += 1;
        }
        self.get(caller, id)
    }

    /// DeleteHealthCheck; records that name it keep doing so.
    ///
    /// # Errors
    /// `NoSuchHealthCheck`.
    pub fn delete(&mut self, caller: &Caller, id: &str) -> Result<(), ApiError> {
        self.get(caller, id)?;
        self.checks.remove(id);
        Ok(())
    }

    /// Children exist, none twice, and are not calculated themselves.
    fn check_children(&self, caller: &Caller, config: &HealthCheckConfig) -> Result<(), ApiError> {
        let mut seen = BTreeSet::new();
        for child in &config.children {
            let Ok(check) = self.get(caller, child) else {
                return Err(ApiError::invalid_input(format!(
                    "Invalid parameter : The child health check {child} does not exist."
                )));
            };
            if check.config.kind == Kind::Calculated || !seen.insert(child) {
                return Err(ApiError::invalid_input(format!(
                    "Invalid parameter : The child health check {child} is a calculated one or stands twice."
                )));
            }
        }
        Ok(())
    }
}

fn made_up_id(account: &str, reference: &str, nth: u64) -> String {
    let digest = Sha256::digest(format!("{account}/{reference}/{nth}"));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
