//! An identity directory to try requests on, and requests signed by the AWS SDK's own signer.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
use aws_sigv4::sign::v4;
use truce_aws_emulator::config;
use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::identity::Identity;
use truce_aws_emulator::identity::principal::Principal;
use truce_aws_emulator::identity::service::Service;
use truce_aws_emulator::identity::signature::{SignedRequest, present};

/// 2026-12-01T00:00:00Z.
pub(crate) const NOW: u64 = 1_796_083_200_000;
/// An access key of the tests.
pub(crate) const KEY: &str = "AKIAALICE00000000000";
/// Its secret.
pub(crate) const SECRET: &str = "alice-secret";

/// The directory of this YAML.
pub(crate) fn directory(yaml: &str) -> Identity {
    let file = config::parse(yaml).expect("YAML");
    Identity::new(&file.accounts).expect("a directory")
}

/// A request that owns its parts, to be tampered with.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn get(host: &str, target: &str) -> Self {
        Self {
            method: "GET".to_owned(),
            target: target.to_owned(),
            headers: vec![("host".to_owned(), host.to_owned())],
            body: Vec::new(),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(n, _)| n != name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn value(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(n, _)| n == name);
        &found.expect("the header").1
    }

    pub(crate) fn signed(&self) -> SignedRequest<'_> {
        SignedRequest {
            method: &self.method,
            target: &self.target,
            headers: self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect(),
            body: &self.body,
        }
    }
}

/// Who signs, when, for what.
#[derive(Debug, Clone)]
pub(crate) struct Signer<'a> {
    pub(crate) key: &'a str,
    pub(crate) secret: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    pub(crate) at_ms: u64,
}

impl Default for Signer<'_> {
    fn default() -> Self {
        Self {
            key: KEY,
            secret: SECRET,
            token: None,
            region: "us-east-1",
            service: "route53",
            at_ms: NOW,
        }
    }
}

impl Signer<'_> {
    /// Signs in the header.
    pub(crate) fn sign(&self, mut request: Request) -> Request {
        let (headers, _) = self.parts(&request, SigningSettings::default());
        for (name, value) in headers {
            request.set(&name, &value);
        }
        request
    }

    /// Signs in the query.
    pub(crate) fn presign(&self, mut request: Request) -> Request {
        let mut settings = SigningSettings::default();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(Duration::from_secs(60));
        let (_, query) = self.parts(&request, settings);
        let mut encoded = form_urlencoded::Serializer::new(String::new());
        encoded.extend_pairs(query);
        let join = if request.target.contains('?') { '&' } else { '?' };
        request.target = format!("{}{join}{}", request.target, encoded.finish());
        request
    }

    fn parts(&self, request: &Request, settings: SigningSettings) -> (Pairs, Pairs) {
        let token = self.token.map(str::to_owned);
        let identity = Credentials::new(self.key, self.secret, token, None, "test").into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name(self.service)
            .time(SystemTime::UNIX_EPOCH + Duration::from_millis(self.at_ms))
            .settings(settings)
            .build()
            .expect("parameters")
            .into();
        let host = request.value("host");
        let headers = request.headers.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        let uri = format!("https://{host}{}", request.target);
        let body = SignableBody::Bytes(&request.body);
        let signable = SignableRequest::new(&request.method, uri, headers, body).expect("signable");
        let (instructions, _) = sign(signable, &params).expect("signed").into_parts();
        let own = |pairs: Vec<(&str, &str)>| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        (
            own(instructions.headers().collect()),
            own(instructions.params().iter().map(|(a, b)| (*a, &**b)).collect()),
        )
    }
}

type Pairs = Vec<(String, String)>;

/// What the directory says of a request.
pub(crate) fn authenticate(identity: &Identity, request: &Request, service: Service) -> Result<Principal, ApiError> {
    authenticate_at(identity, request, service, NOW)
}

/// The same at another time.
pub(crate) fn authenticate_at(
    identity: &Identity,
    request: &Request,
    service: Service,
    now_ms: u64,
) -> Result<Principal, ApiError> {
    let signed = request.signed();
    let presented = present(&signed)?.expect("credentials");
    identity.authenticate(&presented, &signed, service, now_ms)
}

/// It is refused with this code and text.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, ApiError>, code: Code, message: &str) {
    let error = result.expect_err("it was allowed");
    assert_eq!((error.code, error.message.as_str()), (code, message));
}
