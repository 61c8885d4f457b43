//! Writes a status: a JSON merge patch on the status subresource.
//!
//! Invariant: the status is sent exactly as given, so that an absent top-level field is an explicit null and lists are
//! replaced whole. An object that is gone needs no status. Deliberately absent: whether anything changed, which the
//! engine knows.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use truce_api::{ClusterDrain, DNSZone, GlobalHostname, MemberCluster};
use truce_engine::effect::Status;
use truce_engine::event::Failure;

use super::class::{self, Call, Server};

/// Writes one.
///
/// # Errors
/// What the API server refused.
pub async fn write(hub: &Client, status: &Status) -> Result<(), Failure> {
    match status {
        Status::GlobalHostname {
            namespace,
            name,
            status,
        } => patch(&namespaced::<GlobalHostname>(hub, namespace), name, status).await,
        Status::MemberCluster { name, status } => patch(&Api::<MemberCluster>::all(hub.clone()), name, status).await,
        Status::ClusterDrain { name, status } => patch(&Api::<ClusterDrain>::all(hub.clone()), name, status).await,
        Status::DnsZone { name, status } => patch(&Api::<DNSZone>::all(hub.clone()), name, status).await,
    }
}

fn namespaced<K>(hub: &Client, namespace: &str) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(hub.clone(), namespace)
}

async fn patch<K>(api: &Api<K>, name: &str, status: &impl Serialize) -> Result<(), Failure>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let patch = Patch::Merge(json!({"status": status}));
    let params = PatchParams {
        field_manager: Some("truce".to_owned()),
        ..PatchParams::default()
    };
    match api.patch_status(name, &params, &patch).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(answer)) if answer.is_not_found() => Ok(()),
        // The write took effect; only the answer does not fit this version's types.
        Err(kube::Error::SerdeError(_)) => Ok(()),
        Err(error) => Err(class::kubernetes(&error, Server::Hub, Call::Write)),
    }
}
