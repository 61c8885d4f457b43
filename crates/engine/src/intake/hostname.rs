//! GlobalHostname to checked input.
//!
//! Invariant: total. Deliberately absent: what needs zones, claims or members to judge (`rule/`).

use std::collections::BTreeMap;
use std::sync::Arc;

use truce_api::{GlobalHostname, GlobalHostnameSpec, Policy as ApiPolicy, SelectedCluster, Source as ApiSource};

use super::{Findings, abandon, confirm, created, has_finalizer, paused, selector};
use crate::reason::Problem;
use crate::value::dns_name::DnsName;
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};
use crate::world::hostnames::{CLUSTERS_MAX, Hostname, HostnameSpec, Policy, Selection, Source};

const ONE_SELECTION: &str =
    "write exactly one of clusters: [{name: east}] and clusterSelector: {matchLabels: {tier: prod}}";
const TEMPLATE: &str = "write one DNS label with {name} once and -{cluster} at its end, such as \"{name}-{cluster}\", or \"\" \
                        for no per-cluster URLs";

/// What the engine keeps of a GlobalHostname.
pub fn hostname(object: &GlobalHostname) -> Hostname {
    let meta = &object.metadata;
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    Hostname {
        key: HostnameKey::new(namespace, meta.name.as_deref().unwrap_or_default()),
        uid: meta.uid.clone().unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        created: created(meta),
        deleting: meta.deletion_timestamp.is_some(),
        finalizer: has_finalizer(meta),
        paused: paused(meta),
        confirm: confirm(meta),
        abandon: abandon(meta),
        spec: checked(namespace, &object.spec).map(Arc::new),
        status: object.status.clone().unwrap_or_default(),
    }
}

fn checked(namespace: &str, spec: &GlobalHostnameSpec) -> Result<HostnameSpec, Vec<Problem>> {
    let mut findings = Findings::default();
    let hostname = name(&spec.hostname, &mut findings);
    let ttl = findings.within("spec.ttl", spec.ttl, 1..=86_400);
    let (source, selection) = what_and_where(namespace, spec, &mut findings);
    let listed = |cluster: &ClusterName| match &selection {
        Some(Selection::Clusters(clusters)) => clusters.contains_key(cluster),
        Some(Selection::Selector(_)) | None => true,
    };
    let weights = weights(spec, &listed, &mut findings);
    let drains = drains(spec, &listed, &mut findings);
    let primary = primary(spec, &listed, &mut findings);
    let cluster_hostname = template(&spec.cluster_hostname, &mut findings);
    let value = (|| {
        Some(HostnameSpec {
            hostname: hostname?,
            zone_ref: spec.zone_ref.as_ref().map(|zone| ZoneRef::new(&zone.name)),
            ttl: ttl?,
            source,
            selection: selection?,
            weights,
            drains,
            policy: policy(spec.routing.policy),
            primary,
            evaluate_target_health: spec.routing.evaluate_target_health,
            cluster_hostname,
            placeholder: spec.placeholder,
        })
    })();
    findings.conclude(value)
}

/// Underscores are for names that are not host names (RFC 8552), among them Truce's own `_truce...`.
fn name(text: &str, findings: &mut Findings) -> Option<DnsName> {
    let name = findings.take("spec.hostname", DnsName::parse(text))?;
    let hyphen_outside = |label: &str| label.starts_with('-') || label.ends_with('-');
    if name.as_str().contains('_') || name.labels().any(hyphen_outside) {
        let write = "write labels of letters, digits and inner hyphens, such as app.example.com";
        findings.invalid("spec.hostname", format!("{text:?} is not a host name; {write}"));
    }
    Some(name)
}

fn what_and_where(
    namespace: &str,
    spec: &GlobalHostnameSpec,
    findings: &mut Findings,
) -> (Option<Source>, Option<Selection>) {
    let common = spec
        .source
        .as_ref()
        .and_then(|api| source("spec.source", namespace, api, findings));
    let selection = match (&spec.clusters, &spec.cluster_selector) {
        (Some(clusters), None) => Some(Selection::Clusters(listed(namespace, clusters, findings))),
        (None, Some(labels)) => Some(Selection::Selector(selector("spec.clusterSelector", labels, findings))),
        _ => {
            findings.invalid("spec.clusters", ONE_SELECTION);
            None
        }
    };
    let each_has_its_own = match &selection {
        Some(Selection::Clusters(clusters)) => clusters.values().all(Option::is_some),
        Some(Selection::Selector(_)) | None => false,
    };
    if spec.source.is_none() && !each_has_its_own {
        let write = "write service: {name: gateway}, the object whose address each cluster publishes";
        findings.invalid("spec.source", write);
    }
    (common, selection)
}

fn source(field: &str, namespace: &str, api: &ApiSource, findings: &mut Findings) -> Option<Source> {
    let Some(service) = api.service.as_ref().filter(|service| !service.name.is_empty()) else {
        findings.invalid(field, "a source names one object; write service: {name: gateway}");
        return None;
    };
    let own = service.namespace.as_deref().filter(|own| !own.is_empty());
    Some(Source::Service {
        namespace: own.unwrap_or(namespace).into(),
        name: service.name.as_str().into(),
    })
}

