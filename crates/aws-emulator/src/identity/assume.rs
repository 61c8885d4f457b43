//! AssumeRole: parameters, trust, limits, and the session that comes of it.
//!
//! Invariant: nothing of a role is told to somebody whom it does not trust; a refused call makes no session.
//! Deliberately absent: session tags, source identities, managed policies and MFA; a request with one is refused.

use std::collections::BTreeMap;

use crate::core::error::{ApiError, Code};

use super::condition::Context;
use super::directory::{Identity, Role, global_context};
use super::evaluate::{self, Access, Trust, Verdict};
use super::policy::{Document, PrincipalKind};
use super::principal::{Kind, Principal};
use super::session::{NewSession, Session};

/// Action that a trust policy must allow.
const ACTION: &str = "sts:AssumeRole";
/// Seconds of a session if the request does not say.
const DEFAULT_DURATION: u64 = 3_600;
/// Longest session of a role that was assumed with a role's credentials, in seconds.
const CHAINED_DURATION: u64 = 3_600;
/// Longest session policy, in characters.
const MAX_POLICY: usize = 2_048;

/// A session with what AssumeRole answers of it.
#[derive(Debug, Clone)]
pub struct Assumed {
    /// Credentials.
    pub session: Session,
    /// ARN of the session.
    pub arn: String,
    /// `AROA...:NAME`.
    pub id: String,
    /// Percentage of the space for packed policies; `None` without a session policy.
    pub packed_policy_size: Option<u64>,
}

/// What AssumeRole and AssumeRoleWithWebIdentity have in common.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub(super) role: String,
    pub(super) session: String,
    pub(super) duration: u64,
    pub(super) policy: Option<Document>,
}

impl Parameters {
    /// Reads them from the fields of the query protocol.
    pub(super) fn read(fields: &BTreeMap<String, String>, known: &[&str]) -> Result<Self, ApiError> {
        refuse_unknown(fields, known)?;
        let mut violations = Vec::new();
        let role = text(fields, "RoleArn", 20..=2048, "", &mut violations);
        let session = text(fields, "RoleSessionName", 2..=64, "+=,.@-", &mut violations);
        let duration = duration(fields, &mut violations);
        let policy = fields.get("Policy");
        if policy.is_some_and(String::is_empty) {
            violations.push(violation("policy", "", "have length greater than or equal to 1"));
        }
        finish(violations)?;
        let policy = policy.map(|text| session_policy(text)).transpose()?;
        if super::arn::Arn::parse(&role).is_none() {
            return Err(ApiError::new(Code::ValidationError, format!("{role} is invalid")));
        }
        Ok(Self {
            role,
            session,
            duration,
            policy,
        })
    }
}

/// Fields of the query protocol that are not parameters of an operation.
const FRAME: [&str; 2] = ["Action", "Version"];

fn refuse_unknown(fields: &BTreeMap<String, String>, known: &[&str]) -> Result<(), ApiError> {
    let unknown = fields
        .keys()
        .find(|key| !FRAME.contains(&key.as_str()) && !known.contains(&key.as_str()) && !key.starts_with("X-Amz-"));
    match unknown {
        Some(key) => Err(ApiError::new(
            Code::ValidationError,
            format!("truce-aws-emulator does not know the parameter {key} of this action"),
        )),
        None => Ok(()),
    }
}

fn violation(member: &str, value: &str, must: &str) -> String {
    format!("Value '{value}' at '{member}' failed to satisfy constraint: Member must {must}")
}

/// All violations in one error, as the service's model check words them.
pub(super) fn finish(violations: Vec<String>) -> Result<(), ApiError> {
    let count = violations.len();
    if count == 0 {
        return Ok(());
    }
    let noun = if count == 1 { "error" } else { "errors" };
    Err(ApiError::new(
        Code::ValidationError,
        format!("{count} validation {noun} detected: {}", violations.join("; ")),
    ))
}

/// A text of this length, and, unless `extra` is empty, of letters, digits, `_` and these characters only.
pub(super) fn text(
    fields: &BTreeMap<String, String>,
    name: &str,
    length: std::ops::RangeInclusive<usize>,
    extra: &str,
    violations: &mut Vec<String>,
) -> String {
    let member = lower_first(name);
    let Some(value) = fields.get(name) else {
        violations.push(format!(
            "Value null at '{member}' failed to satisfy constraint: Member must not be null"
        ));
        return String::new();
    };
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || extra.contains(c);
    if !extra.is_empty() && !value.chars().all(good) {
        let escaped = extra.replace('/', "\\/");
        violations.push(violation(
            &member,
            value,
            &format!("satisfy regular expression pattern: [\\w{escaped}]*"),
        ));
    }
    if value.chars().count() < *length.start() {
        let must = format!("have length greater than or equal to {}", length.start());
        violations.push(violation(&member, value, &must));
    }
    if value.chars().count() > *length.end() {
        let must = format!("have length less than or equal to {}", length.end());
        violations.push(violation(&member, value, &must));
    }
    value.clone()
}

