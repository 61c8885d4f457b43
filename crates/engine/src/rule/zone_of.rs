//! Which zone a hostname lives in, and stays in.
//!
//! Invariant: chosen once; a better match later is only reported (DESIGN.md, section 6). A zone that was chosen is known
//! by its hosted zone, so that a DNSZone made anew under another name is found again. Deliberately absent: whether the
//! hosted zone can be used (`zone/`).

use std::collections::BTreeMap;

use truce_api::Reason;

use crate::reason::Problem;
use crate::value::dns_name::DnsName;
use crate::value::ids::ZoneRef;
use crate::world::hostnames::HostnameSpec;
use crate::world::zones::{ZoneFacts, ZoneSpec};

/// The zone that was chosen before: `status.zone`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept<'a> {
    /// Name of the DNSZone.
    pub name: &'a str,
    /// Its hosted zone id.
    pub id: &'a str,
}

/// The choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The DNSZone; its spec is valid.
    pub zone: ZoneRef,
    /// What would be chosen today, in words, where that is another zone.
    pub note: Option<String>,
}

/// The zone of a hostname, or why there is none: `NoMatchingZone`, `ZoneAmbiguous`, `ZoneNotReady`.
pub fn zone_of(
    spec: &HostnameSpec,
    kept: Option<Kept<'_>>,
    zones: &BTreeMap<ZoneRef, ZoneFacts>,
) -> Result<Choice, Problem> {
    let today = choose(&spec.hostname, spec.zone_ref.as_ref(), zones);
    let Some(kept) = kept else {
        return today.map(|zone| Choice { zone, note: None });
    };
    let zone = find_again(kept, &spec.hostname, zones)?;
    let note = today.ok().filter(|today| *today != zone).map(|today| {
        format!(
            "it stays in DNSZone {zone}, chosen before, although {today} would be chosen now; to move it, delete this \
             GlobalHostname and create it again"
        )
    });
    Ok(Choice { zone, note })
}

fn find_again(kept: Kept<'_>, hostname: &DnsName, zones: &BTreeMap<ZoneRef, ZoneFacts>) -> Result<ZoneRef, Problem> {
    let named = zones.get(&ZoneRef::new(kept.name));
    let is_it = |spec: &ZoneSpec| spec.hosted_zone.as_str() == kept.id && hostname.is_within(&spec.domain);
    if let Some(problem) = named.and_then(unusable) {
        return Err(problem);
    }
    named
        .into_iter()
        .chain(zones.values())
        .find(|zone| zone.spec.as_ref().is_ok_and(|spec| is_it(spec)))
        .map(|zone| zone.name.clone())
        .ok_or_else(|| {
            Problem::new(
                Reason::NoMatchingZone,
                format!(
                    "{hostname} lives in hosted zone {}, and the DNSZone {} that named it is gone; create it again \
                     with hostedZoneID: {}, or delete this GlobalHostname",
                    kept.id, kept.name, kept.id
                ),
            )
        })
}

fn choose(
    hostname: &DnsName,
    zone_ref: Option<&ZoneRef>,
    zones: &BTreeMap<ZoneRef, ZoneFacts>,
) -> Result<ZoneRef, Problem> {
    match zone_ref {
        Some(zone_ref) => referred(hostname, zone_ref, zones),
        None => longest(hostname, zones),
    }
}

fn referred(hostname: &DnsName, zone_ref: &ZoneRef, zones: &BTreeMap<ZoneRef, ZoneFacts>) -> Result<ZoneRef, Problem> {
    let no_match = |text: String| Err(Problem::new(Reason::NoMatchingZone, text));
    let Some(zone) = zones.get(zone_ref) else {
        return no_match(format!(
            "zoneRef names DNSZone {zone_ref}, which does not exist; create it, or correct zoneRef"
        ));
    };
    match &zone.spec {
        Ok(spec) if !hostname.is_within(&spec.domain) => no_match(format!(
            "zoneRef names DNSZone {zone_ref} of {}, which does not contain {hostname}; correct zoneRef or hostname",
            spec.domain
        )),
        Ok(_) if zone.deleting => Err(Problem::new(
            Reason::ZoneNotReady,
            format!("DNSZone {zone_ref} is being deleted; name another in zoneRef, or wait and create it again"),
        )),
        Ok(_) => Ok(zone_ref.clone()),
        Err(_) => Err(not_ready(zone_ref)),
    }
}

