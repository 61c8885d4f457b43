//! Addresses of load balancers: configured ones, or made up from the name and always the same.
//!
//! Made-up addresses lie in 198.18.0.0/15 (RFC 2544) and 2001:db8::/32 (RFC 3849).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sha2::{Digest, Sha256};

use crate::core::elb::{self, LoadBalancer};
use crate::core::names::Name;
use crate::core::record::RecordType;

/// Seconds that an answer from a load balancer may be cached (route53.md 1.6).
pub const TTL: u32 = 60;

/// Configured addresses by the name without `dualstack.`.
#[derive(Debug, Default)]
pub struct LoadBalancers(BTreeMap<Name, Vec<IpAddr>>);

impl LoadBalancers {
    /// Reads the map of the configuration.
    ///
    /// # Errors
    /// A name that is not that of a load balancer, with what to write.
    pub fn new(map: &BTreeMap<String, Vec<IpAddr>>) -> Result<Self, String> {
        let mut configured = BTreeMap::new();
        for (text, addresses) in map {
            let parsed = Name::parse(text).ok().and_then(|name| elb::parse(&name));
            let load_balancer = parsed.ok_or_else(|| {
                format!(
                    "'{text}' is not a load balancer's name; write NAME.REGION.elb.amazonaws.com or NAME.elb.REGION.amazonaws.com"
                )
            })?;
            configured.insert(load_balancer.name, addresses.clone());
        }
        Ok(Self(configured))
    }

    /// Addresses of the type's family; none for other types, and no IPv6 where the name has none.
    #[must_use]
    pub fn addresses(&self, load_balancer: &LoadBalancer, rtype: RecordType) -> Vec<IpAddr> {
        let wanted = |ip: &IpAddr| match rtype {
            RecordType::A => ip.is_ipv4(),
            RecordType::Aaaa => ip.is_ipv6() && load_balancer.has_ipv6(),
            _ => false,
        };
        let all = match self.0.get(&load_balancer.name) {
            Some(configured) => configured.clone(),
            None => made_up(&load_balancer.name).to_vec(),
        };
        all.into_iter().filter(wanted).collect()
    }
}

/// One address of each family for a load balancer of this name (without `dualstack.`).
#[must_use]
pub fn made_up(name: &Name) -> [IpAddr; 2] {
    let digest: [u8; 32] = Sha256::digest(name.as_str()).into();
    let [a, b, c, d, e, f, ..] = digest;
    let v4 = Ipv4Addr::new(198, 18 + (a & 1), b, c);
    let v6 = Ipv6Addr::new(
        0x2001,
        0x0db8,
        u16::from_be_bytes([a, b]),
        u16::from_be_bytes([c, d]),
        0,
        0,
        0,
        u16::from_be_bytes([e, f]),
    );
    [v4.into(), v6.into()]
}
