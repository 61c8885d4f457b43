//! Routing policies and the attributes that select among the sets of one (name, type) (route53.md 1.5).
//!
//! Invariant: attributes are checked, places and collections exist as far as Route 53 has a list of them; a latency
//! region alone is judged later (`group`), because Route 53 words that as an error of the batch.
//! Deliberately absent: AZ affinity and traffic policies; `shape` refuses them by name.

use super::places::Place;

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

/// Where a geoproximity set's resource is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// An AWS region.
    Region(String),
    /// A local zone group; its place is taken for that of the region it belongs to.
    LocalZoneGroup(String),
    /// Degrees as they were written, so that they come back the same: latitude, then longitude.
    Coordinates(String, String),
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
    /// Where the client is.
    Geolocation(Place),
    /// Where the resource is, and by how much its area grows or shrinks, -99 to 99.
    Geoproximity(Site, i8),
    /// Up to eight healthy sets at once.
    Multivalue,
    /// CIDR collection and the location in it; `*` is the default location.
    Cidr {
        /// Id of the collection.
        collection: String,
        /// Name of the location.
        location: String,
    },
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
            Self::Geolocation(_) => "geolocation",
            Self::Geoproximity(..) => "geoproximity",
            Self::Multivalue => "multivalue answer",
            Self::Cidr { .. } => "IP-based",
        }
    }

    /// Most sets of one (name, type) under this policy (route53.md 1.2); failover has its own two places.
    #[must_use]
    pub fn most_sets(&self) -> usize {
        match self {
            Self::Geoproximity(..) => 30,
            Self::Simple
            | Self::Weighted(_)
            | Self::Latency(_)
            | Self::Failover(_)
            | Self::Geolocation(_)
            | Self::Multivalue
            | Self::Cidr { .. } => 100,
        }
    }

    /// Whether two sets are of one policy, whatever its attribute.
    #[must_use]
    pub fn same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
