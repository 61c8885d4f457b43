//! The names that hang on one shared name: claim, groups, IP targets.
//!
//! Invariant: a wildcard's names are single labels beside it (`_truce-any.D`), since a name below it would switch the
//! wildcard off (RFC 4592); all others lie directly below the shared name. DESIGN.md, sections 1 and 5.

use serde::{Deserialize, Serialize};

use super::dns_name::{NameError, RecordName};
use super::ids::ClusterName;
use super::region::Region;

const PREFIX: &str = "_truce";
const WILDCARD_PREFIX: &str = "_truce-any";
/// What continues `_truce` beside a zone's own name without being one of its groups: hubs' fences, and what hangs on a
/// wildcard. No group is called so.
const OTHERS: [&str; 2] = ["-hub", "-any"];

/// A group of record sets below a shared name, to which an alias (or CNAME) of the shared name points.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Group {
    /// The clusters of one region, weighted.
    Region(Region),
    /// The PRIMARY role of failover routing.
    Primary,
    /// The SECONDARY role.
    Secondary,
    /// The clusters of one region inside the PRIMARY role.
    PrimaryRegion(Region),
    /// The clusters of one region inside the SECONDARY role.
    SecondaryRegion(Region),
    /// The addresses of a cluster with IPs, where every set of the hostname is a CNAME.
    Ip(ClusterName),
}

impl Group {
    /// The end of the group's label, and of the set identifier of the alias to it (`@<...>`).
    pub fn label(&self) -> String {
        match self {
            Self::Region(region) => region.to_string(),
            Self::Primary => "primary".to_owned(),
            Self::Secondary => "secondary".to_owned(),
            Self::PrimaryRegion(region) => format!("primary-{region}"),
            Self::SecondaryRegion(region) => format!("secondary-{region}"),
            Self::Ip(cluster) => format!("ip-{cluster}"),
        }
    }
}

/// A hostname's shared name with what hangs on it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SharedName {
    name: RecordName,
    claim: RecordName,
}

impl SharedName {
    /// Fails if the claim's name would be too long.
    pub fn new(name: RecordName) -> Result<Self, NameError> {
        let claim = beside(&name, "")?;
        Ok(Self { name, claim })
    }

    /// The shared name itself.
    pub fn name(&self) -> &RecordName {
        &self.name
    }

    /// The name of the claim TXT.
    pub fn claim(&self) -> &RecordName {
        &self.claim
    }

    /// The name of a group; fails if it would be too long.
    pub fn group(&self, group: &Group) -> Result<RecordName, NameError> {
        beside(&self.name, &format!("-{}", group.label()))
    }

    /// Whether a record name belongs to this shared name: itself, its claim, its groups.
    pub fn covers(&self, other: &RecordName) -> bool {
        if *other == self.name || *other == self.claim {
            return true;
        }
        let Some((label, rest)) = other.as_str().split_once('.') else {
            return false;
        };
        let own_label = self.claim.name().first_label();
        let same_parent = self
            .claim
            .as_str()
            .split_once('.')
            .is_some_and(|(_, parent)| parent == rest);
        let others = |end: &str| {
            OTHERS
                .iter()
                .any(|other| end == *other || end.starts_with(&format!("{other}-")))
        };
        let group = |end: &str| end.starts_with('-') && !others(end);
        same_parent && label.strip_prefix(own_label).is_some_and(group)
    }

    /// Whether it is the name of a cluster's IP group.
    pub fn is_ip_group(&self, other: &RecordName) -> bool {
        let (own, label) = (self.claim.name().first_label(), other.name().first_label());
        let end = label.strip_prefix(own).and_then(|end| end.strip_prefix("-ip-"));
        self.covers(other) && end.is_some_and(|cluster| !cluster.is_empty())
    }
}

fn beside(name: &RecordName, end: &str) -> Result<RecordName, NameError> {
    match name.as_str().strip_prefix("*.") {
        Some(parent) => Ok(RecordName::listed(parent).child(&format!("{WILDCARD_PREFIX}{end}"))?),
        None => name.child(&format!("{PREFIX}{end}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(text: &str) -> SharedName {
        SharedName::new(RecordName::listed(text)).unwrap()
    }

    #[test]
    fn names_hang_below_the_shared_name_and_beside_a_wildcard() {
        let region = Group::Region(Region::known("us-east-1").unwrap());
        let app = shared("app.example.com");
        assert_eq!(app.claim().as_str(), "_truce.app.example.com");
        assert_eq!(app.group(&region).unwrap().as_str(), "_truce-us-east-1.app.example.com");
        let wild = shared("*.example.com");
        assert_eq!(wild.claim().as_str(), "_truce-any.example.com");
        assert_eq!(
            wild.group(&region).unwrap().as_str(),
            "_truce-any-us-east-1.example.com"
        );
    }

    #[test]
    fn a_shared_name_covers_its_own_names_only() {
        let app = shared("app.example.com");
        for own in [
            "app.example.com",
            "_truce.app.example.com",
            "_truce-primary.app.example.com",
        ] {
            assert!(app.covers(&RecordName::listed(own)), "{own}");
        }
        for other in [
            "example.com",
            "_truce.example.com",
            "x.app.example.com",
            "_truces.app.example.com",
            "_truce-any.example.com",
        ] {
            assert!(!app.covers(&RecordName::listed(other)), "{other}");
        }
    }

    #[test]
    fn the_zones_own_name_covers_neither_fences_nor_the_names_of_a_wildcard() {
        let apex = shared("example.com");
        assert!(apex.covers(&RecordName::listed("_truce-us-east-1.example.com")));
        for other in [
            "_truce-hub-prod.example.com",
            "_truce-any.example.com",
            "_truce-any-us-east-1.example.com",
        ] {
            assert!(!apex.covers(&RecordName::listed(other)), "{other}");
        }
    }
}
