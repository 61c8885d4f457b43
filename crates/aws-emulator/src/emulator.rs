//! The running double's state behind one lock, and its wall clock.
//!
//! Invariant: the lock is never held over I/O other than the journal's append, so no query sees half a batch.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::balancers::{BalancerConfig, Balancers};
use crate::config::{Config, ZoneConfig};
use crate::core::accounts::{Accounts, Caller, DEFAULT_ACCOUNT};
use crate::core::change::Rules;
use crate::core::error::ApiError;
use crate::core::pace::{Limits, Rate};
use crate::core::service::{NewZone, Service, Vpc};
use crate::core::shape::{RawChange, RawSet};
use crate::dns::client::{Clients, ClientsError};
use crate::dns::loadbalancer::LoadBalancers;
use crate::identity::cluster::Clusters;
use crate::identity::{Identity, IdentityError};
use crate::journal::{Counts, Entry, Journal};

/// Access key under which the configuration's zones are created.
const CONFIG_KEY: &str = "CONFIG";

/// Why a configuration cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A zone.
    #[error("zone {name}: {error}")]
    Zone {
        /// Name of the zone.
        name: String,
        /// What the core said.
        error: ApiError,
    },
    /// The regions of DNS clients.
    #[error(transparent)]
    Clients(#[from] ClientsError),
    /// A name in `loadBalancers`.
    #[error("loadBalancers: {0}")]
    LoadBalancers(String),
    /// Accounts, users, roles.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Journal file or sockets.
    #[error("{what}: {error}")]
    Io {
        /// What was being opened.
        what: String,
        /// The system's error.
        error: std::io::Error,
    },
}

/// What the lock guards.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) service: Service,
    pub(crate) identity: Identity,
    pub(crate) clusters: Clusters,
    pub(crate) journal: Journal,
    pub(crate) draws: u64,
}

/// The double's state.
#[derive(Debug)]
pub(crate) struct Emulator {
    inner: Mutex<Inner>,
    held_clock: Mutex<Option<u64>>,
    pub(crate) clients: Clients,
    pub(crate) load_balancers: LoadBalancers,
    pub(crate) balancers: Balancers,
}

impl Emulator {
    /// Sets everything up as the configuration says; its records are INSYNC at once.
    pub(crate) fn new(config: &Config) -> Result<Self, StartError> {
        let file = config
            .journal
            .as_ref()
            .map(|path| {
                OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
                    .map_err(|error| StartError::Io {
                        what: format!("journal {}", path.display()),
                        error,
                    })
            })
            .transpose()?;
        let identity = Identity::new(&config.file.accounts)?;
        if identity.is_strict() && !config.file.access_keys.is_empty() {
            let reason = "with `accounts`, write access keys at their users: accounts.ID.users.NAME.accessKeys";
            return Err(IdentityError::new("accessKeys", reason).into());
        }
        let accounts = Accounts::new(config.file.access_keys.clone(), config.file.health_checks.clone());
        let rules = Rules {
            max_sets_per_zone: config.max_sets_per_zone,
            refuse_deleting_targets: config.refuse_deleting_targets,
            ..Rules::default()
        };
        let mut service = Service::new(accounts, rules);
        for zone in &config.file.zones {
            add_zone(&mut service, zone).map_err(|error| StartError::Zone {
                name: zone.name.clone(),
                error,
            })?;
        }
        service.insync_ms = config.insync_ms;
        service.busy_ms = config.busy_ms;
        service.pace.limits = limits(config);
        Ok(Self {
            inner: Mutex::new(Inner {
                service,
                identity,
                clusters: Clusters::new(&config.file.clusters)?,
                journal: Journal::new(file),
                draws: config.dns_seed,
            }),
            held_clock: Mutex::new(None),
            clients: Clients::new(&config.file.regions, &config.file.locations, &config.dns_default_region)?,
            balancers: Balancers::new(&config.file.load_balancers)?,
            load_balancers: LoadBalancers::new(&addresses(&config.file.load_balancers))
                .map_err(StartError::LoadBalancers)?,
        })
    }

    /// The state; a panic of another holder does not end the double.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The held clock if there is one, else the wall clock, in milliseconds since the epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        let held = *self.held_clock.lock().unwrap_or_else(PoisonError::into_inner);
        held.unwrap_or_else(now_ms)
    }

    /// Holds the clock at this moment, or lets it run again.
    pub(crate) fn hold_clock(&self, at_ms: Option<u64>) {
        *self.held_clock.lock().unwrap_or_else(PoisonError::into_inner) = at_ms;
    }

    pub(crate) fn journal_since(&self, seq: u64) -> Vec<Arc<Entry>> {
        self.lock().journal.since(seq)
    }

    pub(crate) fn request_counts(&self) -> Counts {
        self.lock().journal.counts()
    }
}

/// Addresses by name; a load balancer without any has made-up ones.
fn addresses(configs: &BTreeMap<String, BalancerConfig>) -> BTreeMap<String, Vec<IpAddr>> {
    let with = configs.iter().filter(|(_, config)| !config.addresses.is_empty());
    with.map(|(name, config)| (name.clone(), config.addresses.clone()))
        .collect()
}

/// The token buckets that the configuration asks for.
fn limits(config: &Config) -> Limits {
    let mut limits = match config.throttle {
        true => Limits::aws(),
        false => Limits::default(),
    };
    limits.changes = config.changes_per_second.map(|n| Rate::new(n.saturating_mul(2), n));
    limits
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

fn add_zone(service: &mut Service, zone: &ZoneConfig) -> Result<(), ApiError> {
    let caller = Caller::made_up(CONFIG_KEY, zone.account.as_deref().unwrap_or(DEFAULT_ACCOUNT));
    let nth = service.zones().count();
    let new = NewZone {
        id: zone.id.clone(),
        name: zone.name.clone(),
        caller_reference: format!("config-{nth}"),
        comment: zone.comment.clone(),
        private: zone.private,
        // The API demands a VPC of a private zone; a configured zone need not say which.
        vpc: zone.private.then(|| Vpc {
            region: "us-east-1".to_owned(),
            id: format!("vpc-{nth:017x}"),
        }),
        delegation_set: None,
    };
    let id = service.create_zone(&caller, new, now_ms())?.0.id.clone();
    if zone.records.is_empty() {
        return Ok(());
    }
    // UPSERT because the zone has its NS and SOA already; in parts because a long list is over the limits of one.
    let changes: Vec<RawChange> = zone.records.iter().map(upsert).collect();
    for part in changes.chunks(100) {
        service.change(&caller, &id, None, part, now_ms())?;
    }
    Ok(())
}

fn upsert(set: &RawSet) -> RawChange {
    RawChange {
        action: "UPSERT".to_owned(),
        record_set: set.clone(),
    }
}
