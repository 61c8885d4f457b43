//! Sessions with members: a client, watches, and the Secret they rest on.
//!
//! Invariant: what is told of a member carries the session that saw it, and a session speaks of one cluster only: the
//! kube-system UID it was opened with is checked before every complete list and whenever the Secret changes. Each
//! member has tasks of its own, so that one that is down, slow or forbidden delays no other. Deliberately absent:
//! when to open or close, which is the engine's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::Client;
use tokio::sync::{mpsc, watch};
use truce_api::Reason;
use truce_engine::effect::{Access, EffectId};
use truce_engine::event::{Class, Event, Failure, Outcome, Success, WatchKey};
use truce_engine::value::ids::ClusterName;

use super::connect::{self, Connected};
use crate::exec::class::failure;
use crate::feed::member::{self, Feed};
use crate::metrics::Metrics;
use crate::task::Task;

/// A client, or why there is none for now.
pub type Upstream = Result<Client, Failure>;

/// All sessions; clones share them.
#[derive(Clone)]
pub struct Members {
    hub: Client,
    namespace: Arc<str>,
    events: mpsc::Sender<Event>,
    metrics: Metrics,
    open: Arc<Mutex<BTreeMap<ClusterName, Session>>>,
}

/// One open session; dropping it ends its watches.
struct Session {
    id: EffectId,
    cluster_uid: Arc<str>,
    upstream: watch::Receiver<Upstream>,
    watches: BTreeMap<WatchKey, Task>,
    /// Keeps `upstream` current.
    _keeper: Task,
}

impl Members {
    /// No sessions yet; Secrets are read in `namespace` of the hub.
    #[must_use]
    pub fn new(hub: Client, namespace: &str, events: mpsc::Sender<Event>, metrics: Metrics) -> Self {
        Self {
            hub,
            namespace: namespace.into(),
            events,
            metrics,
            open: Arc::default(),
        }
    }

    /// Opens a session under this id.
    ///
    /// # Errors
    /// Why the member cannot be entered.
    pub async fn open(&self, cluster: &ClusterName, id: EffectId, access: Access) -> Outcome {
        let Connected {
            client,
            cluster_uid,
            server_version,
            secret,
        } = connect::connect(&self.hub, &self.namespace, &access).await?;
        let (sender, upstream) = watch::channel(Ok(client));
        let cluster_uid: Arc<str> = cluster_uid.into();
        let keeper = match secret {
            // The hub's own client never changes.
            None => Task::spawn(async move { sender.closed().await }),
            Some(secret) => Task::spawn(connect::follow(
                self.hub.clone(),
                Arc::clone(&self.namespace),
                secret,
                Arc::clone(&cluster_uid),
                sender,
            )),
        };
        let opened = Success::Opened {
            cluster_uid: cluster_uid.to_string(),
            server_version,
        };
        let session = Session {
            id,
            cluster_uid,
            upstream,
            watches: BTreeMap::new(),
            _keeper: keeper,
        };
        let mut open = self.lock();
        open.insert(cluster.clone(), session);
        self.count(&open);
        Ok(opened)
    }

    /// Closes a session, if there is one; its watches end without an event.
    pub fn close(&self, cluster: &ClusterName) {
        let mut open = self.lock();
        open.remove(cluster);
        self.count(&open);
    }

    /// Lists completely, then watches; asked again, lists again.
    ///
    /// # Errors
    /// If no session is open.
    pub fn watch(&self, cluster: &ClusterName, key: WatchKey) -> Result<(), Failure> {
        let mut open = self.lock();
        let session = open.get_mut(cluster).ok_or_else(|| not_open(cluster))?;
        // The old watch ends before the new one begins, so that nothing older is told after the new list.
        drop(session.watches.remove(&key));
        let feed = Feed {
            cluster: cluster.clone(),
            session: session.id,
            cluster_uid: Arc::clone(&session.cluster_uid),
            key: key.clone(),
            upstream: session.upstream.clone(),
            events: self.events.clone(),
            metrics: self.metrics.clone(),
        };
        session.watches.insert(key, Task::spawn(member::follow(feed)));
        Ok(())
    }

    /// Ends a watch, if there is one.
    pub fn unwatch(&self, cluster: &ClusterName, key: &WatchKey) {
        if let Some(session) = self.lock().get_mut(cluster) {
            session.watches.remove(key);
        }
    }

    /// The member's client.
    ///
    /// # Errors
    /// If no session is open, or its Secret cannot be used any more.
    pub fn client(&self, cluster: &ClusterName) -> Upstream {
        let open = self.lock();
        let session = open.get(cluster).ok_or_else(|| not_open(cluster))?;
        session.upstream.borrow().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ClusterName, Session>> {
        // Never held over an await or anything that can panic half-way.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, open: &BTreeMap<ClusterName, Session>) {
        self.metrics
            .members_open
            .set(i64::try_from(open.len()).unwrap_or(i64::MAX));
    }
}

fn not_open(cluster: &ClusterName) -> Failure {
    failure(
        Class::Retry,
        Reason::MemberUnreachable.as_str(),
        format!("no session with {cluster} is open"),
    )
}