fn longest(hostname: &DnsName, zones: &BTreeMap<ZoneRef, ZoneFacts>) -> Result<ZoneRef, Problem> {
    let usable = zones.values().filter(|zone| !zone.deleting);
    let matching = usable.filter_map(|zone| {
        let domain = &zone.spec.as_ref().ok()?.domain;
        hostname.is_within(domain).then_some((domain, &zone.name))
    });
    let matching: Vec<_> = matching.collect();
    let length = |domain: &DnsName| domain.as_str().len();
    // Of domains that all contain the name, those of one length are one domain.
    let best = matching.iter().map(|(domain, _)| length(domain)).max();
    let best: Vec<_> = matching
        .into_iter()
        .filter(|(domain, _)| Some(length(domain)) == best)
        .collect();
    let leaving = zones
        .values()
        .find(|zone| zone.deleting && zone.spec.as_ref().is_ok_and(|spec| hostname.is_within(&spec.domain)));
    match best.as_slice() {
        [] => Err(match leaving {
            Some(zone) => Problem::new(
                Reason::ZoneNotReady,
                format!(
                    "DNSZone {} is being deleted; create it again when it is gone, or correct hostname",
                    zone.name
                ),
            ),
            None => Problem::new(
                Reason::NoMatchingZone,
                format!("no DNSZone's domain contains {hostname}; create the DNSZone, or correct hostname"),
            ),
        }),
        [(_, zone)] => Ok((*zone).clone()),
        [(domain, first), ..] => {
            let names: Vec<_> = best.iter().map(|(_, zone)| zone.as_str()).collect();
            Err(Problem::new(
                Reason::ZoneAmbiguous,
                format!(
                    "DNSZones {} have the same domain {domain}; choose one, as in zoneRef: {{name: {first}}}",
                    names.join(", ")
                ),
            ))
        }
    }
}

fn unusable(zone: &ZoneFacts) -> Option<Problem> {
    zone.spec.is_err().then(|| not_ready(&zone.name))
}

