//! MemberCluster to checked input.
//!
//! Invariant: total; what is wrong with an ExternalDNS stands beside the spec, since it holds back cluster names only
//! (DESIGN.md, section 4). Deliberately absent: what needs other members to judge (an owner id used twice).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use truce_api::{ExternalDNS as ApiExternalDns, ExternalDNSPolicy, MemberCluster, MemberClusterSpec, Reason};

use super::{Findings, abandon, confirm, created, has_finalizer};
use crate::effect::Access;
use crate::reason::Problem;
use crate::value::ids::{ClusterName, ZoneRef};
use crate::value::region::Region;
use crate::world::members::{Affix, Dialect, DialectVersion, ExternalDns, ExternalDnsPolicy, MemberFacts, MemberSpec};

/// What the engine keeps of a MemberCluster.
pub fn member(object: &MemberCluster) -> MemberFacts {
    let meta = &object.metadata;
    let name = meta.name.clone().unwrap_or_default();
    MemberFacts {
        spec: checked(&name, &object.spec).map(Arc::new),
        name,
        uid: meta.uid.clone().unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        created: created(meta),
        deleting: meta.deletion_timestamp.is_some(),
        finalizer: has_finalizer(meta),
        labels: meta.labels.clone().unwrap_or_default(),
        confirm: confirm(meta),
        abandon: abandon(meta),
        status: object.status.clone().unwrap_or_default(),
    }
}

fn checked(name: &str, spec: &MemberClusterSpec) -> Result<MemberSpec, Vec<Problem>> {
    let mut findings = Findings::default();
    findings.take("metadata.name", ClusterName::parse(name));
    let region = Region::resolve(&spec.region);
    if region.is_none() {
        findings.add(
            Reason::RegionUnknown,
            "spec.region",
            format!(
                "Route 53 does not know {:?}; write an AWS region such as us-east-1",
                spec.region
            ),
        );
    }
    let access = access(spec, &mut findings);
    let weight = findings.within("spec.weight", spec.weight, 0..=255);
    let (external_dns, external_dns_problems) = external_dns(spec);
    let value = (|| {
        let region = region?;
        Some(MemberSpec {
            region,
            region_mapped_from: (region.as_str() != spec.region).then(|| spec.region.clone()),
            standby: spec.standby,
            access: access?,
            external_dns,
            external_dns_problems,
            weight: weight?,
        })
    })();
    findings.conclude(value)
}

fn access(spec: &MemberClusterSpec, findings: &mut Findings) -> Option<Access> {
    match (&spec.access.kubeconfig, &spec.access.local) {
        (Some(kubeconfig), None) if !kubeconfig.secret_ref.name.is_empty() && !kubeconfig.secret_ref.key.is_empty() => {
            Some(Access::Kubeconfig {
                secret: kubeconfig.secret_ref.name.clone(),
                key: kubeconfig.secret_ref.key.clone(),
            })
        }
        (None, Some(_)) => Some(Access::Local),
        _ => {
            let write = "write exactly one of kubeconfig: {secretRef: {name: east}} and local: {}";
            findings.invalid("spec.access", write);
            None
        }
    }
}

/// The instances that can be worked with, and what is wrong with the others.
fn external_dns(spec: &MemberClusterSpec) -> (Vec<ExternalDns>, Vec<Problem>) {
    let mut findings = Findings::default();
    let mut owners = BTreeSet::new();
    let mut usable = Vec::new();
    for api in &spec.external_dns {
        let field = format!("spec.externalDNS[ownerID={}]", api.owner_id);
        if !owners.insert(&api.owner_id) {
            findings.invalid(
                &field,
                "the ownerID is listed twice; give each ExternalDNS its own --txt-owner-id",
            );
            continue;
        }
        usable.extend(instance(&field, api, &mut findings));
    }
    (usable, findings.0)
}

