//! What a load balancer publishes: IP addresses, an AWS load balancer to alias, or another name.
//!
//! Invariant: `Ips` is never empty; `Alias` names a load balancer whose canonical hosted zone is known.
//! Deliberately absent: which observed address may be used (`rule/usable_address.rs`).

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dns_name::DnsName;
use super::elb;
use super::ids::HostedZoneId;
use super::record::RecordType;

/// RFC 5737 TEST-NET-1: the placeholder's address, which nobody routes.
pub const PLACEHOLDER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// A usable address of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Address {
    /// IP addresses, at least one of either family; sorted, none twice.
    Ips {
        /// IPv4.
        v4: Arc<[Ipv4Addr]>,
        /// IPv6.
        v6: Arc<[Ipv6Addr]>,
    },
    /// An AWS load balancer, published as an alias record.
    Alias {
        /// Its canonical hosted zone (region and kind).
        zone: HostedZoneId,
        /// Its name, with the `dualstack.` prefix where AWS has one.
        target: DnsName,
        /// Whether AAAA is published too: the Service is dual-stack.
        dual_stack: bool,
    },
    /// Any other name, published as a CNAME.
    Name(DnsName),
}

/// The kinds of address: a change between them must hold before it is believed (DESIGN.md, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AddressKind {
    /// IP addresses.
    Ips,
    /// An AWS load balancer.
    Alias,
    /// Another name.
    Name,
}

impl Address {
    /// From IPs; `None` if there are none.
    pub fn from_ips(ips: impl IntoIterator<Item = IpAddr>) -> Option<Self> {
        let (mut v4, mut v6) = (BTreeSet::new(), BTreeSet::new());
        for ip in ips {
            match ip {
                IpAddr::V4(ip) => drop(v4.insert(ip)),
                IpAddr::V6(ip) => drop(v6.insert(ip)),
            }
        }
        (!v4.is_empty() || !v6.is_empty()).then(|| Self::Ips {
            v4: v4.into_iter().collect(),
            v6: v6.into_iter().collect(),
        })
    }

    /// From a load balancer's name: an alias if AWS's name for it tells its hosted zone, else a name.
    pub fn from_name(name: DnsName, dual_stack: bool) -> Self {
        match elb::canonical(&name) {
            Some((zone, target)) => Self::Alias {
                zone,
                target,
                dual_stack,
            },
            None => Self::Name(name),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> AddressKind {
        match self {
            Self::Ips { .. } => AddressKind::Ips,
            Self::Alias { .. } => AddressKind::Alias,
            Self::Name(_) => AddressKind::Name,
        }
    }

    /// Whether it has records of this type (A or AAAA for IPs and aliases, CNAME for names).
    pub fn has(&self, record_type: RecordType) -> bool {
        match (self, record_type) {
            (Self::Ips { v4, .. }, RecordType::A) => !v4.is_empty(),
            (Self::Ips { v6, .. }, RecordType::Aaaa) => !v6.is_empty(),
            (Self::Alias { .. }, RecordType::A) | (Self::Name(_), RecordType::Cname) => true,
            (Self::Alias { dual_stack, .. }, RecordType::Aaaa) => *dual_stack,
            _ => false,
        }
    }

    /// As users know it: the IPs, or the name.
    pub fn display(&self) -> Vec<String> {
        match self {
            Self::Ips { v4, v6 } => v4
                .iter()
                .map(ToString::to_string)
                .chain(v6.iter().map(ToString::to_string))
                .collect(),
            Self::Alias { target, .. } => vec![elb::without_dualstack(target).to_owned()],
            Self::Name(name) => vec![name.to_string()],
        }
    }
}
