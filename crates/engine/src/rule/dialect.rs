//! The ownership TXT that a version of ExternalDNS and its flags write: under which name, with which text.
//!
//! Invariant: byte for byte what the member itself would write, since it regenerates the TXT to delete it
//! (registry/mapper/mapper.go and endpoint/labels.go at v0.22.0). Deliberately absent: encryption, which is refused.

use std::collections::BTreeMap;

use truce_api::Reason;

use crate::reason::Problem;
use crate::time::Wall;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::{ClusterName, HubId};
use crate::value::ownership::{OwnershipText, TXT_TTL};
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
use crate::world::members::{Affix, Dialect, DialectVersion, MemberSpec};

/// The types that a cluster name can have.
pub const TYPES: [RecordType; 3] = [RecordType::A, RecordType::Aaaa, RecordType::Cname];

/// Stands for the record type, in lower case, inside an affix.
const TYPE_TEMPLATE: &str = "%{record_type}";

/// What owner id, namespace and name of a DNSEndpoint may have together, bytes: the TXT is sent as one character
/// string of at most 255, 69 of them fixed (endpoint/labels.go).
const RESOURCE_LIMIT: usize = 186;

/// How the hub names the ownership TXTs of members that have no ExternalDNS: as one without flags would.
pub const PLAIN: Dialect = Dialect {
    version: DialectVersion::V0_22,
    affix: Affix::None,
    wildcard_replacement: None,
};

impl Dialect {
    /// The name of the ownership TXT of a record; `None` if a label of it would be too long, or it would lie outside
    /// the zone.
    pub fn txt_name(&self, name: &RecordName, record_type: RecordType, zone: &DnsName) -> Option<RecordName> {
        let (label, rest) = name.as_str().split_once('.')?;
        let front = self.front(label, record_type);
        // Not `parse`: a wildcard's TXT has its asterisk inside a label, where it is an ordinary character.
        // The other labels are those of a name.
        let fits = front.len() + 1 + rest.len() <= 253;
        let fits = fits && front.split('.').all(|label| (1..=63).contains(&label.len()));
        fits.then(|| DnsName::from_route53(&[front.as_str(), ".", rest].concat()))
            .and_then(|name| RecordName::within(name, zone))
    }

    /// What takes the place of the record's first label.
    fn front(&self, label: &str, record_type: RecordType) -> String {
        // V0_22 is the one version so far; another one decides here by its own rule.
        let DialectVersion::V0_22 = self.version;
        let kind = match record_type {
            RecordType::A => "a",
            RecordType::Aaaa => "aaaa",
            RecordType::Cname => "cname",
            other => &other.as_str().to_ascii_lowercase(),
        };
        let label = match &self.wildcard_replacement {
            Some(replacement) if label == "*" => replacement.as_str(),
            _ => label,
        };
        let with_kind = |affix: &str| {
            affix
                .contains(TYPE_TEMPLATE)
                .then(|| affix.replace(TYPE_TEMPLATE, kind))
        };
        match &self.affix {
            Affix::None => [kind, "-", label].concat(),
            Affix::Prefix(prefix) => match with_kind(prefix) {
                Some(prefix) => [&prefix, label].concat(),
                None => [prefix, kind, "-", label].concat(),
            },
            Affix::Suffix(suffix) => match with_kind(suffix) {
                Some(suffix) => [label, &suffix].concat(),
                None => [kind, "-", label, suffix].concat(),
            },
        }
    }

    /// How long the first label of a name may be so that every ownership TXT it may need has labels of at most 63
    /// characters. The worst case is CNAME where a name may become one, else AAAA.
    pub fn label_limit(&self, cname: bool) -> usize {
        let worst = if cname { RecordType::Cname } else { RecordType::Aaaa };
        // Not allowed in names, so that no affix contains it.
        let probe = "/";
        let front = self.front(probe, worst);
        let around = front
            .split('.')
            .find(|part| part.contains(probe))
            .map_or(front.len(), str::len);
        (63 + probe.len()).saturating_sub(around)
    }
}

/// The ownership TXT of a record.
pub fn ownership_txt(name: &RecordName, owner: &str, resource: &str) -> RecordSet {
    RecordSet {
        name: name.clone(),
        record_type: RecordType::Txt,
        routing: Routing::Simple,
        data: RecordData::values(TXT_TTL, [OwnershipText::write(owner, resource)]),
        health_check: None,
    }
}

