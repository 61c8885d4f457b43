//! Record sets as Route 53 stores them, with equality as Route 53 sees it.
//!
//! Invariant: values are sorted, names are in one spelling, so `==` is what an exact DELETE compares. A set with a
//! routing policy that Truce does not write is `Routing::Foreign`: it can be seen, never written or deleted.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dns_name::{DnsName, RecordName};
use super::ids::{HostedZoneId, SetIdentifier};
use super::region::Region;

macro_rules! record_types {
    ($($variant:ident = $text:literal),* $(,)?) => {
        /// The record types of Route 53 (API reference, ResourceRecordSet.Type).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each variant is the type of that name")]
        pub enum RecordType { $($variant),* }

        impl RecordType {
            /// As written in zone files.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// From its text; `None` for a type that Route 53 did not have when this was written.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

record_types! {
    A = "A", Aaaa = "AAAA", Caa = "CAA", Cname = "CNAME", Ds = "DS", Https = "HTTPS", Mx = "MX", Naptr = "NAPTR",
    Ns = "NS", Ptr = "PTR", Soa = "SOA", Spf = "SPF", Srv = "SRV", Sshfp = "SSHFP", Svcb = "SVCB", Tlsa = "TLSA",
    Txt = "TXT",
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The two roles of failover routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FailoverRole {
    /// Answers while healthy.
    Primary,
    /// Answers else.
    Secondary,
}

/// How a set takes part in its (name, type) group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Routing {
    /// Alone under its name and type.
    Simple,
    /// By share of the sum of weights.
    Weighted {
        /// Names the set inside its group.
        id: SetIdentifier,
        /// 0 to 255.
        weight: u8,
    },
    /// By the resolver's latency to a region.
    Latency {
        /// Names the set inside its group.
        id: SetIdentifier,
        /// One set a region.
        region: Region,
    },
    /// Primary while healthy, else secondary.
    Failover {
        /// Names the set inside its group.
        id: SetIdentifier,
        /// At most one set a role.
        role: FailoverRole,
    },
    /// A policy that Truce does not write (geolocation, multivalue, IP-based, a region it does not know ...).
    Foreign {
        /// Names the set inside its group.
        id: SetIdentifier,
    },
}

impl Routing {
    /// The set identifier; `None` for a simple set.
    pub fn id(&self) -> Option<&SetIdentifier> {
        match self {
            Self::Simple => None,
            Self::Weighted { id, .. } | Self::Latency { id, .. } | Self::Failover { id, .. } | Self::Foreign { id } => {
                Some(id)
            }
        }
    }
}

/// What a set answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RecordData {
    /// Values with a TTL.
    Values {
        /// Seconds.
        ttl: u32,
        /// Sorted; order has no meaning to Route 53.
        values: Arc<[Arc<str>]>,
    },
    /// An alias; it has no TTL of its own.
    Alias {
        /// The zone of the target: a load balancer's canonical zone, or the own zone.
        zone: HostedZoneId,
        /// The target.
        target: DnsName,
        /// Whether the target's health decides.
        evaluate_target_health: bool,
    },
    /// Something that cannot be repeated exactly (a traffic policy instance): seen, never written.
    Opaque,
}

impl RecordData {
    /// Values, sorted.
    pub fn values(ttl: u32, values: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        let mut values: Vec<Arc<str>> = values.into_iter().map(Into::into).collect();
        values.sort();
        Self::Values {
            ttl,
            values: values.into(),
        }
    }
}

/// One resource record set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordSet {
    /// Where.
    pub name: RecordName,
    /// Its type.
    pub record_type: RecordType,
    /// Its place in the group.
    pub routing: Routing,
    /// What it answers.
    pub data: RecordData,
    /// A health check's id, if one is attached.
    pub health_check: Option<Arc<str>>,
}

/// What CREATE and UPSERT match on: name, type, set identifier (`facts`: Route 53 API reference, Change).
pub type SetKey = (RecordName, RecordType, Option<SetIdentifier>);

impl RecordSet {
    /// Its key.
    pub fn key(&self) -> SetKey {
        (self.name.clone(), self.record_type, self.routing.id().cloned())
    }

    /// Elements it counts in a batch: one per value, an alias counts one (Route 53 quotas).
    pub fn elements(&self) -> usize {
        match &self.data {
            RecordData::Values { values, .. } => values.len(),
            RecordData::Alias { .. } | RecordData::Opaque => 1,
        }
    }

    /// Characters of Value it counts in a batch (Route 53 quotas).
    pub fn characters(&self) -> usize {
        match &self.data {
            RecordData::Values { values, .. } => values.iter().map(|v| v.chars().count()).sum(),
            RecordData::Alias { .. } | RecordData::Opaque => 0,
        }
    }

    /// TTL in seconds that resolvers keep an answer: its own, or 60 for an alias to a load balancer (DESIGN.md,
    /// section 6; Route 53 developer guide, "alias records").
    pub fn cache_seconds(&self) -> u32 {
        match &self.data {
            RecordData::Values { ttl, .. } => *ttl,
            RecordData::Alias { .. } | RecordData::Opaque => 60,
        }
    }
}
