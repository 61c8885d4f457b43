//! Everybody there is, and the two questions to a request: who signed it, and may they do this.
//!
//! Invariant: with at least one account configured nothing is taken on trust; with none, every credential is.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::error::{ApiError, Code};

use super::arn::{self, Arn};
use super::config::{AccountConfig, RoleConfig, UserConfig};
use super::evaluate::{self, Access, Verdict};
use super::policy::{Document, PrincipalKind, Principals};
use super::principal::{Kind, Principal};
use super::service::Service;
use super::session::{Session, Sessions, made_up_id};
use super::signature::{Presented, SignedRequest};
use super::web::ProviderConfig;

/// Longest `maxSessionDuration`, and the shortest, in seconds.
const MAX_SESSION: std::ops::RangeInclusive<u64> = 3_600..=43_200;

/// What is wrong with the accounts of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct IdentityError {
    /// Field, as a path from the root of the file.
    pub place: String,
    /// What is wrong and what to write.
    pub reason: String,
}

impl IdentityError {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            reason: reason.into(),
        }
    }
}

/// An IAM user.
#[derive(Debug, Clone)]
struct User {
    account: String,
    id: String,
    policies: Vec<Document>,
}

/// An IAM role.
#[derive(Debug, Clone)]
pub(super) struct Role {
    pub(super) account: String,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) max_session: u64,
    pub(super) trust: Document,
    policies: Vec<Document>,
}

/// A long-term access key.
#[derive(Debug, Clone)]
struct Key {
    secret: String,
    user: String,
}

/// Everybody there is.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    accounts: BTreeSet<String>,
    users: BTreeMap<String, User>,
    keys: BTreeMap<String, Key>,
    pub(super) roles: BTreeMap<String, Role>,
    /// OIDC providers by account and issuer.
    pub(super) providers: BTreeMap<(String, String), ProviderConfig>,
    pub(super) sessions: Sessions,
    /// Roles that nobody may assume for now.
    pub(super) refused: BTreeSet<String>,
}

impl Identity {
    /// Everybody whom the configuration names.
    ///
    /// # Errors
    /// What is wrong, and at which field.
    pub fn new(accounts: &BTreeMap<String, AccountConfig>) -> Result<Self, IdentityError> {
        let mut identity = Self {
            accounts: accounts.keys().cloned().collect(),
            ..Self::default()
        };
        for (account, config) in accounts {
            let place = format!("accounts.{account}");
            if !arn::is_account(account) {
                return Err(IdentityError::new(place, "an account id is twelve digits, in quotes"));
            }
            for (name, user) in &config.users {
                identity.add_user(account, name, user, &format!("{place}.users.{name}"))?;
            }
            for (name, role) in &config.roles {
                identity.add_role(account, name, role, &format!("{place}.roles.{name}"))?;
            }
        }
        for (account, config) in accounts {
            for (issuer, provider) in &config.oidc_providers {
                provider.check(issuer, &format!("accounts.{account}.oidcProviders.{issuer}"))?;
                let key = (account.clone(), issuer.clone());
                identity.providers.insert(key, provider.clone());
            }
            for (name, role) in &config.roles {
                identity.check_principals(&role.trust, &format!("accounts.{account}.roles.{name}.trust"))?;
            }
        }
        Ok(identity)
    }

