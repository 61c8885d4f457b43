//! One list and watch of one kind in one namespace of one member.
//!
//! Invariant: `Listed` is told only after a complete list of the very cluster that the session was opened with, and
//! once the watch after it stands; after `WatchFailed` comes `Listed` before anything else. An end that a fresh list
//! mends at once is not told. kube-runtime's watcher is not used here because it resumes after an error without saying
//! so, and cannot tell a list that no watch can follow.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{Stream, StreamExt};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Service;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};
use truce_api::{DNSEndpoint, HUB_LABEL, Reason};
use truce_engine::effect::EffectId;
use truce_engine::event::{Class, Event, Failure, MemberEvent, MemberKind, MemberObject, WatchKey};
use truce_engine::value::ids::ClusterName;

use super::convert;
use crate::client::WATCH_SECONDS;
use crate::exec::class::{self, Call, Server, failure};
use crate::exec::endpoint::crd_missing;
use crate::member::connect::same_cluster;
use crate::member::session::Upstream;
use crate::metrics::Metrics;

/// Objects a page of a list.
const PAGE: u32 = 500;
/// A list of a namespace of thousands of objects over a slow line.
const LIST: Duration = Duration::from_secs(60);
/// A watch that stood this long is begun again at once and untold when it breaks.
const STEADY: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
const SHORTEST_WATCH: Duration = Duration::from_secs(1);
/// How much longer than it may a watch can be silent before its connection counts as dead.
const MARGIN: Duration = Duration::from_secs(5);

/// What a watch needs.
pub struct Feed {
    /// The member.
    pub cluster: ClusterName,
    /// Its session.
    pub session: EffectId,
    /// The cluster that the session speaks of.
    pub cluster_uid: Arc<str>,
    /// What is watched.
    pub key: WatchKey,
    /// Its client, as long as its Secret allows.
    pub upstream: watch::Receiver<Upstream>,
    /// Where events go.
    pub events: mpsc::Sender<Event>,
    /// Counts watches that stand.
    pub metrics: Metrics,
}

/// A kind that is watched in members.
trait Watched:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send
{
    /// Which objects; `None`: all.
    const LABELS: Option<&'static str>;

    /// The fields that the engine takes.
    fn seen(&self) -> MemberObject;

    /// What it means that the API server does not know the kind.
    fn unknown(failure: Failure) -> Failure;
}

impl Watched for Service {
    const LABELS: Option<&'static str> = None;

    fn seen(&self) -> MemberObject {
        MemberObject::Service(convert::service(self))
    }

    fn unknown(failure: Failure) -> Failure {
        failure
    }
}

impl Watched for DNSEndpoint {
    const LABELS: Option<&'static str> = Some(HUB_LABEL);

    fn seen(&self) -> MemberObject {
        MemberObject::DnsEndpoint(convert::dns_endpoint(self))
    }

    fn unknown(_: Failure) -> Failure {
        crd_missing()
    }
}

/// Follows one kind until the task is dropped.
pub async fn follow(feed: Feed) {
    match feed.key.kind {
        MemberKind::Service => follow_kind::<Service>(feed).await,
        MemberKind::DnsEndpoint => follow_kind::<DNSEndpoint>(feed).await,
    }
}

/// Why a watch cannot go on.
enum End {
    /// What it goes on from is no longer kept: a fresh list mends it.
    Expired,
    /// It failed.
    Failed(Failure),
}

async fn follow_kind<K: Watched + 'static>(mut feed: Feed) {
    let mut pause = FIRST_PAUSE;
    let mut last = String::new();
    loop {
        let upstream = feed.upstream.borrow_and_update().clone();
        let mut stood = None;
        let usable = upstream.is_ok();
        let end = match upstream {
            Err(failure) => End::Failed(failure),
            Ok(client) => {
                let mut changed = feed.upstream.clone();
                tokio::select! {
                    end = watch_until_it_ends::<K>(&feed, client, &mut stood) => end,
                    renewed = changed.changed() => match renewed {
                        Ok(()) => continue,
                        Err(_) => return,
                    },
                }
            }
        };
        let steady = stood.is_some_and(|since: Standing| since.for_long());
        let failure = match end {
            End::Expired => {
                tokio::time::sleep(FIRST_PAUSE).await;
                continue;
            }
            End::Failed(_) if steady => {
                pause = FIRST_PAUSE;
                continue;
            }
            End::Failed(failure) => failure,
        };
        if failure.code != last {
            // It fails otherwise than before, as while an API server starts: soon it may not fail at all.
            pause = FIRST_PAUSE;
            last.clone_from(&failure.code);
        }
        feed.tell_failure(failure).await;
        tokio::select! {
            () = tokio::time::sleep(pause), if usable => pause = (pause * 2).min(LONGEST_PAUSE),
            renewed = feed.upstream.changed() => match renewed {
                Ok(()) => pause = FIRST_PAUSE,
                Err(_) => return,
            },
        }
    }
}

