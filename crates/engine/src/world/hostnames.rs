//! Facts about GlobalHostnames: the checked spec and what must be remembered of each between plans.
//!
//! Invariant: written by `world/apply.rs` and, for `Memory`, by the plan of that hostname alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use truce_api::GlobalHostnameStatus;

use crate::reason::Problem;
use crate::time::Wall;
use crate::value::dns_name::DnsName;
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};

/// The object whose address a member publishes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Source {
    /// A Service of type LoadBalancer.
    Service {
        /// Its namespace in the member.
        namespace: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
}

/// A hostname selects at most this many clusters.
pub const CLUSTERS_MAX: usize = 100;

/// Which clusters a hostname selects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// By name; a cluster may have a source of its own.
    Clusters(BTreeMap<ClusterName, Option<Source>>),
    /// By labels of the MemberClusters.
    Selector(LabelSelector),
}

/// A label selector, checked (Kubernetes API conventions, "label selectors").
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LabelSelector {
    /// All must be equal.
    pub match_labels: BTreeMap<String, String>,
    /// All must hold.
    pub match_expressions: Vec<LabelRequirement>,
}

/// One requirement of a selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRequirement {
    /// The label.
    pub key: String,
    /// What must hold of it.
    pub operator: LabelOperator,
}

/// The operators of label selectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant is the operator of that name")]
pub enum LabelOperator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Whether it selects an object with these labels. Without any requirement it selects all.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let Self {
            match_labels,
            match_expressions,
        } = self;
        match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && match_expressions.iter().all(|requirement| {
                let value = labels.get(&requirement.key);
                match &requirement.operator {
                    LabelOperator::In(values) => value.is_some_and(|v| values.contains(v)),
                    LabelOperator::NotIn(values) => value.is_none_or(|v| !values.contains(v)),
                    LabelOperator::Exists => value.is_some(),
                    LabelOperator::DoesNotExist => value.is_none(),
                }
            })
    }
}

/// A routing policy of the shared name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Policy {
    /// One cluster, no set identifier.
    Simple,
    /// By latency to the clusters' regions.
    Latency,
    /// By weight.
    Weighted,
    /// By latency between regions, by weight inside each.
    LatencyWeighted,
    /// PRIMARY while it is healthy, else SECONDARY.
    Failover,
}

impl Policy {
    /// As in `spec.routing.policy`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Simple => "Simple",
            Self::Latency => "Latency",
            Self::Weighted => "Weighted",
            Self::LatencyWeighted => "LatencyWeighted",
            Self::Failover => "Failover",
        }
    }

    /// From its text; `None` for anything else (`Auto` is a choice, not a policy).
    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::Simple,
            Self::Latency,
            Self::Weighted,
            Self::LatencyWeighted,
            Self::Failover,
        ]
        .into_iter()
        .find(|policy| policy.as_str() == text)
    }
}

/// A GlobalHostname's spec, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostnameSpec {
    /// The shared name.
    pub hostname: DnsName,
    /// The DNSZone asked for.
    pub zone_ref: Option<ZoneRef>,
    /// TTL of non-alias records, seconds.
    pub ttl: u32,
    /// What each member publishes; `None` only if every listed cluster has a source of its own.
    pub source: Option<Source>,
    /// Which clusters.
    pub selection: Selection,
    /// Weights by cluster.
    pub weights: BTreeMap<ClusterName, u8>,
    /// Drains by cluster, with their reasons.
    pub drains: BTreeMap<ClusterName, String>,
    /// The policy asked for; `None` is Auto.
    pub policy: Option<Policy>,
    /// Failover's primary.
    pub primary: Option<ClusterName>,
    /// On every alias.
    pub evaluate_target_health: bool,
    /// Template of the cluster names' first label (`{name}-{cluster}`); `None`: no cluster names.
    pub cluster_hostname: Option<String>,
    /// Whether 192.0.2.1 may stand before the first address.
    pub placeholder: bool,
}

impl HostnameSpec {
    /// What this cluster publishes.
    pub fn source_of(&self, cluster: &ClusterName) -> Option<&Source> {
        let own = match &self.selection {
            Selection::Clusters(clusters) => clusters.get(cluster).and_then(Option::as_ref),
            Selection::Selector(_) => None,
        };
        own.or(self.source.as_ref())
    }

    /// The namespaces of members in which its sources lie.
    pub fn source_namespaces(&self) -> BTreeSet<&str> {
        let own = match &self.selection {
            Selection::Clusters(clusters) => clusters.values().collect(),
            Selection::Selector(_) => Vec::new(),
        };
        let all = own.into_iter().chain([&self.source]).flatten();
        all.map(|Source::Service { namespace, .. }| &**namespace).collect()
    }
}

/// One GlobalHostname.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hostname {
    /// Its key.
    pub key: HostnameKey,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.creationTimestamp`.
    pub created: Wall,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// Whether it carries Truce's finalizer.
    pub finalizer: bool,
    /// `dns.truce.dev/paused: "true"`.
    pub paused: bool,
    /// `dns.truce.dev/confirm`.
    pub confirm: Option<String>,
    /// `dns.truce.dev/abandon`.
    pub abandon: Option<ClusterName>,
    /// The spec, or what is wrong with it.
    pub spec: Result<Arc<HostnameSpec>, Vec<Problem>>,
    /// The status as the API server has it.
    pub status: GlobalHostnameStatus,
}
