//! Where a DNS client is: from EDNS Client Subnet or source address to an AWS region.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::core::regions::{self, Region};

/// What is wrong with the map of regions.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// Not a network.
    #[error("regions: '{0}' is not a network; write one such as 203.0.113.0/24")]
    Network(String),
    /// Not a region.
    #[error("'{0}' is not a region that Route 53 knows; write one such as eu-west-1")]
    Region(String),
}

/// Networks and their regions.
#[derive(Debug)]
pub struct Clients {
    /// Longest prefix first.
    networks: Vec<(IpNet, &'static Region)>,
    default: &'static Region,
}

impl Clients {
    /// Reads the map of the configuration.
    ///
    /// # Errors
    /// A network or region that is none.
    pub fn new(map: &BTreeMap<String, String>, default: &str) -> Result<Self, ClientsError> {
        let region = |name: &str| regions::find(name).ok_or_else(|| ClientsError::Region(name.to_owned()));
        let mut networks = map
            .iter()
            .map(|(network, name)| {
                let parsed: IpNet = network.parse().map_err(|_| ClientsError::Network(network.clone()))?;
                Ok((parsed, region(name)?))
            })
            .collect::<Result<Vec<_>, ClientsError>>()?;
        networks.sort_by_key(|(network, _)| std::cmp::Reverse(network.prefix_len()));
        Ok(Self {
            networks,
            default: region(default)?,
        })
    }

    /// The region of a client: by its subnet if the query carries one, else by the address it came from.
    #[must_use]
    pub fn region(&self, subnet: Option<IpAddr>, source: IpAddr) -> &'static Region {
        let address = subnet.unwrap_or(source);
        self.networks
            .iter()
            .find(|(network, _)| network.contains(&address))
            .map_or(self.default, |(_, region)| region)
    }
}
