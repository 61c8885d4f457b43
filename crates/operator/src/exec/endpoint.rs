//! Writes and deletes DNSEndpoints in members.
//!
//! Invariant: written by server-side apply with the field manager `truce/<hub id>`, forced: the object is the hub's, and
//! what others put beside it stays. Deleted only under the UID that was seen.

use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::ObjectMeta;
use truce_api::{DNSEndpoint, DNSEndpointSpec, FINALIZER, ProviderSpecific, Reason};
use truce_engine::effect::EndpointApply;
use truce_engine::event::{Class, Endpoint, Failure};
use truce_engine::value::ids::HubId;

use super::class::{self, Call, Server};

/// Applies one.
///
/// # Errors
/// What the member's API server refused; `CRDMissing` if it does not know DNSEndpoints.
pub async fn apply(member: Client, hub: &HubId, apply: EndpointApply) -> Result<(), Failure> {
    let api: Api<DNSEndpoint> = Api::namespaced(member, &apply.namespace);
    let name = apply.name.clone();
    let params = PatchParams::apply(&format!("truce/{hub}")).force();
    match api.patch(&name, &params, &Patch::Apply(&object(apply))).await {
        Ok(_) => Ok(()),
        Err(error) => Err(explained(&error)),
    }
}

/// Deletes one if it still is the one that was seen.
///
/// # Errors
/// What the member's API server refused.
pub async fn delete(member: Client, namespace: &str, name: &str, uid: String) -> Result<(), Failure> {
    let api: Api<DNSEndpoint> = Api::namespaced(member, namespace);
    let params = DeleteParams::default().preconditions(Preconditions {
        uid: Some(uid),
        resource_version: None,
    });
    match api.delete(name, &params).await {
        Ok(_) => Ok(()),
        // Gone, or another object stands under the name by now: the one that was meant does not exist any more.
        Err(kube::Error::Api(answer)) if answer.is_not_found() || answer.is_conflict() => Ok(()),
        Err(error) => Err(class::kubernetes(&error, Server::Member, Call::Write)),
    }
}

/// Takes Truce's finalizer off one that is being deleted, if it still is the one that was seen.
///
/// # Errors
/// What the member's API server refused.
pub async fn drop_finalizer(member: Client, namespace: &str, name: &str, uid: &str) -> Result<(), Failure> {
    let api: Api<DNSEndpoint> = Api::namespaced(member, namespace);
    let failed = |error: kube::Error| class::kubernetes(&error, Server::Member, Call::Write);
    let Some(object) = api.get_opt(name).await.map_err(failed)? else {
        return Ok(());
    };
    let finalizers = object.metadata.finalizers.unwrap_or_default();
    let at = finalizers.iter().position(|finalizer| finalizer == FINALIZER);
    let (Some(at), true) = (at, object.metadata.uid.as_deref() == Some(uid)) else {
        return Ok(());
    };
    // The tests make this fail if the list changed in between; it is asked again then.
    let path = format!("/metadata/finalizers/{at}");
    let patch = serde_json::json!([
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "test", "path": path, "value": FINALIZER},
        {"op": "remove", "path": path},
    ]);
    let patch = serde_json::from_value(patch).map_err(|error| failed(kube::Error::SerdeError(error)))?;
    match api
        .patch(name, &PatchParams::default(), &Patch::<()>::Json(patch))
        .await
    {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(answer)) if answer.is_not_found() => Ok(()),
        // So an API server answers when a test of a JSON patch fails.
        Err(kube::Error::Api(answer)) if answer.is_invalid() => {
            Err(class::failure(Class::Conflict, "Conflict", &answer.message))
        }
        Err(error) => Err(failed(error)),
    }
}

fn object(apply: EndpointApply) -> DNSEndpoint {
    let EndpointApply {
        namespace,
        name,
        labels,
        annotations,
        finalizer,
        endpoints,
    } = apply;
    DNSEndpoint {
        metadata: ObjectMeta {
            namespace: Some(namespace),
            name: Some(name),
            labels: Some(labels),
            annotations: Some(annotations).filter(|all| !all.is_empty()),
            finalizers: finalizer.then(|| vec![FINALIZER.to_owned()]),
            ..ObjectMeta::default()
        },
        spec: DNSEndpointSpec {
            endpoints: endpoints.into_iter().map(endpoint).collect(),
        },
        status: None,
    }
}

fn endpoint(endpoint: Endpoint) -> truce_api::Endpoint {
    let Endpoint {
        dns_name,
        record_type,
        targets,
        record_ttl,
        provider_specific,
    } = endpoint;
    truce_api::Endpoint {
        dns_name,
        record_type,
        targets,
        record_ttl,
        provider_specific: provider_specific
            .into_iter()
            .map(|(name, value)| ProviderSpecific { name, value })
            .collect(),
        ..truce_api::Endpoint::default()
    }
}

/// A 404 for an apply is never about the object, which it would make.
fn explained(error: &kube::Error) -> Failure {
    let failure = class::kubernetes(error, Server::Member, Call::Write);
    let kube::Error::Api(status) = error else {
        return failure;
    };
    if status.code != 404 {
        return failure;
    }
    if status.details.as_ref().is_some_and(|about| about.kind == "namespaces") {
        let message = format!("{}; create the namespace in the member", failure.message);
        return class::failure(failure.class, "NamespaceMissing", message);
    }
    crd_missing()
}

/// What a member says that has no DNSEndpoints, in words that help.
#[must_use]
pub fn crd_missing() -> Failure {
    class::failure(
        Class::Permanent,
        Reason::CRDMissing.as_str(),
        "the member does not know DNSEndpoints (externaldns.k8s.io/v1alpha1); install the CRD that ships with ExternalDNS",
    )
}