fn not_ready(zone: &ZoneRef) -> Problem {
    Problem::new(
        Reason::ZoneNotReady,
        format!("DNSZone {zone} cannot be used now; see its conditions"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::intake;

    fn zones(all: &[(&str, &str, &str)]) -> BTreeMap<ZoneRef, ZoneFacts> {
        let read = all.iter().map(|(name, domain, id)| {
            let object = json!({
                "apiVersion": "dns.truce.dev/v1alpha1", "kind": "DNSZone", "metadata": {"name": name},
                "spec": {"domain": domain, "hostedZoneID": id, "accountID": "111111111111"},
            });
            let facts = intake::zone::zone(&serde_json::from_value(object).unwrap());
            (facts.name.clone(), facts)
        });
        read.collect()
    }

    fn spec(hostname: &str, zone_ref: Option<&str>) -> HostnameSpec {
        let object = json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "GlobalHostname",
            "metadata": {"name": "app", "namespace": "shop"},
            "spec": {"hostname": hostname, "source": {"service": {"name": "gateway"}}, "clusterSelector": {},
                     "zoneRef": zone_ref.map(|name| json!({"name": name}))},
        });
        let read = intake::hostname::hostname(&serde_json::from_value(object).unwrap());
        std::sync::Arc::unwrap_or_clone(read.spec.unwrap())
    }

    fn chosen(
        hostname: &str,
        zone_ref: Option<&str>,
        kept: Option<(&str, &str)>,
        all: &[(&str, &str, &str)],
    ) -> Result<String, Reason> {
        let kept = kept.map(|(name, id)| Kept { name, id });
        zone_of(&spec(hostname, zone_ref), kept, &zones(all))
            .map(|choice| choice.zone.to_string())
            .map_err(|problem| problem.reason)
    }

    const TWO: &[(&str, &str, &str)] = &[("com", "example.com", "Z1"), ("eu", "eu.example.com", "Z2")];

    #[test]
    fn the_longest_matching_domain_wins() {
        assert_eq!(chosen("app.eu.example.com", None, None, TWO), Ok("eu".to_owned()));
        assert_eq!(chosen("eu.example.com", None, None, TWO), Ok("eu".to_owned()));
        assert_eq!(chosen("*.eu.example.com", None, None, TWO), Ok("eu".to_owned()));
        assert_eq!(chosen("app.us.example.com", None, None, TWO), Ok("com".to_owned()));
        // Label by label: `myexample.com` is not inside `example.com`.
        assert_eq!(chosen("myexample.com", None, None, TWO), Err(Reason::NoMatchingZone));
    }

    #[test]
    fn zone_ref_chooses_and_must_fit() {
        assert_eq!(
            chosen("app.eu.example.com", Some("com"), None, TWO),
            Ok("com".to_owned())
        );
        assert_eq!(
            chosen("app.example.com", Some("eu"), None, TWO),
            Err(Reason::NoMatchingZone)
        );
        assert_eq!(
            chosen("app.example.com", Some("org"), None, TWO),
            Err(Reason::NoMatchingZone)
        );
    }

    #[test]
    fn two_zones_of_one_domain_need_a_zone_ref() {
        let twins: &[_] = &[("a", "example.com", "Z1"), ("b", "EXAMPLE.com.", "Z2")];
        assert_eq!(chosen("app.example.com", None, None, twins), Err(Reason::ZoneAmbiguous));
        assert_eq!(chosen("app.example.com", Some("b"), None, twins), Ok("b".to_owned()));
        // Even then a hostname that has its zone stays there.
        assert_eq!(
            chosen("app.example.com", None, Some(("b", "Z2")), twins),
            Ok("b".to_owned())
        );
    }

    #[test]
    fn a_better_match_later_is_only_reported() {
        let kept = Some(Kept { name: "com", id: "Z1" });
        let choice = zone_of(&spec("app.eu.example.com", None), kept, &zones(TWO)).unwrap();
        assert_eq!(choice.zone.as_str(), "com");
        assert!(choice.note.unwrap().contains("eu would be chosen now"));
    }

    #[test]
    fn a_zone_made_anew_is_found_by_its_hosted_zone() {
        assert_eq!(
            chosen("app.example.com", None, Some(("old", "Z1")), TWO),
            Ok("com".to_owned())
        );
        // The same name for another hosted zone is another zone.
        let other: &[_] = &[("com", "example.com", "Z9")];
        assert_eq!(
            chosen("app.example.com", None, Some(("com", "Z1")), other),
            Err(Reason::NoMatchingZone)
        );
    }

    #[test]
    fn a_zone_that_is_invalid_or_going_is_not_chosen() {
        let invalid: &[_] = &[("com", "example.com", "bad id")];
        assert_eq!(
            chosen("app.example.com", None, None, invalid),
            Err(Reason::NoMatchingZone)
        );
        assert_eq!(
            chosen("app.example.com", Some("com"), None, invalid),
            Err(Reason::ZoneNotReady)
        );
        assert_eq!(
            chosen("app.example.com", None, Some(("com", "Z1")), invalid),
            Err(Reason::ZoneNotReady)
        );
        let mut going = zones(&[("com", "example.com", "Z1")]);
        going.values_mut().for_each(|zone| zone.deleting = true);
        let spec = spec("app.example.com", None);
        assert_eq!(zone_of(&spec, None, &going).unwrap_err().reason, Reason::ZoneNotReady);
        let kept = Kept { name: "com", id: "Z1" };
        assert_eq!(zone_of(&spec, Some(kept), &going).unwrap().zone.as_str(), "com");
    }
}
