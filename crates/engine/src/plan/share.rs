//! What part of the answers a cluster has, by the zone as it is.
//!
//! Invariant: read from record sets alone. Deliberately absent: health, which only Route 53 knows.

use crate::rule::last_serving::{published_address, published_simple};
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

/// Whether a cluster can be in an answer; `None`: it has no set with its identifier.
pub fn answers(published: &[RecordSet], hub: &HubId, cluster: &ClusterName) -> Option<bool> {
    main_set(published, hub, cluster).map(|set| weight(&set.routing) != Some(0))
}

/// A cluster's set with the greatest weight.
fn main_set<'a>(published: &'a [RecordSet], hub: &HubId, cluster: &ClusterName) -> Option<&'a RecordSet> {
    let own_sets = published.iter().filter(|set| own(set, hub, cluster));
    own_sets.max_by_key(|set| weight(&set.routing).unwrap_or(u8::MAX))
}

/// The share of a cluster; `None`: it has no set with its identifier. Families may differ, when one is kept because
/// nobody else serves it: then the one with the greater weight tells.
pub fn of(published: &[RecordSet], shared: &SharedName, hub: &HubId, cluster: &ClusterName) -> Option<Share> {
    let set = main_set(published, hub, cluster)?;
    let group = |other: &&RecordSet| other.name == set.name && other.record_type == set.record_type;
    let own_weight = weight(&set.routing);
    let total = || -> u32 {
        let weights = published
            .iter()
            .filter(group)
            .filter_map(|other| weight(&other.routing));
        weights.map(u32::from).sum()
    };
    let percent = match (&set.routing, own_weight) {
        (
            Routing::Failover {
                role: FailoverRole::Secondary,
                ..
            },
            _,
        ) => 0,
        (_, Some(own)) => {
            let total = total();
            (u32::from(own) * 100 + total / 2).checked_div(total).unwrap_or(100)
        }
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

/// The share of the only cluster under simple routing, whose sets carry no identifier.
pub fn of_simple(published: &[RecordSet], shared: &SharedName) -> Option<Share> {
    published_simple(published, shared).map(|address| Share {
        weight: None,
        percent: 100,
        answers: true,
        addresses: address.display(),
    })
}

fn weight(routing: &Routing) -> Option<u8> {
    match routing {
        Routing::Weighted { weight, .. } => Some(*weight),
        Routing::Simple | Routing::Latency { .. } | Routing::Failover { .. } | Routing::Foreign { .. } => None,
    }
}

/// Whether a set answers for this cluster under the shared name: by its identifier, or as the only simple one.
fn own(set: &RecordSet, hub: &HubId, cluster: &ClusterName) -> bool {
    let answers = matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname);
    answers && set.routing.id().is_some_and(|id| id.is_of(hub, cluster))
}