/// Lists, tells, watches; ends with why it cannot go on.
async fn watch_until_it_ends<K: Watched + 'static>(feed: &Feed, client: Client, stood: &mut Option<Standing>) -> End {
    let api = Api::<K>::namespaced(client.clone(), &feed.key.namespace);
    let listed = tokio::time::timeout(LIST, async {
        same_cluster(&client, &feed.cluster_uid).await?;
        list(&api).await
    });
    let (objects, mut version) = match listed.await {
        Ok(Ok(listed)) => listed,
        Ok(Err(failure)) => return End::Failed(failure),
        Err(_) => {
            let (code, message) = (Reason::MemberUnreachable, "the list was not complete in 60 seconds");
            return End::Failed(class::late(Call::Read, code.as_str(), message));
        }
    };
    let mut objects = Some(objects);
    let params = WatchParams {
        label_selector: K::LABELS.map(str::to_owned),
        timeout: Some(WATCH_SECONDS),
        ..WatchParams::default()
    };
    loop {
        let stream = match api.watch(&params, &version).await {
            Ok(stream) => stream,
            Err(error) => return watch_error::<K>(&error),
        };
        if let Some(objects) = objects.take() {
            *stood = Some(Standing::begin(&feed.metrics));
            let watch = feed.key.clone();
            feed.tell(MemberEvent::Listed { watch, objects }).await;
        }
        let begun = Instant::now();
        if let Err(end) = take_in(feed, std::pin::pin!(stream), &mut version).await {
            return end;
        }
        // A server that ends every watch at once shall not be asked in a tight loop.
        tokio::time::sleep(SHORTEST_WATCH.saturating_sub(begun.elapsed())).await;
    }
}

/// Tells the changes of one watch request; it ends well by itself or in silence, and the next goes on where it was.
async fn take_in<K: Watched>(
    feed: &Feed,
    mut stream: Pin<&mut impl Stream<Item = kube::Result<WatchEvent<K>>>>,
    version: &mut String,
) -> Result<(), End> {
    let silence = Duration::from_secs(u64::from(WATCH_SECONDS)) + MARGIN;
    while let Ok(Some(event)) = tokio::time::timeout(silence, stream.next()).await {
        match event {
            Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                note(version, object.resource_version());
                feed.tell(MemberEvent::Applied(object.seen())).await;
            }
            Ok(WatchEvent::Deleted(object)) => {
                note(version, object.resource_version());
                let (watch, name) = (feed.key.clone(), object.name_any());
                feed.tell(MemberEvent::Gone { watch, name }).await;
            }
            Ok(WatchEvent::Bookmark(bookmark)) => *version = bookmark.metadata.resource_version,
            Ok(WatchEvent::Error(status)) => return Err(watch_error::<K>(&kube::Error::Api(status))),
            Err(error) => return Err(watch_error::<K>(&error)),
        }
    }
    Ok(())
}

fn note(version: &mut String, seen: Option<String>) {
    if let Some(seen) = seen {
        *version = seen;
    }
}

fn watch_error<K: Watched>(error: &kube::Error) -> End {
    match error {
        kube::Error::Api(status) if status.code == 410 => End::Expired,
        _ => End::Failed(kind_failure::<K>(error)),
    }
}

/// All objects, page by page from one state of the cluster, and its version.
async fn list<K: Watched>(api: &Api<K>) -> Result<(Vec<MemberObject>, String), Failure> {
    let mut params = ListParams {
        label_selector: K::LABELS.map(str::to_owned),
        limit: Some(PAGE),
        ..ListParams::default()
    };
    let mut objects = Vec::new();
    loop {
        let page = api.list(&params).await.map_err(|error| kind_failure::<K>(&error))?;
        objects.extend(page.items.iter().map(K::seen));
        params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if params.continue_token.is_none() {
            let version = page.metadata.resource_version.filter(|version| !version.is_empty());
            let version =
                version.ok_or_else(|| failure(Class::Permanent, "Undecodable", "a list without a version"))?;
            return Ok((objects, version));
        }
    }
}

fn kind_failure<K: Watched>(error: &kube::Error) -> Failure {
    let failure = class::kubernetes(error, Server::Member, Call::Read);
    match error {
        kube::Error::Api(status) if status.code == 404 => K::unknown(failure),
        _ => failure,
    }
}

impl Feed {
    async fn tell_failure(&self, failure: Failure) {
        tracing::warn!(
            cluster = %self.cluster, kind = ?self.key.kind, namespace = self.key.namespace, code = failure.code,
            "Cannot watch: {}", failure.message
        );
        let watch = self.key.clone();
        self.tell(MemberEvent::WatchFailed { watch, failure }).await;
    }

    async fn tell(&self, event: MemberEvent) {
        let event = Event::Member {
            cluster: self.cluster.clone(),
            session: self.session,
            event,
        };
        // An error means that nobody listens any more: the process is ending.
        let _ = self.events.send(event).await;
    }
}

/// A watch that stands, counted as long as it does.
struct Standing {
    since: Instant,
    metrics: Metrics,
}

impl Standing {
    fn begin(metrics: &Metrics) -> Self {
        metrics.member_watches.inc();
        Self {
            since: Instant::now(),
            metrics: metrics.clone(),
        }
    }

    fn for_long(&self) -> bool {
        self.since.elapsed() >= STEADY
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.metrics.member_watches.dec();
    }
}
