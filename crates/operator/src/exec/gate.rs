//! Every effect passes here: it gets a deadline, is counted, and its end becomes `Event::Done`.
//!
//! Invariant: each effect ends with exactly one `Done`, within its deadline. How many run is bounded by the engine:
//! one for each sink. Deliberately absent: the leader check, which comes with the Lease.

use std::time::{Duration, Instant};

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use truce_engine::effect::{Effect, EffectId, HubEffect, MemberEffect, ZoneEffect};
use truce_engine::event::{Event, Failure, HubRef, Outcome, Success};
use truce_engine::value::ids::{ClusterName, HubId};

use super::class::{self, Call};
use super::{endpoint, event, finalizer, status, zone};
use crate::aws::route53::Route53;
use crate::member::session::Members;
use crate::metrics::{self, Kind, Metrics};

/// For a call to an API server. It holds for the two or three requests that some effects take.
const KUBERNETES: Duration = Duration::from_secs(15);
/// For a call to AWS.
const AWS: Duration = Duration::from_secs(20);

/// Carries out effects.
pub struct Gate {
    executor: Executor,
    events: mpsc::Sender<Event>,
    metrics: Metrics,
    running: JoinSet<()>,
}

/// What the effects need; clones share it.
#[derive(Clone)]
pub struct Executor {
    /// The hub's API server.
    pub hub: Client,
    /// The hub's id.
    pub hub_id: HubId,
    /// Publishes Kubernetes events on the hub.
    pub recorder: event::Publisher,
    /// The sessions.
    pub members: Members,
    /// Route 53.
    pub route53: Route53,
}

impl Gate {
    /// A gate before this executor; what ends is told to `events`.
    #[must_use]
    pub fn new(executor: Executor, events: mpsc::Sender<Event>, metrics: Metrics) -> Self {
        Self {
            executor,
            events,
            metrics,
            running: JoinSet::new(),
        }
    }

    /// Starts an effect.
    pub fn start(&mut self, id: EffectId, effect: Effect) {
        if let Effect::Member(cluster, MemberEffect::Open(_) | MemberEffect::Close) = &effect {
            // At once, so that no event of the old session is sent after this.
            self.executor.members.close(cluster);
        }
        let (executor, events, metrics) = (self.executor.clone(), self.events.clone(), self.metrics.clone());
        self.metrics.in_flight.inc();
        self.running.spawn(async move {
            let kind = Kind::of(&effect);
            let object = object(&effect);
            let start = Instant::now();
            let outcome = within_deadline(&executor, id, effect).await;
            metrics.in_flight.dec();
            metrics.effect(kind, metrics::Outcome::from(&outcome), start.elapsed());
            log(kind, &object, &outcome);
            // An error means that nobody listens any more: the process is ending.
            let _ = events.send(Event::Done(id, outcome)).await;
        });
    }

    /// Waits until an effect has ended; `Some(Err)` if its task panicked; `None` while there is none.
    pub async fn ended(&mut self) -> Option<Result<(), JoinError>> {
        self.running.join_next().await
    }

