//! MemberCluster: a Kubernetes cluster that can answer for hostnames.
//!
//! Invariant: its name is one DNS label that fits into cluster names and set identifiers. Deliberately absent: secrets
//! (they are referred to, never held) and what is read from the cluster, which is in status or nowhere.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules;

/// What a user declares about one cluster.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    crates(kube_core = "::kube_core"),
    group = "dns.truce.dev",
    version = "v1alpha1",
    kind = "MemberCluster",
    status = "MemberClusterStatus",
    derive = "PartialEq",
    shortname = "mcl",
    category = "truce",
    doc = "MemberCluster is a Kubernetes cluster that can answer for hostnames.",
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.region"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight"),
    printcolumn(
        name = "Reachable",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Reachable")].status"#
    ),
    printcolumn(
        name = "ExternalDNS",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="ExternalDNSReady")].status"#
    ),
    printcolumn(name = "Hostnames", type_ = "integer", json_path = ".status.hostnames"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#,
        priority = 1
    )
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct MemberClusterSpec {
    /// The AWS region it counts as for latency, such as us-east-1. A region that Route 53 lacks is mapped to the
    /// nearest that it has.
    #[schemars(length(min = 1, max = 64))]
    pub region: String,

    /// Whether it serves only while no other selected cluster can.
    #[serde(default)]
    pub standby: bool,

    /// How the hub gets into it. Exactly one way.
    pub access: Access,

    /// The ExternalDNS instances that run in it. Without one the hub writes the names of this cluster itself.
    #[serde(default, rename = "externalDNS", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["ownerID".into()]))]
    pub external_dns: Vec<ExternalDNS>,

    /// Its weight for hostnames that say nothing about it, 0 to 255. 0 drains the whole cluster.
    #[serde(default = "default_weight")]
    #[schemars(range(min = 0, max = 255))]
    pub weight: i32,
}

fn default_weight() -> i32 {
    100
}

/// How the hub gets into a cluster: exactly one field is set.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = Rule::new("has(self.kubeconfig) != has(self.local)")
        .message("write exactly one way of access: kubeconfig: {secretRef: {name: east}}, or local: {} for the hub itself")
)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// A kubeconfig in a Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<KubeconfigAccess>,

    /// The hub itself is the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalAccess>,
}

/// Access by kubeconfig: inline server, certificate authority and token or client certificate only. Programs and
/// paths to files are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeconfigAccess {
    /// The Secret that holds it, in the operator's namespace.
    pub secret_ref: SecretRef,
}

/// Names a key of a Secret in the operator's namespace.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rules::object_name())]
    pub name: String,

    /// The key of the Secret's data.
    #[serde(default = "default_key")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(
        validation = Rule::new("self.matches('^[-._a-zA-Z0-9]+$')")
            .message("not a key of a Secret: write letters, digits, '-', '_' and '.' only, such as value")
    )]
    pub key: String,
}

fn default_key() -> String {
    "value".to_owned()
}

/// Access to the hub itself: nothing to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalAccess {}

