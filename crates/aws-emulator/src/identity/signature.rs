//! Signature Version 4: what a request presents, and whether the signature is that of the key's secret.
//!
//! Invariant: no clock; the caller passes the time. The cryptography is `aws-sigv4`'s: the request as it arrived is
//! signed again and the two signatures are compared in constant time. Deliberately absent: SigV4A, chunked bodies,
//! signatures in form fields; no service here takes them.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
use aws_sigv4::sign::v4;
use jiff::Timestamp;
use jiff::civil::DateTime;
use subtle::ConstantTimeEq;

use crate::core::error::{ApiError, Code};

use super::service::Service;

/// The one algorithm.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// `20261201T000000Z`.
const DATE_FORMAT: &str = "%Y%m%dT%H%M%SZ";
/// Parameters of a presigned request.
const QUERY: [&str; 4] = [
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "X-Amz-Date",
];
/// Parameters of a presigned request that are not given to the signer, who makes them again.
const MADE_BY_SIGNER: [&str; 7] = [
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
];

/// A request as it came over the wire, as far as a signature covers it.
#[derive(Debug, Clone)]
pub struct SignedRequest<'a> {
    /// Method.
    pub method: &'a str,
    /// Path and query, still encoded.
    pub target: &'a str,
    /// All headers, names in lower case, in the order of arrival.
    pub headers: Vec<(&'a str, &'a str)>,
    /// Body.
    pub body: &'a [u8],
}

impl SignedRequest<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }

    fn path_and_query(&self) -> (&str, &str) {
        self.target.split_once('?').unwrap_or((self.target, ""))
    }
}

/// Where the signature stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Header,
    /// `expires` is `None` if a parameter is not as the signer would have written it, once and in its one spelling.
    Query {
        expires: Option<u64>,
    },
}

/// What a signed request presents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// Access key id.
    pub access_key: String,
    /// Region of the credential scope.
    pub region: String,
    /// Session token, if the request has one.
    pub token: Option<String>,
    /// Milliseconds since the epoch at which it was signed.
    pub signed_at_ms: u64,
    amz_date: String,
    scope_date: String,
    service: String,
    terminator: String,
    signed_headers: Vec<String>,
    signature: String,
    place: Place,
}

/// Takes the credentials of a request apart; `None` if it has none at all.
///
/// # Errors
/// `IncompleteSignature` (texts: hashicorp/vault#4939, aws/chalice#828, boto/boto3#2280).
pub fn present(request: &SignedRequest<'_>) -> Result<Option<Presented>, ApiError> {
    if let Some(value) = request.header("authorization") {
        return in_header(request, value).map(Some);
    }
    let (_, query) = request.path_and_query();
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    if pairs.iter().any(|(key, _)| QUERY.contains(&key.as_str())) {
        return in_query(&pairs).map(Some);
    }
    Ok(None)
}

fn in_header(request: &SignedRequest<'_>, value: &str) -> Result<Presented, ApiError> {
    let (algorithm, rest) = value.split_once(' ').unwrap_or((value, ""));
    let known = algorithm == ALGORITHM;
    let mut fields = [("Credential", None), ("Signature", None), ("SignedHeaders", None)];
    for part in rest.split(',').map(str::trim).filter(|part| known && !part.is_empty()) {
        let (key, text) = part
            .split_once('=')
            .filter(|(_, text)| !text.is_empty())
            .ok_or_else(|| {
                let culprit = part.split_once('=').map_or(part, |(_, text)| text);
                incomplete(format!(
                    "'{culprit}' not a valid key=value pair (missing equal-sign) in Authorization header: '{value}'."
                ))
            })?;
        if let Some(field) = fields.iter_mut().find(|(name, _)| *name == key) {
            field.1 = Some(text);
        }
    }
    let date = request.header("x-amz-date");
    let [(_, credential), (_, signature), (_, headers)] = fields;
    let (Some(credential), Some(signature), Some(headers), Some(date)) = (credential, signature, headers, date) else {
        let mut missing: Vec<String> = fields
            .iter()
            .filter(|(_, found)| found.is_none())
            .map(|(name, _)| format!("Authorization header requires '{name}' parameter."))
            .collect();
        if date.is_none() {
            missing.push(
                "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.".to_owned(),
            );
        }
        return Err(incomplete(format!("{} Authorization={value}", missing.join(" "))));
    };
    let token = request.header("x-amz-security-token");
    presented(credential, signature, headers, date, token, Place::Header)
}

