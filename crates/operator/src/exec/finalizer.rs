//! Sets or clears Truce's finalizer on an object of the hub.
//!
//! Invariant: other finalizers stay. The list is read and written back under its resourceVersion, so that a change in
//! between is a conflict, never lost. An object that is gone needs none.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::json;
use truce_api::{ClusterDrain, DNSZone, FINALIZER, GlobalHostname, MemberCluster};
use truce_engine::event::{Class, Failure, HubRef};

use super::class::{self, Call, Server, failure};

/// How often the list is read again after somebody else changed the object in between.
const TRIES: usize = 3;

/// Adds or removes it.
///
/// # Errors
/// What the API server refused; `Conflict` if the object changes all the time.
pub async fn set(hub: &Client, object: &HubRef, present: bool) -> Result<(), Failure> {
    match object {
        HubRef::GlobalHostname { namespace, name } => {
            settle(&namespaced::<GlobalHostname>(hub, namespace), name, present).await
        }
        HubRef::MemberCluster { name } => settle(&Api::<MemberCluster>::all(hub.clone()), name, present).await,
        HubRef::ClusterDrain { name } => settle(&Api::<ClusterDrain>::all(hub.clone()), name, present).await,
        HubRef::DnsZone { name } => settle(&Api::<DNSZone>::all(hub.clone()), name, present).await,
        HubRef::Namespace { name } => Err(failure(
            Class::Permanent,
            "Invalid",
            format!("the namespace {name} is not Truce's; it gets no finalizer"),
        )),
    }
}

fn namespaced<K>(hub: &Client, namespace: &str) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(hub.clone(), namespace)
}

async fn settle<K>(api: &Api<K>, name: &str, present: bool) -> Result<(), Failure>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let mut last = None;
    for _ in 0..TRIES {
        match once(api, name, present).await {
            Ok(()) => return Ok(()),
            Err(failure) if failure.class == Class::Conflict => last = Some(failure),
            Err(failure) => return Err(failure),
        }
    }
    last.map_or(Ok(()), Err)
}

async fn once<K>(api: &Api<K>, name: &str, present: bool) -> Result<(), Failure>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let read = api.get_metadata_opt(name).await;
    let Some(object) = read.map_err(|error| class::kubernetes(&error, Server::Hub, Call::Read))? else {
        return Ok(());
    };
    let mut finalizers = object.metadata.finalizers.unwrap_or_default();
    if finalizers.iter().any(|have| have == FINALIZER) == present {
        return Ok(());
    }
    if present {
        finalizers.push(FINALIZER.to_owned());
    } else {
        finalizers.retain(|have| have != FINALIZER);
    }
    let patch = Patch::Merge(json!({"metadata": {
        "resourceVersion": object.metadata.resource_version,
        "finalizers": finalizers,
    }}));
    match api.patch_metadata(name, &PatchParams::default(), &patch).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(answer)) if answer.is_not_found() => Ok(()),
        Err(error) => Err(class::kubernetes(&error, Server::Hub, Call::Write)),
    }
}
