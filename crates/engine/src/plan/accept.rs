//! Whether a hostname may be published: its zone, who may declare it, who holds its names.
//!
//! Invariant: what is refused here publishes nothing new; what it has published stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::input::Config;
use crate::reason::Problem;
use crate::rule::ambiguous::{self, Shared};
use crate::rule::claim::{self, Claimant};
use crate::rule::cluster_name::external_dns_for;
use crate::rule::dialect::PLAIN;
use crate::rule::holder::{self, Reservations, Wishes};
use crate::rule::names::{self, Names};
use crate::rule::{selected, zone_of};
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};
use crate::value::ownership::ClaimText;
use crate::world::World;
use crate::world::hostnames::{Hostname, HostnameSpec, Policy};
use crate::world::zones::ZoneSpec;

/// A hostname in its zone, with its names.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its spec.
    pub spec: Arc<HostnameSpec>,
    /// The DNSZone.
    pub zone: ZoneRef,
    /// That zone's spec.
    pub zone_spec: Arc<ZoneSpec>,
    /// What would be chosen today, if that is another zone.
    pub note: Option<String>,
    /// Its names; a cluster name for every valid MemberCluster.
    pub names: Names,
}

/// Where a hostname lives and how it is called there.
pub fn place(world: &World, hostname: &Hostname) -> Result<Placed, Problem> {
    let spec = hostname.spec.as_ref().map_err(|problems| first(problems))?.clone();
    let choice = chosen(world, hostname, &spec)?;
    let zone_spec = world
        .zones
        .get(&choice.zone)
        .and_then(|zone| zone.spec.as_ref().ok())
        .cloned();
    let zone_spec = zone_spec.ok_or_else(|| {
        Problem::new(
            truce_api::Reason::ZoneNotReady,
            format!("DNSZone {} cannot be used; see its conditions", choice.zone),
        )
    })?;
    let dialects = world.members.iter().filter_map(|(name, member)| {
        let external_dns = external_dns_for(member.spec()?, &choice.zone);
        Some((name, external_dns.map_or(&PLAIN, |external_dns| &external_dns.dialect)))
    });
    let names = names::names(&spec, &zone_spec.domain, dialects)?;
    Ok(Placed {
        spec,
        zone: choice.zone,
        zone_spec,
        note: choice.note,
        names,
    })
}

/// The zone of a hostname: the one it was given, else the best.
fn chosen(world: &World, hostname: &Hostname, spec: &HostnameSpec) -> Result<zone_of::Choice, Problem> {
    let kept = hostname.status.zone.as_ref().map(|zone| zone_of::Kept {
        name: &zone.name,
        id: &zone.id,
    });
    zone_of::zone_of(spec, kept, &world.zones)
}

/// The shared name of a hostname as far as cluster names can be taken for it; `None` if it has no zone.
pub fn shared<'a>(world: &'a World, hostname: &'a Hostname) -> Option<Shared<'a>> {
    let spec = hostname.spec.as_ref().ok()?;
    let choice = chosen(world, hostname, spec).ok()?;
    let zone = world.zones.get(&choice.zone)?.spec.as_ref().ok()?;
    Some(Shared {
        key: &hostname.key,
        hostname: &spec.hostname,
        domain: &zone.domain,
        created: hostname.created,
    })
}

/// Why the namespace may not declare the name, if it may not: by the zone's claims, or because a cluster's name makes
/// it ambiguous.
pub fn refused(config: &Config, world: &World, hostname: &Hostname, placed: &Placed) -> Option<Problem> {
    let sources = placed.spec.source_namespaces();
    let claimant = Claimant {
        namespace: &hostname.key.namespace,
        labels: world.namespaces.get(&*hostname.key.namespace),
        operator_namespace: &config.namespace,
        hostname: &placed.spec.hostname,
        sources: &sources,
    };
    let claim = || claim_too_long(config, hostname, placed);
    claim::refused(&placed.zone, &placed.zone_spec, &claimant)
        .or_else(claim)
        .or_else(|| {
            let shared = Shared {
                key: &hostname.key,
                hostname: &placed.spec.hostname,
                domain: &placed.zone_spec.domain,
                created: hostname.created,
            };
            ambiguous::hostname(
                shared,
                world.members.iter().map(|(name, member)| (name, member.facts.created)),
            )
        })
}

/// Characters of one string of a TXT record (RFC 1035, section 3.3).
const TXT_STRING: usize = 255;

/// Why the claim would not fit into its TXT, if it would not: namespace and name of the object stand in it.
fn claim_too_long(config: &Config, hostname: &Hostname, placed: &Placed) -> Option<Problem> {
    // Simple routing has at most one set a family.
    let simple = match placed.spec.policy {
        Some(Policy::Simple) => ["0000000000000000", "1111111111111111"].as_slice(),
        _ => &[],
    };
    let claim = ClaimText {
        hub: config.hub.clone(),
        hostname: hostname.key.clone(),
        simple: simple.iter().map(ToString::to_string).collect(),
    };
    let length = claim.write().trim_matches('"').len();
    (length > TXT_STRING).then(|| {
        let message = format!(
            "the claim of {} would have {length} characters, at most {TXT_STRING} fit; give the GlobalHostname a shorter name",
            placed.spec.hostname
        );
        Problem::new(truce_api::Reason::Invalid, message)
    })
}

/// What the hostname wants to have for itself in its zone; `held` tells whether it holds the claim.
pub fn wishes(hostname: &Hostname, placed: &Placed, clusters: &BTreeSet<ClusterName>, held: bool) -> Wishes {
    let names = placed.names.reserved(|cluster| clusters.contains(cluster));
    Wishes {
        created: hostname.created,
        names: names.into_iter().map(|name| (name, held)).collect(),
    }
}

/// Which of its names another hostname has.
pub fn lost(world: &World, key: &HostnameKey, placed: &Placed, reservations: &Reservations) -> Option<Problem> {
    let lost = reservations.lost(key);
    // Of several, the shared name says most.
    let shared = lost.iter().find(|(name, _)| *name == placed.names.shared.name());
    let (name, other) = shared.or(lost.first())?;
    let others = world.hostnames.get(other).and_then(|other| place(world, other).ok());
    let others = others.as_ref().map(|placed| placed.names.shared.name());
    Some(holder::taken(name, other, placed.names.shared.name(), others))
}

/// The clusters that a hostname selects; those it has already keep their place.
pub fn selection(world: &World, hostname: &Hostname, spec: &HostnameSpec) -> selected::Selected {
    let held = hostname
        .status
        .clusters
        .iter()
        .filter_map(|cluster| ClusterName::parse(&cluster.name).ok())
        .collect();
    selected::selected(&spec.selection, &world.members, &held)
}

/// The first of several problems; there always is one.
pub fn first(problems: &[Problem]) -> Problem {
    let none = || Problem::new(truce_api::Reason::Invalid, "the spec is invalid");
    problems.first().cloned().unwrap_or_else(none)
}