fn lower_first(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

fn duration(fields: &BTreeMap<String, String>, violations: &mut Vec<String>) -> u64 {
    let Some(text) = fields.get("DurationSeconds") else {
        return DEFAULT_DURATION;
    };
    let seconds = text.parse().unwrap_or(0);
    if seconds < 900 {
        violations.push(violation(
            "durationSeconds",
            text,
            "have value greater than or equal to 900",
        ));
    }
    if seconds > 43_200 {
        violations.push(violation(
            "durationSeconds",
            text,
            "have value less than or equal to 43200",
        ));
    }
    seconds
}

fn session_policy(text: &str) -> Result<Document, ApiError> {
    let size = text.chars().count();
    if size > MAX_POLICY {
        let percent = size * 100 / MAX_POLICY;
        return Err(ApiError::new(
            Code::PackedPolicyTooLarge,
            format!("Packed policy consumes {percent}% of allotted space, please use smaller policy."),
        ));
    }
    let malformed = |reason: String| ApiError::new(Code::MalformedPolicyDocument, reason);
    let document: Document = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
    document.check_identity().map_err(malformed)?;
    Ok(document)
}

impl Identity {
    /// AssumeRole.
    ///
    /// # Errors
    /// `ValidationError` for parameters and for a session that is too long, `AccessDenied`, `PackedPolicyTooLarge`,
    /// `MalformedPolicyDocument`.
    pub fn assume_role(
        &mut self,
        principal: &Principal,
        fields: &BTreeMap<String, String>,
        region: &str,
        now_ms: u64,
    ) -> Result<Assumed, ApiError> {
        let known = ["RoleArn", "RoleSessionName", "DurationSeconds", "ExternalId", "Policy"];
        let parameters = Parameters::read(fields, &known)?;
        let mut context = global_context(principal, region);
        if fields.contains_key("ExternalId") {
            let mut violations = Vec::new();
            let id = text(fields, "ExternalId", 2..=1224, "+=,.@:/-", &mut violations);
            finish(violations)?;
            context.insert("sts:externalid".to_owned(), vec![id]);
        }
        context.insert("sts:rolesessionname".to_owned(), vec![parameters.session.clone()]);
        self.check_trust(principal, &parameters.role, &context)?;
        let chained = matches!(principal.kind, Kind::Session { .. });
        if chained && parameters.duration > CHAINED_DURATION {
            return Err(ApiError::new(
                Code::ValidationError,
                "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining",
            ));
        }
        self.open(parameters, now_ms)
    }

    /// Identity policies and trust policy together: across accounts both must allow; within one it is enough that the
    /// trust policy names the principal itself (IAM User Guide, "Policy evaluation logic"). STS does not tell which of
    /// them failed (aws/karpenter-provider-aws#4680).
    fn check_trust(&self, principal: &Principal, arn: &str, context: &Context) -> Result<(), ApiError> {
        let denied = || {
            ApiError::new(
                Code::AccessDenied,
                format!(
                    "User: {} is not authorized to perform: {ACTION} on resource: {arn}",
                    principal.arn
                ),
            )
        };
        let role = self
            .roles
            .get(arn)
            .filter(|_| !self.refused.contains(arn))
            .ok_or_else(denied)?;
        let access = Access {
            action: ACTION,
            resource: arn,
            context,
        };
        let names = evaluate::names(principal);
        let trust = evaluate::trust(&role.trust, PrincipalKind::Aws, &names, &access);
        let (identity, session) = self.verdicts(principal, &access);
        let cut = matches!(session, Some(Verdict::NotAllowed | Verdict::Denied));
        let allowed = match (trust, identity) {
            (Trust::None | Trust::Denied, _) | (_, Verdict::Denied) => false,
            (Trust::Account | Trust::Named, Verdict::Allowed) => !cut,
            (Trust::Named, Verdict::NotAllowed) => role.account == principal.account && !cut,
            (Trust::Account, Verdict::NotAllowed) => false,
        };
        if allowed { Ok(()) } else { Err(denied()) }
    }

    /// Makes the session, within the role's own limit.
    pub(super) fn open(&mut self, parameters: Parameters, now_ms: u64) -> Result<Assumed, ApiError> {
        let Parameters {
            role: arn,
            session: name,
            duration,
            policy,
        } = parameters;
        let gone = || ApiError::new(Code::ValidationError, format!("{arn} is invalid"));
        let role: &Role = self.roles.get(&arn).ok_or_else(gone)?;
        if duration > role.max_session {
            return Err(ApiError::new(
                Code::ValidationError,
                "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.",
            ));
        }
        let packed_policy_size = policy.as_ref().map(|document| {
            let size = serde_json::to_string(document).map_or(0, |text| text.len());
            u64::try_from((size * 100).div_ceil(MAX_POLICY)).unwrap_or(100)
        });
        let (account, role_name, id) = (role.account.clone(), role.name.clone(), role.id.clone());
        let session = self.sessions.open(NewSession {
            role: arn,
            name,
            expires_at_ms: now_ms / 1000 * 1000 + duration * 1000,
            policy,
        });
        Ok(Assumed {
            arn: super::arn::session(&account, &role_name, &session.name),
            id: format!("{id}:{}", session.name),
            packed_policy_size,
            session,
        })
    }
}
