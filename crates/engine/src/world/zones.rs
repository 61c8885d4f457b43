//! Facts about zones: the checked spec, and what is known of the records.
//!
//! Invariant: `Records` is what Route 53 said last, name by name, with the hub's own accepted batches applied.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::hostnames::LabelSelector;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::HostedZoneId;
use crate::value::record::RecordSet;

/// A DNSZone's spec, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSpec {
    /// The zone's own name.
    pub domain: DnsName,
    /// The hosted zone.
    pub hosted_zone: HostedZoneId,
    /// The account it must be in.
    pub account: String,
    /// Who may declare which names.
    pub claims: Vec<Claim>,
    /// Names nobody may declare.
    pub protected: Vec<NamePattern>,
    /// Rates and sizes.
    pub limits: Limits,
    /// Percent of the live sets that derived withdrawals may take within the guard's window.
    pub max_withdraw_percent: u8,
}

/// One claim of a DNSZone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Whose.
    pub namespaces: Namespaces,
    /// Which names.
    pub hostnames: Vec<NamePattern>,
    /// Namespaces of sources in members; `None`: the GlobalHostname's own only.
    pub source_namespaces: Option<BTreeSet<String>>,
}

/// Namespaces by name or by labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Namespaces {
    /// By name.
    Names(BTreeSet<String>),
    /// By labels.
    Selector(LabelSelector),
}

/// A name, or `*.` and a name: any number of labels below that, and the wildcard itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamePattern(DnsName);

impl NamePattern {
    /// From the checked name.
    pub fn new(name: DnsName) -> Self {
        Self(name)
    }

    /// Whether it covers `name`.
    pub fn covers(&self, name: &DnsName) -> bool {
        if !self.0.is_wildcard() {
            return self.0 == *name;
        }
        self.0
            .parent()
            .is_some_and(|parent| name.is_within(&parent) && *name != parent)
    }
}

/// Rates per AWS account and sizes of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Requests a second.
    pub requests_per_second: u32,
    /// Record changes a second.
    pub changes_per_second: u32,
    /// Record sets that the zone may hold.
    pub record_sets: u32,
    /// Between two complete reads.
    pub audit_interval: Duration,
}

/// The record sets of a zone, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    by_name: BTreeMap<RecordName, Vec<RecordSet>>,
    count: usize,
}

impl Records {
    /// The sets of one name, sorted; none if there are none.
    pub fn at(&self, name: &RecordName) -> &[RecordSet] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Replaces the sets of one name; whether that changed anything.
    pub fn set(&mut self, name: &RecordName, mut sets: Vec<RecordSet>) -> bool {
        sets.sort();
        let before = self.by_name.get(name).map_or(0, Vec::len);
        let changed = self.at(name) != sets.as_slice();
        self.count = self.count - before + sets.len();
        if sets.is_empty() {
            self.by_name.remove(name);
        } else {
            self.by_name.insert(name.clone(), sets);
        }
        changed
    }

    /// How many sets there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// All names with their sets, in Route 53's order.
    pub fn iter(&self) -> impl Iterator<Item = (&RecordName, &[RecordSet])> {
        self.by_name.iter().map(|(name, sets)| (name, sets.as_slice()))
    }

    /// The names at or below `name`, in Route 53's order.
    pub fn below<'a>(&'a self, name: &'a RecordName) -> impl Iterator<Item = (&'a RecordName, &'a [RecordSet])> {
        self.by_name
            .range(name.clone()..)
            .take_while(move |(other, _)| other.name().is_within(name.name()))
            .map(|(name, sets)| (name, sets.as_slice()))
    }

    /// The names beside `claim` whose label continues its own, and the claim itself, in Route 53's order.
    pub fn beside<'a>(&'a self, claim: &'a RecordName) -> impl Iterator<Item = (&'a RecordName, &'a [RecordSet])> {
        let label = claim.name().first_label();
        let parent = claim.as_str().split_once('.').map_or("", |(_, parent)| parent);
        // '-' sorts before the dot that ends a label, so the continued labels come before the claim itself.
        let first = RecordName::listed(&format!("{label}-.{parent}"));
        let stays = move |name: &RecordName| {
            let front = name
                .as_str()
                .strip_suffix(parent)
                .and_then(|front| front.strip_suffix('.'));
            front.is_some_and(|front| front.rsplit('.').next().is_some_and(|l| l.starts_with(label)))
        };
        self.by_name
            .range(first..)
            .take_while(move |(name, _)| stays(name))
            .map(|(name, sets)| (name, sets.as_slice()))
    }
}
