//! The Kubernetes types of Truce.
pub mod condition;
pub use condition::Reason;
use serde::{Deserialize, Serialize};
macro_rules! stub { ($($n:ident)*) => { $(
    /// To come.
    #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
    pub struct $n {}
)* } }
stub! { ClusterDrain DNSZone GlobalHostname MemberCluster ClusterDrainStatus DNSZoneStatus GlobalHostnameStatus MemberClusterStatus }
