//! Which names a hostname has in its zone, all of them reserved together.
//!
//! Invariant: the claim stands for the groups too, since they are told from other names by its label alone
//! (`SharedName::covers`) and no host name or template may hold an underscore. Deliberately absent: who gets a name that
//! two hostnames want (`holder.rs`), and which names could be read as another cluster's (`ambiguous.rs`).

use std::collections::BTreeMap;

use truce_api::Reason;

use super::dialect::TYPES;
use crate::reason::Problem;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::ClusterName;
use crate::value::record::RecordType;
use crate::value::region::Region;
use crate::value::shared_name::{Group, SharedName};
use crate::world::hostnames::HostnameSpec;
use crate::world::members::Dialect;

/// What `{name}` is for the zone's own name.
const APEX: &str = "apex";
/// What `{name}` is for a wildcard.
const ANY: &str = "any";
/// One of the regions with the longest name, for the room that groups need.
const LONGEST_REGION: &str = "ap-southeast-1";

/// All names of one hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The shared name, its claim and its groups.
    pub shared: SharedName,
    /// The cluster name of each cluster; `LabelTooLong` where it would be too long. Empty: none are wanted.
    pub clusters: BTreeMap<ClusterName, Result<ClusterHostname, Problem>>,
}

/// One cluster name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterHostname {
    /// The name itself.
    pub name: RecordName,
    /// Its ownership TXTs in the order of `TYPES`: of A and AAAA, and of CNAME where that is not too long.
    pub txts: Vec<RecordName>,
}

impl Names {
    /// The names that nobody else may have, of the clusters that are `wanted`.
    pub fn reserved(&self, wanted: impl Fn(&ClusterName) -> bool) -> impl Iterator<Item = RecordName> {
        let clusters = self.clusters.iter().filter(move |(cluster, _)| wanted(cluster));
        let clusters = clusters.filter_map(|(_, cluster)| cluster.as_ref().ok());
        let of_clusters = clusters.flat_map(|cluster| [&cluster.name].into_iter().chain(&cluster.txts));
        let own = [self.shared.name(), self.shared.claim()];
        let twin = beside_wildcard(self.shared.name());
        own.into_iter().chain(of_clusters).cloned().chain(twin)
    }
}

/// `any.D` for `*.D`: its cluster names and claim would be those of the wildcard, so nobody else may have it.
pub fn beside_wildcard(shared: &RecordName) -> Option<RecordName> {
    let parent = shared.as_str().strip_prefix("*.")?;
    RecordName::listed(parent).child(ANY).ok()
}

/// All names of a hostname in the zone `domain`, whose clusters name their ownership TXTs as `clusters` say. Fails
/// with `NoMatchingZone` if the hostname is not in the zone, with `Invalid` if it leaves no room for claim and groups.
pub fn names<'a>(
    spec: &HostnameSpec,
    domain: &DnsName,
    clusters: impl IntoIterator<Item = (&'a ClusterName, &'a Dialect)>,
) -> Result<Names, Problem> {
    let hostname = &spec.hostname;
    let Some(name) = RecordName::within(hostname.clone(), domain) else {
        let text = format!("{hostname} is not inside {domain}; correct zoneRef or hostname");
        return Err(Problem::new(Reason::NoMatchingZone, text));
    };
    let clusters: Vec<_> = clusters.into_iter().collect();
    let shared = with_room(name, &clusters)?;
    let Some(template) = &spec.cluster_hostname else {
        let clusters = BTreeMap::new();
        return Ok(Names { shared, clusters });
    };
    let (name, parent) = split(hostname, domain);
    let template = template.replace("{name}", name);
    let of = |(cluster, dialect): (&ClusterName, &Dialect)| {
        let read = cluster_hostname(&template, parent, domain, cluster, dialect);
        (cluster.clone(), read)
    };
    Ok(Names {
        shared,
        clusters: clusters.into_iter().map(of).collect(),
    })
}

fn with_room(name: RecordName, clusters: &[(&ClusterName, &Dialect)]) -> Result<SharedName, Problem> {
    let text = name.to_string();
    let too_long = |_| {
        let length = text.len();
        Problem::new(
            Reason::Invalid,
            format!("spec.hostname: {length} characters leave no room for Truce's own names below it; shorten it"),
        )
    };
    let shared = SharedName::new(name).map_err(too_long)?;
    let region = Region::known(LONGEST_REGION).map(Group::SecondaryRegion);
    // Whether a group fits is a matter of length alone.
    let longest = clusters.iter().max_by_key(|(cluster, _)| cluster.as_str().len());
    let ips = longest.map(|(cluster, _)| Group::Ip((*cluster).clone()));
    let longest = region.into_iter().chain(ips).max_by_key(|group| group.label().len());
    if let Some(group) = longest {
        shared.group(&group).map_err(too_long)?;
    }
    Ok(shared)
}

/// What `{name}` stands for, and what the cluster names lie below.
fn split<'a>(hostname: &'a DnsName, domain: &'a DnsName) -> (&'a str, &'a str) {
    match hostname.as_str().split_once('.') {
        _ if hostname == domain => (APEX, hostname.as_str()),
        Some(("*", parent)) => (ANY, parent),
        Some((label, parent)) => (label, parent),
        None => (hostname.as_str(), domain.as_str()),
    }
}