fn in_query(pairs: &[(String, String)]) -> Result<Presented, ApiError> {
    let find = |name: &str| {
        pairs
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let [Some(credential), Some(signature), Some(headers), Some(date)] = QUERY.map(find) else {
        let missing: Vec<String> = QUERY
            .into_iter()
            .filter(|name| find(name).is_none())
            .map(|name| format!("AWS query-string parameters must include '{name}'."))
            .collect();
        return Err(incomplete(format!(
            "{} Re-examine the query-string parameters.",
            missing.join(" ")
        )));
    };
    let expires = find("X-Amz-Expires").and_then(|text| {
        let seconds: u64 = text.parse().ok()?;
        (seconds.to_string() == text).then_some(seconds)
    });
    let algorithm = find("X-Amz-Algorithm") == Some(ALGORITHM);
    let canonical = MADE_BY_SIGNER
        .into_iter()
        .all(|name| pairs.iter().filter(|(key, _)| key == name).count() <= 1);
    presented(
        credential,
        signature,
        headers,
        date,
        find("X-Amz-Security-Token"),
        Place::Query {
            expires: expires.filter(|_| algorithm && canonical),
        },
    )
}

fn presented(
    credential: &str,
    signature: &str,
    headers: &str,
    date: &str,
    token: Option<&str>,
    place: Place,
) -> Result<Presented, ApiError> {
    let parts: Vec<&str> = credential.split('/').collect();
    let [access_key, scope_date, region, service, terminator] = parts.as_slice() else {
        return Err(incomplete(format!(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '{credential}'"
        )));
    };
    Ok(Presented {
        access_key: (*access_key).to_owned(),
        region: (*region).to_owned(),
        token: token.map(str::to_owned),
        signed_at_ms: date_ms(date)?,
        amz_date: date.to_owned(),
        scope_date: (*scope_date).to_owned(),
        service: (*service).to_owned(),
        terminator: (*terminator).to_owned(),
        signed_headers: headers.split(';').map(str::to_owned).collect(),
        signature: signature.to_owned(),
        place,
    })
}

pub(super) fn date_ms(text: &str) -> Result<u64, ApiError> {
    let parsed = DateTime::strptime(DATE_FORMAT, text)
        .and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC))
        .map(|zoned| zoned.timestamp().as_millisecond());
    match parsed.map(u64::try_from) {
        Ok(Ok(ms)) if amz_date(ms) == text => Ok(ms),
        Ok(_) | Err(_) => Err(incomplete(format!(
            "Date must be in ISO-8601 'basic format'. Got '{text}'. See http://en.wikipedia.org/wiki/ISO_8601"
        ))),
    }
}

/// Milliseconds since the epoch as `X-Amz-Date` writes them.
#[must_use]
pub fn amz_date(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |t| t.strftime(DATE_FORMAT).to_string())
}

fn incomplete(message: String) -> ApiError {
    ApiError::new(Code::IncompleteSignature, message)
}

fn mismatch(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::SignatureDoesNotMatch, message)
}

impl Presented {
    /// Checks time and scope, which needs no secret.
    ///
    /// # Errors
    /// `SignatureDoesNotMatch`: signed too long ago or in the future (hashicorp/terraform#9333: 5 minutes for
    /// Route 53; aws/aws-cli#6676: 15 for STS), or a scope that is not this service's (aws/aws-sdk-php#732,
    /// cllunsford/aws-signing-proxy#25).
    pub fn check_scope(&self, service: Service, now_ms: u64) -> Result<(), ApiError> {
        let minutes = service.skew_minutes();
        let skew = minutes * 60_000;
        let (signed, now) = (&self.amz_date, amz_date(now_ms));
        if self.signed_at_ms + skew < now_ms {
            let edge = amz_date(now_ms.saturating_sub(skew));
            return Err(mismatch(format!(
                "Signature expired: {signed} is now earlier than {edge} ({now} - {minutes} min.)"
            )));
        }
        if self.signed_at_ms > now_ms + skew {
            let edge = amz_date(now_ms + skew);
            return Err(mismatch(format!(
                "Signature not yet current: {signed} is still later than {edge} ({now} + {minutes} min.)"
            )));
        }
        let mut wrong = Vec::new();
        if !crate::core::regions::REGIONS.iter().any(|r| r.name == self.region) {
            wrong.push(format!(
                "Credential should be scoped to a valid region, not '{}'. ",
                self.region
            ));
        }
        if self.service != service.signing_name() {
            wrong.push(format!(
                "Credential should be scoped to correct service: '{}'. ",
                service.signing_name()
            ));
        }
        if self.terminator != "aws4_request" {
            wrong.push(format!(
                "Credential should be scoped with a valid terminator: 'aws4_request', not '{}'. ",
                self.terminator
            ));
        }
        if !signed.starts_with(&self.scope_date) || self.scope_date.len() != 8 {
            wrong.push(format!(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{}' != '{}', from '{signed}'. ",
                self.scope_date,
                signed.get(..8).unwrap_or(signed)
            ));
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(mismatch(wrong.concat()))
        }
    }

