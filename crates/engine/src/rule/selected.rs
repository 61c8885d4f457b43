//! Which clusters a hostname selects.
//!
//! Invariant: at most 100; of more, those it holds stay, then the oldest count, so that a new label never pushes out a
//! cluster that serves. A MemberCluster being deleted is selected by nobody. Deliberately absent: whether a member can
//! be reached, or its spec used.

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use crate::reason::Problem;
use crate::value::ids::ClusterName;
use crate::world::hostnames::{CLUSTERS_MAX, Selection};
use crate::world::members::MemberFacts;

/// How many names a message lists.
const NAMED_MAX: usize = 8;

/// The selected clusters, each with a MemberCluster that is to stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// Which.
    pub clusters: BTreeSet<ClusterName>,
    /// `ClusterNotFound`, `TooManyClusters`, `NoClusters`.
    pub problems: Vec<Problem>,
}

/// The clusters that a hostname selects; `held` are those that its zone or its status already has.
pub fn selected<M: AsRef<MemberFacts>>(
    selection: &Selection,
    members: &BTreeMap<ClusterName, M>,
    held: &BTreeSet<ClusterName>,
) -> Selected {
    let mut problems = Vec::new();
    let clusters = match selection {
        Selection::Clusters(listed) => {
            let (there, missing): (Vec<_>, Vec<_>) = listed.keys().partition(|cluster| {
                let member = members.get(*cluster).map(AsRef::as_ref);
                member.is_some_and(|member| !member.deleting)
            });
            problems.extend(
                missing
                    .into_iter()
                    .map(|cluster| not_found(cluster, members.contains_key(cluster))),
            );
            there.into_iter().cloned().collect()
        }
        Selection::Selector(selector) => {
            let matching = members
                .iter()
                .map(|(name, member)| (name, member.as_ref()))
                .filter(|(_, member)| !member.deleting && selector.matches(&member.labels))
                .collect();
            first_hundred(matching, held, &mut problems)
        }
    };
    if clusters.is_empty() {
        let write = match selection {
            Selection::Clusters(_) => "create the MemberCluster of one that clusters lists",
            Selection::Selector(_) => "label a MemberCluster so that clusterSelector matches it",
        };
        let text = format!("no MemberCluster is selected; {write}");
        problems.push(Problem::new(Reason::NoClusters, text));
    }
    Selected { clusters, problems }
}

fn not_found(cluster: &ClusterName, going: bool) -> Problem {
    let text = if going {
        format!("MemberCluster {cluster} is being deleted and does not count; take {cluster} off clusters")
    } else {
        format!("there is no MemberCluster {cluster}; create it, or take {cluster} off clusters")
    };
    Problem::new(Reason::ClusterNotFound, text)
}

fn first_hundred(
    mut matching: Vec<(&ClusterName, &MemberFacts)>,
    held: &BTreeSet<ClusterName>,
    problems: &mut Vec<Problem>,
) -> BTreeSet<ClusterName> {
    matching.sort_by_key(|(name, member)| (!held.contains(*name), member.created, *name));
    let all = matching.len();
    let rest: Vec<_> = matching
        .iter()
        .skip(CLUSTERS_MAX)
        .map(|(name, _)| name.as_str())
        .collect();
    if !rest.is_empty() {
        let named = rest.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = rest.len().saturating_sub(NAMED_MAX);
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        problems.push(Problem::new(
            Reason::TooManyClusters,
            format!(
                "clusterSelector matches {all} clusters; {CLUSTERS_MAX} count, those the hostname holds and then the \
                 oldest; not {named}{more}; narrow clusterSelector"
            ),
        ));
    }
    matching
        .into_iter()
        .take(CLUSTERS_MAX)
        .map(|(name, _)| name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::intake;
    use crate::world::hostnames::LabelSelector;

    fn member(name: &str, created: &str, tier: &str) -> (ClusterName, MemberFacts) {
        let object = json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "MemberCluster",
            "metadata": {"name": name, "creationTimestamp": created, "labels": {"tier": tier}},
            "spec": {"region": "us-east-1", "access": {"local": {}}},
        });
        let facts = intake::member::member(&serde_json::from_value(object).unwrap());
        (ClusterName::parse(name).unwrap(), facts)
    }

    fn set(names: &[&str]) -> BTreeSet<ClusterName> {
        names.iter().map(|name| ClusterName::parse(name).unwrap()).collect()
    }

    fn listed(names: &[&str]) -> Selection {
        Selection::Clusters(set(names).into_iter().map(|name| (name, None)).collect())
    }

    fn prod() -> Selection {
        Selection::Selector(LabelSelector {
            match_labels: BTreeMap::from([("tier".to_owned(), "prod".to_owned())]),
            match_expressions: vec![],
        })
    }

    fn reasons(selected: &Selected) -> Vec<Reason> {
        selected.problems.iter().map(|problem| problem.reason).collect()
    }

    #[test]
    fn a_listed_cluster_needs_a_member_cluster_that_stays() {
        let mut members = BTreeMap::from([
            member("east", "2026-01-01T00:00:00Z", "prod"),
            member("west", "2026-01-01T00:00:00Z", "prod"),
        ]);
        members.values_mut().last().unwrap().deleting = true;
        let found = selected(&listed(&["east", "west", "north"]), &members, &set(&["west"]));
        assert_eq!(found.clusters, set(&["east"]));
        assert_eq!(reasons(&found), [Reason::ClusterNotFound; 2]);
        assert!(found.problems[0].message.contains("no MemberCluster north"));
        assert!(found.problems[1].message.contains("west is being deleted"));
    }

    #[test]
    fn a_selector_selects_by_labels() {
        let members = BTreeMap::from([
            member("east", "2026-01-01T00:00:00Z", "prod"),
            member("west", "2026-01-01T00:00:00Z", "test"),
        ]);
        assert_eq!(selected(&prod(), &members, &set(&[])).clusters, set(&["east"]));
        let none = Selection::Selector(LabelSelector {
            match_labels: BTreeMap::from([("tier".to_owned(), "lab".to_owned())]),
            match_expressions: vec![],
        });
        let found = selected(&none, &members, &set(&["east"]));
        assert_eq!((found.clusters.len(), reasons(&found)), (0, vec![Reason::NoClusters]));
    }

    #[test]
    fn of_more_than_a_hundred_the_held_and_then_the_oldest_count() {
        // m0 is the oldest, m101 the youngest; m101 is held.
        let all = (0..102).map(|at| {
            member(
                &format!("m{at}"),
                &format!("2026-01-01T00:{:02}:{:02}Z", at / 60, at % 60),
                "prod",
            )
        });
        let members: BTreeMap<_, _> = all.collect();
        let found = selected(&prod(), &members, &set(&["m101"]));
        assert_eq!(found.clusters.len(), CLUSTERS_MAX);
        assert!(found.clusters.contains(&ClusterName::parse("m101").unwrap()));
        assert!(!found.clusters.contains(&ClusterName::parse("m100").unwrap()));
        assert!(!found.clusters.contains(&ClusterName::parse("m99").unwrap()));
        assert_eq!(reasons(&found), [Reason::TooManyClusters]);
        assert!(found.problems[0].message.contains("matches 102 clusters"));
        assert!(found.problems[0].message.contains("not m99, m100;"));
    }
}
