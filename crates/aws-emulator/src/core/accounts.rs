//! Who calls: access keys and the accounts they belong to.
//!
//! Any credentials are accepted; an access key without an entry belongs to the default account. Deliberately absent:
//! signatures, secrets, roles and policies.

use std::collections::{BTreeMap, BTreeSet};

/// Account of every access key that the configuration does not name.
pub const DEFAULT_ACCOUNT: &str = "111111111111";

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Access key id; tells clients apart.
    pub access_key: String,
    /// Account id, twelve digits.
    pub account: String,
}

impl Caller {
    /// ARN of the made-up user that holds the access key.
    #[must_use]
    pub fn arn(&self) -> String {
        format!("arn:aws:iam::{}:user/{}", self.account, self.access_key)
    }
}

/// Accounts by access key, and what belongs to an account but is no zone.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    by_key: BTreeMap<String, String>,
    health_checks: BTreeSet<String>,
}

impl Accounts {
    /// Accounts with these access keys and these existing health check ids.
    #[must_use]
    pub fn new(by_key: BTreeMap<String, String>, health_checks: BTreeSet<String>) -> Self {
        Self { by_key, health_checks }
    }

    /// The caller with this access key.
    #[must_use]
    pub fn caller(&self, access_key: &str) -> Caller {
        let account = self.by_key.get(access_key).map_or(DEFAULT_ACCOUNT, String::as_str);
        Caller {
            access_key: access_key.to_owned(),
            account: account.to_owned(),
        }
    }

    /// Whether a health check with this id exists.
    #[must_use]
    pub fn has_health_check(&self, id: &str) -> bool {
        self.health_checks.contains(id)
    }
}
