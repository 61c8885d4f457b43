//! `/livez`, `/readyz` and `/metrics` over HTTP.
//!
//! Invariant: nothing here changes anything or shows what users declared.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::{Router, routing};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use truce_engine::time::Mono;

use crate::clock::Clock;

/// A loop that is silent this long hangs: it beats every few seconds, and a full plan takes at most a few.
const SILENCE: Duration = Duration::from_secs(60);

/// What the probes ask for.
#[derive(Debug, Default)]
pub struct Health {
    beat: AtomicU64,
    synced: AtomicBool,
}

impl Health {
    /// The loop is alive.
    pub fn beat(&self, at: Mono) {
        self.beat.store(at.0, Ordering::Relaxed);
    }

    /// The hub's objects are known.
    pub fn synced(&self) {
        self.synced.store(true, Ordering::Relaxed);
    }

    fn live(&self, now: Mono) -> bool {
        now - Mono(self.beat.load(Ordering::Relaxed)) < SILENCE
    }

    fn ready(&self) -> bool {
        self.synced.load(Ordering::Relaxed)
    }
}

/// What is served.
#[derive(Debug)]
pub struct Admin {
    /// For the probes.
    pub health: Arc<Health>,
    /// To judge the last beat.
    pub clock: Clock,
    /// The metrics.
    pub registry: Registry,
}

/// Serves until the task is dropped.
///
/// # Errors
/// If the address cannot be had.
pub async fn serve(address: SocketAddr, admin: Admin) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    tracing::info!(address = %listener.local_addr()?, "Serving /livez, /readyz and /metrics");
    axum::serve(listener, router(admin)).await
}

fn router(admin: Admin) -> Router {
    Router::new()
        .route("/livez", routing::get(livez))
        .route("/readyz", routing::get(readyz))
        .route("/metrics", routing::get(metrics))
        .with_state(Arc::new(admin))
}

async fn livez(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    verdict(admin.health.live(admin.clock.mono()), "the loop does not turn")
}

async fn readyz(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    verdict(admin.health.ready(), "the hub's objects are not all listed yet")
}

async fn metrics(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    let mut text = String::new();
    match encode(&mut text, &admin.registry) {
        Ok(()) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            (StatusCode::OK, [(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn verdict(good: bool, else_says: &'static str) -> (StatusCode, &'static str) {
    if good {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, else_says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_is_silent_for_a_minute_is_dead() {
        let health = Health::default();
        health.beat(Mono(1_000));
        assert!(health.live(Mono(60_999)));
        assert!(!health.live(Mono(61_000)));
        assert!(!health.ready());
        health.synced();
        assert!(health.ready());
    }
}
