//! The sets of a shared name under simple routing: one cluster, no set identifier.

use super::family::Family;
use crate::reason::Problem;
use crate::value::record::{RecordSet, Routing};

/// The set of the one cluster that serves.
pub fn sets(family: &Family<'_>) -> Result<Vec<RecordSet>, Problem> {
    let at = family.input.shared.name();
    family
        .members
        .iter()
        .find(|member| member.serves())
        .map(|member| family.cluster_set(at, member, Routing::Simple))
        .into_iter()
        .collect()
}
