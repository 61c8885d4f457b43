//! Who calls: access keys and the accounts they belong to.
//!
//! An access key without an entry belongs to the default account. Deliberately absent: signatures, secrets, roles and
//! policies, which are in `identity`.

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
    /// ARN of the user or the role's session.
    pub arn: String,
}

impl Caller {
    /// The made-up user of this name, which is also its access key id, in an account.
    #[must_use]
    pub fn made_up(access_key: &str, account: &str) -> Self {
        Self {
            access_key: access_key.to_owned(),
            account: account.to_owned(),
            arn: format!("arn:aws:iam::{account}:user/{access_key}"),
        }
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
        Caller::made_up(access_key, account)
    }

    /// Ids of the health checks that the configuration names.
    pub fn health_checks(&self) -> impl Iterator<Item = &str> {
        self.health_checks.iter().map(String::as_str)
    }
}
