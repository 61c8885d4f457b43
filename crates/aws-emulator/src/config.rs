//! Configuration: the YAML file, and what the library and the flags hand over.
//!
//! Invariant: an unknown field is an error that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::balancers::BalancerConfig;
use crate::core::shape::RawSet;
use crate::identity::cluster::ClusterConfig;
use crate::identity::config::AccountConfig;

/// The YAML file of `--config`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct File {
    /// Hosted zones to begin with.
    pub zones: Vec<ZoneConfig>,
    /// Accounts by id; with any, signatures and permissions are checked, without, every credential is accepted.
    pub accounts: BTreeMap<String, AccountConfig>,
    /// Access key id -> account id where no `accounts` are given; other keys belong to account 111111111111.
    pub access_keys: BTreeMap<String, String>,
    /// Network -> AWS region, for EDNS Client Subnet and for the address that a query comes from; the longest
    /// matching prefix wins.
    pub regions: BTreeMap<String, String>,
    /// EKS clusters.
    pub clusters: Vec<ClusterConfig>,
    /// Load balancer's DNS name -> its addresses and account; DNS makes up addresses for any other, which no account
    /// has.
    pub load_balancers: BTreeMap<String, BalancerConfig>,
    /// Network -> place, a continent with country and subdivision where they are known: `EU`, `EU-DE`, `NA-US-CA`; for
    /// geolocation routing, as `regions` is for latency.
    pub locations: BTreeMap<String, String>,
    /// Ids of health checks that exist.
    pub health_checks: BTreeSet<String>,
}

/// A hosted zone to begin with.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZoneConfig {
    /// Name.
    pub name: String,
    /// Id, `^Z[A-Z0-9]{1,31}$`; made up if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// Account; default 111111111111.
    #[serde(default)]
    pub account: Option<String>,
    /// Private zones are not served over DNS.
    #[serde(default)]
    pub private: bool,
    /// Comment.
    #[serde(default)]
    pub comment: Option<String>,
    /// Record sets beside NS and SOA; created under the same rules as by the API.
    #[serde(default)]
    pub records: Vec<RawSet>,
}

/// All settings of a running double.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of the API; port 0 chooses one.
    pub listen: SocketAddr,
    /// Address of DNS, UDP and TCP on one port; port 0 chooses one.
    pub dns: SocketAddr,
    /// From a change to INSYNC, in milliseconds.
    pub insync_ms: u64,
    /// Region of DNS clients that no network of the configuration covers.
    pub dns_default_region: String,
    /// Seed of the weighted choices.
    pub dns_seed: u64,
    /// Most record sets of a zone.
    pub max_sets_per_zone: usize,
    /// Refuse a batch that leaves an alias without its target.
    pub refuse_deleting_targets: bool,
    /// AWS's token buckets for requests (10 a second, 50 at once).
    pub throttle: bool,
    /// Single record changes of an account each second, twice as many at once; AWS does not publish its number.
    pub changes_per_second: Option<u64>,
    /// For how long a change keeps its zone busy (`PriorRequestNotComplete`), in milliseconds; 0 is never.
    pub busy_ms: u64,
    /// File to append the journal to.
    pub journal: Option<PathBuf>,
    /// What the YAML file holds.
    pub file: File,
}

impl Default for Config {
    fn default() -> Self {
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        Self {
            listen: loopback,
            dns: loopback,
            insync_ms: 0,
            dns_default_region: "us-east-1".to_owned(),
            dns_seed: 1,
            max_sets_per_zone: 10_000,
            refuse_deleting_targets: true,
            throttle: false,
            changes_per_second: None,
            busy_ms: 0,
            journal: None,
            file: File::default(),
        }
    }
}

impl Config {
    /// The same with one more zone, `id` made up if `None`.
    #[must_use]
    pub fn with_zone(mut self, name: &str, id: Option<&str>) -> Self {
        self.file.zones.push(ZoneConfig {
            name: name.to_owned(),
            id: id.map(str::to_owned),
            ..ZoneConfig::default()
        });
        self
    }
}

/// A file that cannot be read: the field, as a path from the root, and what is wrong with it, with its line.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct ParseError {
    /// Such as `zones[0].records[2].ttl`; `.` for the file as a whole.
    pub path: String,
    /// What is wrong, where, with the lines around it.
    pub error: Box<serde_saphyr::Error>,
}

/// Reads the YAML text of a configuration.
///
/// # Errors
/// What is wrong and where.
pub fn parse(text: &str) -> Result<File, ParseError> {
    let mut path = ".".to_owned();
    serde_saphyr::with_deserializer_from_str(text, |deserializer| {
        serde_path_to_error::deserialize(deserializer).map_err(|error| {
            path = error.path().to_string();
            error.into_inner()
        })
    })
    .map_err(|error| ParseError {
        path,
        error: Box::new(error),
    })
}
