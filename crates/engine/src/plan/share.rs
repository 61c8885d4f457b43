//! What part of the answers a cluster has, by the zone as it is.
//!
//! Invariant: read from record sets alone. Deliberately absent: health, which only Route 53 knows.

use crate::rule::last_serving::published_address;
use crate::value::ids::{ClusterName, HubId};
use crate::value::record::{FailoverRole, RecordSet, RecordType, Routing};
use crate::value::shared_name::SharedName;

/// A cluster's sets in the zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Its weight, if it stands in a weighted group.
    pub weight: Option<u8>,
    /// Its percentage of the answers of its group (inside its region under latency).
    pub percent: u8,
    /// Whether it can be in an answer: not weight 0.
    pub answers: bool,
    /// What it answers with.
    pub addresses: Vec<String>,
}

/// The share of a cluster; `None`: it has no set. A and AAAA have the same weights, so the first family tells.
pub fn of(published: &[RecordSet], shared: &SharedName, hub: &HubId, cluster: &ClusterName) -> Option<Share> {
    let is_own = |set: &&RecordSet| own(set, hub, cluster);
    let set = published.iter().find(is_own)?;
    let group = |other: &&RecordSet| other.name == set.name && other.record_type == set.record_type;
    let weight = |routing: &Routing| match routing {
        Routing::Weighted { weight, .. } => Some(*weight),
        _ => None,
    };
    let own_weight = weight(&set.routing);
    let total: u32 = published
        .iter()
        .filter(group)
        .filter_map(|s| weight(&s.routing))
        .map(u32::from)
        .sum();
    let percent = match (&set.routing, own_weight) {
        (
            Routing::Failover {
                role: FailoverRole::Secondary,
                ..
            },
            _,
        ) => 0,
        (_, Some(own)) => (u32::from(own) * 100 + total / 2).checked_div(total).unwrap_or(100),
        _ => 100,
    };
    let address = published_address(published, shared, hub, cluster);
    Some(Share {
        weight: own_weight,
        percent: u8::try_from(percent.min(100)).unwrap_or(100),
        answers: own_weight != Some(0),
        addresses: address.map(|address| address.display()).unwrap_or_default(),
    })
}

/// Whether a set answers for this cluster under the shared name: by its identifier, or as the only simple one.
fn own(set: &RecordSet, hub: &HubId, cluster: &ClusterName) -> bool {
    let answers = matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname);
    answers && set.routing.id().and_then(|id| id.cluster(hub)).as_ref() == Some(cluster)
}
