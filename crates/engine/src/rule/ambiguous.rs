//! Which names could be read as another cluster's.
//!
//! Invariant: `*-<cluster>.<zone>` in an IAM policy means that cluster and nothing else (DESIGN.md, section 1), so no
//! cluster's name ends in `-` plus another cluster's, and no label of a shared name inside its zone ends in `-` plus a
//! cluster's name. Of two that do not go together exactly one is refused: the younger; a hostname gives way to a cluster
//! of the same age. Deliberately absent: names that two hostnames want (`holder.rs`).

use truce_api::Reason;

use crate::reason::Problem;
use crate::time::Wall;
use crate::value::dns_name::DnsName;
use crate::value::ids::{ClusterName, HostnameKey};

/// A shared name as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    /// Whose.
    pub key: &'a HostnameKey,
    /// The name.
    pub hostname: &'a DnsName,
    /// The zone's own name.
    pub domain: &'a DnsName,
    /// Since when the GlobalHostname exists.
    pub created: Wall,
}

/// Why a hostname is refused: an older cluster's name ends one of its labels. `clusters` are all MemberClusters.
pub fn hostname<'a>(
    shared: Shared<'_>,
    clusters: impl IntoIterator<Item = (&'a ClusterName, Wall)>,
) -> Option<Problem> {
    let clusters: Vec<_> = clusters.into_iter().collect();
    let (label, cluster) = clusters
        .iter()
        .filter(|(_, created)| *created <= shared.created)
        .find_map(|(cluster, _)| {
            let label = labels_inside(shared).find(|label| ends_as(label, cluster))?;
            Some((label, *cluster))
        })?;
    let names: Vec<_> = clusters.iter().map(|(name, _)| *name).collect();
    let write = propose(label, cluster, &names);
    let full = shared.hostname.as_str().replacen(label, &write, 1);
    Some(Problem::new(
        Reason::NameAmbiguous,
        format!(
            "{label:?} in {} ends in -{cluster} and could be taken for a name of MemberCluster {cluster}; choose \
             another hostname, such as {full}",
            shared.hostname
        ),
    ))
}

/// Why a MemberCluster is refused: its name and that of an older cluster, or an older shared name, do not go together.
/// `clusters` are all MemberClusters (itself may be among them), `hostnames` all shared names.
pub fn cluster<'a>(
    name: &ClusterName,
    created: Wall,
    clusters: impl IntoIterator<Item = (&'a ClusterName, Wall)>,
    hostnames: impl IntoIterator<Item = Shared<'a>>,
) -> Option<Problem> {
    let clusters: Vec<_> = clusters.into_iter().collect();
    let names: Vec<_> = clusters.iter().map(|(name, _)| *name).collect();
    let mut older = clusters
        .iter()
        .filter(|(other, since)| (*since, *other) < (created, name));
    let refused = |text: String, end: &ClusterName| {
        let write = propose(name.as_str(), end, &names);
        let text = format!("{text}; name this MemberCluster otherwise, such as {write}");
        Some(Problem::new(Reason::NameAmbiguous, text))
    };
    if let Some((other, _)) = older.find(|(other, _)| ends_as(name.as_str(), other) || ends_as(other.as_str(), name)) {
        let (long, short) = if ends_as(name.as_str(), other) {
            (name, *other)
        } else {
            (*other, name)
        };
        return refused(
            format!("names of cluster {long} could be taken for names of cluster {short}"),
            other,
        );
    }
    let ends_in_it = |shared: &Shared<'_>| labels_inside(*shared).any(|label| ends_as(label, name));
    let shared = hostnames
        .into_iter()
        .find(|shared| shared.created < created && ends_in_it(shared))?;
    refused(
        format!(
            "the name {} of GlobalHostname {} could be taken for one of cluster {name}",
            shared.hostname, shared.key
        ),
        name,
    )
}

/// The labels of a shared name that lie inside its zone.
fn labels_inside(shared: Shared<'_>) -> impl Iterator<Item = &str> {
    let depth = shared.domain.labels().count();
    let all = shared.hostname.labels().count();
    shared.hostname.labels().take(all.saturating_sub(depth))
}

/// Whether a label ends in `-` plus the cluster's name.
fn ends_as(label: &str, cluster: &ClusterName) -> bool {
    label
        .strip_suffix(cluster.as_str())
        .is_some_and(|front| front.ends_with('-'))
}

