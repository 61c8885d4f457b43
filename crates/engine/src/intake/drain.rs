//! ClusterDrain to checked input.
//!
//! Invariant: total. Deliberately absent: whether it still counts (`rule/weight.rs`).

use truce_api::ClusterDrain;

use super::created;
use crate::value::ids::ClusterName;
use crate::world::drains::Drain;

/// What the engine keeps of a ClusterDrain.
pub fn drain(object: &ClusterDrain) -> Drain {
    let (meta, spec) = (&object.metadata, &object.spec);
    Drain {
        uid: meta.uid.clone().unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        created: created(meta),
        cluster: ClusterName::parse(&spec.cluster).ok(),
        reason: spec.reason.clone(),
        expires_at: spec.expires_at.as_ref().map(|time| time.0),
        deleting: meta.deletion_timestamp.is_some(),
        status: object.status.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_drain_keeps_cluster_reason_and_end() {
        let object: ClusterDrain = serde_json::from_value(json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "ClusterDrain",
            "metadata": {"name": "upgrade", "uid": "u1", "generation": 2, "creationTimestamp": "2026-11-30T10:00:00Z"},
            "spec": {"cluster": "east", "reason": "CHG-123", "expiresAt": "2026-12-01T06:00:00Z"},
        }))
        .unwrap();
        let read = drain(&object);
        assert_eq!(read.cluster, Some(ClusterName::parse("east").unwrap()));
        assert_eq!(read.reason, "CHG-123");
        assert_eq!(read.expires_at, Some("2026-12-01T06:00:00Z".parse().unwrap()));
        assert_eq!(read.created, "2026-11-30T10:00:00Z".parse().unwrap());
        assert!(!read.deleting);
        let mut bad = object;
        bad.spec.cluster = "East!".to_owned();
        assert_eq!(drain(&bad).cluster, None);
    }
}
