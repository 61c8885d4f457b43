//! The HTTP front: one request in, one answer out, one line in the journal.
//!
//! Invariant: an operation that is not known never answers 200. Deliberately absent: the rules, which are in `core`.

mod admin;
mod answers;
mod cidr;
mod eks;
mod elbv2;
mod gate;
mod health;
mod requests;
mod route;
mod route53;
mod sts;
mod testdns;
mod tokenreview;
pub mod xml;
mod zones;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};

use crate::core::error::{ApiError, Code};
use crate::emulator::{Emulator, Inner};
use crate::identity::Identity;
use crate::identity::signature::SignedRequest;
use crate::journal::{Draft, Entry, Journal};
use route::{Call, Operation, Protocol};

/// Longest request body, in bytes: a full batch of 32,000 characters in 1,000 elements is well below.
pub const MAX_BODY: usize = 2 * 1024 * 1024;

/// A good answer.
pub(crate) struct Reply {
    status: u16,
    body: String,
    location: Option<String>,
}

impl Reply {
    fn ok(body: String) -> Self {
        Self {
            status: 200,
            body,
            location: None,
        }
    }
}

/// Serves one request.
pub(crate) async fn handle(emulator: Arc<Emulator>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = match axum::body::to_bytes(body, MAX_BODY).await {
        Ok(body) => body,
        Err(error) => {
            let error = ApiError::new(
                Code::RequestEntityTooLarge,
                format!("The request body is longer than {MAX_BODY} bytes or broke off: {error}"),
            );
            return respond(Err(error), Protocol::RestXml, "unread");
        }
    };
    if let Some(rest) = parts.uri.path().strip_prefix("/_emulator/tokenreview/") {
        return tokenreview::handle(&emulator, &parts.method, rest, &body);
    }
    if let Some(rest) = parts.uri.path().strip_prefix("/_emulator/") {
        return admin::handle(&emulator, &parts.method, rest, parts.uri.query(), &body);
    }
    let call = Call::new(&parts.method, &parts.uri, &parts.headers, &body);
    serve_call(&emulator, &call, &gate::signed(&parts, &body))
}

fn serve_call(emulator: &Emulator, call: &Call, request: &SignedRequest<'_>) -> Response<Body> {
    let mut guard = emulator.lock();
    let inner = &mut *guard;
    let now_ms = emulator.now_ms();
    let mut note = Draft {
        action: call.name(),
        ..Draft::default()
    };
    let result = match &call.operation {
        Operation::Sts(action) if action == sts::UNSIGNED => {
            sts::run_unsigned(sts_context(&mut inner.identity, &inner.journal, call, now_ms))
        }
        _ => run_signed(emulator, inner, call, request, now_ms, &mut note),
    };
    let result = result.map_err(|error| match call.protocol {
        Protocol::RestJson => ApiError::new(error.code.over_json(), error.message),
        Protocol::RestXml | Protocol::Query | Protocol::LoadBalancingQuery => error,
    });
    let entry = inner
        .journal
        .append(now_ms, note, result.as_ref().map(|reply| reply.status));
    drop(guard);
    respond(result, call.protocol, &entry.request_id)
}

fn run_signed(
    emulator: &Emulator,
    inner: &mut Inner,
    call: &Call,
    request: &SignedRequest<'_>,
    now_ms: u64,
    note: &mut Draft,
) -> Result<Reply, ApiError> {
    let body = request.body;
    let principal = gate::authenticate(&inner.identity, &inner.service, call, request, now_ms, note)?;
    note.account.clone_from(&principal.account);
    note.principal.clone_from(&principal.arn);
    gate::authorize(&inner.identity, &principal, call, body)?;
    match &call.operation {
        Operation::Route53(operation) => {
            let mut context = route53::Context {
                emulator,
                service: &mut inner.service,
                draws: &mut inner.draws,
                caller: &principal.caller(),
                query: &call.query,
                body,
                now_ms,
                note,
            };
            route53::run(&mut context, operation)
        }
        Operation::Sts(action) => {
            let context = sts_context(&mut inner.identity, &inner.journal, call, now_ms);
            sts::run(context, action, &principal)
        }
        Operation::LoadBalancing(action) => {
            let request_id = Entry::request_id(inner.journal.next_seq());
            let (fields, region) = (&call.query, call.region());
            elbv2::run(&emulator.balancers, action, fields, &principal, region, &request_id)
        }
        Operation::Eks(operation) => eks::run(&inner.clusters, operation, &principal, call.region()),
        Operation::Unknown => Err(ApiError::new(Code::UnknownOperationException, "")),
    }
}

fn sts_context<'a>(identity: &'a mut Identity, journal: &Journal, call: &'a Call, now_ms: u64) -> sts::Context<'a> {
    sts::Context {
        identity,
        fields: &call.query,
        region: call.region(),
        now_ms,
        request_id: Entry::request_id(journal.next_seq()),
    }
}

fn respond(result: Result<Reply, ApiError>, protocol: Protocol, request_id: &str) -> Response<Body> {
    let mut kind = None;
    let (status, body, location) = match result {
        Ok(reply) => (reply.status, reply.body, reply.location),
        Err(error) => {
            kind = Some(error.code.as_str());
            (error.code.status(), answers::error(&error, protocol, request_id), None)
        }
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let content = match protocol {
        Protocol::RestJson => "application/json",
        Protocol::RestXml | Protocol::Query | Protocol::LoadBalancingQuery => "text/xml",
    };
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content));
    if let (Protocol::RestJson, Some(kind)) = (protocol, kind) {
        headers.insert("x-amzn-errortype", header::HeaderValue::from_static(kind));
    }
    if let Ok(value) = header::HeaderValue::from_str(request_id) {
        headers.insert("x-amzn-requestid", value);
    }
    if let Some(Ok(value)) = location.as_deref().map(header::HeaderValue::from_str) {
        headers.insert(header::LOCATION, value);
    }
    response
}
