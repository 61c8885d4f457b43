//! The double's own pages under `/_emulator/`: what tests read beside AWS's API, as JSON.

use axum::body::{Body, Bytes};
use axum::http::{Method, Response, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};

use crate::core::elb;
use crate::core::names::Name;
use crate::core::record::RecordSet;
use crate::core::shape::RawSet;
use crate::core::zone::{Diff, Version, Zone};
use crate::emulator::Emulator;
use crate::identity::cluster::ClusterConfig;

/// Serves one page; `path` is what follows `/_emulator/`.
pub(crate) fn handle(
    emulator: &Emulator,
    method: &Method,
    path: &str,
    query: Option<&str>,
    body: &Bytes,
) -> Response<Body> {
    let since = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(key, _)| key == "since")
        .and_then(|(_, value)| value.parse::<u64>().ok())
        .unwrap_or(0);
    let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let found = match (method.as_str(), segments.as_slice()) {
        ("GET", ["journal"]) => Some(to_json(&emulator.journal_since(since))),
        ("GET", ["requests"]) => Some(to_json(&emulator.request_counts())),
        ("GET", ["zones"]) => Some(zones(emulator)),
        ("GET", ["zones", id]) => zone(emulator, id),
        ("GET", ["zones", id, "versions"]) => versions(emulator, id, since),
        ("GET", ["insync-ms"]) => Some(json!({ "insyncMs": emulator.lock().service.insync_ms })),
        ("POST" | "PUT", ["clusters"]) => return put_cluster(emulator, body),
        ("POST", ["roles", action @ ("expire" | "refuse" | "trust")]) => return role(emulator, action, body),
        ("POST" | "PUT", ["insync-ms"]) => return set_insync(emulator, body),
        ("POST" | "PUT", ["health-checks", id]) => return set_health(emulator, id, body),
        ("POST" | "PUT", ["load-balancers", name]) => return set_balancer_health(emulator, name, body),
        _ => None,
    };
    match found {
        Some(value) => reply(StatusCode::OK, &value),
        None => reply(
            StatusCode::NOT_FOUND,
            &json!({ "error": format!("nothing at {method} /_emulator/{path}; there are GET journal?since=SEQ, \
                GET requests, GET zones, GET zones/ID, GET zones/ID/versions?since=N, GET and POST insync-ms, \
                PUT clusters, PUT health-checks/ID, PUT load-balancers/NAME, \
                POST roles/expire, roles/refuse and roles/trust") }),
        ),
    }
}

fn zones(emulator: &Emulator) -> Value {
    let inner = emulator.lock();
    inner.service.zones().map(head).collect()
}

fn head(zone: &Zone) -> Value {
    json!({
        "id": zone.id,
        "name": zone.name.as_str(),
        "account": zone.account,
        "private": zone.private,
        "version": zone.version(),
        "recordSetCount": zone.len(),
    })
}

fn zone(emulator: &Emulator, id: &str) -> Option<Value> {
    let inner = emulator.lock();
    let zone = inner.service.zone(id)?;
    let mut page = head(zone);
    let sets: Vec<RawSet> = zone.iter().map(|(_, set)| RawSet::from(&**set)).collect();
    if let Some(fields) = page.as_object_mut() {
        fields.insert("recordSets".to_owned(), to_json(&sets));
    }
    Some(page)
}

fn versions(emulator: &Emulator, id: &str, since: u64) -> Option<Value> {
    let inner = emulator.lock();
    let zone = inner.service.zone(id)?;
    let list: Vec<Value> = zone.versions_after(since).map(|v| version(v)).collect();
    Some(Value::Array(list))
}

/// A version as the difference to the one before; version 1 begins with an empty zone.
fn version(version: &Version) -> Value {
    let side = |pick: fn(&Diff) -> Option<&RecordSet>| -> Vec<RawSet> {
        version.diff.iter().filter_map(pick).map(RawSet::from).collect()
    };
    json!({
        "version": version.number,
        "timeMs": version.at_ms,
        "insyncAtMs": version.insync_at_ms,
        "changeID": version.change_id,
        "accessKey": version.access_key,
        "removed": side(|d| d.before.as_deref()),
        "added": side(|d| d.after.as_deref()),
    })
}

