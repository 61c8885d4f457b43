//! Starts every part and ends with the first that ends.
//!
//! Invariant: no part can die unnoticed: all are in one set, and the process ends with the first of them, so that
//! whoever runs it starts it anew. SIGTERM and SIGINT end it in order.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use truce_engine::Engine;

use crate::admin::{self, Admin, Health};
use crate::aws::identity;
use crate::aws::route53::Route53;
use crate::client;
use crate::clock::Clock;
use crate::config::Config;
use crate::exec::event::Publisher;
use crate::exec::gate::{Executor, Gate};
use crate::feed::hub;
use crate::member::session::Members;
use crate::metrics::Metrics;
use crate::pump::{self, Pump};

/// Runs the operator until it is told to stop.
///
/// # Errors
/// If it cannot start, or a part of it ended.
pub async fn run(config: Config) -> Result<()> {
    tracing::info!(hub_id = %config.hub_id, namespace = config.namespace, "Starting");
    let metrics = Metrics::default();
    let clock = Clock::start();
    let health = Arc::new(Health::default());
    let hub = client::hub(config.kubeconfig.as_deref()).await?;
    let (events, inbox) = mpsc::channel(pump::QUEUE);
    let executor = Executor {
        hub: hub.clone(),
        hub_id: config.hub_id.clone(),
        recorder: Publisher::new(hub.clone()),
        members: Members::new(hub.clone(), &config.namespace, events.clone(), metrics.clone()),
        route53: Route53::new(&identity::environment().await),
    };
    let pump = Pump {
        brain: Engine::new(truce_engine::Config {
            hub: config.hub_id,
            namespace: config.namespace,
            timings: config.timings,
            status_writes_per_second: config.status_writes_per_second,
        }),
        gate: Gate::new(executor, events.clone(), metrics.clone()),
        clock,
        health: Arc::clone(&health),
        metrics: metrics.clone(),
    };
    let admin = Admin {
        health,
        clock,
        registry: metrics.registry(),
    };
    let (stopper, stop) = watch::channel(false);

    let mut parts = JoinSet::new();
    let runtime = Handle::current();
    // Planning is pure computation: it gets a thread of its own, so that it holds up neither probes nor calls.
    parts.spawn_blocking(move || {
        let ended = runtime.block_on(pump.run(inbox, stop));
        Part::Pump(ended.context("the loop around the engine"))
    });
    parts.spawn(async move {
        let served = admin::serve(config.admin_address, admin).await;
        Part::Other(served.with_context(|| format!("serve on {}", config.admin_address)))
    });
    parts.spawn(async move {
        hub::follow(hub, events, metrics).await;
        Part::Other(Err(anyhow::anyhow!("the watches of the hub ended")))
    });
    parts.spawn(async move { Part::Signal(until_told().await, stopper) });
    supervise(parts).await
}

/// A part that ended.
enum Part {
    /// The loop; good only after a signal.
    Pump(Result<()>),
    /// A part that never ends by itself.
    Other(Result<()>),
    /// The order to stop, with the means to pass it on.
    Signal(Result<()>, watch::Sender<bool>),
}

async fn supervise(mut parts: JoinSet<Part>) -> Result<()> {
    // Held until the end: dropping it stops the loop.
    let mut told = None;
    while let Some(ended) = parts.join_next().await {
        match ended.context("a part of the operator panicked")? {
            Part::Signal(signal, stopper) => {
                signal?;
                stopper.send_replace(true);
                told = Some(stopper);
            }
            Part::Pump(ended) => {
                ended?;
                if told.is_some() {
                    return Ok(());
                }
                bail!("the loop around the engine ended");
            }
            Part::Other(ended) => {
                ended?;
                bail!("a part of the operator ended");
            }
        }
    }
    bail!("nothing runs")
}

async fn until_told() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
    let name = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    };
    tracing::info!(signal = name, "Told to stop");
    Ok(())
}