fn instance(field: &str, api: &ApiExternalDns, findings: &mut Findings) -> Option<ExternalDns> {
    if !owner_fits_its_txt(&api.owner_id) {
        let write = "write the --txt-owner-id, printable ASCII without commas, quotes and backslashes";
        findings.invalid(&format!("{field}.ownerID"), write);
        return None;
    }
    let dialect = dialect(field, api, findings);
    let interval = findings.duration(&format!("{field}.interval"), &api.interval, Duration::from_secs(1));
    let record_cache = findings.duration(&format!("{field}.recordCache"), &api.record_cache, Duration::ZERO);
    if api.namespace.is_empty() {
        let write = "write the namespace of the member in which Truce may write DNSEndpoints, such as truce-system";
        findings.invalid(&format!("{field}.namespace"), write);
        return None;
    }
    let zones = api
        .zones
        .as_ref()
        .map(|zones| zones.iter().map(|zone| ZoneRef::new(zone)).collect());
    Some(ExternalDns {
        owner_id: api.owner_id.clone(),
        zones,
        namespace: api.namespace.clone(),
        labels: api.labels.clone(),
        dialect: dialect?,
        policy: match api.policy {
            ExternalDNSPolicy::Sync => ExternalDnsPolicy::Sync,
            ExternalDNSPolicy::UpsertOnly => ExternalDnsPolicy::UpsertOnly,
        },
        interval: interval?,
        record_cache: record_cache?,
    })
}

/// A comma would split the label's value and a quote end it (ExternalDNS 0.22, endpoint/labels.go); 161 bytes are what
/// a TXT string of 255 leaves beside the rest of an ownership TXT.
fn owner_fits_its_txt(owner: &str) -> bool {
    let fits = |c: u8| (b' '..=b'~').contains(&c) && !matches!(c, b',' | b'"' | b'\\');
    (1..=161).contains(&owner.len()) && owner.trim() == owner && owner.bytes().all(fits)
}

fn dialect(field: &str, api: &ApiExternalDns, findings: &mut Findings) -> Option<Dialect> {
    let version = version(field, api.version.as_deref(), findings);
    let affix = match (api.txt_prefix.as_str(), api.txt_suffix.as_str()) {
        ("", "") => Some(Affix::None),
        (prefix, "") => Some(Affix::Prefix(prefix.to_lowercase().into())),
        ("", suffix) => Some(Affix::Suffix(suffix.to_lowercase().into())),
        _ => {
            findings.invalid(
                field,
                "ExternalDNS takes --txt-prefix or --txt-suffix; remove txtPrefix or txtSuffix",
            );
            None
        }
    };
    let replacement = &api.txt_wildcard_replacement;
    Some(Dialect {
        version: version?,
        affix: affix?,
        wildcard_replacement: (!replacement.is_empty()).then(|| replacement.clone()),
    })
}

