//! DNSEndpoint: the object by which ExternalDNS is told what to publish (foreign, externaldns.k8s.io/v1alpha1).
//!
//! Invariant: only the fields that Truce writes or reads; an absent field is left out, as ExternalDNS does.
//! Deliberately absent: its schema, which ships with ExternalDNS.

use std::collections::BTreeMap;

use kube_derive::CustomResource;
use serde::{Deserialize, Serialize};

/// What is to be published.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    crates(kube_core = "::kube_core"),
    group = "externaldns.k8s.io",
    version = "v1alpha1",
    kind = "DNSEndpoint",
    plural = "dnsendpoints",
    namespaced,
    status = "DNSEndpointStatus",
    derive = "PartialEq",
    schema = "disabled"
)]
#[serde(rename_all = "camelCase")]
pub struct DNSEndpointSpec {
    /// The records. Always written, because emptying the list is a step of a release.
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
}

/// One record set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// The record's name, without a trailing dot.
    #[serde(default)]
    pub dns_name: String,

    /// The record's type in upper case: A, AAAA, CNAME.
    #[serde(default)]
    pub record_type: String,

    /// IP addresses, or one name.
    #[serde(default)]
    pub targets: Vec<String>,

    /// Seconds; absent for aliases.
    #[serde(rename = "recordTTL", default, skip_serializing_if = "Option::is_none")]
    pub record_ttl: Option<i64>,

    /// Tells sets of one name and type apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_identifier: Option<String>,

    /// Reach the ownership TXT.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,

    /// Settings of the provider, such as alias=true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_specific: Vec<ProviderSpecific>,
}

/// A setting of the provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProviderSpecific {
    /// Its name.
    pub name: String,
    /// Its value.
    #[serde(default)]
    pub value: String,
}

/// What ExternalDNS has read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DNSEndpointStatus {
    /// The generation that some ExternalDNS last read; says nothing about the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
