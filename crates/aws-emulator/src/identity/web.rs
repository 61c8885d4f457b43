//! AssumeRoleWithWebIdentity: an unsigned call whose proof is a JWT of an identity provider.
//!
//! Invariant: keys come from the configuration; nothing is fetched. Signatures are checked by `jsonwebtoken`, times by
//! the caller's clock. Deliberately absent: OAuth 2.0 access tokens and `ProviderId`, symmetric algorithms.

use std::collections::BTreeMap;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::core::error::{ApiError, Code};

use super::assume::{Assumed, Parameters, finish, text};
use super::condition::Context;
use super::directory::{Identity, IdentityError};
use super::evaluate::{self, Access, Trust};
use super::policy::PrincipalKind;

/// Action that a trust policy must allow.
const ACTION: &str = "sts:AssumeRoleWithWebIdentity";
/// Algorithms that IAM takes from OIDC providers ("Supported signing algorithms").
const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::ES256,
    Algorithm::ES384,
];

/// An OIDC provider of an account.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderConfig {
    /// Audiences (client ids).
    pub audiences: Vec<String>,
    /// Public keys, each a JWK with a `kid`.
    pub keys: Vec<Jwk>,
}

impl ProviderConfig {
    /// Checks issuer and keys.
    ///
    /// # Errors
    /// What is wrong, and at which field.
    pub(super) fn check(&self, issuer: &str, place: &str) -> Result<(), IdentityError> {
        if !issuer.starts_with("https://") || issuer.ends_with('/') {
            let reason = "an issuer is an https:// URL without a / at its end";
            return Err(IdentityError::new(place, reason));
        }
        if !(1..=100).contains(&self.audiences.len()) {
            let reason = "write 1 to 100 audiences, such as sts.amazonaws.com";
            return Err(IdentityError::new(format!("{place}.audiences"), reason));
        }
        for (n, key) in self.keys.iter().enumerate() {
            let place = format!("{place}.keys[{n}]");
            if key.common.key_id.is_none() {
                return Err(IdentityError::new(
                    place,
                    "the key has no kid; tokens name it in their header",
                ));
            }
            DecodingKey::from_jwk(key).map_err(|error| IdentityError::new(place, error.to_string()))?;
        }
        Ok(())
    }
}

/// One audience or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: f64,
    #[serde(default)]
    nbf: Option<f64>,
}

/// A session with what AssumeRoleWithWebIdentity answers beside it.
#[derive(Debug, Clone)]
pub struct WebAssumed {
    /// The session.
    pub assumed: Assumed,
    /// `sub` of the token.
    pub subject: String,
    /// The audience that the provider knows.
    pub audience: String,
    /// ARN of the provider.
    pub provider: String,
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidIdentityToken, message)
}

impl Identity {
    /// AssumeRoleWithWebIdentity.
    ///
    /// # Errors
    /// `ValidationError`, `InvalidIdentityToken` (texts: aws-actions/configure-aws-credentials#280,
    /// awslabs/amazon-eks-irsa-cfn#18), `ExpiredTokenException` (aws/aws-sdk-java-v2#5709), `AccessDenied`.
    pub fn assume_role_with_web_identity(
        &mut self,
        fields: &BTreeMap<String, String>,
        region: &str,
        now_ms: u64,
    ) -> Result<WebAssumed, ApiError> {
        let known = [
            "RoleArn",
            "RoleSessionName",
            "DurationSeconds",
            "Policy",
            "WebIdentityToken",
        ];
        let parameters = Parameters::read(fields, &known)?;
        let mut violations = Vec::new();
        let token = text(fields, "WebIdentityToken", 4..=20_000, "", &mut violations);
        finish(violations)?;
        let denied = || ApiError::new(Code::AccessDenied, format!("Not authorized to perform {ACTION}"));
        let claims = self
            .verified(&parameters.role, &token, now_ms)
            .and_then(|found| found.ok_or_else(denied))?;
        let (claims, audience) = claims;
        let role = self.roles.get(&parameters.role).ok_or_else(denied)?;
        let issuer = claims.iss.trim_start_matches("https://");
        let provider = format!("arn:aws:iam::{}:oidc-provider/{issuer}", role.account);
        let context: Context = [
            (format!("{issuer}:sub"), claims.sub.clone()),
            (format!("{issuer}:aud"), audience.clone()),
            ("aws:federatedprovider".to_owned(), provider.clone()),
            ("aws:requestedregion".to_owned(), region.to_owned()),
            ("sts:rolesessionname".to_owned(), parameters.session.clone()),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_ascii_lowercase(), vec![value]))
        .collect();
        let access = Access {
            action: ACTION,
            resource: &parameters.role,
            context: &context,
        };
        // The last name is the account, which a federated principal is not named by.
        let names = [provider.clone(), String::new()];
        let trust = evaluate::trust(&role.trust, PrincipalKind::Federated, &names, &access);
        if trust != Trust::Named || self.refused.contains(&parameters.role) {
            return Err(denied());
        }
        Ok(WebAssumed {
            assumed: self.open(parameters, now_ms)?,
            subject: claims.sub,
            audience,
            provider,
        })
    }

    /// Claims and audience of a token that a provider of the role's account has signed; `None` if there is no such role.
    fn verified(&self, role: &str, token: &str, now_ms: u64) -> Result<Option<(Claims, String)>, ApiError> {
        let not_a_jwt = || {
            invalid("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
        };
        let header = jsonwebtoken::decode_header(token).map_err(|_| not_a_jwt())?;
        let told: Claims = jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| not_a_jwt())?;
        let Some(role) = self.roles.get(role) else {
            return Ok(None);
        };
        let provider = self
            .providers
            .get(&(role.account.clone(), told.iss.clone()))
            .ok_or_else(|| {
                invalid(format!(
                    "No OpenIDConnect provider found in your account for {}",
                    told.iss
                ))
            })?;
        let no_key = || {
            invalid(
                "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements",
            )
        };
        let mut keys = provider.keys.iter();
        let key = keys.find(|key| key.common.key_id == header.kid).ok_or_else(no_key)?;
        let key = DecodingKey::from_jwk(key).map_err(|_| no_key())?;
        let mut validation = Validation::new(header.alg);
        validation.algorithms.retain(|algorithm| ALGORITHMS.contains(algorithm));
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        jsonwebtoken::decode::<IgnoredAny>(token, &key, &validation)
            .map_err(|error| invalid(format!("The token's signature does not verify: {error}")))?;
        check_times(&told, now_ms)?;
        let audiences = match &told.aud {
            Audience::One(audience) => std::slice::from_ref(audience),
            Audience::Several(audiences) => audiences.as_slice(),
        };
        let audience = audiences
            .iter()
            .find(|audience| provider.audiences.contains(audience))
            .ok_or_else(|| invalid("Incorrect token audience"))?
            .clone();
        Ok(Some((told, audience)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds since the epoch are far below 2^52")]
fn check_times(claims: &Claims, now_ms: u64) -> Result<(), ApiError> {
    let now = (now_ms / 1000) as f64;
    if now >= claims.exp {
        return Err(ApiError::new(
            Code::WebIdentityExpired,
            format!(
                "Token expired: current date/time {now} must be before the expiration date/time {}",
                claims.exp
            ),
        ));
    }
    match claims.nbf {
        Some(nbf) if now < nbf => Err(invalid(format!(
            "The token is not yet valid: current date/time {now} must not be before {nbf}"
        ))),
        Some(_) | None => Ok(()),
    }
}
