//! The sets of a shared name under failover routing: two roles, each a cluster or a group.
//!
//! Invariant: PRIMARY stands whenever anybody serves; it is an alias, since Route 53 refuses a non-alias PRIMARY without
//! a health check; at most three alias levels (failover, latency, load balancer).

use std::collections::BTreeMap;

use truce_api::Reason;

use super::family::{Family, Member};
use super::policy::{self, GroupPolicy, Layout, list};
use super::shared::SharedInput;
use super::{latency, latency_weighted, weighted};
use crate::reason::Problem;
use crate::value::address::Address;
use crate::value::ids::ClusterName;
use crate::value::record::{FailoverRole, RecordSet, Routing};
use crate::value::region::Region;
use crate::value::shared_name::Group;

/// The sets of both roles. If PRIMARY has nobody who serves, SECONDARY stands as PRIMARY under its own group's name.
pub fn sets(family: &Family<'_>) -> Result<Vec<RecordSet>, Problem> {
    let of = |role| family.members.iter().filter(|m| m.role == role).collect::<Vec<_>>();
    let mut standing = [FailoverRole::Primary, FailoverRole::Secondary]
        .map(|role| (role, of(role)))
        .into_iter()
        .filter(|(_, members)| members.iter().any(|m| m.serves()));
    let mut all = Vec::new();
    for stands_as in [FailoverRole::Primary, FailoverRole::Secondary] {
        if let Some((role, members)) = standing.next() {
            all.extend(role_sets(family, role, stands_as, &members)?);
        }
    }
    Ok(all)
}

/// One role: its only cluster directly, or an alias to its group.
fn role_sets(
    family: &Family<'_>,
    role: FailoverRole,
    stands_as: FailoverRole,
    members: &[&Member],
) -> Result<Vec<RecordSet>, Problem> {
    let at = family.input.shared.name();
    let regions = role_regions(family.input, role);
    let direct = |member: &Member| family.is_alias(member) || stands_as == FailoverRole::Secondary;
    let serving: Vec<&Member> = members.iter().copied().filter(|member| member.serves()).collect();
    if let [member] = serving.as_slice()
        && regions.len() <= 1
        && direct(member)
    {
        let id = family.cluster_id(&member.cluster);
        return Ok(vec![family.cluster_set(
            at,
            member,
            Routing::Failover { id, role: stands_as },
        )?]);
    }
    let group = role_group(role);
    let name = family.group_name(&group)?;
    let mut all = match role_layout(family.input, role, &regions).policy {
        GroupPolicy::Latency => latency::sets(family, &name, members.iter().copied())?,
        GroupPolicy::Weighted => weighted::sets(family, &name, members)?,
        GroupPolicy::LatencyWeighted => {
            latency_weighted::sets(family, &name, members, |region| role_region_group(role, region))?
        }
    };
    let id = family.group_id(&group);
    all.push(family.group_alias(at, &group, Routing::Failover { id, role: stands_as })?);
    Ok(all)
}

/// The regions of the selected clusters of a role.
pub fn role_regions<'a>(input: &'a SharedInput<'_>, role: FailoverRole) -> BTreeMap<&'a ClusterName, Region> {
    let selected = input.clusters.iter().filter(|(_, cluster)| cluster.selected);
    selected
        .filter(|(name, cluster)| policy::role(input.spec, name, cluster.standby) == role)
        .map(|(name, cluster)| (name, cluster.region))
        .collect()
}

/// How the clusters of a role are laid out; what stands in its group now decides where a weight of 0 must not.
pub fn role_layout(input: &SharedInput<'_>, role: FailoverRole, regions: &BTreeMap<&ClusterName, Region>) -> Layout {
    let now = input
        .shared
        .group(&role_group(role))
        .ok()
        .and_then(|name| policy::standing(input, &name));
    policy::layout(regions, &input.spec.weights, now)
}

/// A primary that never fails over although there is a secondary: each of these clusters keeps the PRIMARY healthy,
/// since a group is healthy while one of its sets is, and a set without a check always is.
pub fn inert(input: &SharedInput<'_>) -> Option<Problem> {
    let can_turn_unhealthy =
        |address: &Address| matches!(address, Address::Alias { .. }) && input.spec.evaluate_target_health;
    let secondary = role_regions(input, FailoverRole::Secondary);
    let primary = role_regions(input, FailoverRole::Primary);
    let steady: Vec<&ClusterName> = primary
        .into_keys()
        .filter(|name| {
            let cluster = input.clusters.get(*name);
            cluster.is_some_and(|c| c.draining.is_none() && c.address.as_ref().is_some_and(|a| !can_turn_unhealthy(a)))
        })
        .collect();
    if secondary.is_empty() || steady.is_empty() {
        return None;
    }
    let names = list(steady);
    let message = if input.spec.evaluate_target_health {
        format!(
            "PRIMARY never turns unhealthy, because {names} has no AWS load balancer that Route 53 could ask; give it one, \
             or fail over by draining it"
        )
    } else {
        format!(
            "PRIMARY ({names}) never turns unhealthy, because routing.evaluateTargetHealth is false; set it to true, or \
             fail over by draining"
        )
    };
    Some(Problem::new(Reason::FailoverInert, message))
}

fn role_group(role: FailoverRole) -> Group {
    match role {
        FailoverRole::Primary => Group::Primary,
        FailoverRole::Secondary => Group::Secondary,
    }
}

fn role_region_group(role: FailoverRole, region: Region) -> Group {
    match role {
        FailoverRole::Primary => Group::PrimaryRegion(region),
        FailoverRole::Secondary => Group::SecondaryRegion(region),
    }
}
