//! The service as one value: all accounts, zones and changes, and the calls on record sets.
//!
//! Invariant: time only comes in as `now_ms`, milliseconds since the epoch. The order of checks is that of
//! route53.md 10: zone, pace, busy, shape, sizes, then meaning. Deliberately absent: wire formats, journal, DNS, and
//! the calls on zones themselves (`zones`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::accounts::{Accounts, Caller, DEFAULT_ACCOUNT};
use super::change::{self, Rules, Surroundings};
use super::cidr::Collections;
use super::error::{ApiError, Code};
use super::health::HealthChecks;
use super::list::{self, Page, Start};
use super::names::Name;
use super::pace::Pace;
use super::protections::{Protections, RawProtection};
use super::shape::{self, Action, Draft, RawChange};
use super::sizes;
use super::tags::Tags;
use super::violation::{Violation, invalid_change_batch};
use super::zone::{Diff, Version, Zone};

pub use super::zones::{NewZone, Vpc, is_zone_id};

/// Most changes that GetChange remembers; the oldest go first.
pub const CHANGE_LIMIT: usize = 100_000;

/// State of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Id, `C...`.
    pub id: String,
    /// Account that made it.
    pub account: String,
    /// When, in milliseconds since the epoch.
    pub submitted_at_ms: u64,
    /// When it is INSYNC, in milliseconds since the epoch.
    pub insync_at_ms: u64,
    /// Comment of the request.
    pub comment: Option<String>,
}

impl Change {
    /// `PENDING` or `INSYNC`.
    #[must_use]
    pub fn status(&self, now_ms: u64) -> &'static str {
        if now_ms >= self.insync_at_ms {
            "INSYNC"
        } else {
            "PENDING"
        }
    }
}

/// Everything that the double holds.
#[derive(Debug, Default)]
pub struct Service {
    /// Accounts.
    pub accounts: Accounts,
    /// What AWS leaves open.
    pub rules: Rules,
    /// From a change to INSYNC, in milliseconds.
    pub insync_ms: u64,
    /// For how long a change keeps its zone busy, in milliseconds; another one within that time is
    /// `PriorRequestNotComplete`. 0 is never.
    pub busy_ms: u64,
    /// Token buckets; no limit is in force until one is set.
    pub pace: Pace,
    /// Health checks.
    pub health: HealthChecks,
    /// CIDR collections.
    pub collections: Collections,
    /// Tags.
    pub tags: Tags,
    /// Load balancers without a healthy target, by their names without `dualstack.`.
    pub unhealthy_load_balancers: BTreeSet<Name>,
    pub(super) zones: BTreeMap<String, Zone>,
    pub(super) zone_references: BTreeSet<(String, String)>,
    pub(super) zones_made: u64,
    changes: BTreeMap<String, Change>,
    last_change: u64,
}

impl Service {
    /// A service without zones.
    #[must_use]
    pub fn new(accounts: Accounts, rules: Rules) -> Self {
        let mut health = HealthChecks::default();
        for id in accounts.health_checks() {
            health.add_bare(DEFAULT_ACCOUNT, id);
        }
        Self {
            accounts,
            rules,
            health,
            ..Self::default()
        }
    }

    /// The zone with this id, whoever owns it.
    #[must_use]
    pub fn zone(&self, id: &str) -> Option<&Zone> {
        self.zones.get(id)
    }

    /// All zones, in id order.
    pub fn zones(&self) -> impl Iterator<Item = &Zone> {
        self.zones.values()
    }

    /// All zones, in id order, to advance them.
    pub fn zones_mut(&mut self) -> impl Iterator<Item = &mut Zone> {
        self.zones.values_mut()
    }

    /// The caller's zone with this id.
    ///
    /// # Errors
    /// `NoSuchHostedZone`, or `AccessDenied` for one of another account.
    pub fn zone_of(&self, caller: &Caller, id: &str) -> Result<&Zone, ApiError> {
        let zone = self.zones.get(id).ok_or_else(|| ApiError::no_such_zone(id))?;
        check_owner(caller, zone)?;
        Ok(zone)
    }

    /// ChangeResourceRecordSets.
    ///
    /// # Errors
    /// The first of: zone, shape, sizes, health checks; then every semantic error of the batch in one.
    pub fn change(
        &mut self,
        caller: &Caller,
        zone_id: &str,
        comment: Option<&str>,
        changes: &[RawChange],
        now_ms: u64,
    ) -> Result<(Change, Arc<Version>), ApiError> {
        self.zone_of(caller, zone_id)?;
        self.pace.changes(&caller.account, changes.len(), now_ms)?;
        self.not_busy(zone_id, now_ms)?;
        let drafts = shape::check(comment, changes)?;
        let too_big = sizes::check(&drafts);
        if !too_big.is_empty() {
            return Err(invalid_change_batch(&too_big));
        }
        self.check_health_checks(&drafts)?;
        let zone = self
            .zones
            .get_mut(zone_id)
            .ok_or_else(|| ApiError::no_such_zone(zone_id))?;
        let around = Surroundings {
            rules: &self.rules,
            collections: &self.collections,
        };
        let diff = change::apply(zone, &drafts, &around)
            .map_err(|violations: Vec<Violation>| invalid_change_batch(&violations))?;
        let change = self.new_change(caller, comment, now_ms);
        let busy_until_ms = self.busy_until(now_ms);
        let zone = self
            .zones
            .get_mut(zone_id)
            .ok_or_else(|| ApiError::no_such_zone(zone_id))?;
        zone.busy_until_ms = busy_until_ms;
        let version = commit(zone, caller, &change, diff);
        let change = Change {
            insync_at_ms: version.insync_at_ms,
            ..change
        };
        self.changes.insert(change.id.clone(), change.clone());
        Ok((change, version))
    }

