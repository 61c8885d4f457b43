//! GlobalHostname: one DNS name that many member clusters answer for.
//!
//! Invariant: what one object alone can get wrong is refused by the rules here, at `kubectl apply`. Deliberately
//! absent: everything that needs another object to judge (zones, claims, members), which ends up in conditions.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube_derive::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{GlobalHostnameStatus, rules};

/// What a user declares about one hostname.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    crates(kube_core = "::kube_core"),
    group = "dns.truce.dev",
    version = "v1alpha1",
    kind = "GlobalHostname",
    namespaced,
    status = "GlobalHostnameStatus",
    derive = "PartialEq",
    shortname = "ghn",
    category = "truce",
    selectable = ".spec.hostname",
    doc = "GlobalHostname is one DNS name that many clusters answer for through Amazon Route 53.",
    printcolumn(name = "Hostname", type_ = "string", json_path = ".spec.hostname"),
    printcolumn(
        name = "Policy",
        type_ = "string",
        json_path = ".status.policy",
        description = "the routing policy in force"
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.ready",
        description = "clusters that serve, of those selected"
    ),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Zone", type_ = "string", json_path = ".status.zone.name", priority = 1),
    printcolumn(name = "TTL", type_ = "integer", json_path = ".spec.ttl", priority = 1),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.policyReason",
        priority = 1,
        description = "why this policy"
    )
)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = Rule::new("has(self.clusters) != has(self.clusterSelector)")
        .message("write exactly one of clusters: [{name: east}] and clusterSelector: {matchLabels: {tier: prod}}"),
    validation = Rule::new("has(self.source) || (has(self.clusters) && self.clusters.all(c, has(c.source)))")
        .message("write source: {service: {name: gateway}}, the object whose address each cluster publishes; it may be left out only where every item of clusters has its own"),
    validation = Rule::new("!has(self.weights) || !has(self.clusters) || self.weights.all(k, self.clusters.exists(c, c.name == k))")
        .message("weights has a cluster that clusters does not list: add it to clusters, or remove its key from weights")
        .field_path(".weights"),
    validation = Rule::new("!has(self.drain) || !has(self.clusters) || self.drain.all(k, self.clusters.exists(c, c.name == k))")
        .message("drain has a cluster that clusters does not list: add it to clusters, or remove its key from drain")
        .field_path(".drain"),
    validation = Rule::new("!has(self.routing.primary) || !has(self.clusters) || self.clusters.exists(c, c.name == self.routing.primary)")
        .message("routing.primary must be one of the names in clusters: write one of those, or add it to clusters")
)]
#[serde(rename_all = "camelCase")]
pub struct GlobalHostnameSpec {
    /// The name that all clusters answer for. Any case and a trailing dot are the same name; a wildcard may be the
    /// leftmost label. It cannot be changed.
    #[schemars(length(min = 1, max = 254))]
    #[x_kube(
        validation = rules::name_characters(),
        validation = rules::name_lengths(),
        validation = rules::wildcard(),
        validation = rules::immutable_name("hostname cannot be changed: create another GlobalHostname for the new name and delete this one when nobody asks for it any more")
    )]
    pub hostname: String,

    /// The DNSZone to publish in. Without it the DNSZone with the longest matching domain is chosen, once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_ref: Option<ZoneRef>,

    /// Seconds that resolvers may keep an answer, for records that are not aliases to AWS load balancers.
    #[serde(default = "default_ttl")]
    #[schemars(range(min = 1, max = 86400))]
    pub ttl: i32,

    /// The object whose address each member publishes. Exactly one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,

    /// The member clusters that answer. Either this or clusterSelector.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub clusters: Option<Vec<SelectedCluster>>,

    /// Selects MemberClusters by their labels. Of more than 100, those it already holds stay, then the oldest count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "rules::selector")]
    pub cluster_selector: Option<LabelSelector>,

    /// Weight of each cluster, 0 to 255; 0 drains it. A cluster without a key has its MemberCluster's weight.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = rules::map_of_weights)]
    pub weights: BTreeMap<String, i32>,

    /// Clusters to drain, each with the reason: the same as weight 0, for those whose weights live in Git.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = rules::map_of_reasons)]
    pub drain: BTreeMap<String, String>,

    /// How Route 53 chooses between the clusters.
    #[serde(default)]
    pub routing: Routing,

    /// First label of each per-cluster URL: contains {name} and ends in -{cluster}; "" for no such URLs.
    /// {name} is the hostname's first label inside the zone, `apex` for the zone's own name, `any` for a wildcard.
    #[serde(default = "default_cluster_hostname")]
    #[schemars(length(max = 63))]
    #[x_kube(
        validation = Rule::new("self == '' || self.endsWith('-{cluster}')")
            .message("clusterHostname must end in -{cluster}: write \"{name}-{cluster}\", or \"\" for no per-cluster URLs"),
        validation = Rule::new("self == '' || self.contains('{name}')")
            .message("clusterHostname must contain {name}: write \"{name}-{cluster}\", or \"\" for no per-cluster URLs"),
        validation = Rule::new("self.replace('{name}', 'x', 1).replace('{cluster}', 'x', 1).matches('^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$')")
            .message("clusterHostname is one DNS label: write {name} once, {cluster} once and otherwise only a-z, 0-9 and inner hyphens, such as \"{name}-{cluster}\"")
    )]
    pub cluster_hostname: String,

    /// Whether 192.0.2.1 stands in for the name until the first address exists.
    #[serde(default = "default_true")]
    pub placeholder: bool,

    /// What happens to the records when this object is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
}

