//! The service as one value: all accounts, zones and changes, and the calls on them.
//!
//! Invariant: time only comes in as `now_ms`, milliseconds since the epoch. The order of checks is that of
//! route53.md 10: zone, shape, sizes, then meaning. Deliberately absent: wire formats, journal, DNS.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::accounts::{Accounts, Caller};
use super::change::{self, Rules};
use super::error::{ApiError, Code};
use super::list::{self, Page, Start};
use super::names::Name;
use super::shape::{self, Action, Draft, RawChange};
use super::sizes;
use super::violation::{Violation, invalid_change_batch};
use super::zone::{Diff, Version, Zone};

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

/// A zone to create.
#[derive(Debug, Clone, Default)]
pub struct NewZone {
    /// Id; made up if absent.
    pub id: Option<String>,
    /// Name.
    pub name: String,
    /// Caller reference; unique in the account.
    pub caller_reference: String,
    /// Comment.
    pub comment: Option<String>,
    /// Private zone.
    pub private: bool,
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
    zones: BTreeMap<String, Zone>,
    changes: BTreeMap<String, Change>,
    last_change: u64,
    zones_made: u64,
}

impl Service {
    /// A service without zones.
    #[must_use]
    pub fn new(accounts: Accounts, rules: Rules) -> Self {
        Self {
            accounts,
            rules,
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

    /// Creates a zone with its NS and SOA sets.
    ///
    /// # Errors
    /// A bad name, a used caller reference, a bad or used id.
    pub fn create_zone(&mut self, caller: &Caller, new: NewZone, now_ms: u64) -> Result<(&Zone, Change), ApiError> {
        let name = Name::parse(&new.name).map_err(|e| {
            ApiError::new(
                Code::InvalidDomainName,
                format!("{} is not a valid domain name: {e}", new.name),
            )
        })?;
        if new.caller_reference.is_empty() {
            return Err(ApiError::invalid_input("CallerReference must not be empty."));
        }
        let taken = self
            .zones
            .values()
            .any(|z| z.account == caller.account && z.caller_reference == new.caller_reference);
        if taken {
            return Err(ApiError::new(
                Code::HostedZoneAlreadyExists,
                format!(
                    "A hosted zone has already been created with the specified caller reference: {}",
                    new.caller_reference
                ),
            ));
        }
        let id = self.new_zone_id(&new)?;
        let mut zone = Zone::new(id.clone(), name, caller.account.clone(), name_servers(&id));
        zone.caller_reference = new.caller_reference;
        zone.comment = new.comment;
        zone.private = new.private;
        let change = self.new_change(caller, None, now_ms);
        let diff = zone
            .apex_sets()
            .map(|set| {
                let (key, set) = (set.key(), Arc::new(set));
                zone.put(key.clone(), Some(Arc::clone(&set)));
                Diff {
                    key,
                    before: None,
                    after: Some(set),
                }
            })
            .into();
        commit(&mut zone, caller, &change, diff);
        let zone = self.zones.entry(id).or_insert(zone);
        Ok((zone, change))
    }

    fn new_zone_id(&mut self, new: &NewZone) -> Result<String, ApiError> {
        let id = match &new.id {
            Some(id) => id.clone(),
            None => {
                self.zones_made += 1;
                made_up_zone_id(&new.name, self.zones_made)
            }
        };
        if !is_zone_id(&id) {
            return Err(ApiError::invalid_input(format!(
                "{id} is not a hosted zone id; write Z and 1 to 31 of A-Z and 0-9"
            )));
        }
        if self.zones.contains_key(&id) {
            return Err(ApiError::invalid_input(format!(
                "The hosted zone id {id} is used twice; give each zone its own"
            )));
        }
        Ok(id)
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
        let diff = change::apply(zone, &drafts, &self.rules)
            .map_err(|violations: Vec<Violation>| invalid_change_batch(&violations))?;
        let change = self.new_change(caller, comment, now_ms);
        let zone = self
            .zones
            .get_mut(zone_id)
            .ok_or_else(|| ApiError::no_such_zone(zone_id))?;
        let version = commit(zone, caller, &change, diff);
        let change = Change {
            insync_at_ms: version.insync_at_ms,
            ..change
        };
        self.changes.insert(change.id.clone(), change.clone());
        Ok((change, version))
    }

    fn check_health_checks(&self, drafts: &[Draft]) -> Result<(), ApiError> {
        let unknown = drafts
            .iter()
            .filter(|d| d.action != Action::Delete)
            .filter_map(|d| d.health_check.as_deref())
            .find(|id| !self.accounts.has_health_check(id));
        match unknown {
            Some(id) => Err(ApiError::new(
                Code::NoSuchHealthCheck,
                format!("No health check found with ID: {id}"),
            )),
            None => Ok(()),
        }
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

    fn new_change(&mut self, caller: &Caller, comment: Option<&str>, now_ms: u64) -> Change {
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

fn commit(zone: &mut Zone, caller: &Caller, change: &Change, diff: Vec<Diff>) -> Arc<Version> {
    zone.commit(Version {
        number: 0,
        at_ms: change.submitted_at_ms,
        insync_at_ms: change.insync_at_ms,
        change_id: change.id.clone(),
        access_key: caller.access_key.clone(),
        diff,
    })
}

/// Whether a text can be a hosted zone id.
#[must_use]
pub fn is_zone_id(id: &str) -> bool {
    id.strip_prefix('Z').is_some_and(|rest| {
        (1..=31).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    })
}

fn made_up_zone_id(name: &str, nth: u64) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let digest = Sha256::digest(format!("{nth}/{name}"));
    let letters = digest
        .iter()
        .take(18)
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)))
        .map(|b| *b as char);
    format!("Z0{}", letters.collect::<String>())
}

/// Four made-up name servers in the style of Route 53's.
fn name_servers(zone_id: &str) -> Vec<String> {
    let digest = Sha256::digest(zone_id);
    ["com", "net", "org", "co.uk"]
        .iter()
        .zip(digest.iter())
        .enumerate()
        .map(|(nth, (tld, byte))| format!("ns-{}.awsdns-{:02}.{tld}", nth * 512 + usize::from(*byte), byte % 64))
        .collect()
}