/// Why a DNSEndpoint of this name cannot be named in an ownership TXT of this owner; `None` if it can.
pub fn resource_problem(owner: &str, namespace: &str, endpoint: &str) -> Option<Problem> {
    let length = owner.len() + namespace.len() + endpoint.len();
    (length > RESOURCE_LIMIT).then(|| {
        Problem::new(
            Reason::LabelTooLong,
            format!(
                "the ownership TXT would be too long: owner id {owner:?}, namespace {namespace:?} and DNSEndpoint \
                 {endpoint:?} have {length} bytes together, at most {RESOURCE_LIMIT} fit; shorten --txt-owner-id or \
                 the namespace"
            ),
        )
    })
}

/// Which members' owner ids cannot be used, and why: an owner id that another member has already, or the hub's own.
/// Of two members with one owner id the older MemberCluster keeps it (then the first by name). What is refused holds
/// back cluster names only.
pub fn refuse_members<'a>(
    hub: &HubId,
    members: impl IntoIterator<Item = (&'a ClusterName, Wall, &'a MemberSpec)>,
) -> BTreeMap<ClusterName, Vec<Problem>> {
    let mut by_age: Vec<_> = members.into_iter().collect();
    by_age.sort_by_key(|(name, created, _)| (*created, *name));
    let mut holders: BTreeMap<&str, &ClusterName> = BTreeMap::new();
    let mut refused: BTreeMap<ClusterName, Vec<Problem>> = BTreeMap::new();
    for (name, _, spec) in by_age {
        for external_dns in &spec.external_dns {
            let owner = external_dns.owner_id.as_str();
            let holder = *holders.entry(owner).or_insert(name);
            let message = if owner == hub.as_str() {
                format!("ownerID {owner:?} is the hub id; give this ExternalDNS another --txt-owner-id")
            } else if holder != name {
                format!(
                    "ownerID {owner:?} belongs to MemberCluster {holder}; two ExternalDNS with one --txt-owner-id \
                     delete each other's records: give this one its own"
                )
            } else {
                continue;
            };
            let problem = Problem::new(Reason::OwnerIDInUse, message);
            refused.entry(name.clone()).or_default().push(problem);
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(affix: Affix) -> Dialect {
        Dialect { affix, ..PLAIN }
    }

    fn prefix(text: &str) -> Dialect {
        dialect(Affix::Prefix(text.into()))
    }

    fn suffix(text: &str) -> Dialect {
        dialect(Affix::Suffix(text.into()))
    }

    fn txt(dialect: &Dialect, name: &str, record_type: RecordType) -> Option<String> {
        let zone = DnsName::parse("example.com").unwrap();
        let name = dialect.txt_name(&RecordName::listed(name), record_type, &zone)?;
        Some(name.to_string())
    }

    /// The table of registry/mapper/mapper.go at v0.22.0, as observed in real batches.
    #[test]
    fn txt_names_are_those_of_version_0_22() {
        let table = [
            (PLAIN, ["a-app", "aaaa-app", "cname-app"]),
            (prefix("edns-"), ["edns-a-app", "edns-aaaa-app", "edns-cname-app"]),
            (prefix("edns."), ["edns.a-app", "edns.aaaa-app", "edns.cname-app"]),
            (
                prefix("%{record_type}-edns-"),
                ["a-edns-app", "aaaa-edns-app", "cname-edns-app"],
            ),
            (prefix("%{record_type}."), ["a.app", "aaaa.app", "cname.app"]),
            (suffix("-edns"), ["a-app-edns", "aaaa-app-edns", "cname-app-edns"]),
            (suffix("-%{record_type}"), ["app-a", "app-aaaa", "app-cname"]),
        ];
        for (dialect, labels) in table {
            let names = TYPES.map(|t| txt(&dialect, "app.example.com", t).unwrap());
            assert_eq!(names, labels.map(|label| format!("{label}.example.com")));
        }
    }

    #[test]
    fn a_wildcards_asterisk_is_replaced_where_the_flag_says_so() {
        assert_eq!(
            txt(&PLAIN, "*.app.example.com", RecordType::A).unwrap(),
            "a-*.app.example.com"
        );
        let any = Dialect {
            wildcard_replacement: Some("any".to_owned()),
            ..PLAIN
        };
        assert_eq!(
            txt(&any, "*.app.example.com", RecordType::A).unwrap(),
            "a-any.app.example.com"
        );
        assert_eq!(txt(&any, "x.example.com", RecordType::A).unwrap(), "a-x.example.com");
    }

    #[test]
    fn the_zones_own_name_has_no_txt_inside_the_zone() {
        assert_eq!(txt(&PLAIN, "example.com", RecordType::A), None);
        assert_eq!(
            txt(&prefix("extdns-%{record_type}."), "example.com", RecordType::A).unwrap(),
            "extdns-a.example.com"
        );
    }

    /// T10: 63 less `aaaa-` (5) or `cname-` (6) less the affix, where that is in the same label.
    #[test]
    fn the_label_limit_leaves_room_for_the_txt() {
        let limits = [
            (PLAIN, 58, 57),
            (prefix("own-"), 54, 53),
            (prefix("own."), 58, 57),
            (prefix("extdns-%{record_type}."), 63, 63),
            (prefix("%{record_type}-own-"), 54, 53),
            (suffix("-own"), 54, 53),
        ];
        for (dialect, aaaa, cname) in limits {
            assert_eq!((dialect.label_limit(false), dialect.label_limit(true)), (aaaa, cname));
            let fits = format!("{}.example.com", "l".repeat(aaaa));
            assert!(txt(&dialect, &fits, RecordType::Aaaa).is_some(), "{dialect:?}");
            let too_long = format!("{}.example.com", "l".repeat(aaaa + 1));
            assert_eq!(txt(&dialect, &too_long, RecordType::Aaaa), None, "{dialect:?}");
        }
    }

    #[test]
    fn owner_namespace_and_name_fit_into_one_character_string() {
        let (namespace, name) = ("n".repeat(20), "e".repeat(60));
        assert_eq!(resource_problem(&"o".repeat(106), &namespace, &name), None);
        let text = OwnershipText::write(&"o".repeat(106), &format!("crd/{namespace}/{name}"));
        // Route 53 allows 255 characters between the quotes.
        assert_eq!(text.len() - 2, 255);
        let problem = resource_problem(&"o".repeat(107), &namespace, &name).unwrap();
        assert!(problem.message.contains("186"), "{}", problem.message);
    }

    fn member(owner: &str) -> MemberSpec {
        use crate::world::members::{ExternalDns, ExternalDnsPolicy};
        MemberSpec {
            region: crate::value::region::Region::known("us-east-1").unwrap(),
            region_mapped_from: None,
            standby: false,
            access: crate::effect::Access::Local,
            external_dns_problems: Vec::new(),
            external_dns: vec![ExternalDns {
                owner_id: owner.to_owned(),
                zones: None,
                namespace: "truce-system".to_owned(),
                labels: BTreeMap::new(),
                dialect: PLAIN,
                policy: ExternalDnsPolicy::Sync,
                interval: std::time::Duration::from_secs(60),
                record_cache: std::time::Duration::ZERO,
            }],
            weight: 100,
        }
    }

    /// T01: the older member keeps the owner id, whatever the order of the input; the refusal names it.
    #[test]
    fn an_owner_id_belongs_to_one_member_and_not_to_the_hub() {
        let hub = HubId::parse("demo").unwrap();
        let [east, north, west] = ["east", "north", "west"].map(|name| ClusterName::parse(name).unwrap());
        let at = |second| Wall::from_second(second).unwrap();
        let (one, hubs) = (member("ed-east"), member("demo"));
        let mut members = vec![(&east, at(20), &one), (&west, at(10), &one), (&north, at(5), &hubs)];
        let refused = refuse_members(&hub, members.clone());
        members.reverse();
        assert_eq!(refused, refuse_members(&hub, members));
        assert_eq!(refused.keys().collect::<Vec<_>>(), [&east, &north]);
        assert!(refused[&east][0].message.contains("MemberCluster west"));
        assert!(refused[&north][0].message.contains("hub id"));
        assert!(refused.values().flatten().all(|p| p.reason == Reason::OwnerIDInUse));
    }
}
