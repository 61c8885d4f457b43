//! From a way of access to a client that answers, and from a changed Secret to a new one.
//!
//! Invariant: a client counts only once its cluster has said who it is (kube-system's UID). A Secret that changes takes
//! effect at once, without the engine, unless it leads to another cluster.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use tokio::sync::watch;
use truce_api::Reason;
use truce_engine::effect::Access;
use truce_engine::event::{Class, Failure};

use super::kubeconfig;
use super::session::Upstream;
use crate::client::{self, WATCH_SECONDS};
use crate::exec::class::{self, Call, Server, failure};

/// Between two tries to enter a member whose Secret changed.
const RETRY: Duration = Duration::from_secs(10);

/// A member that has been entered.
pub struct Connected {
    /// The client.
    pub client: Client,
    /// UID of its kube-system namespace.
    pub cluster_uid: String,
    /// Its version.
    pub server_version: String,
    /// The Secret that it rests on.
    pub secret: Option<SecretKey>,
}

/// A key of a Secret, with what was read from it.
#[derive(Clone)]
pub struct SecretKey {
    name: String,
    key: String,
    data: Vec<u8>,
}

impl SecretKey {
    /// What was read from `key` of the Secret `name`.
    #[must_use]
    pub fn new(name: &str, key: &str, data: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            key: key.to_owned(),
            data,
        }
    }
}

/// Enters a member.
///
/// # Errors
/// `SecretMissing`, `KubeconfigInvalid`, `Unauthorized`, `Forbidden`, `MemberUnreachable`, or what its API server said.
pub async fn connect(hub: &Client, namespace: &str, access: &Access) -> Result<Connected, Failure> {
    let (client, secret) = match access {
        Access::Local => (hub.clone(), None),
        Access::Kubeconfig { secret, key } => {
            let data = read(hub, namespace, secret, key).await?;
            let client = from_kubeconfig(&format!("{namespace}/{secret}"), &data).await?;
            (client, Some(SecretKey::new(secret, key, data)))
        }
    };
    let cluster_uid = identity(&client).await?;
    let version = client.apiserver_version().await;
    let server_version = version.map_err(|error| class::kubernetes(&error, Server::Member, Call::Read))?;
    Ok(Connected {
        client,
        cluster_uid,
        server_version: server_version.git_version,
        secret,
    })
}

/// Who a cluster is: the UID of its kube-system namespace.
///
/// # Errors
/// What its API server said.
pub async fn identity(client: &Client) -> Result<String, Failure> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let system = namespaces.get_metadata("kube-system").await;
    let system = system.map_err(|error| class::kubernetes(&error, Server::Member, Call::Read))?;
    system
        .metadata
        .uid
        .ok_or_else(|| failure(Class::Permanent, "Undecodable", "the namespace kube-system has no UID"))
}

/// Fails if the cluster behind a client is not the one that a session was opened with.
///
/// # Errors
/// `ClusterReplaced`, or what its API server said.
pub async fn same_cluster(client: &Client, cluster_uid: &str) -> Result<(), Failure> {
    let uid = identity(client).await?;
    if uid == cluster_uid {
        return Ok(());
    }
    Err(failure(
        Class::Denied,
        Reason::ClusterReplaced.as_str(),
        format!("another cluster answers: its kube-system has the UID {uid}, not {cluster_uid}"),
    ))
}

async fn read(hub: &Client, namespace: &str, secret: &str, key: &str) -> Result<Vec<u8>, Failure> {
    let secrets: Api<Secret> = Api::namespaced(hub.clone(), namespace);
    let found = secrets.get_opt(secret).await.map_err(|error| {
        let failure = class::kubernetes(&error, Server::Hub, Call::Read);
        let message = format!("cannot read the Secret {namespace}/{secret}: {}", failure.message);
        Failure { message, ..failure }
    })?;
    value(namespace, secret, key, found)
}

