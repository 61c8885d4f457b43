//! The DNSEndpoint that tells a member's ExternalDNS about a cluster name, and the records it makes of it.
//!
//! Invariant: `records` gives what ExternalDNS 0.22 writes for the endpoints of `content`, so that the hub's hand-over
//! leaves it nothing to do; 192.0.2.1 is in none. Deliberately absent: when one is written (`rule/handover.rs`).

use std::collections::BTreeMap;

use crate::effect::EndpointApply;
use crate::event::{DnsEndpointSeen, Endpoint};
use crate::value::address::Address;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::elb;
use crate::value::ids::{HostnameKey, HubId};
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
use crate::value::short_hash::short_hash;
use crate::world::members::ExternalDns;
pub use crate::world::seen::HOSTNAME_ANNOTATION;

/// Label: whose DNSEndpoint it is.
pub const HUB_ID_LABEL: &str = "dns.truce.dev/hub-id";
/// Label: for which ExternalDNS it is.
pub const OWNER_ID_LABEL: &str = "dns.truce.dev/owner-id";
/// Annotation: the cluster name.
pub const CLUSTER_HOSTNAME_ANNOTATION: &str = "dns.truce.dev/cluster-hostname";

/// TTL that ExternalDNS gives a record without one, seconds (provider/aws/aws.go, `defaultTTL`).
const DEFAULT_TTL: u32 = 300;

/// The name of a hostname's DNSEndpoint in every member: the same after a restore.
pub fn endpoint_name(hub: &HubId, hostname: &HostnameKey) -> String {
    format!("truce-{hub}-{}", short_hash(&hostname.to_string()))
}

/// The name of the fence DNSEndpoint beside it.
pub fn fence_name(endpoint: &str) -> String {
    format!("{endpoint}-fence")
}

/// The resource that ExternalDNS writes into the ownership TXTs of a DNSEndpoint's records.
pub fn resource(namespace: &str, endpoint: &str) -> String {
    format!("crd/{namespace}/{endpoint}")
}

/// An owner id as a label value: itself where it is one, else a hash of it (an ARN has `:` and `/`, which label
/// values cannot have).
pub fn owner_label(owner_id: &str) -> String {
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let valid = owner_id.len() <= 63
        && end(owner_id.chars().next())
        && end(owner_id.chars().last())
        && owner_id.chars().all(inner);
    if valid {
        owner_id.to_owned()
    } else {
        short_hash(owner_id)
    }
}

/// `spec.endpoints` for an address under a name.
pub fn content(name: &RecordName, address: &Address, ttl: u32, evaluate_target_health: bool) -> Vec<Endpoint> {
    let endpoint = |record_type: RecordType, targets: Vec<String>| Endpoint {
        dns_name: name.to_string(),
        record_type: record_type.as_str().to_owned(),
        targets,
        record_ttl: Some(i64::from(ttl)),
        provider_specific: BTreeMap::new(),
    };
    match address {
        Address::Ips { v4, v6 } => {
            let v4: Vec<String> = v4.iter().map(ToString::to_string).collect();
            let v6: Vec<String> = v6.iter().map(ToString::to_string).collect();
            [(RecordType::A, v4), (RecordType::Aaaa, v6)]
                .into_iter()
                .filter(|(_, targets)| !targets.is_empty())
                .map(|(record_type, targets)| endpoint(record_type, targets))
                .collect()
        }
        Address::Alias { target, dual_stack, .. } => {
            let families: &[RecordType] = if *dual_stack {
                &[RecordType::A, RecordType::Aaaa]
            } else {
                &[RecordType::A]
            };
            let health = evaluate_target_health.to_string();
            let properties = [("alias", "true"), ("aws/evaluate-target-health", health.as_str())];
            let alias = |record_type: &RecordType| Endpoint {
                record_ttl: None,
                provider_specific: properties.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
                ..endpoint(*record_type, vec![target.to_string()])
            };
            families.iter().map(alias).collect()
        }
        Address::Name(target) => vec![endpoint(RecordType::Cname, vec![target.to_string()])],
    }
}

