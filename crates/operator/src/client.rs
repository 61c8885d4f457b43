//! One way to make a Kubernetes client, for the hub and for members alike.
//!
//! Invariant: no hidden retries, since pacing is the engine's; every request is answered or given up within bounds, so
//! that a peer that died is noticed. Deliberately absent: credentials; they are in the configuration handed in.

use std::path::Path;
use std::time::Duration;

use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::timeout::TimeoutLayer;

/// To connect, TLS included.
const CONNECT: Duration = Duration::from_secs(5);
/// To the headers of an answer; a watch sends them at once.
const ANSWER: Duration = Duration::from_secs(10);
/// Between two bytes of an answer. Above `WATCH_SECONDS`, within which every watch ends by itself.
const SILENCE: Duration = Duration::from_secs(60);
/// How long one watch request may last, in seconds. Short, so that a peer that silently died is noticed.
pub const WATCH_SECONDS: u32 = 45;

/// Why there is no client for the hub.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// `--kubeconfig` cannot be used.
    #[error("the kubeconfig {path} cannot be used: {source}")]
    Kubeconfig {
        /// The file.
        path: String,
        /// Why.
        source: kube::config::KubeconfigError,
    },
    /// There is neither a kubeconfig nor a service account.
    #[error("no way to the hub's API server: {0}; write --kubeconfig, or run in a pod with a service account")]
    Infer(#[from] kube::config::InferConfigError),
    /// What the configuration says does not make a client.
    #[error("no client for the hub's API server: {0}")]
    Client(#[from] kube::Error),
}

/// A client from a configuration.
///
/// # Errors
/// If certificates or keys in it cannot be used.
pub fn client(mut config: Config) -> Result<Client, kube::Error> {
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(SILENCE);
    config.reset_reader_on_write = true;
    Ok(ClientBuilder::try_from(config)?
        .with_layer(&TimeoutLayer::new(ANSWER))
        .build())
}

/// The client for the hub: of the kubeconfig, else of the environment.
///
/// # Errors
/// If there is no usable configuration.
pub async fn hub(kubeconfig: Option<&Path>) -> Result<Client, ClientError> {
    let config = match kubeconfig {
        Some(path) => {
            let unusable = |source| ClientError::Kubeconfig {
                path: path.display().to_string(),
                source,
            };
            let file = Kubeconfig::read_from(path).map_err(unusable)?;
            Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .map_err(unusable)?
        }
        None => Config::infer().await?,
    };
    Ok(client(config)?)
}