    /// Whether signatures and permissions are checked.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        !self.accounts.is_empty()
    }

    fn add_user(&mut self, account: &str, name: &str, user: &UserConfig, place: &str) -> Result<(), IdentityError> {
        check_name(name, place)?;
        let path = checked_path(user.path.as_deref(), place)?;
        check_policies(&user.policies, place)?;
        let arn = arn::iam(account, "user", &path, name);
        for (id, secret) in &user.access_keys {
            let place = format!("{place}.accessKeys.{id}");
            let well_formed = (16..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric());
            if !well_formed || id.starts_with("ASIA") {
                let reason = "an access key id is 16 to 128 letters and digits and does not begin with ASIA";
                return Err(IdentityError::new(place, reason));
            }
            if secret.is_empty() {
                return Err(IdentityError::new(place, "the secret access key is empty"));
            }
            let key = Key {
                secret: secret.clone(),
                user: arn.clone(),
            };
            if self.keys.insert(id.clone(), key).is_some() {
                return Err(IdentityError::new(
                    place,
                    "two users have this access key; give each its own",
                ));
            }
        }
        let user = User {
            account: account.to_owned(),
            id: made_up_id("AIDA", &arn, 17),
            policies: user.policies.clone(),
        };
        self.users.insert(arn, user);
        Ok(())
    }

    fn add_role(&mut self, account: &str, name: &str, role: &RoleConfig, place: &str) -> Result<(), IdentityError> {
        check_name(name, place)?;
        let path = checked_path(role.path.as_deref(), place)?;
        check_policies(&role.policies, place)?;
        role.trust
            .check_trust()
            .map_err(|reason| IdentityError::new(format!("{place}.trust"), reason))?;
        let max_session = role.max_session_duration.unwrap_or(*MAX_SESSION.start());
        if !MAX_SESSION.contains(&max_session) {
            let place = format!("{place}.maxSessionDuration");
            return Err(IdentityError::new(place, "write 3600 to 43200 seconds"));
        }
        let arn = arn::iam(account, "role", &path, name);
        let role = Role {
            account: account.to_owned(),
            name: name.to_owned(),
            id: made_up_id("AROA", &arn, 17),
            max_session,
            trust: role.trust.clone(),
            policies: role.policies.clone(),
        };
        self.roles.insert(arn, role);
        Ok(())
    }

    /// IAM refuses a trust policy that names somebody who does not exist (`MalformedPolicyDocument: Invalid principal
    /// in policy`); accounts that are not configured may hold anybody.
    fn check_principals(&self, trust: &Document, place: &str) -> Result<(), IdentityError> {
        let by_kind = trust.statement.iter().filter_map(|s| match &s.principal {
            Some(Principals::ByKind(map)) => map.get(&PrincipalKind::Aws),
            Some(Principals::Anybody(_)) | None => None,
        });
        for text in by_kind.flat_map(|list| list.iter()) {
            let invalid = |reason: &str| {
                let reason = format!("Invalid principal in policy: \"AWS\":\"{text}\": {reason}");
                Err(IdentityError::new(place, reason))
            };
            if text == "*" || arn::is_account(text) {
                continue;
            }
            let Some(parsed) = Arn::parse(text) else {
                return invalid("write an account id, an ARN, or \"*\"");
            };
            if text.contains('*') {
                return invalid("a principal has no wildcards; use aws:PrincipalArn in a condition");
            }
            let known = match (parsed.service, parsed.resource) {
                ("iam", "root") => true,
                ("iam", resource) if resource.starts_with("user/") => self.users.contains_key(text),
                ("iam", resource) if resource.starts_with("role/") => self.roles.contains_key(text),
                ("sts", resource) => resource.starts_with("assumed-role/"),
                (_, _) => return invalid("write a user, a role, a session of a role or an account's root"),
            };
            if !known && self.accounts.contains(parsed.account) {
                return invalid("there is no such user or role under `accounts`");
            }
        }
        Ok(())
    }

    /// The principal that signed a request.
    ///
    /// # Errors
    /// `SignatureDoesNotMatch`, `InvalidClientTokenId` (`UnrecognizedClientException` at EKS), `ExpiredToken`.
    pub fn authenticate(
        &self,
        presented: &Presented,
        request: &SignedRequest<'_>,
        service: Service,
        now_ms: u64,
    ) -> Result<Principal, ApiError> {
        presented.check_scope(service, now_ms)?;
        let invalid = || {
            ApiError::new(
                Code::InvalidClientTokenId,
                "The security token included in the request is invalid.",
            )
        };
        if let Some(key) = self.keys.get(&presented.access_key) {
            if presented.token.is_some() {
                return Err(invalid());
            }
            presented.verify(request, &key.secret)?;
            return self.holder(&presented.access_key).ok_or_else(invalid);
        }
        let session = self.sessions.get(&presented.access_key).ok_or_else(invalid)?;
        if presented.token.as_deref() != Some(session.token.as_str()) {
            return Err(invalid());
        }
        if now_ms >= session.expires_at_ms {
            return Err(ApiError::new(
                Code::ExpiredToken,
                "The security token included in the request is expired",
            ));
        }
        presented.verify(request, &session.secret)?;
        self.holder(&presented.access_key).ok_or_else(invalid)
    }

    /// Who holds an access key, be it a user's or that of a session, over or not.
    #[must_use]
    pub fn holder(&self, access_key: &str) -> Option<Principal> {
        if let Some(key) = self.keys.get(access_key) {
            let user = self.users.get(&key.user)?;
            return Some(Principal {
                access_key: access_key.to_owned(),
                account: user.account.clone(),
                arn: key.user.clone(),
                user_id: user.id.clone(),
                kind: Kind::User,
            });
        }
        self.session_principal(self.sessions.get(access_key)?)
    }

    fn session_principal(&self, session: &Session) -> Option<Principal> {
        let role = self.roles.get(&session.role)?;
        Some(Principal {
            access_key: session.access_key.clone(),
            account: role.account.clone(),
            arn: arn::session(&role.account, &role.name, &session.name),
            user_id: format!("{}:{}", role.id, session.name),
            kind: Kind::Session {
                role: session.role.clone(),
                name: session.name.clone(),
            },
        })
    }

    /// What the identity policies and the session policy of a principal say.
    #[must_use]
    pub fn verdicts(&self, principal: &Principal, access: &Access<'_>) -> (Verdict, Option<Verdict>) {
        match &principal.kind {
            Kind::Unverified => (Verdict::Allowed, None),
            Kind::User => {
                let policies = self.users.get(&principal.arn).map(|u| u.policies.as_slice());
                (evaluate::verdict(policies.unwrap_or_default(), access), None)
            }
            Kind::Session { role, .. } => {
                let policies = self.roles.get(role).map(|r| r.policies.as_slice());
                let session = self.sessions.get(&principal.access_key).and_then(|s| s.policy.as_ref());
                let cut = session.map(|policy| evaluate::verdict([policy], access));
                (evaluate::verdict(policies.unwrap_or_default(), access), cut)
            }
        }
    }

    /// Whether a principal may do this.
    ///
    /// # Errors
    /// `AccessDenied`.
    pub fn authorize(&self, principal: &Principal, access: &Access<'_>) -> Result<(), ApiError> {
        let (identity, session) = self.verdicts(principal, access);
        evaluate::check(principal, access, identity, session)
    }

    /// Lets nobody assume this role, or lets those again whom it trusts; gives whether there is such a role.
    pub fn refuse_role(&mut self, role: &str, refuse: bool) -> bool {
        if refuse {
            self.refused.insert(role.to_owned());
        } else {
            self.refused.remove(role);
        }
        self.roles.contains_key(role)
    }

    /// Ends the sessions of one role, or of all; gives how many were alive.
    pub fn expire_sessions(&mut self, role: Option<&str>, now_ms: u64) -> usize {
        self.sessions.expire(role, now_ms)
    }
}