    /// Waits for all effects in flight, at most for `patience`; says how many were left.
    pub async fn finish(mut self, patience: Duration) -> usize {
        let all = async { while self.running.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(patience, all).await;
        self.running.len()
    }
}

async fn within_deadline(executor: &Executor, id: EffectId, effect: Effect) -> Outcome {
    let (deadline, call) = match &effect {
        Effect::Zone(_, ZoneEffect::Submit { .. }) => (AWS, Call::Write),
        Effect::Zone(..) => (AWS, Call::Read),
        Effect::Hub(_) | Effect::Member(..) => (KUBERNETES, Call::Write),
    };
    match tokio::time::timeout(deadline, carry_out(executor, id, effect)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(class::late(
            call,
            "Timeout",
            format!("no answer within {} seconds", deadline.as_secs()),
        )),
    }
}

async fn carry_out(executor: &Executor, id: EffectId, effect: Effect) -> Outcome {
    let done = |result: Result<(), Failure>| result.map(|()| Success::Done);
    match effect {
        Effect::Hub(HubEffect::WriteStatus(status)) => done(status::write(&executor.hub, &status).await),
        Effect::Hub(HubEffect::SetFinalizer { object, present }) => {
            done(finalizer::set(&executor.hub, &object, present).await)
        }
        Effect::Hub(HubEffect::EmitEvent(event)) => done(executor.recorder.publish(event).await),
        Effect::Member(cluster, effect) => member(executor, id, &cluster, effect).await,
        Effect::Zone(_, effect) => zone::carry_out(&executor.route53, &effect).await,
    }
}

async fn member(executor: &Executor, id: EffectId, cluster: &ClusterName, effect: MemberEffect) -> Outcome {
    let members = &executor.members;
    match effect {
        MemberEffect::Open(access) => members.open(cluster, id, access).await,
        MemberEffect::Close => Ok(Success::Done),
        MemberEffect::Watch(key) => members.watch(cluster, key).map(|()| Success::Done),
        MemberEffect::Unwatch(key) => {
            members.unwatch(cluster, &key);
            Ok(Success::Done)
        }
        MemberEffect::ApplyEndpoint(apply) => {
            endpoint::apply(members.client(cluster)?, &executor.hub_id, apply).await?;
            Ok(Success::Done)
        }
        MemberEffect::DeleteEndpoint { namespace, name, uid } => {
            endpoint::delete(members.client(cluster)?, &namespace, &name, uid).await?;
            Ok(Success::Done)
        }
        MemberEffect::DropFinalizer { namespace, name, uid } => {
            endpoint::drop_finalizer(members.client(cluster)?, &namespace, &name, &uid).await?;
            Ok(Success::Done)
        }
    }
}

/// What an effect is about, for logs.
fn object(effect: &Effect) -> String {
    match effect {
        Effect::Hub(HubEffect::EmitEvent(event)) => named(&event.object),
        Effect::Hub(HubEffect::WriteStatus(status)) => named(&status.object()),
        Effect::Hub(HubEffect::SetFinalizer { object, .. }) => named(object),
        Effect::Member(cluster, MemberEffect::ApplyEndpoint(apply)) => {
            format!("{cluster}: DNSEndpoint {}/{}", apply.namespace, apply.name)
        }
        Effect::Member(
            cluster,
            MemberEffect::DeleteEndpoint { namespace, name, .. } | MemberEffect::DropFinalizer { namespace, name, .. },
        ) => {
            format!("{cluster}: DNSEndpoint {namespace}/{name}")
        }
        Effect::Member(cluster, MemberEffect::Watch(key) | MemberEffect::Unwatch(key)) => {
            format!("{cluster}: {:?} in {}", key.kind, key.namespace)
        }
        Effect::Member(cluster, MemberEffect::Open(_) | MemberEffect::Close) => cluster.to_string(),
        Effect::Zone(zone, _) => format!("DNSZone {zone}"),
    }
}

/// An object of the hub, as kubectl users know it.
fn named(object: &HubRef) -> String {
    match object {
        HubRef::GlobalHostname { namespace, name } => format!("GlobalHostname {namespace}/{name}"),
        HubRef::MemberCluster { name } => format!("MemberCluster {name}"),
        HubRef::ClusterDrain { name } => format!("ClusterDrain {name}"),
        HubRef::DnsZone { name } => format!("DNSZone {name}"),
        HubRef::Namespace { name } => format!("Namespace {name}"),
    }
}

fn log(kind: Kind, object: &str, outcome: &Outcome) {
    match outcome {
        Ok(Success::Submitted { change_id, .. }) => tracing::info!(object, change_id, "Changed the zone"),
        Ok(_)
            if matches!(
                kind,
                Kind::ApplyEndpoint | Kind::DeleteEndpoint | Kind::DropFinalizer | Kind::OpenMember
            ) =>
        {
            tracing::info!(?kind, object, "Done");
        }
        Ok(_) => tracing::debug!(?kind, object, "Done"),
        Err(Failure {
            class,
            code,
            message,
            ambiguous,
        }) => tracing::warn!(?kind, object, ?class, code, ambiguous, "Failed: {message}"),
    }
}
