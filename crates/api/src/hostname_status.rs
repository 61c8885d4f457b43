//! The status of a GlobalHostname: what is known about one hostname and each of its clusters.
//!
//! Invariant: it is written as a JSON merge patch, so every field at the top is written always, absent ones as null.
//! Deliberately absent: anything that cannot be read again from the zone or the objects, but for the times of drains
//! and the longest TTL.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Policy, rules};

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

    /// The `dns.truce.dev/confirm` that was carried out last; it agrees to nothing more.
    #[schemars(length(max = 64))]
    pub last_confirmed: Option<String>,

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
