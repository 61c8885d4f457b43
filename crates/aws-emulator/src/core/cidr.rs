//! CIDR collections: which networks a location of IP-based routing stands for (the API reference of
//! ChangeCidrCollection; route53.md 1.5).
//!
//! Invariant: a network is in one location of a collection at most; a location without networks does not exist; the
//! version counts every change. Deliberately absent: sharing a collection with other accounts.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use sha2::{Digest, Sha256};

use super::accounts::Caller;
use super::error::{ApiError, Code};

/// Most collections of an account ("Quotas" of the guide).
pub const MAX_COLLECTIONS: usize = 5;
/// Most networks of a collection and of one request.
pub const MAX_NETWORKS: usize = 1000;
/// The longest IPv4 prefix that Route 53 takes.
const MAX_PREFIX_V4: u8 = 24;
/// The longest IPv6 prefix that Route 53 takes.
const MAX_PREFIX_V6: u8 = 48;
/// The location that answers for every network without one.
pub const DEFAULT_LOCATION: &str = "*";

/// One collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Id, a UUID.
    pub id: String,
    /// Account that owns it.
    pub account: String,
    /// Name, unique in the account.
    pub name: String,
    /// Caller reference of its creation.
    pub caller_reference: String,
    /// Counts from 1.
    pub version: u64,
    /// Network to the name of its location.
    networks: BTreeMap<IpNet, String>,
}

impl Collection {
    /// ARN, without the account, as all of Route 53's (Service Authorization Reference).
    #[must_use]
    pub fn arn(&self) -> String {
        format!("arn:aws:route53:::cidrcollection/{}", self.id)
    }

    /// Networks and their locations, by location, then network.
    #[must_use]
    pub fn blocks(&self) -> Vec<(&str, IpNet)> {
        let mut blocks: Vec<_> = self.networks.iter().map(|(net, name)| (name.as_str(), *net)).collect();
        blocks.sort_unstable();
        blocks
    }

    /// Whether the location exists; the default one always does.
    #[must_use]
    pub fn has_location(&self, name: &str) -> bool {
        name == DEFAULT_LOCATION || self.networks.values().any(|location| location == name)
    }

    /// Locations whose networks hold the address, the longest prefix first.
    #[must_use]
    pub fn locations_of(&self, address: IpAddr) -> Vec<&str> {
        let mut found: Vec<_> = self.networks.iter().filter(|(net, _)| net.contains(&address)).collect();
        found.sort_by_key(|(net, _)| std::cmp::Reverse(net.prefix_len()));
        found.into_iter().map(|(_, location)| location.as_str()).collect()
    }
}

/// What one entry of ChangeCidrCollection asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockChange {
    /// Location.
    pub location: String,
    /// `PUT`, else `DELETE_IF_EXISTS`.
    pub put: bool,
    /// Networks as sent.
    pub networks: Vec<String>,
}

/// All collections, by id.
#[derive(Debug, Default)]
pub struct Collections(BTreeMap<String, Collection>);