fn listed(
    namespace: &str,
    clusters: &[SelectedCluster],
    findings: &mut Findings,
) -> BTreeMap<ClusterName, Option<Source>> {
    if clusters.is_empty() || clusters.len() > CLUSTERS_MAX {
        let count = clusters.len();
        findings.invalid(
            "spec.clusters",
            format!("{count} clusters; write 1 to {CLUSTERS_MAX}, or a clusterSelector"),
        );
    }
    let mut all = BTreeMap::new();
    for api in clusters {
        let Some(cluster) = findings.take("spec.clusters", ClusterName::parse(&api.name)) else {
            continue;
        };
        let field = format!("spec.clusters[name={cluster}].source");
        let own = api
            .source
            .as_ref()
            .and_then(|api| source(&field, namespace, api, findings));
        if all.insert(cluster, own).is_some() {
            findings.invalid(
                "spec.clusters",
                format!("{:?} is listed twice; remove one of the two", api.name),
            );
        }
    }
    all
}

/// The cluster of a key, if the hostname can mean it.
fn key(
    field: &str,
    text: &str,
    listed: &impl Fn(&ClusterName) -> bool,
    findings: &mut Findings,
) -> Option<ClusterName> {
    let cluster = findings.take(field, ClusterName::parse(text))?;
    if !listed(&cluster) {
        findings.invalid(
            field,
            format!("clusters does not list {text:?}; add it there, or remove it here"),
        );
    }
    Some(cluster)
}

fn weights(
    spec: &GlobalHostnameSpec,
    listed: &impl Fn(&ClusterName) -> bool,
    findings: &mut Findings,
) -> BTreeMap<ClusterName, u8> {
    let mut all = BTreeMap::new();
    for (text, weight) in &spec.weights {
        let field = format!("spec.weights[{text}]");
        let cluster = key(&field, text, listed, findings);
        let weight = findings.within(&field, *weight, 0..=255);
        all.extend(cluster.zip(weight));
    }
    all
}

fn drains(
    spec: &GlobalHostnameSpec,
    listed: &impl Fn(&ClusterName) -> bool,
    findings: &mut Findings,
) -> BTreeMap<ClusterName, String> {
    let mut all = BTreeMap::new();
    for (text, reason) in &spec.drain {
        let field = format!("spec.drain[{text}]");
        if reason.is_empty() || reason.chars().count() > 256 {
            findings.invalid(&field, "write the reason in 1 to 256 characters");
        }
        let cluster = key(&field, text, listed, findings);
        all.extend(cluster.map(|cluster| (cluster, reason.clone())));
    }
    all
}

fn primary(
    spec: &GlobalHostnameSpec,
    listed: &impl Fn(&ClusterName) -> bool,
    findings: &mut Findings,
) -> Option<ClusterName> {
    let text = spec.routing.primary.as_deref()?;
    if spec.routing.policy != ApiPolicy::Failover {
        let write = "primary is for policy Failover; write policy: Failover, or remove primary";
        findings.invalid("spec.routing.primary", write);
    }
    key("spec.routing.primary", text, listed, findings)
}

fn policy(api: ApiPolicy) -> Option<Policy> {
    match api {
        ApiPolicy::Auto => None,
        ApiPolicy::Latency => Some(Policy::Latency),
        ApiPolicy::Weighted => Some(Policy::Weighted),
        ApiPolicy::Failover => Some(Policy::Failover),
        ApiPolicy::LatencyWeighted => Some(Policy::LatencyWeighted),
        ApiPolicy::Simple => Some(Policy::Simple),
    }
}