/// The record sets that ExternalDNS 0.22 makes of the endpoints for `name`; `None` if one of them is not of the kind
/// that Truce writes.
pub fn records(name: &RecordName, endpoints: &[Endpoint]) -> Option<Vec<RecordSet>> {
    endpoints.iter().map(|endpoint| record(name, endpoint)).collect()
}

fn record(name: &RecordName, endpoint: &Endpoint) -> Option<RecordSet> {
    let record_type = RecordType::parse(&endpoint.record_type)?;
    let written = endpoint.dns_name == name.as_str() && !endpoint.targets.is_empty();
    written.then_some(())?;
    let alias = endpoint.provider_specific.get("alias").is_some_and(|v| v == "true");
    let data = if alias && matches!(record_type, RecordType::A | RecordType::Aaaa) {
        let target = DnsName::parse(endpoint.targets.first()?).ok()?;
        let (zone, _) = elb::canonical(&target)?;
        let health = endpoint.provider_specific.get("aws/evaluate-target-health");
        RecordData::Alias {
            zone,
            target,
            evaluate_target_health: health.is_none_or(|v| v == "true"),
        }
    } else {
        let ttl = match endpoint.record_ttl {
            None | Some(0) => DEFAULT_TTL,
            Some(ttl) => u32::try_from(ttl).ok()?,
        };
        RecordData::values(ttl, endpoint.targets.iter().map(String::as_str))
    };
    Some(RecordSet {
        name: name.clone(),
        record_type,
        routing: Routing::Simple,
        data,
        health_check: None,
    })
}

/// Whether two `spec.endpoints` say the same; order has no meaning.
pub fn same(one: &[Endpoint], other: &[Endpoint]) -> bool {
    sorted(one) == sorted(other)
}

fn sorted(endpoints: &[Endpoint]) -> Vec<Endpoint> {
    let mut endpoints = endpoints.to_vec();
    for endpoint in &mut endpoints {
        endpoint.targets.sort();
    }
    endpoints.sort();
    endpoints
}

/// Whose DNSEndpoint, for which ExternalDNS: what stands in its metadata.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// The own hub.
    pub hub: &'a HubId,
    /// The GlobalHostname.
    pub hostname: &'a HostnameKey,
    /// The ExternalDNS that shall read it.
    pub external_dns: &'a ExternalDns,
}

