//! The sets of a shared name under latency between regions, weight inside each.
//!
//! Invariant: an alias stands exactly where its group has a set. A region in which nobody serves has neither.

use std::collections::BTreeMap;

use super::family::{Family, Member};
use super::weighted;
use crate::reason::Problem;
use crate::value::dns_name::RecordName;
use crate::value::record::{RecordSet, Routing};
use crate::value::region::Region;
use crate::value::shared_name::Group;

/// One latency alias at `at` for each region in which somebody serves, to the weighted group that `group` names.
pub fn sets(
    family: &Family<'_>,
    at: &RecordName,
    members: &[&Member],
    group: impl Fn(Region) -> Group,
) -> Result<Vec<RecordSet>, Problem> {
    let mut regions: BTreeMap<Region, Vec<&Member>> = BTreeMap::new();
    for member in members {
        regions.entry(member.region).or_default().push(member);
    }
    let mut all = Vec::new();
    for (region, members) in regions {
        let group = group(region);
        let inside = weighted::sets(family, &family.group_name(&group)?, &members)?;
        if inside.is_empty() {
            continue;
        }
        let routing = Routing::Latency {
            id: family.group_id(&group),
            region,
        };
        all.push(family.group_alias(at, &group, routing)?);
        all.extend(inside);
    }
    Ok(all)
}
