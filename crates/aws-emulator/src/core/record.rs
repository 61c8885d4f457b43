//! A record set as it is stored, and the key that it is stored under.
//!
//! Invariant: what is here has passed `shape` and `values`; names are in their one spelling.
//! Deliberately absent: routing policies, which are in `policy`.

use std::fmt;

use super::names::Name;
pub use super::policy::{Policy, Role};

/// Record types of Route 53, declared in the ASCII order of their names, which is the list order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordType {
    /// IPv4 address.
    A,
    /// IPv6 address.
    Aaaa,
    /// Certification authorities that may issue (RFC 8659).
    Caa,
    /// Canonical name; excludes every other type at its name.
    Cname,
    /// Delegation signer (RFC 4034).
    Ds,
    /// Service binding of HTTPS (RFC 9460).
    Https,
    /// Mail exchanger.
    Mx,
    /// Naming authority pointer (RFC 3403).
    Naptr,
    /// Name server.
    Ns,
    /// Pointer.
    Ptr,
    /// Start of authority; at the zone's own name only.
    Soa,
    /// Sender policy; text, out of use since RFC 7208.
    Spf,
    /// Service location (RFC 2782).
    Srv,
    /// Fingerprint of an SSH key (RFC 4255).
    Sshfp,
    /// Service binding (RFC 9460).
    Svcb,
    /// Certificate association (RFC 6698).
    Tlsa,
    /// Text.
    Txt,
}

impl RecordType {
    /// Every type, in list order.
    pub const ALL: [Self; 17] = [
        Self::A,
        Self::Aaaa,
        Self::Caa,
        Self::Cname,
        Self::Ds,
        Self::Https,
        Self::Mx,
        Self::Naptr,
        Self::Ns,
        Self::Ptr,
        Self::Soa,
        Self::Spf,
        Self::Srv,
        Self::Sshfp,
        Self::Svcb,
        Self::Tlsa,
        Self::Txt,
    ];

    /// The name in the API and in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Caa => "CAA",
            Self::Cname => "CNAME",
            Self::Ds => "DS",
            Self::Https => "HTTPS",
            Self::Mx => "MX",
            Self::Naptr => "NAPTR",
            Self::Ns => "NS",
            Self::Ptr => "PTR",
            Self::Soa => "SOA",
            Self::Spf => "SPF",
            Self::Srv => "SRV",
            Self::Sshfp => "SSHFP",
            Self::Svcb => "SVCB",
            Self::Tlsa => "TLSA",
            Self::Txt => "TXT",
        }
    }

    /// The number in DNS messages (IANA registry of resource record types).
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            Self::A => 1,
            Self::Ns => 2,
            Self::Cname => 5,
            Self::Soa => 6,
            Self::Ptr => 12,
            Self::Mx => 15,
            Self::Txt => 16,
            Self::Aaaa => 28,
            Self::Srv => 33,
            Self::Naptr => 35,
            Self::Ds => 43,
            Self::Sshfp => 44,
            Self::Tlsa => 52,
            Self::Svcb => 64,
            Self::Https => 65,
            Self::Spf => 99,
            Self::Caa => 257,
        }
    }

    /// The type with this name in the API.
    #[must_use]
    pub fn from_api(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }

    /// The type with this number in DNS messages.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.number() == number)
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an alias points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Hosted zone id of the target: the own zone's, or a load balancer's canonical one.
    pub zone_id: String,
    /// Name of the target.
    pub name: Name,
    /// `EvaluateTargetHealth`.
    pub evaluate_target_health: bool,
}

/// What a record set answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Own values.
    Records {
        /// Seconds that an answer may be cached.
        ttl: u32,
        /// Values as they were sent.
        values: Vec<String>,
    },
    /// The answer of another record set or load balancer; no TTL of its own.
    Alias(Alias),
}

/// One record set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSet {
    /// Name.
    pub name: Name,
    /// Type.
    pub rtype: RecordType,
    /// Set identifier; present exactly when the policy is not simple.
    pub set_id: Option<String>,
    /// Routing policy.
    pub policy: Policy,
    /// Values or alias.
    pub data: Data,
    /// Health check id.
    pub health_check: Option<String>,
}

impl RecordSet {
    /// The key that CREATE, UPSERT and DELETE find this set by.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            order: self.name.order().into(),
            rtype: self.rtype,
            set_id: self.set_id.as_deref().map(Into::into),
        }
    }

    /// TTL of a set with own values.
    #[must_use]
    pub fn ttl(&self) -> Option<u32> {
        match &self.data {
            Data::Records { ttl, .. } => Some(*ttl),
            Data::Alias(_) => None,
        }
    }

    /// The alias, if it is one.
    #[must_use]
    pub fn alias(&self) -> Option<&Alias> {
        match &self.data {
            Data::Records { .. } => None,
            Data::Alias(alias) => Some(alias),
        }
    }
}

/// Where a record set stands in the zone; `Ord` is the order of ListResourceRecordSets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// [`Name::order`] of the name.
    pub order: Box<str>,
    /// Type.
    pub rtype: RecordType,
    /// Set identifier.
    pub set_id: Option<Box<str>>,
}

impl Key {
    /// The name that `order` was made from.
    #[must_use]
    pub fn name(&self) -> Name {
        Name::from_order(&self.order)
    }
}
