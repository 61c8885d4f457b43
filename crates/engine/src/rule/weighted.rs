//! The sets of a shared name, or of a group, under weighted routing.
//!
//! Invariant: never only zero weights, which Route 53 would answer in equal shares: a group in which nobody serves is
//! empty (API reference, ResourceRecordSet.Weight).

use super::family::{Family, Member};
use crate::reason::Problem;
use crate::value::dns_name::RecordName;
use crate::value::record::{RecordSet, Routing};

/// One set for each member, drained ones with weight 0; none if nobody serves.
pub fn sets(family: &Family<'_>, at: &RecordName, members: &[&Member]) -> Result<Vec<RecordSet>, Problem> {
    if !members.iter().any(|member| member.serves()) {
        return Ok(Vec::new());
    }
    members
        .iter()
        .map(|member| {
            let routing = Routing::Weighted {
                id: family.cluster_id(&member.cluster),
                weight: member.weight,
            };
            family.cluster_set(at, member, routing)
        })
        .collect()
}
