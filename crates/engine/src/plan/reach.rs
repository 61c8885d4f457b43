//! How far a plan may go: whole, nothing new, or drains only.
//!
//! Invariant: whatever is refused or paused, a drain that a person asked for is done, and what the zone has stays as it
//! is otherwise (DESIGN.md, section 6; `dns.truce.dev/paused`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::rule::last_serving::published_address;
use crate::rule::shared::ClusterInput;
use crate::value::ids::{ClusterName, HubId};
use crate::value::record::RecordSet;
use crate::value::shared_name::SharedName;
use crate::world::hostnames::{HostnameSpec, Policy};

use super::share;

/// How far a plan may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// As the rules say.
    Whole,
    /// Clusters that the zone has are drained and follow their addresses; no other is added, the policy stays.
    NothingNew,
    /// Clusters that the zone has are drained; everything else stays as it is there.
    DrainsOnly,
}

/// What the zone has of a hostname.
#[derive(Debug, Clone, Copy)]
pub struct InZone<'a> {
    /// The own hub.
    pub hub: &'a HubId,
    /// The shared name.
    pub shared: &'a SharedName,
    /// Its sets.
    pub published: &'a [RecordSet],
}

impl Reach {
    /// The clusters as far as they may be planned.
    pub fn clusters(
        self,
        mut inputs: BTreeMap<ClusterName, ClusterInput>,
        zone: InZone<'_>,
    ) -> BTreeMap<ClusterName, ClusterInput> {
        if self == Self::Whole {
            return inputs;
        }
        for (name, input) in &mut inputs {
            let Some(address) = published_address(zone.published, zone.shared, zone.hub, name) else {
                input.selected = false;
                input.address = None;
                continue;
            };
            if self == Self::DrainsOnly && input.draining.is_none() {
                let share = share::of(zone.published, zone.shared, zone.hub, name);
                input.weight = share.and_then(|share| share.weight).unwrap_or(input.weight).max(1);
                input.selected = true;
                input.address = Some(address);
            }
        }
        inputs
    }

    /// The spec as far as it counts.
    pub fn spec(self, spec: &Arc<HostnameSpec>, in_force: Option<Policy>) -> Arc<HostnameSpec> {
        match (self, in_force) {
            (Self::Whole, _) | (_, None) => spec.clone(),
            (Self::NothingNew | Self::DrainsOnly, Some(policy)) => Arc::new(HostnameSpec {
                policy: Some(policy),
                ..spec.as_ref().clone()
            }),
        }
    }
}
