//! Where a DNS client is: from EDNS Client Subnet or source address to an AWS region and a place on earth.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::core::places::Whereabouts;
use crate::core::regions::{self, Region};

/// What is wrong with the map of regions.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// Not a network.
    #[error("'{0}' is not a network; write one such as 203.0.113.0/24")]
    Network(String),
    /// Not a place.
    #[error(
        "locations: '{0}' is not a place; write a continent, country and subdivision such as EU, EU-DE or NA-US-CA"
    )]
    Place(String),
    /// Not a region.
    #[error("'{0}' is not a region that Route 53 knows; write one such as eu-west-1")]
    Region(String),
}

/// One client, as far as answers depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Client<'a> {
    /// Its network's address if the query names one, else the address that it asks from.
    pub address: IpAddr,
    /// The nearest AWS region.
    pub region: &'a Region,
    /// Its place, if it is known.
    pub whereabouts: Option<&'a Whereabouts>,
}

/// Networks, their regions and their places.
#[derive(Debug)]
pub struct Clients {
    /// Longest prefix first.
    regions: Vec<(IpNet, &'static Region)>,
    /// Longest prefix first.
    places: Vec<(IpNet, Whereabouts)>,
    default: &'static Region,
}

impl Clients {
    /// Reads the maps of the configuration: network to region, network to place.
    ///
    /// # Errors
    /// A network, region or place that is none.
    pub fn new(
        regions: &BTreeMap<String, String>,
        places: &BTreeMap<String, String>,
        default: &str,
    ) -> Result<Self, ClientsError> {
        let region = |name: &str| regions::find(name).ok_or_else(|| ClientsError::Region(name.to_owned()));
        let place = |name: &str| Whereabouts::parse(name).ok_or_else(|| ClientsError::Place(name.to_owned()));
        Ok(Self {
            regions: by_prefix(regions, region)?,
            places: by_prefix(places, place)?,
            default: region(default)?,
        })
    }

    /// The client with this subnet, if its query carries one, else with the address that it came from.
    #[must_use]
    pub fn client(&self, subnet: Option<IpAddr>, source: IpAddr) -> Client<'_> {
        let address = subnet.unwrap_or(source);
        Client {
            address,
            region: find(&self.regions, address).copied().unwrap_or(self.default),
            whereabouts: find(&self.places, address),
        }
    }
}

fn by_prefix<T>(
    map: &BTreeMap<String, String>,
    read: impl Fn(&str) -> Result<T, ClientsError>,
) -> Result<Vec<(IpNet, T)>, ClientsError> {
    let mut networks = map
        .iter()
        .map(|(network, text)| {
            let parsed: IpNet = network.parse().map_err(|_| ClientsError::Network(network.clone()))?;
            Ok((parsed, read(text)?))
        })
        .collect::<Result<Vec<_>, ClientsError>>()?;
    networks.sort_by_key(|(network, _)| std::cmp::Reverse(network.prefix_len()));
    Ok(networks)
}

fn find<T>(networks: &[(IpNet, T)], address: IpAddr) -> Option<&T> {
    networks
        .iter()
        .find(|(network, _)| network.contains(&address))
        .map(|(_, found)| found)
}
