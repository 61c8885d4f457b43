//! Foreign objects as the few fields that the engine takes.
//!
//! Invariant: nothing is judged; an address that cannot be read as one is left out. Deliberately absent: which address
//! may be used.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LoadBalancerIngress, Service};
use kube::ResourceExt;
use truce_api::{DNSEndpoint, FINALIZER, GROUP};
use truce_engine::event::{DnsEndpointSeen, Endpoint, ServiceSeen};

/// Annotations by which a Service asks for an internal load balancer, each with the values that do (in lower case).
///
/// Sources: AWS Load Balancer Controller guide, "NLB: annotations", and the in-tree AWS provider; GKE "Internal
/// LoadBalancer Services" (both spellings); AKS "Use an internal load balancer"; Kubernetes "Internal load balancer"
/// for OpenStack, Alibaba, IBM and Oracle.
const INTERNAL: &[(&str, &[&str])] = &[
    ("service.beta.kubernetes.io/aws-load-balancer-scheme", &["internal"]),
    (
        "service.beta.kubernetes.io/aws-load-balancer-internal",
        &["true", "0.0.0.0/0"],
    ),
    ("networking.gke.io/load-balancer-type", &["internal"]),
    ("cloud.google.com/load-balancer-type", &["internal"]),
    ("service.beta.kubernetes.io/azure-load-balancer-internal", &["true"]),
    ("service.beta.kubernetes.io/openstack-internal-load-balancer", &["true"]),
    (
        "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type",
        &["intranet"],
    ),
    (
        "service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type",
        &["private"],
    ),
    ("service.beta.kubernetes.io/oci-load-balancer-internal", &["true"]),
];

/// A Service.
#[must_use]
pub fn service(service: &Service) -> ServiceSeen {
    let spec = service.spec.as_ref();
    let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    let ingress: &[LoadBalancerIngress] = balancer
        .and_then(|balancer| balancer.ingress.as_deref())
        .unwrap_or_default();
    let families = spec.and_then(|spec| spec.ip_families.as_deref()).unwrap_or_default();
    ServiceSeen {
        namespace: service.namespace().unwrap_or_default(),
        name: service.name_any(),
        load_balancer: spec.and_then(|spec| spec.type_.as_deref()) == Some("LoadBalancer"),
        dual_stack: ["IPv4", "IPv6"]
            .iter()
            .all(|family| families.iter().any(|has| has == family)),
        internal: internal(service.annotations()),
        ips: ingress
            .iter()
            .filter_map(|entry| entry.ip.as_deref()?.parse().ok())
            .collect(),
        hostnames: ingress
            .iter()
            .filter_map(|entry| entry.hostname.clone())
            .filter(|name| !name.is_empty())
            .collect(),
    }
}

fn internal(annotations: &BTreeMap<String, String>) -> bool {
    INTERNAL.iter().any(|(name, values)| {
        annotations
            .get(*name)
            .is_some_and(|value| values.contains(&value.trim().to_ascii_lowercase().as_str()))
    })
}

