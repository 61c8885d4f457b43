//! Who may declare a name.
//!
//! Invariant: what a DNSZone protects nobody declares; without claims only the operator's own namespace declares
//! anything, with sources anywhere, since whoever writes there runs Truce. Names that Truce derives are covered by the
//! hostname's own. Deliberately absent: who of those that may holds a name (`holder.rs`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use crate::reason::Problem;
use crate::value::dns_name::DnsName;
use crate::value::ids::ZoneRef;
use crate::world::zones::{Claim, Namespaces, ZoneSpec};

/// Who wants to declare what.
#[derive(Debug, Clone)]
pub struct Claimant<'a> {
    /// The GlobalHostname's namespace.
    pub namespace: &'a str,
    /// That namespace's labels; `None` if it is not known: then no selector matches.
    pub labels: Option<&'a BTreeMap<String, String>>,
    /// The operator's own namespace.
    pub operator_namespace: &'a str,
    /// The name.
    pub hostname: &'a DnsName,
    /// The namespaces of members in which its sources lie.
    pub sources: &'a BTreeSet<&'a str>,
}

/// Why the zone does not let it: `Protected`, `ClaimNotAllowed` or `SourceNotAllowed`; `None` if it does.
pub fn refused(zone: &ZoneRef, spec: &ZoneSpec, claimant: &Claimant<'_>) -> Option<Problem> {
    let Claimant {
        namespace, hostname, ..
    } = claimant;
    if spec.protected.iter().any(|pattern| pattern.covers(hostname)) {
        return Some(Problem::new(
            Reason::Protected,
            format!(
                "DNSZone {zone} protects {hostname}: nobody may declare it; choose another hostname, or have it taken \
                 off spec.protected of the DNSZone"
            ),
        ));
    }
    if spec.claims.is_empty() && *namespace == claimant.operator_namespace {
        return None;
    }
    let covering = spec.claims.iter().filter(|claim| covers(claim, claimant));
    let outside: Vec<Vec<&str>> = covering.map(|claim| not_allowed(claim, claimant)).collect();
    if outside.iter().any(Vec::is_empty) {
        return None;
    }
    // Of several claims the one that lacks least is the easiest to complete.
    let Some(missing) = outside.into_iter().min_by_key(Vec::len) else {
        return Some(Problem::new(
            Reason::ClaimNotAllowed,
            format!(
                "no claim of DNSZone {zone} lets namespace {namespace} declare {hostname}; have this added to its \
                 spec.claims: {{namespaces: [{namespace}], hostnames: [\"{hostname}\"]{}}}",
                sources_to_add(claimant)
            ),
        ));
    };
    let all: Vec<_> = claimant.sources.iter().copied().collect();
    Some(Problem::new(
        Reason::SourceNotAllowed,
        format!(
            "DNSZone {zone} lets namespace {namespace} declare {hostname}, but not with sources in namespace {} of the \
             members; have this added to that claim in its spec.claims: sourceNamespaces: [{}]",
            missing.join(", "),
            all.join(", ")
        ),
    ))
}

fn covers(claim: &Claim, claimant: &Claimant<'_>) -> bool {
    let namespace = match &claim.namespaces {
        Namespaces::Names(names) => names.contains(claimant.namespace),
        Namespaces::Selector(selector) => claimant.labels.is_some_and(|labels| selector.matches(labels)),
    };
    namespace && claim.hostnames.iter().any(|pattern| pattern.covers(claimant.hostname))
}

/// The namespaces of sources that a claim does not allow.
fn not_allowed<'a>(claim: &Claim, claimant: &Claimant<'a>) -> Vec<&'a str> {
    let allowed = |source: &&str| match &claim.source_namespaces {
        Some(allowed) => allowed.contains(*source),
        None => *source == claimant.namespace,
    };
    claimant
        .sources
        .iter()
        .copied()
        .filter(|source| !allowed(source))
        .collect()
}

