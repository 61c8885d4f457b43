//! An API server that a test scripts: it answers each request by a function and remembers it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) content_type: String,
    pub(crate) body: Value,
}

/// What to answer.
pub(crate) enum Answer {
    /// A status and a body.
    Json(u16, Value),
    /// Watch events, after which the watch stays open.
    Watch(Vec<Value>),
    /// The other one, once told so.
    After(Arc<Notify>, Box<Answer>),
}

type Reply = UnsyncBoxBody<Bytes, Infallible>;

/// The requests so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    pub(crate) fn all(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }

    /// The only request; fails if there were more or none.
    pub(crate) fn only(&self) -> Seen {
        let all = self.all();
        assert_eq!(all.len(), 1, "{all:#?}");
        all[0].clone()
    }
}

/// A client of a server that answers so.
pub(crate) fn server(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> (Client, Log) {
    let log = Log::default();
    let (answer, requests) = (Arc::new(answer), log.clone());
    let service = tower::service_fn(move |request: Request<Body>| {
        let (answer, requests) = (Arc::clone(&answer), requests.clone());
        async move {
            let seen = seen(request).await;
            requests.0.lock().unwrap().push(seen.clone());
            Ok::<_, Infallible>(response(answer(&seen)).await)
        }
    });
    (Client::new(service, "default"), log)
}

async fn seen(request: Request<Body>) -> Seen {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let content_type = head.headers.get(http::header::CONTENT_TYPE);
    Seen {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        content_type: content_type.map_or_else(String::new, |kind| kind.to_str().unwrap().to_owned()),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    }
}

async fn response(answer: Answer) -> Response<Reply> {
    let (status, body) = match answer {
        Answer::Json(status, value) => (status, Full::from(value.to_string()).boxed_unsync()),
        Answer::Watch(events) => {
            let lines = events.into_iter().map(|event| Bytes::from(format!("{event}\n")));
            let frames = stream::iter(lines).chain(stream::pending());
            let frames = frames.map(|line| Ok::<_, Infallible>(Frame::data(line)));
            (200, StreamBody::new(frames).boxed_unsync())
        }
        Answer::After(told, answer) => {
            told.notified().await;
            return Box::pin(response(*answer)).await;
        }
    };
    let response = Response::builder().status(status);
    response.header("content-type", "application/json").body(body).unwrap()
}

/// A Kubernetes Status of a refusal.
pub(crate) fn refusal(code: u16, reason: &str, message: &str) -> Answer {
    Answer::Json(
        code,
        json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure",
            "code": code, "reason": reason, "message": message
        }),
    )
}

/// The answer to a read of kube-system.
pub(crate) fn kube_system(uid: &str) -> Answer {
    Answer::Json(
        200,
        json!({
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
            "metadata": {"name": "kube-system", "uid": uid}
        }),
    )
}