/// A DNSEndpoint.
#[must_use]
pub fn dns_endpoint(object: &DNSEndpoint) -> DnsEndpointSeen {
    let meta = &object.metadata;
    let ours = |name: &str| name.strip_prefix(GROUP).is_some_and(|rest| rest.starts_with('/'));
    DnsEndpointSeen {
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
        uid: meta.uid.clone().unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        observed_generation: object.status.as_ref().and_then(|status| status.observed_generation),
        labels: object.labels().clone(),
        annotations: object
            .annotations()
            .iter()
            .filter(|(name, _)| ours(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        deleting: meta.deletion_timestamp.is_some(),
        finalizer: object.finalizers().iter().any(|name| name == FINALIZER),
        endpoints: object.spec.endpoints.iter().map(endpoint).collect(),
    }
}

fn endpoint(endpoint: &truce_api::Endpoint) -> Endpoint {
    let name = &endpoint.dns_name;
    Endpoint {
        dns_name: name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase(),
        record_type: endpoint.record_type.to_ascii_uppercase(),
        targets: endpoint.targets.clone(),
        record_ttl: endpoint.record_ttl,
        provider_specific: endpoint
            .provider_specific
            .iter()
            .map(|setting| (setting.name.clone(), setting.value.clone()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: serde_json::Value) -> ServiceSeen {
        service(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_service_is_taken_with_its_addresses() {
        let seen = read(json!({
            "metadata": {"namespace": "shop", "name": "gateway"},
            "spec": {"type": "LoadBalancer", "ipFamilies": ["IPv6", "IPv4"]},
            "status": {"loadBalancer": {"ingress": [
                {"ip": "203.0.113.7"}, {"ip": "2001:db8::7"}, {"ip": "not-one"}, {"hostname": "lb.example.net"}
            ]}}
        }));
        assert_eq!((seen.namespace.as_str(), seen.name.as_str()), ("shop", "gateway"));
        assert!(seen.load_balancer && seen.dual_stack && !seen.internal);
        assert_eq!(
            seen.ips,
            [
                "203.0.113.7".parse::<std::net::IpAddr>().unwrap(),
                "2001:db8::7".parse().unwrap()
            ]
        );
        assert_eq!(seen.hostnames, ["lb.example.net"]);
        let bare = read(json!({"metadata": {"namespace": "shop", "name": "web"}, "spec": {"type": "ClusterIP"}}));
        assert!(!bare.load_balancer && !bare.dual_stack && bare.ips.is_empty());
    }

    #[test]
    fn internal_load_balancers_are_known_by_their_annotations() {
        for (name, value, internal) in [
            ("service.beta.kubernetes.io/aws-load-balancer-scheme", "internal", true),
            (
                "service.beta.kubernetes.io/aws-load-balancer-scheme",
                "internet-facing",
                false,
            ),
            ("service.beta.kubernetes.io/aws-load-balancer-internal", "true", true),
            (
                "service.beta.kubernetes.io/aws-load-balancer-internal",
                "0.0.0.0/0",
                true,
            ),
            ("service.beta.kubernetes.io/aws-load-balancer-internal", "false", false),
            ("networking.gke.io/load-balancer-type", "Internal", true),
            ("cloud.google.com/load-balancer-type", "Internal", true),
            ("service.beta.kubernetes.io/azure-load-balancer-internal", "true", true),
            (
                "service.beta.kubernetes.io/azure-load-balancer-internal",
                "false",
                false,
            ),
        ] {
            let annotations = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            assert_eq!(super::internal(&annotations), internal, "{name}: {value}");
        }
    }

    #[test]
    fn a_dns_endpoint_is_taken_in_one_spelling() {
        let object: DNSEndpoint = serde_json::from_value(json!({
            "apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
            "metadata": {
                "namespace": "truce-system", "name": "truce-prod-0123456789abcdef", "uid": "u", "generation": 3,
                "deletionTimestamp": "2026-11-30T00:00:00Z",
                "finalizers": ["other/one", "dns.truce.dev/owned"],
                "labels": {"dns.truce.dev/hub-id": "prod"},
                "annotations": {"dns.truce.dev/hostname": "shop/app", "other": "x"}
            },
            "spec": {"endpoints": [{
                "dnsName": "App-East.example.com.", "recordType": "a", "targets": ["203.0.113.7"], "recordTTL": 60,
                "providerSpecific": [{"name": "alias", "value": "true"}]
            }]},
            "status": {"observedGeneration": 2}
        }))
        .unwrap();
        let seen = dns_endpoint(&object);
        assert!(seen.deleting && seen.finalizer);
        assert_eq!((seen.generation, seen.observed_generation), (3, Some(2)));
        assert_eq!(seen.annotations.keys().collect::<Vec<_>>(), ["dns.truce.dev/hostname"]);
        let endpoint = &seen.endpoints[0];
        assert_eq!(
            (endpoint.dns_name.as_str(), endpoint.record_type.as_str()),
            ("app-east.example.com", "A")
        );
        assert_eq!(endpoint.record_ttl, Some(60));
        assert_eq!(
            endpoint.provider_specific.get("alias").map(String::as_str),
            Some("true")
        );
    }
}