    fn busy_until(&self, now_ms: u64) -> u64 {
        now_ms.saturating_add(self.busy_ms)
    }

    /// Whether the zone takes a change now (route53.md 1.1).
    pub(super) fn not_busy(&self, zone_id: &str, now_ms: u64) -> Result<(), ApiError> {
        match self.zones.get(zone_id) {
            Some(zone) if now_ms < zone.busy_until_ms => Err(ApiError::new(
                Code::PriorRequestNotComplete,
                "The request was rejected because Route 53 was still processing a prior request.",
            )),
            _ => Ok(()),
        }
    }

    fn check_health_checks(&self, drafts: &[Draft]) -> Result<(), ApiError> {
        let unknown = drafts
            .iter()
            .filter(|d| d.action != Action::Delete)
            .filter_map(|d| d.health_check.as_deref())
            .find(|id| self.health.find(id).is_none());
        match unknown {
            Some(id) => Err(ApiError::no_such_health_check(id)),
            None => Ok(()),
        }
    }

    /// CreateResourceRecordSetProtections.
    ///
    /// # Errors
    /// As [`Service::zone_of`] and [`Protections::create`], or a busy zone.
    pub fn protect(
        &mut self,
        caller: &Caller,
        zone_id: &str,
        entries: &[RawProtection],
        now_ms: u64,
    ) -> Result<(), ApiError> {
        let (zone, protections) = self.protections(caller, zone_id, now_ms)?;
        protections.create(&zone, entries)
    }

    /// DeleteResourceRecordSetProtections.
    ///
    /// # Errors
    /// As [`Service::zone_of`] and [`Protections::delete`], or a busy zone.
    pub fn unprotect(
        &mut self,
        caller: &Caller,
        zone_id: &str,
        entries: &[RawProtection],
        now_ms: u64,
    ) -> Result<(), ApiError> {
        let (zone, protections) = self.protections(caller, zone_id, now_ms)?;
        protections.delete(&zone, entries)
    }

    fn protections(
        &mut self,
        caller: &Caller,
        zone_id: &str,
        now_ms: u64,
    ) -> Result<(Name, &mut Protections), ApiError> {
        self.zone_of(caller, zone_id)?;
        self.not_busy(zone_id, now_ms)?;
        let zone = self.zones.get_mut(zone_id);
        zone.map(|zone| (zone.name.clone(), &mut zone.protections))
            .ok_or_else(|| ApiError::no_such_zone(zone_id))
    }

    /// ListResourceRecordSets.
    ///
    /// # Errors
    /// As [`Service::zone_of`] and [`list::page`].
    pub fn list(&self, caller: &Caller, zone_id: &str, start: &Start, max: usize) -> Result<Page, ApiError> {
        list::page(self.zone_of(caller, zone_id)?, start, max)
    }

    /// GetChange.
    ///
    /// # Errors
    /// `NoSuchChange`.
    pub fn change_info(&self, caller: &Caller, id: &str) -> Result<&Change, ApiError> {
        self.changes
            .get(id)
            .filter(|change| change.account == caller.account)
            .ok_or_else(|| ApiError::new(Code::NoSuchChange, format!("Could not find resource with ID: {id}")))
    }

    pub(super) fn new_change(&mut self, caller: &Caller, comment: Option<&str>, now_ms: u64) -> Change {
        self.last_change += 1;
        let change = Change {
            id: format!("C{:020}", self.last_change),
            account: caller.account.clone(),
            submitted_at_ms: now_ms,
            insync_at_ms: now_ms + self.insync_ms,
            comment: comment.map(str::to_owned),
        };
        self.changes.insert(change.id.clone(), change.clone());
        if self.changes.len() > CHANGE_LIMIT {
            self.changes.pop_first();
        }
        change
    }
}

fn check_owner(caller: &Caller, zone: &Zone) -> Result<(), ApiError> {
    if zone.account == caller.account {
        return Ok(());
    }
    Err(ApiError::new(
        Code::AccessDenied,
        format!("User: {} is not authorized to access this resource", caller.arn),
    ))
}

/// Makes a diff the zone's newest version.
pub(super) fn commit(zone: &mut Zone, caller: &Caller, change: &Change, diff: Vec<Diff>) -> Arc<Version> {
    zone.commit(Version {
        number: 0,
        at_ms: change.submitted_at_ms,
        insync_at_ms: change.insync_at_ms,
        change_id: change.id.clone(),
        access_key: caller.access_key.clone(),
        diff,
    })
}
