//! Who made a request, once its signature is verified.

use crate::core::accounts::Caller;

/// What kind of principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Credentials that nobody checks; may do everything in its account.
    Unverified,
    /// An IAM user, by ARN.
    User,
    /// A session of a role.
    Session {
        /// ARN of the role, path included.
        role: String,
        /// Session name.
        name: String,
    },
}

/// An authenticated principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Access key id that signed.
    pub access_key: String,
    /// Account id.
    pub account: String,
    /// ARN as GetCallerIdentity tells it.
    pub arn: String,
    /// Unique id as GetCallerIdentity tells it.
    pub user_id: String,
    /// Kind.
    pub kind: Kind,
}

impl Principal {
    /// The principal behind credentials that nobody checks.
    #[must_use]
    pub fn unverified(caller: Caller) -> Self {
        Self {
            arn: caller.arn,
            user_id: caller.access_key.clone(),
            access_key: caller.access_key,
            account: caller.account,
            kind: Kind::Unverified,
        }
    }

    /// The same as the core knows it.
    #[must_use]
    pub fn caller(&self) -> Caller {
        Caller {
            access_key: self.access_key.clone(),
            account: self.account.clone(),
            arn: self.arn.clone(),
        }
    }
}
