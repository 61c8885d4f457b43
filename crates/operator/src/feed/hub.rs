//! The hub's own objects: who the hub is, then each kind as it is and becomes.
//!
//! Invariant: the hub's identity comes first, `Synced` once after every kind was listed completely. An object that
//! cannot be read as what it is stays as it was last known: it is logged and counted, never told as gone. What a
//! complete list lacks is gone.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::{DeserializeGuard, ObjectMeta};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use truce_api::{ClusterDrain, DNSZone, GlobalHostname, MemberCluster};
use truce_engine::event::{Event, HubEvent, HubObject, HubRef};

use crate::client::WATCH_SECONDS;
use crate::member::connect;
use crate::metrics::Metrics;

/// Kinds that are watched.
const KINDS: usize = 5;
/// Between two tries to learn who the hub is.
const RETRY: Duration = Duration::from_secs(2);

/// A kind that is watched on the hub.
trait Watched: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static {
    fn reference(meta: &ObjectMeta) -> Option<HubRef>;
    fn object(self) -> HubObject;
}

macro_rules! cluster_scoped {
    ($kind:ident, $variant:ident) => {
        impl Watched for $kind {
            fn reference(meta: &ObjectMeta) -> Option<HubRef> {
                let name = meta.name.clone()?;
                Some(HubRef::$variant { name })
            }

            fn object(self) -> HubObject {
                HubObject::$variant(self)
            }
        }
    };
}

cluster_scoped!(MemberCluster, MemberCluster);
cluster_scoped!(ClusterDrain, ClusterDrain);
cluster_scoped!(DNSZone, DnsZone);

impl Watched for GlobalHostname {
    fn reference(meta: &ObjectMeta) -> Option<HubRef> {
        let (namespace, name) = (meta.namespace.clone()?, meta.name.clone()?);
        Some(HubRef::GlobalHostname { namespace, name })
    }

    fn object(self) -> HubObject {
        HubObject::GlobalHostname(Box::new(self))
    }
}

impl Watched for Namespace {
    fn reference(meta: &ObjectMeta) -> Option<HubRef> {
        let name = meta.name.clone()?;
        Some(HubRef::Namespace { name })
    }

    fn object(self) -> HubObject {
        HubObject::Namespace {
            name: self.metadata.name.unwrap_or_default(),
            labels: self.metadata.labels.unwrap_or_default(),
        }
    }
}

/// Follows all kinds; ends only if a watch ends, which none should.
pub async fn follow(hub: Client, events: mpsc::Sender<Event>, metrics: Metrics) {
    let uid = loop {
        match connect::identity(&hub).await {
            Ok(uid) => break uid,
            Err(failure) => {
                tracing::warn!(
                    code = failure.code,
                    "Waiting for the hub's API server: {}",
                    failure.message
                );
            }
        }
        tokio::time::sleep(RETRY).await;
    };
    let feed = Feed {
        events,
        metrics,
        to_list: Arc::new(AtomicUsize::new(KINDS)),
    };
    feed.tell(HubEvent::Identity { uid }).await;
    let mut kinds = JoinSet::new();
    kinds.spawn(feed.clone().kind::<Namespace>(hub.clone()));
    kinds.spawn(feed.clone().kind::<DNSZone>(hub.clone()));
    kinds.spawn(feed.clone().kind::<MemberCluster>(hub.clone()));
    kinds.spawn(feed.clone().kind::<ClusterDrain>(hub.clone()));
    kinds.spawn(feed.kind::<GlobalHostname>(hub));
    debug_assert_eq!(kinds.len(), KINDS);
    if let Some(Err(error)) = kinds.join_next().await {
        tracing::error!("A watch of the hub broke: {error}");
    }
}

#[derive(Clone)]
struct Feed {
    events: mpsc::Sender<Event>,
    metrics: Metrics,
    /// Kinds that were not listed completely yet.
    to_list: Arc<AtomicUsize>,
}

impl Feed {
    async fn kind<K: Watched>(self, hub: Client) {
        let config = watcher::Config::default().timeout(WATCH_SECONDS);
        let stream = watcher(Api::<DeserializeGuard<K>>::all(hub), config).default_backoff();
        let mut stream = std::pin::pin!(stream);
        let mut known = BTreeSet::new();
        let mut listed = BTreeSet::new();
        let mut first = true;
        while let Some(event) = stream.next().await {
            match event {
                Ok(watcher::Event::Init) => listed.clear(),
                Ok(watcher::Event::InitApply(object)) => {
                    if let Some(reference) = self.applied(object).await {
                        listed.insert(reference.clone());
                        known.insert(reference);
                    }
                }
                Ok(watcher::Event::InitDone) => {
                    for reference in known.difference(&listed) {
                        self.tell(HubEvent::Gone(reference.clone())).await;
                    }
                    known.clone_from(&listed);
                    if std::mem::take(&mut first) && self.to_list.fetch_sub(1, Ordering::AcqRel) == 1 {
                        self.tell(HubEvent::Synced).await;
                    }
                }
                Ok(watcher::Event::Apply(object)) => known.extend(self.applied(object).await),
                Ok(watcher::Event::Delete(object)) => {
                    if let Some(reference) = K::reference(meta(&object)) {
                        known.remove(&reference);
                        self.tell(HubEvent::Gone(reference)).await;
                    }
                }
                Err(error) => {
                    self.metrics.hub_watch_errors.inc();
                    tracing::warn!(kind = %K::kind(&()), "Watching the hub: {error}");
                }
            }
        }
    }

    async fn applied<K: Watched>(&self, object: DeserializeGuard<K>) -> Option<HubRef> {
        let reference = K::reference(meta(&object))?;
        match object.0 {
            Ok(mut object) => {
                // Half of an object's size, and of no use to anybody here.
                object.meta_mut().managed_fields = None;
                self.tell(HubEvent::Applied(Box::new(object.object()))).await;
            }
            Err(invalid) => {
                self.metrics.undecodable.inc();
                tracing::error!(
                    object = ?reference,
                    "This object cannot be read and stays as it was last known; is the installed CRD another version's? {}",
                    invalid.error
                );
            }
        }
        Some(reference)
    }

    async fn tell(&self, event: HubEvent) {
        // An error means that nobody listens any more: the process is ending.
        let _ = self.events.send(Event::Hub(event)).await;
    }
}

fn meta<K: Resource<DynamicType = ()>>(object: &DeserializeGuard<K>) -> &ObjectMeta {
    match &object.0 {
        Ok(object) => object.meta(),
        Err(invalid) => &invalid.metadata,
    }
}