fn default_ttl() -> i32 {
    60
}

fn default_cluster_hostname() -> String {
    "{name}-{cluster}".to_owned()
}

fn default_true() -> bool {
    true
}

/// Names a DNSZone.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ZoneRef {
    /// Name of the DNSZone object, not its domain.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rules::object_name())]
    pub name: String,
}

/// The object that publishes an address: exactly one field is set.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = Rule::new("has(self.service)")
        .message("a source names one object: write service: {name: gateway}")
)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// A Service of type LoadBalancer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<SourceRef>,
}

/// Names an object in a member cluster.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct SourceRef {
    /// Name of the object.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rules::label())]
    pub name: String,

    /// Its namespace in the member; the GlobalHostname's own if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rules::label())]
    pub namespace: Option<String>,
}

/// One selected cluster.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct SelectedCluster {
    /// Name of the MemberCluster.
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(validation = rules::cluster_name())]
    pub name: String,

    /// What this cluster publishes instead of the hostname's source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// How Route 53 chooses between the clusters.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = Rule::new("!has(self.primary) || self.policy == 'Failover'")
        .message("primary is for policy Failover only: write policy: Failover, or remove primary")
)]
#[serde(rename_all = "camelCase")]
pub struct Routing {
    /// Auto follows the regions of the selected clusters; the others force one policy.
    #[serde(default)]
    pub policy: Policy,

    /// Under Failover, the cluster that serves while it can. Without it the MemberClusters marked standby are the
    /// secondaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(validation = rules::cluster_name())]
    pub primary: Option<String>,

    /// Whether an alias to an AWS load balancer leaves the answers while that is unhealthy.
    #[serde(default = "default_true")]
    pub evaluate_target_health: bool,
}

impl Default for Routing {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            primary: None,
            evaluate_target_health: true,
        }
    }
}

/// A routing policy, asked for or in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Policy {
    #[default]
    /// Chosen from the regions of the selected clusters. Never in force.
    Auto,
    /// The region that answers fastest.
    Latency,
    /// By weight.
    Weighted,
    /// Secondaries only while the primary cannot serve.
    Failover,
    /// Latency between regions, weight inside each.
    LatencyWeighted,
    /// One record without a policy, for a single cluster.
    Simple,
}

impl Policy {
    /// As written in manifests and shown in status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "Auto",
            Self::Latency => "Latency",
            Self::Weighted => "Weighted",
            Self::Failover => "Failover",
            Self::LatencyWeighted => "LatencyWeighted",
            Self::Simple => "Simple",
        }
    }
}

/// What becomes of the records when the GlobalHostname is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum DeletionPolicy {
    /// They are deleted; the zone is as it was before.
    #[default]
    Delete,
}