/// What a new claim has to say of sources, if not all lie in the hostname's own namespace.
fn sources_to_add(claimant: &Claimant<'_>) -> String {
    let own = |source: &&str| *source == claimant.namespace;
    if claimant.sources.iter().all(own) {
        return String::new();
    }
    let all: Vec<_> = claimant.sources.iter().copied().collect();
    format!(", sourceNamespaces: [{}]", all.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::intake;

    fn zone(claims: Value, protected: Value) -> ZoneSpec {
        let object = json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "DNSZone", "metadata": {"name": "example-com"},
            "spec": {"domain": "example.com", "hostedZoneID": "Z1", "accountID": "111111111111",
                     "claims": claims, "protected": protected},
        });
        let read = intake::zone::zone(&serde_json::from_value(object).unwrap());
        std::sync::Arc::unwrap_or_clone(read.spec.unwrap())
    }

    fn ask(spec: &ZoneSpec, namespace: &str, hostname: &str, sources: &[&str]) -> Option<Problem> {
        let labels = BTreeMap::from([("team".to_owned(), namespace.to_owned())]);
        let claimant = Claimant {
            namespace,
            labels: Some(&labels),
            operator_namespace: "truce-system",
            hostname: &DnsName::parse(hostname).unwrap(),
            sources: &sources.iter().copied().collect(),
        };
        refused(&ZoneRef::new("example-com"), spec, &claimant)
    }

    fn reason(spec: &ZoneSpec, namespace: &str, hostname: &str, sources: &[&str]) -> Option<Reason> {
        ask(spec, namespace, hostname, sources).map(|problem| problem.reason)
    }

    #[test]
    fn without_claims_only_the_operators_namespace_declares() {
        let spec = zone(json!([]), json!([]));
        assert_eq!(reason(&spec, "truce-system", "app.example.com", &["web"]), None);
        let problem = ask(&spec, "shop", "app.example.com", &["shop"]).unwrap();
        assert_eq!(problem.reason, Reason::ClaimNotAllowed);
        let add = "{namespaces: [shop], hostnames: [\"app.example.com\"]}";
        assert!(problem.message.ends_with(add), "{}", problem.message);
    }

    #[test]
    fn claims_name_namespaces_and_names() {
        let claims = json!([
            {"namespaces": ["shop"], "hostnames": ["app.example.com", "*.shop.example.com"]},
            {"namespaceSelector": {"matchLabels": {"team": "web"}}, "hostnames": ["web.example.com"]},
        ]);
        let spec = zone(claims, json!([]));
        for name in [
            "app.example.com",
            "a.shop.example.com",
            "a.b.shop.example.com",
            "*.shop.example.com",
        ] {
            assert_eq!(reason(&spec, "shop", name, &["shop"]), None, "{name}");
        }
        assert_eq!(reason(&spec, "web", "web.example.com", &["web"]), None);
        let no = Some(Reason::ClaimNotAllowed);
        assert_eq!(reason(&spec, "shop", "shop.example.com", &["shop"]), no);
        assert_eq!(reason(&spec, "shop", "web.example.com", &["shop"]), no);
        assert_eq!(reason(&spec, "web", "app.example.com", &["web"]), no);
        // Where there are claims, the operator's namespace needs one too.
        assert_eq!(reason(&spec, "truce-system", "app.example.com", &[]), no);
    }

    #[test]
    fn a_selector_matches_no_namespace_that_is_not_known() {
        let claims = json!([{"namespaceSelector": {}, "hostnames": ["app.example.com"]}]);
        let spec = zone(claims, json!([]));
        assert_eq!(reason(&spec, "shop", "app.example.com", &[]), None);
        let claimant = Claimant {
            namespace: "shop",
            labels: None,
            operator_namespace: "truce-system",
            hostname: &DnsName::parse("app.example.com").unwrap(),
            sources: &BTreeSet::new(),
        };
        assert!(refused(&ZoneRef::new("example-com"), &spec, &claimant).is_some());
    }

    #[test]
    fn sources_lie_in_the_own_namespace_or_where_the_claim_says() {
        let claims = json!([
            {"namespaces": ["shop"], "hostnames": ["*.example.com"]},
            {"namespaces": ["shop"], "hostnames": ["app.example.com"], "sourceNamespaces": ["web", "edge"]},
        ]);
        let spec = zone(claims, json!([]));
        assert_eq!(reason(&spec, "shop", "app.example.com", &["shop"]), None);
        assert_eq!(reason(&spec, "shop", "app.example.com", &["edge", "web"]), None);
        let problem = ask(&spec, "shop", "app.example.com", &["shop", "web"]).unwrap();
        assert_eq!(problem.reason, Reason::SourceNotAllowed);
        assert!(
            problem.message.ends_with("sourceNamespaces: [shop, web]"),
            "{}",
            problem.message
        );
        assert_eq!(
            reason(&spec, "shop", "b.example.com", &["web"]),
            Some(Reason::SourceNotAllowed)
        );
    }

    #[test]
    fn protected_wins_over_claims_and_the_operators_namespace() {
        let protected = json!(["example.com", "*.mail.example.com"]);
        let claims = json!([{"namespaces": ["shop"], "hostnames": ["*.example.com", "example.com"]}]);
        let spec = zone(claims, protected.clone());
        for name in ["example.com", "in.mail.example.com", "*.mail.example.com"] {
            assert_eq!(
                reason(&spec, "shop", name, &["shop"]),
                Some(Reason::Protected),
                "{name}"
            );
        }
        assert_eq!(reason(&spec, "shop", "mail.example.com", &["shop"]), None);
        let spec = zone(json!([]), protected);
        assert_eq!(
            reason(&spec, "truce-system", "example.com", &[]),
            Some(Reason::Protected)
        );
    }
}