/// The template, if cluster names are wanted.
fn template(text: &str, findings: &mut Findings) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    // As a label once both are filled in: whatever else is wrong shows as a bad character or an empty end.
    let filled = text.replacen("{name}", "x", 1).replacen("{cluster}", "x", 1);
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let ok = text.contains("{name}")
        && text.ends_with("-{cluster}")
        && filled.len() <= 63
        && filled.bytes().all(plain)
        && !filled.starts_with('-');
    if !ok {
        findings.invalid("spec.clusterHostname", format!("{text:?} cannot be used; {TEMPLATE}"));
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use truce_api::Reason;

    use super::*;

    fn object(spec: &Value) -> GlobalHostname {
        serde_json::from_value(json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "GlobalHostname",
            "metadata": {"name": "app", "namespace": "shop", "annotations": {"dns.truce.dev/confirm": "abc"}},
            "spec": spec,
        }))
        .unwrap()
    }

    fn minimal() -> Value {
        json!({"hostname": "app.example.com", "source": {"service": {"name": "gateway"}}, "clusters": [{"name": "east"}]})
    }

    /// The minimal spec with one field changed: what is wrong with it.
    fn problems(field: &str, value: Value) -> Vec<Problem> {
        let mut spec = minimal();
        spec[field] = value;
        hostname(&object(&spec)).spec.err().unwrap_or_default()
    }

    #[test]
    fn a_hostname_as_users_write_it() {
        let read = hostname(&object(&json!({
            "hostname": "App2.Example.COM.",
            "zoneRef": {"name": "example-com"},
            "source": {"service": {"name": "gateway"}},
            "clusters": [{"name": "east"}, {"name": "edge", "source": {"service": {"name": "lb", "namespace": "net"}}}],
            "weights": {"east": 0}, "drain": {"edge": "kernel upgrade"},
            "routing": {"policy": "Failover", "primary": "east"},
        })));
        assert_eq!(read.key, HostnameKey::new("shop", "app"));
        assert_eq!(read.confirm.as_deref(), Some("abc"));
        let spec = read.spec.unwrap();
        assert_eq!(spec.hostname.as_str(), "app2.example.com");
        assert_eq!(spec.ttl, 60);
        assert_eq!(spec.cluster_hostname.as_deref(), Some("{name}-{cluster}"));
        assert!(spec.placeholder && spec.evaluate_target_health);
        assert_eq!(spec.policy, Some(Policy::Failover));
        let cluster = |name: &str| ClusterName::parse(name).unwrap();
        assert_eq!(spec.primary, Some(cluster("east")));
        assert_eq!(spec.weights[&cluster("east")], 0);
        assert_eq!(spec.drains[&cluster("edge")], "kernel upgrade");
        let source = |namespace: &str, name: &str| Source::Service {
            namespace: namespace.into(),
            name: name.into(),
        };
        assert_eq!(spec.source_of(&cluster("east")), Some(&source("shop", "gateway")));
        assert_eq!(spec.source_of(&cluster("edge")), Some(&source("net", "lb")));
        assert_eq!(
            spec.source_namespaces().into_iter().collect::<Vec<_>>(),
            ["net", "shop"]
        );
    }

    #[test]
    fn no_template_means_no_cluster_names() {
        let mut spec = minimal();
        spec["clusterHostname"] = json!("");
        assert_eq!(hostname(&object(&spec)).spec.unwrap().cluster_hostname, None);
    }

    #[test]
    fn each_mistake_is_invalid_and_names_its_field() {
        for (field, value, expected) in [
            ("hostname", json!("app.*.example.com"), "spec.hostname"),
            ("hostname", json!("_truce.example.com"), "spec.hostname"),
            ("hostname", json!("-app.example.com"), "spec.hostname"),
            ("hostname", json!("a..example.com"), "spec.hostname"),
            (
                "hostname",
                json!(format!("{}.example.com", "a".repeat(64))),
                "spec.hostname",
            ),
            ("ttl", json!(0), "spec.ttl"),
            ("ttl", json!(86_401), "spec.ttl"),
            ("source", json!({}), "spec.source"),
            ("source", Value::Null, "spec.source"),
            ("clusters", Value::Null, "spec.clusters"),
            ("clusters", json!([]), "spec.clusters"),
            ("clusters", json!([{"name": "East!"}]), "spec.clusters"),
            ("clusters", json!([{"name": "east"}, {"name": "east"}]), "spec.clusters"),
            ("clusterSelector", json!({}), "spec.clusters"),
            ("weights", json!({"east": 256}), "spec.weights[east]"),
            ("weights", json!({"east": -1}), "spec.weights[east]"),
            ("weights", json!({"west": 1}), "spec.weights[west]"),
            ("drain", json!({"east": ""}), "spec.drain[east]"),
            ("drain", json!({"west": "why"}), "spec.drain[west]"),
            ("routing", json!({"primary": "east"}), "spec.routing.primary"),
            (
                "routing",
                json!({"policy": "Failover", "primary": "west"}),
                "spec.routing.primary",
            ),
            ("clusterHostname", json!("{name}"), "spec.clusterHostname"),
            ("clusterHostname", json!("x-{cluster}"), "spec.clusterHostname"),
            ("clusterHostname", json!("{name}.x-{cluster}"), "spec.clusterHostname"),
            ("clusterHostname", json!("-{name}-{cluster}"), "spec.clusterHostname"),
        ] {
            let found = problems(field, value.clone());
            assert_eq!(found.len(), 1, "{field} {value}: {found:?}");
            assert_eq!(found[0].reason, Reason::Invalid);
            assert!(found[0].message.starts_with(&format!("{expected}: ")), "{found:?}");
            let ways_out = ["write", "remove", "shorten"];
            assert!(ways_out.iter().any(|way| found[0].message.contains(way)), "{found:?}");
        }
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let mut spec = minimal();
        spec["ttl"] = json!(0);
        spec["weights"] = json!({"east": 256});
        assert_eq!(hostname(&object(&spec)).spec.unwrap_err().len(), 2);
    }

    #[test]
    fn a_selector_without_values_where_it_needs_some_is_refused() {
        let spec = json!({
            "hostname": "app.example.com", "source": {"service": {"name": "gateway"}},
            "clusterSelector": {"matchExpressions": [{"key": "tier", "operator": "In"}]},
        });
        let found = hostname(&object(&spec)).spec.unwrap_err();
        assert!(
            found[0].message.starts_with("spec.clusterSelector.matchExpressions: "),
            "{found:?}"
        );
    }
}
