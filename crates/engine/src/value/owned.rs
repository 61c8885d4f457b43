//! Proof that a record set is the hub's to delete.
//!
//! Invariant: an `Owned<RecordSet>` exists only for a set whose ownership the zone itself proved: it lies under a
//! claim of this hub, or an ownership TXT names the hub (or, for a release after the fence, the member and the very
//! DNSEndpoint), or it is the hub's fence, or a person confirmed exactly it. Only an owned set can be deleted or
//! replaced (DESIGN.md, section 6 and law 2).

use serde::Serialize;

use super::ids::HubId;
use super::ownership::{ClaimText, FenceText, OwnershipText};
use super::record::{RecordData, RecordSet, RecordType, Routing};
use super::shared_name::SharedName;
use super::short_hash::short_hash;
use crate::value::address::PLACEHOLDER;

/// A value whose ownership is proven.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Owned<T>(T);

impl<T> Owned<T> {
    /// The value.
    pub fn get(&self) -> &T {
        &self.0
    }
}

/// Who an ownership TXT must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// The hub itself.
    Hub(&'a HubId),
    /// A member that may write it no more: its owner id and the DNSEndpoint (`crd/<namespace>/<name>`).
    ReleasedMember {
        /// `--txt-owner-id`.
        owner_id: &'a str,
        /// The resource.
        resource: &'a str,
    },
}

/// A claim that the zone holds for this hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldClaim {
    shared: SharedName,
    text: ClaimText,
}

impl HeldClaim {
    /// Proven by the claim TXT as read from the zone: of this hub, under the claim's name of `shared`.
    pub fn read(shared: &SharedName, txt: &RecordSet, hub: &HubId) -> Option<Self> {
        let text = single_txt(txt).and_then(ClaimText::read)?;
        let ours = txt.name == *shared.claim() && text.hub == *hub;
        ours.then(|| Self {
            shared: shared.clone(),
            text,
        })
    }

    /// The shared name it is for.
    pub fn shared(&self) -> &SharedName {
        &self.shared
    }

    /// Whose it is.
    pub fn text(&self) -> &ClaimText {
        &self.text
    }
}

impl Owned<RecordSet> {
    /// A set under a held claim: the claim itself, a set of the shared name or of a group that carries an identifier
    /// of this hub, the placeholder, a set of simple routing that the claim covers, or a simple set of an IP group.
    pub fn under_claim(set: &RecordSet, claim: &HeldClaim) -> Option<Self> {
        let shared = &claim.shared;
        shared.covers(&set.name).then_some(())?;
        let own = match &set.routing {
            Routing::Foreign { .. } => false,
            Routing::Weighted { id, .. } | Routing::Latency { id, .. } | Routing::Failover { id, .. } => id
                .as_str()
                .strip_prefix(claim.text.hub.as_str())
                .is_some_and(|rest| rest.starts_with('/')),
            Routing::Simple if set.name == *shared.claim() => single_txt(set).and_then(ClaimText::read).is_some(),
            Routing::Simple if set.name == *shared.name() => {
                is_placeholder(set) || claim.text.simple.contains(&digest(set))
            }
            Routing::Simple => {
                shared.is_ip_group(&set.name) && matches!(set.record_type, RecordType::A | RecordType::Aaaa)
            }
        };
        (own && set.data != RecordData::Opaque).then(|| Self(set.clone()))
    }

    /// A record with its ownership TXT, both as read from the zone, or the TXT itself (then `set == txt`).
    pub fn by_ownership(set: &RecordSet, txt: &RecordSet, owner: Owner<'_>) -> Option<Self> {
        let text = single_txt(txt).and_then(OwnershipText::read)?;
        let named = match owner {
            Owner::Hub(hub) => text.owner == hub.as_str(),
            Owner::ReleasedMember { owner_id, resource } => {
                text.owner == owner_id && text.resource.as_deref() == Some(resource)
            }
        };
        let writable = set.routing == Routing::Simple && set.data != RecordData::Opaque;
        (named && writable).then(|| Self(set.clone()))
    }

    /// The hub's own fence record.
    pub fn fence(set: &RecordSet, hub: &HubId) -> Option<Self> {
        single_txt(set)
            .and_then(|value| FenceText::read(value, hub))
            .map(|_| Self(set.clone()))
    }

    /// A set that a person agreed to replace; `hash` is what they confirmed and `shown` what was shown for this set.
    pub fn confirmed(set: &RecordSet, hash: &str, shown: &str) -> Option<Self> {
        (!shown.is_empty() && hash == shown && is_replaceable(set)).then(|| Self(set.clone()))
    }
}

/// Whether a set of somebody else is known exactly, as Route 53 asks of whoever deletes it.
pub fn is_replaceable(set: &RecordSet) -> bool {
    set.data != RecordData::Opaque && !matches!(set.routing, Routing::Foreign { .. })
}

/// What a claim says of a set of simple routing that it covers: a digest of type and answer, the same in every version.
pub fn digest(set: &RecordSet) -> String {
    let answer = match &set.data {
        RecordData::Values { ttl, values } => format!("{ttl} {}", values.join(" ")),
        RecordData::Alias {
            zone,
            target,
            evaluate_target_health,
        } => format!("alias {zone} {target} {evaluate_target_health}"),
        RecordData::Opaque => "opaque".to_owned(),
    };
    short_hash(&format!("{} {answer}", set.record_type))
}

/// The value of a TXT set that has just one; ExternalDNS looks at the first only (registry/txt/registry.go).
pub fn single_txt(set: &RecordSet) -> Option<&str> {
    match &set.data {
        RecordData::Values { values, .. } if set.record_type == RecordType::Txt && values.len() == 1 => {
            values.first().map(AsRef::as_ref)
        }
        _ => None,
    }
}

/// Whether this is the placeholder of a shared or cluster name: a simple A of 192.0.2.1.
pub fn is_placeholder(set: &RecordSet) -> bool {
    let RecordData::Values { values, .. } = &set.data else {
        return false;
    };
    let simple = set.record_type == RecordType::A && set.routing == Routing::Simple;
    simple && values.len() == 1 && values.iter().all(|value| value.parse() == Ok(PLACEHOLDER))
}