/// Another spelling of `label` that goes with all clusters: the cluster's part in front, or without the hyphen, or, where
/// even that does not, with a digit.
fn propose(label: &str, cluster: &ClusterName, clusters: &[&ClusterName]) -> String {
    let end = cluster.as_str();
    let front = label.strip_suffix(end).and_then(|front| front.strip_suffix('-'));
    let (joined, turned) = match front {
        Some(front) => (format!("{front}{end}"), Some(format!("{end}-{front}"))),
        None => (label.to_owned(), None),
    };
    let free = |text: &String| {
        clusters.iter().all(|other| {
            let ends_other = ClusterName::parse(text).is_ok_and(|text| ends_as(other.as_str(), &text));
            *text != other.as_str() && !ends_as(text, other) && !ends_other
        })
    };
    let with_digit = (1..=9).map(|digit| format!("{joined}{digit}"));
    let mut all = turned
        .into_iter()
        .chain(front.map(|_| joined.clone()))
        .chain(with_digit);
    all.find(free).unwrap_or_else(|| format!("{joined}0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Wall {
        Wall::from_second(second).unwrap()
    }

    fn cluster_name(text: &str) -> ClusterName {
        ClusterName::parse(text).unwrap()
    }

    /// What is said of each cluster, given all of them with their ages, and one hostname.
    fn of_cluster(name: &str, all: &[(&str, i64)], hostname: Option<(&str, i64)>) -> Option<String> {
        let names: Vec<_> = all.iter().map(|(name, age)| (cluster_name(name), at(*age))).collect();
        let clusters = names.iter().map(|(name, age)| (name, *age));
        let created = names.iter().find(|(other, _)| other.as_str() == name).unwrap().1;
        let key = HostnameKey::new("shop", "app");
        let domain = DnsName::parse("example.com").unwrap();
        let host = hostname.map(|(text, age)| (DnsName::parse(text).unwrap(), at(age)));
        let shared = host.iter().map(|(hostname, created)| Shared {
            key: &key,
            hostname,
            domain: &domain,
            created: *created,
        });
        cluster(&cluster_name(name), created, clusters, shared).map(|problem| problem.message)
    }

    fn of_hostname(text: &str, created: i64, all: &[(&str, i64)]) -> Option<String> {
        let key = HostnameKey::new("shop", "app");
        let (name, domain) = (DnsName::parse(text).unwrap(), DnsName::parse("zone-east.com").unwrap());
        let names: Vec<_> = all.iter().map(|(name, age)| (cluster_name(name), at(*age))).collect();
        let shared = Shared {
            key: &key,
            hostname: &name,
            domain: &domain,
            created: at(created),
        };
        hostname(shared, names.iter().map(|(name, age)| (name, *age))).map(|problem| problem.message)
    }

    #[test]
    fn the_younger_of_two_clusters_is_refused() {
        let all = [("east", 1), ("prod-east", 2), ("northeast", 3)];
        assert_eq!(of_cluster("east", &all, None), None);
        assert_eq!(of_cluster("northeast", &all, None), None);
        let message = of_cluster("prod-east", &all, None).unwrap();
        assert!(
            message.contains("names of cluster prod-east could be taken for names of cluster east"),
            "{message}"
        );
        assert!(message.ends_with("such as east-prod"), "{message}");
        // The other way round the short name is the younger.
        let all = [("east", 2), ("prod-east", 1)];
        assert_eq!(of_cluster("prod-east", &all, None), None);
        let message = of_cluster("east", &all, None).unwrap();
        assert!(message.ends_with("such as east1"), "{message}");
        // Of one age: by name.
        let all = [("east", 1), ("prod-east", 1)];
        assert_eq!(of_cluster("east", &all, None), None);
        assert!(of_cluster("prod-east", &all, None).is_some());
    }

    #[test]
    fn no_label_inside_the_zone_may_end_as_a_cluster() {
        let all = [("east", 1)];
        for fine in [
            "east.zone-east.com",
            "app.zone-east.com",
            "northeast.zone-east.com",
            "zone-east.com",
        ] {
            assert_eq!(of_hostname(fine, 2, &all), None, "{fine}");
        }
        let message = of_hostname("app.web-east.zone-east.com", 2, &all).unwrap();
        assert!(message.ends_with("such as app.east-web.zone-east.com"), "{message}");
        assert!(of_hostname("*.web-east.zone-east.com", 2, &all).is_some());
        // A proposal is not ambiguous itself.
        let all = [("east", 1), ("web", 1)];
        let message = of_hostname("web-east.zone-east.com", 2, &all).unwrap();
        assert!(message.ends_with("such as webeast.zone-east.com"), "{message}");
    }

    #[test]
    fn between_a_hostname_and_a_cluster_exactly_one_is_refused() {
        for (hostname_age, cluster_age) in [(1, 2), (2, 1), (1, 1)] {
            let hostname = of_hostname("web-west.zone-east.com", hostname_age, &[("west", cluster_age)]);
            let all = [("west", cluster_age)];
            let cluster = of_cluster("west", &all, Some(("web-west.example.com", hostname_age)));
            assert_eq!(hostname.is_some(), cluster_age <= hostname_age);
            assert_ne!(hostname.is_some(), cluster.is_some());
            assert!(cluster.is_none_or(|message| message.ends_with("such as west1")));
        }
    }
}