/// Absent: the newest that Truce knows.
fn version(field: &str, text: Option<&str>, findings: &mut Findings) -> Option<DialectVersion> {
    let Some(text) = text else {
        return Some(DialectVersion::V0_22);
    };
    let mut parts = text.trim_start_matches('v').split(['.', '-', '+']);
    if (parts.next(), parts.next()) == (Some("0"), Some("22")) {
        return Some(DialectVersion::V0_22);
    }
    let write = "run version 0.22 and write version: 0.22.0, or take the item off spec.externalDNS, and the hub writes \
                 the cluster names";
    findings.add(
        Reason::ExternalDNSUnsupported,
        &format!("{field}.version"),
        format!("Truce does not know how ExternalDNS {text:?} names its ownership records; {write}"),
    );
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(spec: Value) -> MemberCluster {
        serde_json::from_value(json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "MemberCluster",
            "metadata": {"name": "east", "labels": {"tier": "prod"}, "annotations": {"dns.truce.dev/abandon": "east"},
                         "finalizers": ["dns.truce.dev/owned"]},
            "spec": spec,
        }))
        .unwrap()
    }

    fn with(external_dns: Value) -> MemberSpec {
        let spec = json!({"region": "us-east-1", "access": {"local": {}}, "externalDNS": [external_dns]});
        Arc::unwrap_or_clone(member(&object(spec)).spec.unwrap())
    }

    #[test]
    fn a_member_as_users_write_it() {
        let read = member(&object(json!({
            "region": "us-east-1",
            "access": {"kubeconfig": {"secretRef": {"name": "east"}}},
            "externalDNS": [{"ownerID": "arn:aws:eks:us-east-1:1:cluster/east", "zones": ["example-com"],
                             "txtPrefix": "EDNS-", "version": "v0.22.1", "policy": "upsert-only", "interval": "1m30s"}],
        })));
        assert!(read.finalizer);
        assert_eq!(read.labels["tier"], "prod");
        assert_eq!(read.abandon, Some(ClusterName::parse("east").unwrap()));
        let spec = read.spec.unwrap();
        assert_eq!(spec.weight, 100);
        assert_eq!(spec.region_mapped_from, None);
        assert_eq!(
            spec.access,
            Access::Kubeconfig {
                secret: "east".to_owned(),
                key: "value".to_owned()
            }
        );
        let [external_dns] = spec.external_dns.as_slice() else {
            panic!("{:?}", spec.external_dns);
        };
        assert_eq!(external_dns.dialect.affix, Affix::Prefix("edns-".into()));
        assert_eq!(external_dns.policy, ExternalDnsPolicy::UpsertOnly);
        assert_eq!(external_dns.interval, Duration::from_secs(90));
        assert_eq!(external_dns.record_cache, Duration::ZERO);
        assert_eq!(external_dns.namespace, "truce-system");
    }

    #[test]
    fn a_region_that_route_53_lacks_is_mapped_and_an_unknown_one_refused() {
        let spec = member(&object(json!({"region": "us-iso-east-1", "access": {"local": {}}}))).spec;
        let spec = spec.unwrap();
        assert_eq!(spec.region.as_str(), "us-east-1");
        assert_eq!(spec.region_mapped_from.as_deref(), Some("us-iso-east-1"));
        let problems = member(&object(json!({"region": "mars-1", "access": {"local": {}}})))
            .spec
            .unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].reason, Reason::RegionUnknown);
        assert!(problems[0].message.contains("mars-1"));
    }

    #[test]
    fn what_is_wrong_with_an_external_dns_leaves_the_spec_usable() {
        let old = with(json!({"ownerID": "east", "version": "0.21.0"}));
        assert!(old.external_dns.is_empty());
        assert_eq!(old.external_dns_problems[0].reason, Reason::ExternalDNSUnsupported);
        assert!(old.external_dns_problems[0].message.contains("0.21.0"));
        for (bad, field) in [
            (json!({"ownerID": "a,b"}), "ownerID"),
            (json!({"ownerID": "east", "interval": "1d"}), "interval"),
            (json!({"ownerID": "east", "recordCache": "-1s"}), "recordCache"),
            (
                json!({"ownerID": "east", "txtPrefix": "a-", "txtSuffix": "-b"}),
                "txtSuffix",
            ),
            (json!({"ownerID": "east", "namespace": ""}), "namespace"),
        ] {
            let read = with(bad);
            assert!(read.external_dns.is_empty(), "{field}");
            assert_eq!(read.external_dns_problems.len(), 1, "{field}");
            assert_eq!(read.external_dns_problems[0].reason, Reason::Invalid, "{field}");
            assert!(read.external_dns_problems[0].message.contains(field), "{field}");
        }
    }

    #[test]
    fn two_ways_of_access_or_none_are_refused() {
        for access in [
            json!({}),
            json!({"local": {}, "kubeconfig": {"secretRef": {"name": "x"}}}),
        ] {
            let problems = member(&object(json!({"region": "us-east-1", "access": access})))
                .spec
                .unwrap_err();
            assert!(problems[0].message.starts_with("spec.access: write exactly one of"));
        }
        let problems = member(&object(
            json!({"region": "us-east-1", "access": {"local": {}}, "weight": 256}),
        ));
        assert!(problems.spec.unwrap_err()[0].message.contains("write 0 to 255"));
    }
}
