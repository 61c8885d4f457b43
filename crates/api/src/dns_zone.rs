//! DNSZone: a Route 53 hosted zone that hostnames may be published in, and who may.
//!
//! Invariant: domain and hosted zone id never change, because ownership is proven by what stands in the zone.
//! Deliberately absent: credentials; and claims that need other objects to judge.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use kube_derive::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules;

/// What a user declares about one hosted zone.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    crates(kube_core = "::kube_core"),
    group = "dns.truce.dev",
    version = "v1alpha1",
    kind = "DNSZone",
    plural = "dnszones",
    status = "DNSZoneStatus",
    derive = "PartialEq",
    shortname = "dz",
    category = "truce",
    doc = "DNSZone is a Route 53 hosted zone that hostnames may be published in, and who may.",
    printcolumn(name = "Domain", type_ = "string", json_path = ".spec.domain"),
    printcolumn(name = "ZoneID", type_ = "string", json_path = ".spec.hostedZoneID"),
    printcolumn(
        name = "Accessible",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Accessible")].status"#
    ),
    printcolumn(
        name = "Owned",
        type_ = "integer",
        json_path = ".status.owned",
        description = "record sets that Truce owns"
    ),
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
pub struct DNSZoneSpec {
    /// The zone's own name. Any case and a trailing dot are the same name. It cannot be changed.
    #[schemars(length(min = 1, max = 254))]
    #[x_kube(
        validation = rules::name_characters(),
        validation = rules::name_lengths(),
        validation = rules::no_wildcard(),
        validation = rules::immutable_name("domain cannot be changed: create another DNSZone for the other domain")
    )]
    pub domain: String,

    /// The hosted zone's id, without /hostedzone/. It cannot be changed.
    #[serde(rename = "hostedZoneID")]
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(
        validation = Rule::new("self.matches('^Z[A-Z0-9]{1,31}$')")
            .message("not a hosted zone id: write Z and up to 31 of A-Z and 0-9, as in Z0123456789ABCDEFGHIJ, without /hostedzone/"),
        validation = rules::immutable("hostedZoneID cannot be changed: create another DNSZone for the other hosted zone")
    )]
    pub hosted_zone_id: String,

    /// The AWS account of the hosted zone, checked before the first use.
    #[serde(rename = "accountID")]
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(
        validation = Rule::new("self.matches('^[0-9]{12}$')")
            .message("not an AWS account id: write its 12 digits in quotes, as in \"111111111111\"")
    )]
    pub account_id: String,

    /// Who may declare which names. Without it nobody but the operator's own namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub claims: Vec<Claim>,

    /// Budgets and sizes. Rates count per AWS account: the smallest of its zones.
    #[serde(default)]
    pub limits: Limits,

    /// Names that nobody may declare; wins over claims. `*.` covers any number of labels below and the wildcard itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), transform = rules::items_are_names)]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub protected: Vec<String>,

    /// When withdrawals are held until a person confirms them.
    #[serde(default)]
    pub guard: Guard,
}

/// Who may declare which names.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = Rule::new("has(self.namespaces) != has(self.namespaceSelector)")
        .message("write exactly one of namespaces: [shop] and namespaceSelector: {matchLabels: {team: shop}}")
)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Namespaces of the GlobalHostnames. Either this or namespaceSelector.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), transform = rules::items_are_namespaces)]
    pub namespaces: Option<Vec<String>>,

    /// Selects those namespaces by their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "rules::selector")]
    pub namespace_selector: Option<LabelSelector>,

    /// The names they may declare. `*.` covers any number of labels below and the wildcard itself.
    #[schemars(length(min = 1, max = 64), transform = rules::items_are_names)]
    pub hostnames: Vec<String>,

    /// Namespaces in members that their sources may be in; the GlobalHostname's own only if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), transform = rules::items_are_namespaces)]
    pub source_namespaces: Option<Vec<String>>,
}

/// Budgets and sizes of a zone.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Route 53 requests a second. The account's own limit is 5.
    #[serde(default = "default_requests")]
    #[schemars(range(min = 1, max = 1000))]
    pub requests_per_second: i32,

    /// Record changes a second.
    #[serde(default = "default_changes")]
    #[schemars(range(min = 1, max = 100_000))]
    pub changes_per_second: i32,

    /// Record sets that the zone may hold. A hosted zone's own limit is 10,000 unless AWS raised it.
    #[serde(default = "default_record_sets")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub record_sets: i32,

    /// How often the whole zone is read.
    #[serde(default = "default_audit_interval")]
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(validation = rules::interval())]
    pub audit_interval: String,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: default_requests(),
            changes_per_second: default_changes(),
            record_sets: default_record_sets(),
            audit_interval: default_audit_interval(),
        }
    }
}

fn default_requests() -> i32 {
    5
}

fn default_changes() -> i32 {
    100
}

fn default_record_sets() -> i32 {
    9500
}

fn default_audit_interval() -> String {
    "5m".to_owned()
}

/// When withdrawals that nobody asked for are held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// Part of the zone's live sets that may go within 10 minutes.
    #[serde(default = "default_withdraw")]
    #[schemars(range(min = 0, max = 100))]
    pub max_withdraw_percent: i32,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            max_withdraw_percent: default_withdraw(),
        }
    }
}

fn default_withdraw() -> i32 {
    50
}

/// What is known about one zone. Written as a JSON merge patch, so an absent field is an explicit null.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct DNSZoneStatus {
    /// The generation that this status speaks of.
    pub observed_generation: Option<i64>,

    /// Record sets in the zone.
    pub record_sets: Option<i32>,

    /// Of those, the ones that Truce owns.
    pub owned: Option<i32>,

    /// A withdrawal that waits for a person.
    pub held_plan: Option<HeldPlan>,

    /// What was withdrawn last without anybody having asked for it: counts until then in what may still go.
    pub withdrawn: Option<Withdrawn>,

    /// The `dns.truce.dev/confirm` that let a withdrawal go last; it agrees to nothing more.
    #[schemars(length(max = 64))]
    pub last_confirmed: Option<String>,

    /// The last change of the zone.
    #[serde(rename = "lastChangeID")]
    #[schemars(length(max = 64))]
    pub last_change_id: Option<String>,

    /// Accessible, WithinBudget, Ready.
    #[serde(default)]
    #[schemars(length(max = 16), transform = crate::no_default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// The last withdrawals that nobody asked for, as far as they count together: all within 10 minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Withdrawn {
    /// Record sets that were withdrawn.
    #[schemars(range(min = 0))]
    pub sets: i32,

    /// Live record sets of the zone before the first of them went.
    #[schemars(range(min = 0))]
    pub live: i32,

    /// Until when they count.
    pub until: Time,
}

/// A withdrawal that waits for the annotation dns.truce.dev/confirm with this hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldPlan {
    /// What the annotation must say.
    #[schemars(length(max = 64))]
    pub hash: String,

    /// Since when it waits.
    pub since: Time,

    /// Live record sets that it would withdraw.
    pub withdrawals: i32,

    /// Live record sets of the zone at the start of those minutes.
    pub live: i32,

    /// Some of the names it would touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), transform = rules::items_are_texts)]
    pub hostnames: Vec<String>,
}