impl Collections {
    /// The collection with this id, whoever owns it.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Collection> {
        self.0.get(id)
    }

    /// Whether an IP-based set may name this location.
    #[must_use]
    pub fn has_location(&self, id: &str, location: &str) -> bool {
        self.find(id)
            .is_some_and(|collection| collection.has_location(location))
    }

    /// The caller's collections, in id order.
    pub fn of<'c>(&'c self, caller: &'c Caller) -> impl Iterator<Item = &'c Collection> {
        self.0.values().filter(|c| c.account == caller.account)
    }

    /// The caller's collection with this id.
    ///
    /// # Errors
    /// `NoSuchCidrCollectionException`.
    pub fn get(&self, caller: &Caller, id: &str) -> Result<&Collection, ApiError> {
        self.0
            .get(id)
            .filter(|c| c.account == caller.account)
            .ok_or_else(|| no_such_collection(id))
    }

    /// CreateCidrCollection; the same name with the same caller reference gives what is there.
    ///
    /// # Errors
    /// A bad name, a name in use, too many collections.
    pub fn create(&mut self, caller: &Caller, name: &str, reference: &str) -> Result<&Collection, ApiError> {
        let of_pattern = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if name.is_empty() || name.len() > 64 || !name.bytes().all(of_pattern) {
            return Err(super::shape::not_of_pattern(name, "[0-9A-Za-z_\\-]+", "CollectionName"));
        }
        let same = self.of(caller).find(|c| c.name == name);
        if let Some(found) = same {
            if found.caller_reference != reference {
                return Err(ApiError::new(
                    Code::CidrCollectionAlreadyExistsException,
                    format!("A CIDR collection with the name {name} already exists."),
                ));
            }
            let id = found.id.clone();
            return self.get(caller, &id);
        }
        if self.of(caller).count() >= MAX_COLLECTIONS {
            return Err(ApiError::new(
                Code::LimitsExceeded,
                format!("Cannot have more than {MAX_COLLECTIONS} CIDR collections."),
            ));
        }
        let id = made_up_id(&caller.account, name, self.0.len());
        let collection = Collection {
            id: id.clone(),
            account: caller.account.clone(),
            name: name.to_owned(),
            caller_reference: reference.to_owned(),
            version: 1,
            networks: BTreeMap::new(),
        };
        Ok(self.0.entry(id).or_insert(collection))
    }

    /// ChangeCidrCollection: all of it or nothing.
    ///
    /// # Errors
    /// Another version than `version`, a bad network, one that is in another location, too many.
    pub fn change(
        &mut self,
        caller: &Caller,
        id: &str,
        version: Option<u64>,
        changes: &[BlockChange],
    ) -> Result<(), ApiError> {
        let collection = self.get(caller, id)?;
        if version.is_some_and(|v| v != collection.version) {
            return Err(ApiError::new(
                Code::CidrCollectionVersionMismatchException,
                format!("The CIDR collection is at version {}.", collection.version),
            ));
        }
        let asked: usize = changes.iter().map(|c| c.networks.len()).sum();
        if asked > MAX_NETWORKS {
            return Err(too_many_networks());
        }
        let mut networks = collection.networks.clone();
        for change in changes {
            for text in &change.networks {
                apply(&mut networks, change, network(text)?)?;
            }
        }
        if networks.len() > MAX_NETWORKS {
            return Err(too_many_networks());
        }
        if let Some(collection) = self.0.get_mut(id) {
            collection.networks = networks;
            collection.version += 1;
        }
        Ok(())
    }

    /// DeleteCidrCollection.
    ///
    /// # Errors
    /// A collection that is not empty.
    pub fn delete(&mut self, caller: &Caller, id: &str) -> Result<(), ApiError> {
        if !self.get(caller, id)?.networks.is_empty() {
            return Err(ApiError::new(
                Code::CidrCollectionInUseException,
                "This CIDR collection is in use, and isn't empty.",
            ));
        }
        self.0.remove(id);
        Ok(())
    }
}

fn apply(networks: &mut BTreeMap<IpNet, String>, change: &BlockChange, network: IpNet) -> Result<(), ApiError> {
    let there = networks.get(&network);
    if !change.put {
        if there == Some(&change.location) {
            networks.remove(&network);
        }
        return Ok(());
    }
    if there.is_some_and(|location| *location != change.location) {
        return Err(ApiError::new(
            Code::CidrBlockInUseException,
            format!("This CIDR block is already in use: {network}"),
        ));
    }
    networks.insert(network, change.location.clone());
    Ok(())
}

/// A network with nothing set beyond its prefix, at most as narrow as Route 53 takes it.
fn network(text: &str) -> Result<IpNet, ApiError> {
    let parsed = text.parse::<IpNet>().ok().filter(|net| net.trunc() == *net);
    let allowed = parsed.filter(|net| match net {
        IpNet::V4(net) => (1..=MAX_PREFIX_V4).contains(&net.prefix_len()),
        IpNet::V6(net) => (1..=MAX_PREFIX_V6).contains(&net.prefix_len()),
    });
    allowed.ok_or_else(|| {
        ApiError::invalid_input(format!(
            "Invalid CIDR block {text}: it must be a network with a prefix of 1 to {MAX_PREFIX_V4} (IPv4) or 1 to {MAX_PREFIX_V6} (IPv6) bits"
        ))
    })
}

fn no_such_collection(id: &str) -> ApiError {
    ApiError::new(
        Code::NoSuchCidrCollectionException,
        format!("The CIDR collection {id} doesn't exist."),
    )
}

fn too_many_networks() -> ApiError {
    ApiError::new(
        Code::LimitsExceeded,
        format!("Cannot have more than {MAX_NETWORKS} CIDR blocks in a collection or request."),
    )
}

fn made_up_id(account: &str, name: &str, nth: usize) -> String {
    let digest = Sha256::digest(format!("{account}/{name}/{nth}"));
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let (mut out, mut at) = (String::new(), 0);
    for length in [8, 4, 4, 4, 12] {
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(hex.get(at..at + length).unwrap_or_default());
        at += length;
    }
    out
}