/// `template` has its `{name}` filled in already.
fn cluster_hostname(
    template: &str,
    parent: &str,
    domain: &DnsName,
    cluster: &ClusterName,
    dialect: &Dialect,
) -> Result<ClusterHostname, Problem> {
    let label = template.replace("{cluster}", cluster.as_str());
    let too_long = || label_too_long(&label, parent, cluster, dialect);
    let full = DnsName::parse(&format!("{label}.{parent}")).map_err(|_| too_long())?;
    let name = RecordName::within(full, domain).ok_or_else(too_long)?;
    let mut txts = Vec::with_capacity(TYPES.len());
    for record_type in TYPES {
        match dialect.txt_name(&name, record_type, domain) {
            Some(txt) => txts.push(txt),
            None if record_type == RecordType::Cname => {}
            None => return Err(too_long()),
        }
    }
    Ok(ClusterHostname { name, txts })
}

fn label_too_long(label: &str, parent: &str, cluster: &ClusterName, dialect: &Dialect) -> Problem {
    let (length, limit) = (label.len(), dialect.label_limit(false));
    let text = if length > limit {
        format!("the label has {length} characters, and with its ownership TXT at most {limit} fit")
    } else {
        "with its ownership TXT the name is longer than 253 characters".to_owned()
    };
    let write = format!("shorten hostname, the name of MemberCluster {cluster}, or clusterHostname");
    Problem::new(
        Reason::LabelTooLong,
        format!("there is no cluster name {label}.{parent}: {text}; {write}"),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::dialect::PLAIN;
    use super::*;
    use crate::intake;
    use crate::world::members::Affix;

    fn spec(hostname: &str, template: &str) -> HostnameSpec {
        let object = json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "GlobalHostname",
            "metadata": {"name": "app", "namespace": "shop"},
            "spec": {"hostname": hostname, "source": {"service": {"name": "gateway"}}, "clusterSelector": {},
                     "clusterHostname": template},
        });
        let read = intake::hostname::hostname(&serde_json::from_value(object).unwrap());
        std::sync::Arc::unwrap_or_clone(read.spec.unwrap())
    }

    fn domain() -> DnsName {
        DnsName::parse("example.com").unwrap()
    }

    fn with(hostname: &str, template: &str, dialect: &Dialect) -> Names {
        let east = ClusterName::parse("east").unwrap();
        names(&spec(hostname, template), &domain(), [(&east, dialect)]).unwrap()
    }

    fn reserved(hostname: &str, template: &str) -> Vec<String> {
        let names = with(hostname, template, &PLAIN);
        let reserved: BTreeSet<_> = names.reserved(|_| true).collect();
        reserved.iter().map(ToString::to_string).collect()
    }

    fn sorted(names: &[&str]) -> Vec<String> {
        let names: BTreeSet<_> = names.iter().map(|name| RecordName::listed(name)).collect();
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_names_of_a_hostname() {
        assert_eq!(
            reserved("app.example.com", "{name}-{cluster}"),
            sorted(&[
                "app.example.com",
                "_truce.app.example.com",
                "app-east.example.com",
                "a-app-east.example.com",
                "aaaa-app-east.example.com",
                "cname-app-east.example.com",
            ])
        );
        assert_eq!(
            reserved("app.example.com", ""),
            sorted(&["app.example.com", "_truce.app.example.com"])
        );
    }

    #[test]
    fn the_first_label_of_a_cluster_name() {
        for (hostname, template, expected) in [
            ("app.eu.example.com", "{name}-{cluster}", "app-east.eu.example.com"),
            ("example.com", "{name}-{cluster}", "apex-east.example.com"),
            ("*.example.com", "{name}-{cluster}", "any-east.example.com"),
            (
                "*.shop.example.com",
                "x{name}-in-{cluster}",
                "xany-in-east.shop.example.com",
            ),
        ] {
            let names = with(hostname, template, &PLAIN);
            let cluster = names.clusters.values().next().unwrap().as_ref().unwrap();
            assert_eq!(cluster.name.as_str(), expected);
        }
    }

    #[test]
    fn a_wildcard_reserves_the_name_that_would_share_its_cluster_names() {
        let reserved = reserved("*.shop.example.com", "");
        assert_eq!(
            reserved,
            sorted(&[
                "*.shop.example.com",
                "_truce-any.shop.example.com",
                "any.shop.example.com"
            ])
        );
    }

    /// Case T10: `aaaa-` leaves 58 characters, a prefix `own-` 54, and `own.` is a label of its own.
    #[test]
    fn a_label_that_its_ownership_txt_makes_too_long() {
        let prefix = |text: &str| Dialect {
            affix: Affix::Prefix(text.into()),
            ..PLAIN
        };
        for (dialect, limit) in [(PLAIN, 58), (prefix("own-"), 54), (prefix("own."), 58)] {
            let label = |length: usize| format!("{}.example.com", "a".repeat(length - "-east".len()));
            let fits = with(&label(limit), "{name}-{cluster}", &dialect);
            let fits = fits.clusters.into_values().next().unwrap().unwrap();
            assert!(fits.txts.len() == 2, "cname- is one character longer");
            let names = with(&label(limit + 1), "{name}-{cluster}", &dialect);
            let problem = names.clusters.values().next().unwrap().clone().unwrap_err();
            assert_eq!(problem.reason, Reason::LabelTooLong);
            assert!(
                problem.message.contains(&format!("at most {limit} fit")),
                "{}",
                problem.message
            );
            // The shared name goes on.
            assert_eq!(names.reserved(|_| true).count(), 2);
        }
    }

    #[test]
    fn a_hostname_needs_room_for_its_groups() {
        let label = "a".repeat(60);
        let long = format!("{label}.{label}.{label}.{}.example.com", "a".repeat(30));
        let problem = names(&spec(&long, ""), &domain(), []).unwrap_err();
        assert_eq!(problem.reason, Reason::Invalid);
        let outside = names(&spec("app.example.org", ""), &domain(), []).unwrap_err();
        assert_eq!(outside.reason, Reason::NoMatchingZone);
    }
}