/// One ExternalDNS instance of a cluster, described by its flags. The defaults are ExternalDNS's own.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = Rule::new("self.txtPrefix == '' || self.txtSuffix == ''")
        .message("ExternalDNS takes --txt-prefix or --txt-suffix, not both: remove txtPrefix or txtSuffix")
)]
#[serde(rename_all = "camelCase")]
pub struct ExternalDNS {
    /// Its --txt-owner-id, unique over all members. Free text: names and ARNs alike.
    // 161 = the 186 bytes that owner, namespace and name of the DNSEndpoint may have together in the ownership TXT,
    // less the shortest namespace (1) and the shortest name (24); what is left for this object is the engine's to check.
    #[serde(rename = "ownerID")]
    #[schemars(length(min = 1, max = 161))]
    #[x_kube(
        validation = Rule::new(r#"self.matches('^[!-~]([ -~]*[!-~])?$') && !self.matches('[,"\\\\]')"#)
            .message("ownerID must be the --txt-owner-id of the member's ExternalDNS: write printable ASCII without commas, quotes and backslashes, which its ownership TXT cannot hold")
    )]
    pub owner_id: String,

    /// The DNSZones it serves, by name of the object; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), transform = rules::items_are_objects)]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub zones: Option<Vec<String>>,

    /// Where its DNSEndpoints are written: a namespace of Truce's own in the member.
    #[serde(default = "default_namespace")]
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rules::label())]
    pub namespace: String,

    /// Labels put on its DNSEndpoints, for its --label-filter. The label dns.truce.dev/owner-id is always there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = rules::map_of_labels)]
    pub labels: BTreeMap<String, String>,

    /// Its --txt-prefix.
    #[serde(default)]
    #[schemars(length(max = 63))]
    #[x_kube(validation = affix())]
    pub txt_prefix: String,

    /// Its --txt-suffix.
    #[serde(default)]
    #[schemars(length(max = 63))]
    #[x_kube(validation = affix())]
    pub txt_suffix: String,

    /// Its --txt-wildcard-replacement.
    #[serde(default)]
    #[schemars(length(max = 63))]
    #[x_kube(
        validation = Rule::new("self.matches('^[A-Za-z0-9_-]*$')")
            .message("write the --txt-wildcard-replacement of the member's ExternalDNS: letters, digits, hyphens and underscores, such as any")
    )]
    pub txt_wildcard_replacement: String,

    /// Its version, such as 0.22.0. If absent, the newest that Truce knows is assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32))]
    #[x_kube(
        validation = Rule::new("self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?([+-][0-9A-Za-z.+-]+)?$')")
            .message("write the version of the member's ExternalDNS, such as 0.22.0")
    )]
    pub version: Option<String>,

    /// Its --policy.
    #[serde(default)]
    pub policy: ExternalDNSPolicy,

    /// Its --interval.
    #[serde(default = "default_interval")]
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(validation = rules::interval())]
    pub interval: String,

    /// The larger of its --txt-cache-interval and --provider-cache-time.
    #[serde(default = "default_record_cache")]
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(validation = rules::cache_time())]
    pub record_cache: String,
}

fn affix() -> kube_core::Rule {
    kube_core::Rule::new("self.matches('^([A-Za-z0-9_.-]|%[{]record_type[}])*$')").message(
        "write the affix as given to the member's ExternalDNS: letters, digits, hyphens, underscores, dots and %{record_type}",
    )
}

fn default_namespace() -> String {
    "truce-system".to_owned()
}

fn default_interval() -> String {
    "1m".to_owned()
}

fn default_record_cache() -> String {
    "0s".to_owned()
}

/// The --policy of an ExternalDNS that Truce can work with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExternalDNSPolicy {
    /// It deletes what it owns and is no longer told to publish.
    #[default]
    Sync,
    /// It never deletes.
    UpsertOnly,
}

/// What is known about one cluster. Written as a JSON merge patch, so an absent field is an explicit null.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct MemberClusterStatus {
    /// The generation that this status speaks of.
    pub observed_generation: Option<i64>,

    /// Its Kubernetes version.
    #[schemars(length(max = 64))]
    pub server_version: Option<String>,

    /// The UID of its kube-system namespace: another one is another cluster.
    #[serde(rename = "clusterUID")]
    #[schemars(length(max = 64))]
    pub cluster_uid: Option<String>,

    /// The Route 53 region it counts as, where that is not spec.region.
    #[schemars(length(max = 64))]
    pub latency_region: Option<String>,

    /// When it was last reached; only while it is not reachable.
    pub last_seen: Option<Time>,

    /// Hostnames that select it.
    pub hostnames: Option<i32>,

    /// Of those, the ones from which it is drained.
    pub drained: Option<i32>,

    /// When a drain under way will be safe everywhere.
    pub safe_at: Option<Time>,

    /// Reachable, ExternalDNSReady, Drained, Ready.
    #[serde(default)]
    #[schemars(length(max = 16), transform = crate::no_default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