fn value(namespace: &str, secret: &str, key: &str, found: Option<Secret>) -> Result<Vec<u8>, Failure> {
    let missing = |what: String| failure(Class::Permanent, Reason::SecretMissing.as_str(), what);
    let found = found.ok_or_else(|| {
        missing(format!(
            "there is no Secret {namespace}/{secret}; create it with the kubeconfig under the key {key}"
        ))
    })?;
    let data = found.data.unwrap_or_default().remove(key);
    data.map(|value| value.0).ok_or_else(|| {
        missing(format!(
            "the Secret {namespace}/{secret} has no key {key}; put the kubeconfig there, or correct access.kubeconfig.secretRef.key"
        ))
    })
}

async fn from_kubeconfig(secret: &str, data: &[u8]) -> Result<Client, Failure> {
    let invalid = |why: String| {
        let message = format!("the kubeconfig in the Secret {secret} cannot be used: {why}");
        failure(Class::Permanent, Reason::KubeconfigInvalid.as_str(), message)
    };
    let config = kubeconfig::config(data).await;
    let config = config.map_err(|refused| invalid(refused.to_string()))?;
    client::client(config).map_err(|_| invalid("its certificates, key or token cannot be read".to_owned()))
}

/// Follows the Secret of a session and puts each client that it leads to into `upstream`.
pub async fn follow(
    hub: Client,
    namespace: Arc<str>,
    mut secret: SecretKey,
    cluster_uid: Arc<str>,
    upstream: watch::Sender<Upstream>,
) {
    let api: Api<Secret> = Api::namespaced(hub, &namespace);
    let mut versions = std::pin::pin!(versions(api, &secret.name));
    let mut wanting = false;
    loop {
        let found = tokio::select! {
            version = versions.next() => match version {
                Some(found) => value(&namespace, &secret.name, &secret.key, found),
                None => return,
            },
            () = tokio::time::sleep(RETRY), if wanting => Ok(secret.data.clone()),
        };
        if !wanting && found.as_ref().is_ok_and(|data| *data == secret.data) {
            continue;
        }
        let renewed = match found {
            Ok(data) => {
                secret.data = data;
                renew(&format!("{namespace}/{}", secret.name), &secret.data, &cluster_uid).await
            }
            Err(failure) => {
                secret.data.clear();
                Err(failure)
            }
        };
        wanting = renewed.is_err() && !secret.data.is_empty();
        tracing::info!(
            secret = secret.name,
            usable = renewed.is_ok(),
            "Took a member's Secret anew"
        );
        if upstream.send(renewed).is_err() {
            return;
        }
    }
}

async fn renew(secret: &str, data: &[u8], cluster_uid: &str) -> Upstream {
    let client = from_kubeconfig(secret, data).await?;
    same_cluster(&client, cluster_uid).await?;
    Ok(client)
}

/// The Secret as it is and becomes; `None` while it does not exist. Errors of the hub say nothing about the Secret.
fn versions(api: Api<Secret>, name: &str) -> impl Stream<Item = Option<Secret>> + Send + use<> {
    let config = watcher::Config::default()
        .fields(&format!("metadata.name={name}"))
        .timeout(WATCH_SECONDS);
    watcher(api, config)
        .default_backoff()
        .scan(false, |seen, event| {
            let version = match event {
                Ok(watcher::Event::Init) => {
                    *seen = false;
                    None
                }
                Ok(watcher::Event::InitApply(secret)) => {
                    *seen = true;
                    Some(Some(secret))
                }
                Ok(watcher::Event::Apply(secret)) => Some(Some(secret)),
                Ok(watcher::Event::Delete(_)) => Some(None),
                Ok(watcher::Event::InitDone) => (!*seen).then_some(None),
                Err(error) => {
                    tracing::debug!("Watching a member's Secret: {error}");
                    None
                }
            };
            std::future::ready(Some(version))
        })
        .filter_map(std::future::ready)
}
