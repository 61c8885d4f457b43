//! A record set as it is stored, and the key that it is stored under.
//!
//! Invariant: what is here has passed `shape` and `values`; names are in their one spelling.
//! Deliberately absent: record types beyond A, AAAA, CNAME, NS, SOA and TXT, and routing policies beyond simple,
//! weighted, latency and failover; `shape` refuses them by name.

use std::fmt;

use super::names::Name;

/// Record types that this double keeps, declared in the ASCII order of their names, which is the list order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordType {
    /// IPv4 address.
    A,
    /// IPv6 address.
    Aaaa,
    /// Canonical name; excludes every other type at its name.
    Cname,
    /// Name server.
    Ns,
    /// Start of authority; at the zone's own name only.
    Soa,
    /// Text.
    Txt,
}

impl RecordType {
    /// Every type, in list order.
    pub const ALL: [Self; 6] = [Self::A, Self::Aaaa, Self::Cname, Self::Ns, Self::Soa, Self::Txt];

    /// The name in the API and in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Cname => "CNAME",
            Self::Ns => "NS",
            Self::Soa => "SOA",
            Self::Txt => "TXT",
        }
    }

    /// The type with this name in the API.
    #[must_use]
    pub fn from_api(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The role of a failover record set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Answers while it is healthy.
    Primary,
    /// Answers while PRIMARY cannot.
    Secondary,
}

impl Role {
    /// The name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "PRIMARY",
            Self::Secondary => "SECONDARY",
        }
    }
}

/// Routing policy with the attribute that selects it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// One set, no set identifier.
    Simple,
    /// Share of answers, 0 to 255.
    Weighted(u8),
    /// AWS region that the latency is measured to.
    Latency(String),
    /// PRIMARY or SECONDARY.
    Failover(Role),
}

impl Policy {
    /// The word that Route 53's messages use for a group of this policy.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Weighted(_) => "weighted",
            Self::Latency(_) => "latency",
            Self::Failover(_) => "failover",
        }
    }

    /// Whether two sets are of one policy, whatever its attribute.
    #[must_use]
    pub fn same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
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
