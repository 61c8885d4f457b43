//! The sets of a shared name under latency routing: one a region (Route 53 refuses a second).
//!
//! A drained cluster is withdrawn at once: latency routing has no weight to lower (DESIGN.md, section 5).

use super::family::{Family, Member};
use crate::reason::Problem;
use crate::value::dns_name::RecordName;
use crate::value::record::{RecordSet, Routing};

/// One set for each member that serves; their regions are distinct.
pub fn sets<'m>(
    family: &Family<'_>,
    at: &RecordName,
    members: impl IntoIterator<Item = &'m Member>,
) -> Result<Vec<RecordSet>, Problem> {
    members
        .into_iter()
        .filter(|member| member.serves())
        .map(|member| {
            let routing = Routing::Latency {
                id: family.cluster_id(&member.cluster),
                region: member.region,
            };
            family.cluster_set(at, member, routing)
        })
        .collect()
}
