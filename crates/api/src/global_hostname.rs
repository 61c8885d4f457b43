//! GlobalHostname: one DNS name that many member clusters answer for.
//!
//! Invariant: what one object alone can get wrong is refused by the rules here, at `kubectl apply`. Deliberately
//! absent: everything that needs another object to judge (zones, claims, members), which ends up in conditions.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use kube_derive::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules;

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
    #[doc = "Chosen from the regions of the selected clusters. Never in force."]
    Auto,
    #[doc = "The region that answers fastest."]
    Latency,
    #[doc = "By weight."]
    Weighted,
    #[doc = "Secondaries only while the primary cannot serve."]
    Failover,
    #[doc = "Latency between regions, weight inside each."]
    LatencyWeighted,
    #[doc = "One record without a policy, for a single cluster."]
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

/// What is known about one hostname. Written as a JSON merge patch, so an absent field is an explicit null.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct GlobalHostnameStatus {
    /// The generation that this status speaks of.
    pub observed_generation: Option<i64>,

    /// The zone that was chosen.
    pub zone: Option<ZoneStatus>,

    /// The routing policy in force.
    pub policy: Option<Policy>,

    /// Why this policy.
    #[schemars(length(max = 1024))]
    pub policy_reason: Option<String>,

    /// Clusters that serve, of those selected: "2/3".
    #[schemars(length(max = 16))]
    pub ready: Option<String>,

    /// Each selected cluster, and each that is still being released.
    #[serde(default)]
    #[schemars(length(max = 256), transform = crate::no_default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub clusters: Vec<ClusterStatus>,

    /// The longest TTL that a resolver may still hold.
    #[serde(rename = "maxTTL")]
    pub max_ttl: Option<MaxTTL>,

    /// The last Route 53 change of this hostname.
    #[serde(rename = "lastChangeID")]
    #[schemars(length(max = 64))]
    pub last_change_id: Option<String>,

    /// Accepted, ResolvedRefs, Programmed, Ready, ClusterHostnamesReady, MembersFresh.
    #[serde(default)]
    #[schemars(length(max = 16), transform = crate::no_default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// The zone a hostname lives in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneStatus {
    /// Name of the DNSZone.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Its hosted zone id.
    #[schemars(length(max = 32))]
    pub id: String,
}

/// The longest TTL of the last hour: what a drain has to wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaxTTL {
    /// The TTL in seconds.
    pub seconds: i32,
    /// When it stops counting.
    pub until: Time,
}

/// One cluster of a hostname.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// Name of the MemberCluster.
    #[schemars(length(max = 40))]
    pub name: String,

    /// The AWS region it counts as.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub region: Option<String>,

    /// The URL of this cluster alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 254))]
    pub cluster_hostname: Option<String>,

    /// Who writes clusterHostname.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adoption: Option<Adoption>,

    /// What it is under the shared name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ClusterState>,

    /// Why, in one word of the documented list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub reason: Option<String>,

    /// Why, in a sentence, where the state needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub message: Option<String>,

    /// The weight asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 255))]
    pub weight: Option<i32>,

    /// The weight in the zone at the last write; absent without a record set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 255))]
    pub effective_weight: Option<i32>,

    /// Its share of the answers, inside its region under latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub share_percent: Option<i32>,

    /// The addresses published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = rules::items_are_texts)]
    pub addresses: Vec<String>,

    /// When the cluster was last seen; only while what is known is not fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<Time>,

    /// The drain under way or done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainStatus>,
}

/// Times of a drain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrainStatus {
    /// When the drain began.
    pub started_at: Time,
    /// When nobody can hold an old answer any more; never moves earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe_at: Option<Time>,
}

/// Who writes a cluster name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Adoption {
    /// The hub.
    Hub,
    /// The hub, and the member's ExternalDNS has been offered it.
    Offered,
    /// The member's ExternalDNS.
    Adopted,
    /// The member's ExternalDNS, but it does not publish what it was told.
    NotPublishing,
}

/// What a cluster is under the shared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ClusterState {
    /// No address yet.
    Pending,
    /// No address yet, and the placeholder stands.
    Placeholder,
    /// In the answers.
    Live,
    /// Leaving the answers.
    Draining,
    /// Out of the answers, and no resolver can hold an old one.
    Drained,
    /// Asked to leave, but the last that serves.
    LastServing,
    /// Not selected any more; its names are being cleaned up.
    Releasing,
    /// Something has to be done first; the reason says what.
    Blocked,
}
