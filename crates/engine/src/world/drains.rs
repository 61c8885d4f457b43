//! Facts about ClusterDrains.

use serde::{Deserialize, Serialize};
use truce_api::ClusterDrainStatus;

use crate::time::Wall;
use crate::value::ids::ClusterName;

/// One ClusterDrain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drain {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.creationTimestamp`.
    pub created: Wall,
    /// `spec.cluster`; `None` if it is no cluster name.
    pub cluster: Option<ClusterName>,
    /// `spec.reason`.
    pub reason: String,
    /// `spec.expiresAt`: from then on it does not count.
    pub expires_at: Option<Wall>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// The status as the API server has it.
    pub status: ClusterDrainStatus,
}
