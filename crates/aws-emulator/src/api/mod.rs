//! The HTTP front: one request in, one answer out, one line in the journal.
//!
//! Invariant: an operation that is not known never answers 200. Deliberately absent: the rules, which are in `core`.

mod admin;
mod answers;
mod gate;
mod requests;
mod route;
mod route53;
mod sts;
pub mod xml;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};

use crate::core::error::{ApiError, Code};
use crate::emulator::Emulator;
use crate::identity::signature::SignedRequest;
use crate::journal::{Draft, Entry};
use route::{Call, Operation};

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
            return respond(Err((error, route::Protocol::RestXml)), "unread");
        }
    };
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
    let body = request.body;
    let admitted = gate::authenticate(&inner.identity, &inner.service, call, request, now_ms, &mut note);
    let result = admitted.and_then(|principal| {
        note.account.clone_from(&principal.account);
        gate::authorize(&inner.identity, &principal, call, body)?;
        let caller = principal.caller();
        match &call.operation {
            Operation::Route53(operation) => {
                let mut context = route53::Context {
                    service: &mut inner.service,
                    caller: &caller,
                    query: &call.query,
                    body,
                    now_ms,
                    note: &mut note,
                };
                route53::run(&mut context, operation)
            }
            Operation::Sts(action) => {
                let context = sts::Context {
                    identity: &mut inner.identity,
                    fields: &call.query,
                    region: call.region(),
                    now_ms,
                    request_id: &Entry::request_id(inner.journal.next_seq()),
                };
                sts::run(context, action, &principal)
            }
            Operation::Unknown => Err(ApiError::new(Code::UnknownOperationException, "")),
        }
    });
    let entry = inner
        .journal
        .append(now_ms, note, result.as_ref().map(|reply| reply.status));
    drop(guard);
    respond(result.map_err(|error| (error, call.protocol)), &entry.request_id)
}

fn respond(result: Result<Reply, (ApiError, route::Protocol)>, request_id: &str) -> Response<Body> {
    let (status, body, location) = match result {
        Ok(reply) => (reply.status, reply.body, reply.location),
        Err((error, protocol)) => (error.code.status(), answers::error(&error, protocol, request_id), None),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/xml"));
    if let Ok(value) = header::HeaderValue::from_str(request_id) {
        headers.insert("x-amzn-requestid", value);
    }
    if let Some(Ok(value)) = location.as_deref().map(header::HeaderValue::from_str) {
        headers.insert(header::LOCATION, value);
    }
    response
}