    /// Checks the signature against a secret.
    ///
    /// # Errors
    /// `SignatureDoesNotMatch`.
    pub fn verify(&self, request: &SignedRequest<'_>, secret: &str) -> Result<(), ApiError> {
        if !self.signed_headers.iter().any(|name| name == "host") {
            return Err(mismatch(
                "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
            ));
        }
        let expected = self.expected(request, secret);
        match expected {
            Some(expected) if bool::from(expected.as_bytes().ct_eq(self.signature.as_bytes())) => Ok(()),
            Some(_) | None => Err(mismatch(
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
            )),
        }
    }

    /// The signature that this secret gives; `None` if the request cannot be signed as it claims to be.
    fn expected(&self, request: &SignedRequest<'_>, secret: &str) -> Option<String> {
        // The signer writes some parts by itself; what it would write in another way, it has not signed.
        let once = |name: &str| request.headers.iter().filter(|(n, _)| *n == name).count() <= 1;
        let sorted = self.signed_headers.is_sorted_by(|a, b| a < b);
        if !sorted
            || !["host", "authorization", "x-amz-date", "x-amz-security-token"]
                .into_iter()
                .all(once)
        {
            return None;
        }
        let host = request.header("host")?;
        let mut headers = Vec::new();
        for name in &self.signed_headers {
            let before = headers.len();
            headers.extend(request.headers.iter().copied().filter(|(n, _)| n == name));
            if headers.len() == before {
                return None;
            }
        }
        let (path, query) = request.path_and_query();
        let mut uri = format!("http://{host}{path}");
        let mut settings = SigningSettings::default();
        settings.excluded_headers = None;
        match self.place {
            Place::Header => {
                if !query.is_empty() {
                    uri = format!("{uri}?{query}");
                }
                // The signer adds these two by itself, and always: without them the signature is not of this kind.
                for made in ["x-amz-date", "x-amz-security-token"] {
                    let signed = headers.iter().any(|(name, _)| *name == made);
                    if !signed && (made == "x-amz-date" || self.token.is_some()) {
                        return None;
                    }
                    headers.retain(|(name, _)| *name != made);
                }
            }
            Place::Query { expires } => {
                settings.signature_location = SignatureLocation::QueryParams;
                settings.expires_in = Some(Duration::from_secs(expires?));
                let own: Vec<&str> = query
                    .split('&')
                    .filter(|pair| {
                        let key = pair.split_once('=').map_or(*pair, |(key, _)| key);
                        !MADE_BY_SIGNER.contains(&key)
                    })
                    .collect();
                uri = format!("{uri}?{}", own.join("&"));
            }
        }
        let credentials = Credentials::new(&self.access_key, secret, self.token.clone(), None, "aws-emulator").into();
        let params = v4::SigningParams::builder()
            .identity(&credentials)
            .region(&self.region)
            .name(&self.service)
            .time(SystemTime::UNIX_EPOCH + Duration::from_millis(self.signed_at_ms))
            .settings(settings)
            .build()
            .ok()?
            .into();
        let body = SignableBody::Bytes(request.body);
        let signable = SignableRequest::new(request.method, uri, headers.into_iter(), body).ok()?;
        let (_, signature) = sign(signable, &params).ok()?.into_parts();
        Some(signature)
    }
}
