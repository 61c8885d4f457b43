//! The webhook that a kube-apiserver asks about bearer tokens (`--authentication-token-webhook-config-file`), at
//! `/_emulator/tokenreview/ACCOUNT/REGION/CLUSTER`.
//!
//! Invariant: answers as aws-iam-authenticator's server does: 200 with the user, or 403 with `authenticated: false` and
//! no reason, which stands in the journal only.

use axum::body::Body;
use axum::http::{Method, Response, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::core::error::{ApiError, Code};
use crate::emulator::Emulator;
use crate::identity::token::KubernetesUser;
use crate::journal::Draft;

/// What is read of a TokenReview; both versions look alike.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default = "oldest")]
    api_version: String,
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    token: String,
}

fn oldest() -> String {
    "authentication.k8s.io/v1beta1".to_owned()
}

/// Serves one review; `path` is what follows `/_emulator/tokenreview/`.
pub(crate) fn handle(emulator: &Emulator, method: &Method, path: &str, body: &[u8]) -> Response<Body> {
    if method != Method::POST {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "expected POST");
    }
    let Ok(review) = serde_json::from_slice::<Review>(body) else {
        return plain(StatusCode::BAD_REQUEST, "expected a request body to be a TokenReview");
    };
    let mut guard = emulator.lock();
    let inner = &mut *guard;
    let now_ms = emulator.now_ms();
    let segments: Vec<&str> = path.split('/').collect();
    let cluster = match segments.as_slice() {
        [account, region, name] => inner.clusters.get(account, region, name),
        _ => None,
    };
    let Some(cluster) = cluster else {
        let hint = format!("no cluster at {path}; write ACCOUNT/REGION/NAME of one of `clusters`");
        return plain(StatusCode::NOT_FOUND, &hint);
    };
    let mut note = Draft {
        action: "TokenReview".to_owned(),
        account: cluster.account.clone(),
        ..Draft::default()
    };
    let (status, answer) = match inner.identity.review(cluster, &review.spec.token, now_ms) {
        Ok(user) => {
            note.principal = user
                .extra
                .get("arn")
                .and_then(|arns| arns.first())
                .cloned()
                .unwrap_or_default();
            note.access_key = user
                .extra
                .get("accessKeyId")
                .and_then(|ids| ids.first())
                .cloned()
                .unwrap_or_default();
            inner.journal.append(now_ms, note, Ok(200));
            (StatusCode::OK, granted(&user))
        }
        Err(error) => {
            let error = ApiError::new(Code::AccessDenied, error.to_string());
            inner.journal.append(now_ms, note, Err(&error));
            (StatusCode::FORBIDDEN, json!({ "authenticated": false }))
        }
    };
    drop(guard);
    let review = json!({
        "apiVersion": review.api_version,
        "kind": "TokenReview",
        "metadata": { "creationTimestamp": null },
        "spec": {},
        "status": answer,
    });
    respond(status, "application/json; charset=UTF-8", review.to_string())
}

fn granted(user: &KubernetesUser) -> Value {
    json!({
        "authenticated": true,
        "user": {
            "username": user.username,
            "uid": user.uid,
            "groups": user.groups,
            "extra": user.extra,
        },
    })
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

fn respond(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}