impl Identity<'_> {
    /// The DNSEndpoint as it shall be. `fence`: the one beside it, without finalizer.
    pub fn apply(&self, cluster_hostname: &RecordName, endpoints: Vec<Endpoint>, fence: bool) -> EndpointApply {
        let name = endpoint_name(self.hub, self.hostname);
        EndpointApply {
            namespace: self.external_dns.namespace.clone(),
            name: if fence { fence_name(&name) } else { name },
            labels: self.labels(),
            annotations: self.annotations(cluster_hostname),
            finalizer: !fence,
            endpoints,
        }
    }

    /// Whether the metadata of the object is as it shall be; what others added does not matter.
    pub fn is_on(&self, seen: &DnsEndpointSeen, cluster_hostname: &RecordName) -> bool {
        let within = |want: &BTreeMap<String, String>, have: &BTreeMap<String, String>| {
            want.iter().all(|(key, value)| have.get(key) == Some(value))
        };
        seen.finalizer
            && within(&self.labels(), &seen.labels)
            && within(&self.annotations(cluster_hostname), &seen.annotations)
    }

    fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = self.external_dns.labels.clone();
        labels.insert(HUB_ID_LABEL.to_owned(), self.hub.to_string());
        labels.insert(OWNER_ID_LABEL.to_owned(), owner_label(&self.external_dns.owner_id));
        labels
    }

    fn annotations(&self, cluster_hostname: &RecordName) -> BTreeMap<String, String> {
        BTreeMap::from([
            (HOSTNAME_ANNOTATION.to_owned(), self.hostname.to_string()),
            (CLUSTER_HOSTNAME_ANNOTATION.to_owned(), cluster_hostname.to_string()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> RecordName {
        RecordName::listed("app-east.example.com")
    }

    fn alias(target: &str, dual_stack: bool) -> Address {
        Address::from_name(DnsName::parse(target).unwrap(), dual_stack)
    }

    /// Observation 7 of a real ExternalDNS 0.22: this endpoint and this record set are one to it.
    #[test]
    fn a_network_load_balancer_is_an_alias_of_its_regions_zone() {
        let endpoints = content(
            &name(),
            &alias("k8s-web-1.elb.us-west-2.amazonaws.com", false),
            60,
            true,
        );
        assert_eq!(endpoints.len(), 1);
        assert_eq!(endpoints[0].record_type, "A");
        assert_eq!(endpoints[0].targets, ["k8s-web-1.elb.us-west-2.amazonaws.com"]);
        assert_eq!(endpoints[0].record_ttl, None);
        assert_eq!(endpoints[0].provider_specific["alias"], "true");
        assert_eq!(endpoints[0].provider_specific["aws/evaluate-target-health"], "true");
        let sets = records(&name(), &endpoints).unwrap();
        let RecordData::Alias {
            zone,
            target,
            evaluate_target_health,
        } = &sets[0].data
        else {
            panic!("{sets:?}");
        };
        assert_eq!(zone.as_str(), "Z18D5FSROUN65G");
        assert_eq!(target.as_str(), "k8s-web-1.elb.us-west-2.amazonaws.com");
        assert!(*evaluate_target_health);
    }

    #[test]
    fn a_dual_stack_load_balancer_has_an_endpoint_for_each_family() {
        let endpoints = content(&name(), &alias("web-1.us-east-1.elb.amazonaws.com", true), 60, false);
        let types: Vec<_> = endpoints.iter().map(|e| e.record_type.as_str()).collect();
        assert_eq!(types, ["A", "AAAA"]);
        assert!(
            endpoints
                .iter()
                .all(|e| e.provider_specific["aws/evaluate-target-health"] == "false")
        );
    }

    #[test]
    fn addresses_and_names_carry_the_ttl() {
        let ips = Address::from_ips(["203.0.113.7".parse().unwrap(), "2001:db8::7".parse().unwrap()]).unwrap();
        let sets = records(&name(), &content(&name(), &ips, 30, true)).unwrap();
        let shown: Vec<_> = sets.iter().map(|set| (set.record_type, set.data.clone())).collect();
        assert_eq!(
            shown,
            [
                (RecordType::A, RecordData::values(30, ["203.0.113.7"])),
                (RecordType::Aaaa, RecordData::values(30, ["2001:db8::7"])),
            ]
        );
        let cname = content(&name(), &alias("LB.Example.net.", false), 30, true);
        // T33: older members drop targets with a trailing dot.
        assert_eq!(cname[0].targets, ["lb.example.net"]);
        let sets = records(&name(), &cname).unwrap();
        assert_eq!(sets[0].record_type, RecordType::Cname);
        assert_eq!(sets[0].data, RecordData::values(30, ["lb.example.net"]));
    }

    /// T15: order is no difference.
    #[test]
    fn order_has_no_meaning() {
        let of = |targets: [&str; 2]| Endpoint {
            dns_name: "a.example.com".to_owned(),
            record_type: "A".to_owned(),
            targets: targets.map(str::to_owned).to_vec(),
            record_ttl: Some(60),
            provider_specific: BTreeMap::new(),
        };
        let (one, two) = (of(["203.0.113.1", "203.0.113.2"]), of(["203.0.113.2", "203.0.113.1"]));
        assert!(same(std::slice::from_ref(&one), std::slice::from_ref(&two)));
        let other = Endpoint {
            record_ttl: Some(61),
            ..two
        };
        assert!(!same(&[one], &[other]));
    }

    #[test]
    fn object_names_are_the_same_after_a_restore() {
        let hub = HubId::parse("demo").unwrap();
        // printf 'shop/app' | sha256sum
        let name = endpoint_name(&hub, &HostnameKey::new("shop", "app"));
        assert_eq!(name, "truce-demo-87bf3caf70ce3a93");
    }

    #[test]
    fn an_owner_id_that_is_no_label_value_is_hashed() {
        assert_eq!(owner_label("prod-east"), "prod-east");
        for id in [
            "arn:aws:iam::222222222222:role/external-dns",
            "-a",
            "a.",
            "",
            &"x".repeat(64),
        ] {
            let label = owner_label(id);
            assert!(
                label.len() == 16 && label.bytes().all(|b| b.is_ascii_hexdigit()),
                "{id}: {label}"
            );
        }
    }
}
