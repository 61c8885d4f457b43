//! DNSZone to checked input.
//!
//! Invariant: total. Deliberately absent: whether the hosted zone is what the object says (`zone/`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use truce_api::{Claim as ApiClaim, DNSZone, DNSZoneSpec};

use super::{Findings, confirm, created, has_finalizer, paused, selector};
use crate::reason::Problem;
use crate::value::dns_name::DnsName;
use crate::value::ids::{HostedZoneId, ZoneRef};
use crate::world::zones::{Claim, Limits, NamePattern, Namespaces, ZoneFacts, ZoneSpec};

/// What the engine keeps of a DNSZone.
pub fn zone(object: &DNSZone) -> ZoneFacts {
    let meta = &object.metadata;
    ZoneFacts {
        name: ZoneRef::new(meta.name.as_deref().unwrap_or_default()),
        uid: meta.uid.clone().unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        created: created(meta),
        deleting: meta.deletion_timestamp.is_some(),
        finalizer: has_finalizer(meta),
        confirm: confirm(meta),
        paused: paused(meta),
        spec: checked(&object.spec).map(Arc::new),
        status: object.status.clone().unwrap_or_default(),
    }
}

fn checked(spec: &DNSZoneSpec) -> Result<ZoneSpec, Vec<Problem>> {
    let mut findings = Findings::default();
    let domain = findings.take("spec.domain", DnsName::parse(&spec.domain));
    if domain.as_ref().is_some_and(DnsName::is_wildcard) {
        findings.invalid("spec.domain", "a zone's domain has no wildcard; write example.com");
    }
    let hosted_zone = findings.take("spec.hostedZoneID", HostedZoneId::parse(&spec.hosted_zone_id));
    let account = &spec.account_id;
    if account.len() != 12 || !account.bytes().all(|c| c.is_ascii_digit()) {
        findings.invalid(
            "spec.accountID",
            format!("{account:?} is not an AWS account; write its 12 digits in quotes"),
        );
    }
    let claims = spec
        .claims
        .iter()
        .enumerate()
        .filter_map(|(at, api)| claim(at, api, &mut findings));
    let claims = claims.collect();
    let protected = patterns("spec.protected", &spec.protected, &mut findings);
    let limits = limits(spec, &mut findings);
    let percent = findings.within(
        "spec.guard.maxWithdrawPercent",
        spec.guard.max_withdraw_percent,
        0..=100,
    );
    let value = (|| {
        Some(ZoneSpec {
            domain: domain?,
            hosted_zone: hosted_zone?,
            account: account.clone(),
            claims,
            protected,
            limits: limits?,
            max_withdraw_percent: percent?,
        })
    })();
    findings.conclude(value)
}

fn limits(spec: &DNSZoneSpec, findings: &mut Findings) -> Option<Limits> {
    let api = &spec.limits;
    let requests = findings.within("spec.limits.requestsPerSecond", api.requests_per_second, 1..=1_000);
    let changes = findings.within("spec.limits.changesPerSecond", api.changes_per_second, 1..=100_000);
    let record_sets = findings.within("spec.limits.recordSets", api.record_sets, 1..=1_000_000);
    let second = Duration::from_secs(1);
    let audit = findings.duration("spec.limits.auditInterval", &api.audit_interval, second);
    Some(Limits {
        requests_per_second: requests?,
        changes_per_second: changes?,
        record_sets: record_sets?,
        audit_interval: audit?,
    })
}

fn claim(at: usize, api: &ApiClaim, findings: &mut Findings) -> Option<Claim> {
    let field = format!("spec.claims[{at}]");
    let hostnames = patterns(&format!("{field}.hostnames"), &api.hostnames, findings);
    let set = |names: &Vec<String>| names.iter().cloned().collect::<BTreeSet<_>>();
    let namespaces = match (&api.namespaces, &api.namespace_selector) {
        (Some(names), None) => Some(Namespaces::Names(set(names))),
        (None, Some(labels)) => {
            let field = format!("{field}.namespaceSelector");
            Some(Namespaces::Selector(selector(&field, labels, findings)))
        }
        _ => {
            let write = "write exactly one of namespaces: [shop] and namespaceSelector: {matchLabels: {team: shop}}";
            findings.invalid(&field, write);
            None
        }
    };
    Some(Claim {
        namespaces: namespaces?,
        hostnames,
        source_namespaces: api.source_namespaces.as_ref().map(set),
    })
}

fn patterns(field: &str, texts: &[String], findings: &mut Findings) -> Vec<NamePattern> {
    let read = texts
        .iter()
        .filter_map(|text| findings.take(field, DnsName::parse(text)));
    read.map(NamePattern::new).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use truce_api::Reason;

    use super::*;
    use crate::world::hostnames::LabelSelector;

    fn object(spec: Value) -> DNSZone {
        serde_json::from_value(json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "DNSZone",
            "metadata": {"name": "example-com", "annotations": {"dns.truce.dev/paused": "true"}},
            "spec": spec,
        }))
        .unwrap()
    }

    fn minimal() -> Value {
        json!({"domain": "Example.COM.", "hostedZoneID": "Z123", "accountID": "111111111111"})
    }

    #[test]
    fn defaults_are_those_of_the_schema() {
        let read = zone(&object(minimal()));
        assert!(read.paused);
        let spec = read.spec.unwrap();
        assert_eq!(spec.domain.as_str(), "example.com");
        assert_eq!(spec.limits.requests_per_second, 5);
        assert_eq!(spec.limits.audit_interval, Duration::from_secs(300));
        assert_eq!(spec.max_withdraw_percent, 50);
        assert!(spec.claims.is_empty());
    }

    #[test]
    fn claims_are_read() {
        let mut spec = minimal();
        spec["claims"] = json!([
            {"namespaces": ["shop"], "hostnames": ["app.example.com"], "sourceNamespaces": ["web"]},
            {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
             "hostnames": ["*.shop.example.com"]},
        ]);
        let read = zone(&object(spec)).spec.unwrap();
        assert_eq!(
            read.claims[0].source_namespaces,
            Some(BTreeSet::from(["web".to_owned()]))
        );
        let Namespaces::Selector(LabelSelector { match_expressions, .. }) = &read.claims[1].namespaces else {
            panic!("{:?}", read.claims[1]);
        };
        assert_eq!(match_expressions.len(), 1);
    }

    #[test]
    fn each_mistake_names_its_field() {
        let mut spec = minimal();
        spec["domain"] = json!("*.example.com");
        spec["hostedZoneID"] = json!("/hostedzone/Z1");
        spec["accountID"] = json!("12");
        spec["claims"] = json!([{"hostnames": ["a..b"]}]);
        spec["limits"] = json!({"requestsPerSecond": 0, "auditInterval": "1.5s"});
        spec["guard"] = json!({"maxWithdrawPercent": 101});
        let problems = zone(&object(spec)).spec.unwrap_err();
        for field in [
            "spec.domain:",
            "spec.hostedZoneID:",
            "spec.accountID:",
            "spec.claims[0]:",
            "spec.claims[0].hostnames:",
            "spec.limits.requestsPerSecond:",
            "spec.limits.auditInterval:",
            "spec.guard.maxWithdrawPercent:",
        ] {
            assert!(
                problems.iter().any(|p| p.message.starts_with(field)),
                "{field} in {problems:?}"
            );
        }
        assert!(problems.iter().all(|p| p.reason == Reason::Invalid));
    }
}