fn set_insync(emulator: &Emulator, body: &Bytes) -> Response<Body> {
    let text = String::from_utf8_lossy(body);
    match text.trim().parse::<u64>() {
        Ok(ms) => {
            emulator.lock().service.insync_ms = ms;
            reply(StatusCode::OK, &json!({ "insyncMs": ms }))
        }
        Err(_) => reply(
            StatusCode::BAD_REQUEST,
            &json!({ "error": format!("'{text}' is not a number of milliseconds; send one, such as 500") }),
        ),
    }
}

/// What a body says of something's health; `None` for `unknown`.
fn health_of(body: &Bytes) -> Result<Option<bool>, String> {
    match String::from_utf8_lossy(body).trim() {
        "healthy" => Ok(Some(true)),
        "unhealthy" => Ok(Some(false)),
        "unknown" => Ok(None),
        other => Err(format!("'{other}' is no state; send healthy, unhealthy or unknown")),
    }
}

/// Sets what the checkers of a health check see.
fn set_health(emulator: &Emulator, id: &str, body: &Bytes) -> Response<Body> {
    let seen = match health_of(body) {
        Ok(seen) => seen,
        Err(error) => return reply(StatusCode::BAD_REQUEST, &json!({ "error": error })),
    };
    match emulator.lock().service.health.set_seen(id, seen) {
        true => reply(StatusCode::OK, &json!({})),
        false => {
            let error = format!("there is no health check '{id}'");
            reply(StatusCode::NOT_FOUND, &json!({ "error": error }))
        }
    }
}

/// Sets whether a load balancer has a healthy target.
fn set_balancer_health(emulator: &Emulator, name: &str, body: &Bytes) -> Response<Body> {
    let healthy = match health_of(body) {
        Ok(seen) => seen.unwrap_or(true),
        Err(error) => return reply(StatusCode::BAD_REQUEST, &json!({ "error": error })),
    };
    let Some(balancer) = Name::parse(name).ok().and_then(|name| elb::parse(&name)) else {
        let error = format!("'{name}' is not the DNS name of a load balancer");
        return reply(StatusCode::BAD_REQUEST, &json!({ "error": error }));
    };
    let unhealthy = &mut emulator.lock().service.unhealthy_load_balancers;
    match healthy {
        true => unhealthy.remove(&balancer.name),
        false => unhealthy.insert(balancer.name),
    };
    reply(StatusCode::OK, &json!({}))
}

/// Adds or replaces a cluster: JSON with the fields of the configuration file.
fn put_cluster(emulator: &Emulator, body: &Bytes) -> Response<Body> {
    let refused = |error: String| reply(StatusCode::BAD_REQUEST, &json!({ "error": error }));
    let config: ClusterConfig = match serde_json::from_slice(body) {
        Ok(config) => config,
        Err(error) => return refused(error.to_string()),
    };
    let arn = config.arn();
    match emulator.lock().clusters.put(config, "cluster") {
        Ok(()) => reply(StatusCode::OK, &json!({ "arn": arn })),
        Err(error) => refused(error.to_string()),
    }
}

/// Ends the sessions of the role whose ARN is the body (of all roles, if it is empty), lets nobody assume it, or lets
/// those again whom it trusts.
fn role(emulator: &Emulator, action: &str, body: &Bytes) -> Response<Body> {
    let arn = String::from_utf8_lossy(body).trim().to_owned();
    let now_ms = emulator.now_ms();
    let mut inner = emulator.lock();
    if action == "expire" {
        let role = (!arn.is_empty()).then_some(arn.as_str());
        let ended = inner.identity.expire_sessions(role, now_ms);
        return reply(StatusCode::OK, &json!({ "ended": ended }));
    }
    if inner.identity.refuse_role(&arn, action == "refuse") {
        reply(StatusCode::OK, &json!({}))
    } else {
        let error = format!("there is no role '{arn}'; send the ARN of one of `accounts`");
        reply(StatusCode::NOT_FOUND, &json!({ "error": error }))
    }
}

fn to_json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_else(|e| json!({ "error": e.to_string() }))
}

fn reply(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    response
}
