//! Running the double inside this process.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::api;
use crate::config::Config;
use crate::core::error::ApiError;
use crate::core::service::Service;
use crate::core::shape::{RawChange, RawSet};
use crate::core::zone::Version;
use crate::dns::server::{self, Front};
use crate::emulator::{Emulator, StartError};
use crate::identity::IdentityError;
use crate::identity::cluster::ClusterConfig;
use crate::journal::{Counts, Entry};

/// A running double; it ends when this is dropped.
pub struct Handle {
    emulator: Arc<Emulator>,
    aws: SocketAddr,
    dns: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    http: JoinHandle<std::io::Result<()>>,
    dns_server: hickory_server::Server<Front>,
}

/// Starts API and DNS as configured, both ready when this returns.
///
/// # Errors
/// A configuration that cannot be served, or an address that cannot be bound.
pub async fn serve(config: Config) -> Result<Handle, StartError> {
    let emulator = Arc::new(Emulator::new(&config)?);
    let io = |what: String| move |error| StartError::Io { what, error };
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(io(format!("listen on {}", config.listen)))?;
    let aws = listener
        .local_addr()
        .map_err(io(format!("listen on {}", config.listen)))?;
    let (dns, dns_server) = server::start(Arc::clone(&emulator), config.dns)
        .await
        .map_err(io(format!("listen for DNS on {}", config.dns)))?;
    let state = Arc::clone(&emulator);
    let router = Router::new().fallback(move |request: Request<Body>| {
        let state = Arc::clone(&state);
        async move { api::handle(state, request).await }
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let http = tokio::spawn(async move {
        axum::serve(listener, router)
            .with_graceful_shutdown(async move {
                // An error means that the handle is gone, which ends the double as well.
                let _ = stopped.await;
            })
            .await
    });
    Ok(Handle {
        emulator,
        aws,
        dns,
        stop: Some(stop),
        http,
        dns_server,
    })
}

impl Handle {
    /// Address of the API.
    #[must_use]
    pub fn aws(&self) -> SocketAddr {
        self.aws
    }

    /// `http://` and the address, for `AWS_ENDPOINT_URL`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.aws)
    }

    /// Address of DNS, UDP and TCP.
    #[must_use]
    pub fn dns(&self) -> SocketAddr {
        self.dns
    }

    /// Requests after this sequence number, oldest first; 0 gives all that are remembered.
    #[must_use]
    pub fn journal(&self, since: u64) -> Vec<Arc<Entry>> {
        self.emulator.journal_since(since)
    }

    /// Counts of requests by access key, action and code.
    #[must_use]
    pub fn request_counts(&self) -> Counts {
        self.emulator.request_counts()
    }

    /// Sets the time from a change to INSYNC, for changes from now on.
    pub fn set_insync_ms(&self, ms: u64) {
        self.emulator.lock().service.insync_ms = ms;
    }

    /// Works on the core itself, without HTTP and journal: health checks, load balancers without a healthy target,
    /// token buckets, busy zones.
    pub fn with_core<T>(&self, work: impl FnOnce(&mut Service) -> T) -> T {
        work(&mut self.emulator.lock().service)
    }

    /// Holds the double's clock at this moment, in milliseconds since the epoch, or lets it run again.
    pub fn hold_clock(&self, at_ms: Option<u64>) {
        self.emulator.hold_clock(at_ms);
    }

    /// All record sets of a zone in list order; `None` if there is no such zone.
    #[must_use]
    pub fn record_sets(&self, zone_id: &str) -> Option<Vec<RawSet>> {
        self.with_service(|service| {
            let zone = service.zone(zone_id)?;
            Some(zone.iter().map(|(_, set)| RawSet::from(&**set)).collect())
        })
    }

    /// Number of a zone's newest version.
    #[must_use]
    pub fn zone_version(&self, zone_id: &str) -> Option<u64> {
        self.with_service(|service| service.zone(zone_id).map(crate::core::zone::Zone::version))
    }

    /// Versions of a zone after this one, oldest first.
    #[must_use]
    pub fn versions(&self, zone_id: &str, since: u64) -> Vec<Arc<Version>> {
        self.with_service(|service| {
            let zone = service.zone(zone_id);
            zone.map(|z| z.versions_after(since).map(Arc::clone).collect())
                .unwrap_or_default()
        })
    }

    /// Changes records as the client with this access key would, without HTTP and journal.
    ///
    /// # Errors
    /// As ChangeResourceRecordSets.
    pub fn change(&self, access_key: &str, zone_id: &str, changes: &[RawChange]) -> Result<Arc<Version>, ApiError> {
        let now_ms = self.emulator.now_ms();
        let mut inner = self.emulator.lock();
        let holder = inner.identity.holder(access_key);
        let caller = holder.map_or_else(|| inner.service.accounts.caller(access_key), |p| p.caller());
        let (_, version) = inner.service.change(&caller, zone_id, None, changes, now_ms)?;
        Ok(version)
    }

    /// Adds or replaces an EKS cluster, as its API server's address is often known only later.
    ///
    /// # Errors
    /// What is wrong with which field.
    pub fn set_cluster(&self, cluster: ClusterConfig) -> Result<(), IdentityError> {
        self.emulator.lock().clusters.put(cluster, "cluster")
    }

    /// Ends the sessions of the role with this ARN, or of all roles; gives how many were alive.
    pub fn expire_sessions(&self, role: Option<&str>) -> usize {
        let now_ms = self.emulator.now_ms();
        self.emulator.lock().identity.expire_sessions(role, now_ms)
    }

    /// Lets nobody assume the role with this ARN, or lets those again whom it trusts; gives whether it exists.
    pub fn refuse_role(&self, role: &str, refuse: bool) -> bool {
        self.emulator.lock().identity.refuse_role(role, refuse)
    }

    fn with_service<T>(&self, read: impl FnOnce(&Service) -> T) -> T {
        read(&self.emulator.lock().service)
    }

    /// Runs until one of the two servers ends by itself.
    ///
    /// # Errors
    /// What ended it.
    pub async fn wait(&mut self) -> std::io::Result<()> {
        tokio::select! {
            http = &mut self.http => http.map_err(std::io::Error::other)?,
            dns = self.dns_server.block_until_done() => dns.map_err(std::io::Error::other),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only if the server has ended already.
            let _ = stop.send(());
        }
        self.http.abort();
        self.dns_server.shutdown_token().cancel();
    }
}
