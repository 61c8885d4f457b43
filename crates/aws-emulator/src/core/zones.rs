//! The calls on hosted zones themselves: create, delete, count, limits (the API reference of CreateHostedZone and
//! DeleteHostedZone).
//!
//! Invariant: a caller reference serves once in an account, even after its zone is gone; a private zone has a VPC.
//! Deliberately absent: reusable delegation sets as objects; an id alone chooses the name servers.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::accounts::Caller;
use super::error::{ApiError, Code};
use super::health::MAX_HEALTH_CHECKS;
use super::names::Name;
use super::service::{Change, Service, commit};
use super::shape::{not_in_enumeration, too_long, too_short};
use super::tags::Kind;
use super::zone::{Diff, Zone};

/// Most zones of an account (route53.md 1.2).
pub const MAX_ZONES: usize = 500;
/// Most VPCs of a private zone ("Quotas" of the guide).
const MAX_VPCS: usize = 300;
/// Longest caller reference, in characters.
const MAX_REFERENCE: usize = 128;
/// Longest comment, in characters.
const MAX_COMMENT: usize = 256;
/// Longest delegation set id, in characters.
const MAX_DELEGATION_SET: usize = 32;

/// A VPC that a private zone answers in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vpc {
    /// Region.
    pub region: String,
    /// Id, `vpc-...`.
    pub id: String,
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
    /// The VPC of a private zone.
    pub vpc: Option<Vpc>,
    /// Id of the delegation set that chooses the name servers.
    pub delegation_set: Option<String>,
}

/// A limit and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The name in the API.
    pub kind: String,
    /// Most.
    pub value: usize,
    /// In use.
    pub count: usize,
}

