//! Which sets of one (name, type) answer a client this time: first by the policy, then by health (route53.md 3).
//!
//! Invariant: when nothing is healthy, everything is taken for healthy. Deliberately absent: following aliases.

use std::net::IpAddr;
use std::sync::Arc;

use super::client::Client;
use crate::core::cidr::{Collections, DEFAULT_LOCATION};
use crate::core::places::Place;
use crate::core::policy::{Policy, Role, Site};
use crate::core::record::RecordSet;
use crate::core::regions::{self, Region};

/// Most sets of one multivalue answer.
const MAX_MULTIVALUE: usize = 8;

/// Sets of one (name, type), all of one policy.
type Sets<'s> = [&'s Arc<RecordSet>];

/// What a choice depends on beside the sets.
pub(super) struct Choice<'c, D> {
    pub(super) client: &'c Client<'c>,
    pub(super) collections: &'c Collections,
    /// Gives a number below its argument.
    pub(super) draw: D,
}

impl<D: FnMut(u64) -> u64> Choice<'_, D> {
    /// The sets that answer; more than one under multivalue only, none if the client's place or network has no set.
    pub(super) fn choose<'s>(
        &mut self,
        sets: &Sets<'s>,
        healthy: impl Fn(&RecordSet) -> bool,
    ) -> Vec<&'s Arc<RecordSet>> {
        let Some(first) = sets.first() else {
            return Vec::new();
        };
        match &first.policy {
            Policy::Simple => vec![*first],
            Policy::Weighted(_) => self.weighted(sets, healthy).into_iter().collect(),
            Policy::Latency(_) | Policy::Geoproximity(..) => {
                let nearest = |sets: &Sets<'s>| nearest(sets, self.client);
                either(sets, healthy, nearest).into_iter().collect()
            }
            Policy::Failover(_) => failover(sets, healthy).into_iter().collect(),
            Policy::Geolocation(_) => {
                let places = self
                    .client
                    .whereabouts
                    .map_or_else(|| vec![Place::Default], |w| w.places());
                let wanted: Vec<Policy> = places.into_iter().map(Policy::Geolocation).collect();
                first_match(sets, &wanted, healthy).into_iter().collect()
            }
            Policy::Cidr { collection, .. } => {
                let wanted = self.locations(collection, self.client.address);
                first_match(sets, &wanted, healthy).into_iter().collect()
            }
            Policy::Multivalue => self.multivalue(sets, healthy),
        }
    }

    /// By share of the sum among the healthy ones with a weight; zero weights when none of those is healthy; all, as if
    /// they were healthy, when nothing is.
    fn weighted<'s>(&mut self, sets: &Sets<'s>, healthy: impl Fn(&RecordSet) -> bool) -> Option<&'s Arc<RecordSet>> {
        let well: Vec<_> = sets.iter().copied().filter(|s| healthy(s)).collect();
        let from = if well.is_empty() { sets } else { well.as_slice() };
        let total: u64 = from.iter().map(|s| weight(s)).sum();
        let all_zero = total == 0;
        let total = if all_zero { from.len() as u64 } else { total };
        let mut left = (self.draw)(total);
        for set in from {
            let share = if all_zero { 1 } else { weight(set) };
            if left < share {
                return Some(set);
            }
            left -= share;
        }
        None
    }

    /// Up to eight healthy ones, drawn if there are more; up to eight of all if none is healthy.
    fn multivalue<'s>(&mut self, sets: &Sets<'s>, healthy: impl Fn(&RecordSet) -> bool) -> Vec<&'s Arc<RecordSet>> {
        let mut from: Vec<_> = sets.iter().copied().filter(|s| healthy(s)).collect();
        if from.is_empty() {
            from = sets.to_vec();
        }
        while from.len() > MAX_MULTIVALUE {
            let at = usize::try_from((self.draw)(from.len() as u64)).unwrap_or(0);
            from.swap_remove(at.min(from.len() - 1));
        }
        from
    }

    /// The locations of a client's address, the narrowest network first, the default one last.
    fn locations(&self, collection: &str, address: IpAddr) -> Vec<Policy> {
        let found = self.collections.find(collection);
        let named = found.map(|c| c.locations_of(address)).unwrap_or_default();
        named
            .into_iter()
            .chain([DEFAULT_LOCATION])
            .map(|location| Policy::Cidr {
                collection: collection.to_owned(),
                location: location.to_owned(),
            })
            .collect()
    }
}

