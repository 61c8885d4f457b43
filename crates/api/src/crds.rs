//! The custom resource definitions as they are installed.
//!
//! Invariant: what is printed, what is committed and what tests install is the same text. Deliberately absent:
//! installing them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps, ValidationRule,
};
use kube_core::CustomResourceExt;
use serde_json::json;

use crate::{ClusterDrain, DNSZone, GlobalHostname, MemberCluster};

/// All custom resource definitions of Truce, in the order of their names.
#[must_use]
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut all = vec![
        unseen(ClusterDrain::crd(), "Drained"),
        unseen(DNSZone::crd(), "Ready"),
        unseen(GlobalHostname::crd(), "Ready"),
        named(unseen(MemberCluster::crd(), "Ready")),
    ];
    all.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    all
}

/// Each definition as YAML, with the name of its file.
///
/// # Errors
///
/// If a definition cannot be written as YAML, which the tests rule out.
pub fn crd_files() -> Result<Vec<(String, String)>, serde_saphyr::ser_error::Error> {
    crds()
        .iter()
        .map(|crd| Ok((format!("{}.yaml", crd.spec.names.plural), serde_saphyr::to_string(crd)?)))
        .collect()
}

/// All definitions as one YAML stream, for `kubectl apply -f -`.
///
/// # Errors
///
/// As [`crd_files`].
pub fn crds_yaml() -> Result<String, serde_saphyr::ser_error::Error> {
    Ok(crd_files()?.iter().map(|(_, text)| format!("---\n{text}")).collect())
}

/// Gives objects that nobody has looked at yet a condition that is Unknown, so that no tool takes them for finished
/// (kstatus takes an object without conditions for that).
fn unseen(mut crd: CustomResourceDefinition, condition: &str) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        let Some(root) = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut()) else {
            continue;
        };
        let Some(status) = property(root, "status") else {
            continue;
        };
        status.default = Some(JSON(json!({})));
        let Some(conditions) = property(status, "conditions") else {
            continue;
        };
        conditions.default = Some(JSON(json!([{
            "type": condition,
            "status": "Unknown",
            "reason": "Pending",
            "message": "Truce has not looked at it yet. If this stays, the operator is not running.",
            "lastTransitionTime": "1970-01-01T00:00:00Z",
        }])));
    }
    crd
}

/// Adds the rule on a MemberCluster's own name. It stands here because the derive's rules on the root object reach for
/// the crate `kube`, which this crate does without.
fn named(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        let Some(root) = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut()) else {
            continue;
        };
        root.x_kubernetes_validations = Some(vec![ValidationRule {
            rule: "self.metadata.name.matches('^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$')".to_owned(),
            message: Some(
                "a MemberCluster's name is part of DNS names: write one label of at most 40 characters (a-z, 0-9, inner \
                 hyphens), such as east"
                    .to_owned(),
            ),
            ..ValidationRule::default()
        }]);
    }
    crd
}

fn property<'a>(schema: &'a mut JSONSchemaProps, name: &str) -> Option<&'a mut JSONSchemaProps> {
    schema.properties.as_mut()?.get_mut(name)
}
