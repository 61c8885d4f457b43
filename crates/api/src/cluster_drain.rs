//! ClusterDrain: somebody's wish that a cluster serve nothing, for a while.
//!
//! Invariant: creating one drains, deleting it undrains, several add up. Deliberately absent: selecting hostnames;
//! that is what a hostname's own `weights` and `drain` are for.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::rules;

/// Which cluster, why, and until when.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    crates(kube_core = "::kube_core"),
    group = "dns.truce.dev",
    version = "v1alpha1",
    kind = "ClusterDrain",
    status = "ClusterDrainStatus",
    derive = "PartialEq",
    shortname = "cdrain",
    category = "truce",
    doc = "ClusterDrain is somebody's wish that a cluster serve nothing, for a while.",
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(
        name = "Drained",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Drained")].status"#
    ),
    printcolumn(
        name = "Progress",
        type_ = "string",
        json_path = ".status.progress",
        description = "hostnames drained, of those that select the cluster"
    ),
    printcolumn(
        name = "Safe",
        type_ = "string",
        json_path = ".status.safeAt",
        description = "when nobody can hold an old answer any more"
    ),
    printcolumn(name = "Expires", type_ = "string", json_path = ".spec.expiresAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ClusterDrainSpec {
    /// Name of the MemberCluster. It cannot be changed.
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(
        validation = rules::cluster_name(),
        validation = rules::immutable("cluster cannot be changed: create another ClusterDrain for the other cluster and delete this one")
    )]
    pub cluster: String,

    /// Why; shown wherever the drain shows.
    #[schemars(length(min = 1, max = 256))]
    pub reason: String,

    /// When it stops counting, such as 2026-12-01T06:00:00Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// How far the drain is. Written as a JSON merge patch, so an absent field is an explicit null.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ClusterDrainStatus {
    /// The generation that this status speaks of.
    pub observed_generation: Option<i64>,

    /// Hostnames that select the cluster.
    pub hostnames: Option<i32>,

    /// Of those, the ones from which it is drained.
    pub drained: Option<i32>,

    /// The same in one column: "3/5".
    #[schemars(length(max = 16))]
    pub progress: Option<String>,

    /// When the drain will be safe everywhere.
    pub safe_at: Option<Time>,

    /// Drained.
    #[serde(default)]
    #[schemars(length(max = 16), transform = crate::no_default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