fn weight(set: &RecordSet) -> u64 {
    match set.policy {
        Policy::Weighted(weight) => u64::from(weight),
        _ => 0,
    }
}

/// What `pick` gives of the healthy ones, or of all if none is healthy.
fn either<'s>(
    sets: &Sets<'s>,
    healthy: impl Fn(&RecordSet) -> bool,
    pick: impl Fn(&Sets<'s>) -> Option<&'s Arc<RecordSet>>,
) -> Option<&'s Arc<RecordSet>> {
    let well: Vec<_> = sets.iter().copied().filter(|s| healthy(s)).collect();
    pick(&well).or_else(|| pick(sets))
}

/// PRIMARY while it is healthy or SECONDARY is not (the API reference of ResourceRecordSet, Failover).
fn failover<'s>(sets: &Sets<'s>, healthy: impl Fn(&RecordSet) -> bool) -> Option<&'s Arc<RecordSet>> {
    let of = |role| sets.iter().copied().find(|s| s.policy == Policy::Failover(role));
    match (of(Role::Primary), of(Role::Secondary)) {
        (Some(primary), Some(secondary)) if !healthy(primary) && healthy(secondary) => Some(secondary),
        (Some(primary), _) => Some(primary),
        (None, secondary) => secondary,
    }
}

/// The first of `wanted` that has a healthy set, else the first that has one at all.
fn first_match<'s>(
    sets: &Sets<'s>,
    wanted: &[Policy],
    healthy: impl Fn(&RecordSet) -> bool,
) -> Option<&'s Arc<RecordSet>> {
    let matching: Vec<_> = wanted
        .iter()
        .filter_map(|policy| sets.iter().copied().find(|s| s.policy == *policy))
        .collect();
    matching
        .iter()
        .copied()
        .find(|s| healthy(s))
        .or(matching.first().copied())
}

/// Least distance; the first by set identifier among equals.
fn nearest<'s>(sets: &Sets<'s>, client: &Client<'_>) -> Option<&'s Arc<RecordSet>> {
    let in_china = client.whereabouts.is_some_and(|w| w.country.as_deref() == Some("CN"));
    // route53.md 1.5: the set of cn-north-1 always answers queries from China.
    let beijing = |set: &RecordSet| in_china && set.policy == Policy::Latency("cn-north-1".to_owned());
    let kilometres = |set: &RecordSet| match beijing(set) {
        true => -1.0,
        false => distance(set, client.region),
    };
    sets.iter()
        .min_by(|a, b| kilometres(a).total_cmp(&kilometres(b)))
        .copied()
}

/// Kilometres from a client's region to where the set stands, for geoproximity as its bias stretches them.
fn distance(set: &RecordSet, client: &Region) -> f64 {
    let (place, bias) = match &set.policy {
        Policy::Latency(name) => (regions::find(name).map(Region::place), 0),
        Policy::Geoproximity(site, bias) => (place(site), *bias),
        _ => (None, 0),
    };
    let Some(place) = place else { return f64::MAX };
    let kilometres = regions::kilometres(place, client.place());
    // "Geoproximity routing" of the guide: shrunk by a positive bias, stretched by a negative one.
    match f64::from(bias) / 100.0 {
        bias if bias >= 0.0 => kilometres * (1.0 - bias),
        bias => kilometres / (1.0 + bias),
    }
}

/// Degrees north and east of a site.
fn place(site: &Site) -> Option<(f64, f64)> {
    match site {
        Site::Region(name) => regions::find(name).map(Region::place),
        // `us-west-2-den-1` belongs to us-west-2.
        Site::LocalZoneGroup(group) => {
            let of_region = |r: &&Region| group.strip_prefix(r.name).is_some_and(|rest| rest.starts_with('-'));
            regions::REGIONS.iter().find(of_region).map(Region::place)
        }
        Site::Coordinates(latitude, longitude) => {
            let degrees = |text: &str| text.trim_end_matches('.').parse().ok();
            degrees(latitude).zip(degrees(longitude))
        }
    }
}