fn check_name(name: &str, place: &str) -> Result<(), IdentityError> {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"_+=,.@-".contains(&b);
    if (1..=64).contains(&name.len()) && name.bytes().all(good) {
        return Ok(());
    }
    let reason = "a name is 1 to 64 of letters, digits and _+=,.@-";
    Err(IdentityError::new(place, reason))
}

fn checked_path(path: Option<&str>, place: &str) -> Result<String, IdentityError> {
    let path = path.unwrap_or("/");
    if path.starts_with('/') && path.ends_with('/') && path.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(path.to_owned());
    }
    let reason = format!("'{path}' is not a path; write one that begins and ends with /, such as /truce/");
    Err(IdentityError::new(format!("{place}.path"), reason))
}

fn check_policies(policies: &[Document], place: &str) -> Result<(), IdentityError> {
    for (n, policy) in policies.iter().enumerate() {
        policy
            .check_identity()
            .map_err(|reason| IdentityError::new(format!("{place}.policies[{n}]"), reason))?;
    }
    Ok(())
}

/// Condition keys that every request has.
#[must_use]
pub fn global_context(principal: &Principal, region: &str) -> super::condition::Context {
    let arn = match &principal.kind {
        Kind::Session { role, .. } => role,
        Kind::Unverified | Kind::User => &principal.arn,
    };
    [
        ("aws:principalarn", arn.clone()),
        ("aws:principalaccount", principal.account.clone()),
        ("aws:userid", principal.user_id.clone()),
        ("aws:requestedregion", region.to_owned()),
        ("aws:securetransport", "false".to_owned()),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), vec![value]))
    .collect()
}