impl Service {
    /// Creates a zone with its NS and SOA sets.
    ///
    /// # Errors
    /// A bad name, a used caller reference, a bad or used id, a private zone without VPC, a conflict, too many.
    pub fn create_zone(&mut self, caller: &Caller, new: NewZone, now_ms: u64) -> Result<(&Zone, Change), ApiError> {
        let name = Name::parse(&new.name).map_err(|e| {
            ApiError::new(
                Code::InvalidDomainName,
                format!("{} is not a valid domain name: {e}", new.name),
            )
        })?;
        check_new(&new)?;
        let reference = (caller.account.clone(), new.caller_reference.clone());
        if self.zone_references.contains(&reference) {
            return Err(ApiError::new(
                Code::HostedZoneAlreadyExists,
                format!(
                    "A hosted zone has already been created with the specified caller reference: {}",
                    new.caller_reference
                ),
            ));
        }
        self.check_conflicts(&name, &new)?;
        if self.zone_count(caller) >= MAX_ZONES {
            return Err(ApiError::new(
                Code::TooManyHostedZones,
                "This operation can't be completed because the current account has reached the limit on the number of hosted zones.",
            ));
        }
        let id = self.new_zone_id(&new)?;
        let servers = name_servers(new.delegation_set.as_deref().unwrap_or(&id));
        let mut zone = Zone::new(id.clone(), name, caller.account.clone(), servers);
        zone.caller_reference = new.caller_reference;
        zone.comment = new.comment;
        zone.private = new.private || new.vpc.is_some();
        zone.vpc = new.vpc;
        zone.delegation_set = new.delegation_set;
        self.zone_references.insert(reference);
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

    /// DeleteHostedZone.
    ///
    /// # Errors
    /// A zone with more than its NS and SOA, with protections, or busy.
    pub fn delete_zone(&mut self, caller: &Caller, id: &str, now_ms: u64) -> Result<Change, ApiError> {
        let zone = self.zone_of(caller, id)?;
        self.not_busy(id, now_ms)?;
        // Its own NS and SOA can be changed, never removed.
        if zone.len() > 2 {
            return Err(ApiError::new(
                Code::HostedZoneNotEmpty,
                "The specified hosted zone contains non-required resource record sets and so cannot be deleted.",
            ));
        }
        if !zone.protections.is_empty() {
            return Err(ApiError::new(
                Code::HostedZoneNotEmpty,
                "The specified hosted zone contains resource record set protections and so cannot be deleted.",
            ));
        }
        self.zones.remove(id);
        self.tags.forget(Kind::HostedZone, id);
        Ok(self.new_change(caller, None, now_ms))
    }

    /// UpdateHostedZoneComment; `None` takes the comment away.
    ///
    /// # Errors
    /// No such zone, or a comment that is too long.
    pub fn set_zone_comment(&mut self, caller: &Caller, id: &str, comment: Option<&str>) -> Result<&Zone, ApiError> {
        self.zone_of(caller, id)?;
        check_comment(comment)?;
        if let Some(zone) = self.zones.get_mut(id) {
            zone.comment = comment.map(str::to_owned);
        }
        self.zone_of(caller, id)
    }

    /// How many zones the caller's account has.
    #[must_use]
    pub fn zone_count(&self, caller: &Caller) -> usize {
        self.zones.values().filter(|z| z.account == caller.account).count()
    }

    /// GetAccountLimit.
    ///
    /// # Errors
    /// `InvalidInput` for a limit that does not exist.
    pub fn account_limit(&self, caller: &Caller, kind: &str) -> Result<Limit, ApiError> {
        let (value, count) = match kind {
            "MAX_HEALTH_CHECKS_BY_OWNER" => (MAX_HEALTH_CHECKS, self.health.of(caller).count()),
            "MAX_HOSTED_ZONES_BY_OWNER" => (MAX_ZONES, self.zone_count(caller)),
            // There are none of these here; the values are the defaults of the guide.
            "MAX_TRAFFIC_POLICY_INSTANCES_BY_OWNER" => (5, 0),
            "MAX_REUSABLE_DELEGATION_SETS_BY_OWNER" => (100, 0),
            "MAX_TRAFFIC_POLICIES_BY_OWNER" => (50, 0),
            other => {
                return Err(not_in_enumeration(
                    other,
                    "[MAX_HEALTH_CHECKS_BY_OWNER, MAX_HOSTED_ZONES_BY_OWNER, MAX_TRAFFIC_POLICY_INSTANCES_BY_OWNER, MAX_REUSABLE_DELEGATION_SETS_BY_OWNER, MAX_TRAFFIC_POLICIES_BY_OWNER]",
                ));
            }
        };
        Ok(Limit {
            kind: kind.to_owned(),
            value,
            count,
        })
    }

    /// GetHostedZoneLimit.
    ///
    /// # Errors
    /// No such zone or limit, or the VPCs of a public zone.
    pub fn zone_limit(&self, caller: &Caller, id: &str, kind: &str) -> Result<Limit, ApiError> {
        let zone = self.zone_of(caller, id)?;
        let (value, count) = match kind {
            "MAX_RRSETS_BY_ZONE" => (self.rules.max_sets_per_zone, zone.len()),
            "MAX_VPCS_ASSOCIATED_BY_ZONE" if zone.private => (MAX_VPCS, usize::from(zone.vpc.is_some())),
            "MAX_VPCS_ASSOCIATED_BY_ZONE" => {
                return Err(ApiError::new(
                    Code::HostedZoneNotPrivate,
                    "The specified hosted zone is a public hosted zone, not a private hosted zone.",
                ));
            }
            other => {
                return Err(not_in_enumeration(
                    other,
                    "[MAX_RRSETS_BY_ZONE, MAX_VPCS_ASSOCIATED_BY_ZONE]",
                ));
            }
        };
        Ok(Limit {
            kind: kind.to_owned(),
            value,
            count,
        })
    }

    /// What a new zone may not share with the others of its name, its parents and its children.
    fn check_conflicts(&self, name: &Name, new: &NewZone) -> Result<(), ApiError> {
        let related = |zone: &&Zone| name.is_within(&zone.name) || zone.name.is_within(name);
        if let Some(vpc) = &new.vpc {
            let taken = self
                .zones
                .values()
                .any(|z| z.name == *name && z.vpc.as_ref() == Some(vpc));
            return match taken {
                true => Err(ApiError::new(
                    Code::ConflictingDomainExists,
                    format!(
                        "The VPC {} is already associated with a hosted zone of the name {name}",
                        vpc.id
                    ),
                )),
                false => Ok(()),
            };
        }
        let Some(set) = &new.delegation_set else { return Ok(()) };
        let shares = |zone: &Zone| zone.delegation_set.as_ref() == Some(set);
        match self.zones.values().filter(related).find(|z| shares(z)) {
            Some(zone) => Err(ApiError::new(
                Code::ConflictingDomainExists,
                format!(
                    "The delegation set {set} is already in use by the hosted zone {}",
                    zone.name
                ),
            )),
            None => Ok(()),
        }
    }
}

/// Lengths, and that a private zone and a VPC go together.
fn check_new(new: &NewZone) -> Result<(), ApiError> {
    if new.caller_reference.is_empty() {
        return Err(too_short("Nonce"));
    }
    if new.caller_reference.chars().count() > MAX_REFERENCE {
        return Err(too_long(&new.caller_reference, MAX_REFERENCE, "Nonce"));
    }
    check_comment(new.comment.as_deref())?;
    if let Some(set) = &new.delegation_set
        && set.chars().count() > MAX_DELEGATION_SET
    {
        return Err(too_long(set, MAX_DELEGATION_SET, "ResourceId"));
    }
    match &new.vpc {
        None if new.private => Err(ApiError::invalid_input(
            "When you're creating a private hosted zone (when you specify true for PrivateZone), you must also specify values for VPCId and VPCRegion.",
        )),
        Some(vpc) if !is_vpc_id(&vpc.id) => Err(ApiError::new(
            Code::InvalidVPCId,
            format!("The VPC {} does not exist or is not valid.", vpc.id),
        )),
        Some(_) if new.delegation_set.is_some() => Err(ApiError::invalid_input(
            "A reusable delegation set can't be used for a private hosted zone.",
        )),
        Some(_) | None => Ok(()),
    }
}

fn check_comment(comment: Option<&str>) -> Result<(), ApiError> {
    match comment {
        Some(text) if text.chars().count() > MAX_COMMENT => Err(too_long(text, MAX_COMMENT, "ResourceDescription")),
        _ => Ok(()),
    }
}

fn is_vpc_id(id: &str) -> bool {
    id.strip_prefix("vpc-")
        .is_some_and(|rest| matches!(rest.len(), 8 | 17) && rest.bytes().all(|b| b.is_ascii_hexdigit()))
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
fn name_servers(seed: &str) -> Vec<String> {
    let digest = Sha256::digest(seed);
    ["com", "net", "org", "co.uk"]
        .iter()
        .zip(digest.iter())
        .enumerate()
        .map(|(nth, (tld, byte))| format!("ns-{}.awsdns-{:02}.{tld}", nth * 512 + usize::from(*byte), byte % 64))
        .collect()
}
