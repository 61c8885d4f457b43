//! May this principal do this: the evaluation of policies, and AccessDenied as AWS words it.
//!
//! The order is IAM's: an explicit Deny anywhere, then what identity policies allow, cut by a session policy.
//! Texts: IAM User Guide, "Troubleshoot access denied error messages"; as Route 53 answers them,
//! aws-amplify/amplify-cli#12892 (without a resource) and kubernetes-sigs/external-dns#5773 (with one).
//! Deliberately absent: permissions boundaries, service and resource control policies, resource policies other than
//! trust policies.

use crate::core::error::{ApiError, Code};

use super::condition::Context;
use super::glob;
use super::policy::{Document, Effect, Many, Pattern, PrincipalKind, Principals, Statement};
use super::principal::{Kind, Principal};

/// What is to be done to what.
#[derive(Debug, Clone)]
pub struct Access<'a> {
    /// `service:Operation`.
    pub action: &'a str,
    /// ARN, or `*` for actions that have no resource.
    pub resource: &'a str,
    /// Condition keys of the request, in lower case.
    pub context: &'a Context,
}

/// What a set of policies says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A statement allows it, none denies it.
    Allowed,
    /// No statement allows it.
    NotAllowed,
    /// A statement denies it.
    Denied,
}

/// What these documents say.
pub fn verdict<'d>(documents: impl IntoIterator<Item = &'d Document>, access: &Access<'_>) -> Verdict {
    let mut verdict = Verdict::NotAllowed;
    for statement in documents.into_iter().flat_map(|d| d.statement.iter()) {
        if !matches_access(statement, access) {
            continue;
        }
        match statement.effect {
            Effect::Deny => return Verdict::Denied,
            Effect::Allow => verdict = Verdict::Allowed,
        }
    }
    verdict
}

fn matches_access(statement: &Statement, access: &Access<'_>) -> bool {
    let any = |list: &Many<Pattern>, test: &dyn Fn(&str) -> bool| list.iter().any(|p| test(p.as_str()));
    let action = |pattern: &str| glob::matches_any_case(pattern, access.action);
    let resource = |pattern: &str| glob::matches(pattern, access.resource);
    statement.action.as_ref().is_none_or(|list| any(list, &action))
        && statement.not_action.as_ref().is_none_or(|list| !any(list, &action))
        && statement.resource.as_ref().is_none_or(|list| any(list, &resource))
        && statement.not_resource.as_ref().is_none_or(|list| !any(list, &resource))
        && statement.condition.hold(access.context)
}

/// How strongly a trust policy stands behind a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Not at all.
    None,
    /// Its account is trusted, so the account's own policies must allow it as well.
    Account,
    /// It is named itself: enough within one account.
    Named,
    /// A statement denies it.
    Denied,
}

/// What a trust policy says of a principal (for web identities: of the provider's ARN).
#[must_use]
pub fn trust(document: &Document, kind: PrincipalKind, names: &[String], access: &Access<'_>) -> Trust {
    let mut best = Trust::None;
    for statement in document.statement.iter().filter(|s| matches_access(s, access)) {
        let found = match &statement.principal {
            Some(principals) => trusts(principals, kind, names),
            None => Trust::None,
        };
        match (statement.effect, found) {
            (_, Trust::None) => {}
            (Effect::Deny, _) => return Trust::Denied,
            (Effect::Allow, found) => best = best.max(found),
        }
    }
    best
}

fn trusts(principals: &Principals, kind: PrincipalKind, names: &[String]) -> Trust {
    let listed = match principals {
        Principals::Anybody(_) => return Trust::Account,
        Principals::ByKind(by_kind) => by_kind.get(&kind),
    };
    let found = listed.iter().flat_map(|l| l.iter()).map(|text| {
        if text == "*" || names.last().is_some_and(|account| is_account_of(text, account)) {
            Trust::Account
        } else if names.contains(text) {
            Trust::Named
        } else {
            Trust::None
        }
    });
    found.max().unwrap_or(Trust::None)
}

fn is_account_of(text: &str, account: &str) -> bool {
    text == account || *text == format!("arn:aws:iam::{account}:root")
}

/// The names under which a trust policy may mean a principal; the account comes last.
#[must_use]
pub fn names(principal: &Principal) -> Vec<String> {
    let mut names = vec![principal.arn.clone()];
    if let Kind::Session { role, .. } = &principal.kind {
        names.push(role.clone());
    }
    names.push(principal.account.clone());
    names
}

/// The refusal of what these verdicts, of identity policies and of a session policy, do not allow.
///
/// # Errors
/// `AccessDenied`.
pub fn check(
    principal: &Principal,
    access: &Access<'_>,
    identity: Verdict,
    session: Option<Verdict>,
) -> Result<(), ApiError> {
    let action = access.action;
    let why = match (identity, session) {
        (Verdict::Denied, _) => "with an explicit deny in an identity-based policy".to_owned(),
        (_, Some(Verdict::Denied)) => "with an explicit deny in a session policy".to_owned(),
        (Verdict::NotAllowed, _) => format!("because no identity-based policy allows the {action} action"),
        (_, Some(Verdict::NotAllowed)) => format!("because no session policy allows the {action} action"),
        (Verdict::Allowed, Some(Verdict::Allowed) | None) => return Ok(()),
    };
    let on = match access.resource {
        "*" => String::new(),
        arn => format!(" on resource: {arn}"),
    };
    Err(ApiError::new(
        Code::AccessDenied,
        format!(
            "User: {} is not authorized to perform: {action}{on} {why}",
            principal.arn
        ),
    ))
}
