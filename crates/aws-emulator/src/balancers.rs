//! Made-up load balancers: what the configuration says of them, and what DescribeLoadBalancers tells.
//!
//! Invariant: kind, region, name and canonical hosted zone follow from the DNS name alone, as on AWS. Deliberately
//! absent: listeners, target groups, health; classic load balancers, which another API describes.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::core::accounts::DEFAULT_ACCOUNT;
use crate::core::elb::{self, Kind};
use crate::core::names::Name;
use crate::identity::IdentityError;
use crate::identity::arn;

/// A load balancer of the configuration: a list of addresses, or these fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BalancerConfig {
    /// Addresses; made up from the name if none.
    pub addresses: Vec<IpAddr>,
    /// Account; default 111111111111.
    pub account: Option<String>,
}

/// The map form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    #[serde(default)]
    addresses: Vec<IpAddr>,
    #[serde(default)]
    account: Option<String>,
}

impl<'de> Deserialize<'de> for BalancerConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = BalancerConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of addresses or a map of addresses and account")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<BalancerConfig, A::Error> {
                let mut addresses = Vec::new();
                while let Some(address) = seq.next_element()? {
                    addresses.push(address);
                }
                Ok(BalancerConfig {
                    addresses,
                    account: None,
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BalancerConfig, A::Error> {
                let fields = Fields::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(BalancerConfig {
                    addresses: fields.addresses,
                    account: fields.account,
                })
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A load balancer as it is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balancer {
    /// ARN.
    pub arn: String,
    /// DNS name, without a final dot.
    pub dns_name: String,
    /// Canonical hosted zone id.
    pub zone_id: String,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: Kind,
    /// Region.
    pub region: String,
    /// Account.
    pub account: String,
    /// Whether its name begins with `internal-`.
    pub internal: bool,
    /// Whether it has addresses of both families.
    pub dualstack: bool,
}

/// All load balancers, in ARN order.
#[derive(Debug, Clone, Default)]
pub struct Balancers(BTreeMap<String, Balancer>);

impl Balancers {
    /// The load balancers of a configuration, by DNS name.
    ///
    /// # Errors
    /// What is wrong, and at which field.
    pub fn new(configs: &BTreeMap<String, BalancerConfig>) -> Result<Self, IdentityError> {
        let mut all = BTreeMap::new();
        for (dns_name, config) in configs {
            let balancer = describe(dns_name, config)?;
            all.insert(balancer.arn.clone(), balancer);
        }
        Ok(Self(all))
    }

    /// Those of an account in a region.
    pub fn of<'b>(&'b self, account: &'b str, region: &'b str) -> impl Iterator<Item = &'b Balancer> {
        let mine = move |b: &&Balancer| b.account == account && b.region == region;
        self.0.values().filter(mine)
    }
}

fn describe(text: &str, config: &BalancerConfig) -> Result<Balancer, IdentityError> {
    let place = format!("loadBalancers.{text}");
    let account = config.account.clone().unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned());
    if !arn::is_account(&account) {
        let reason = "an account id is twelve digits, in quotes";
        return Err(IdentityError::new(format!("{place}.account"), reason));
    }
    let parsed = Name::parse(text)
        .ok()
        .and_then(|name| elb::parse(&name))
        .ok_or_else(|| {
            let reason = format!(
                "'{text}' is not a load balancer's name; write NAME.REGION.elb.amazonaws.com or NAME.elb.REGION.amazonaws.com"
            );
            IdentityError::new(place, reason)
        })?;
    let dns_name = parsed.name.as_str().trim_end_matches('.').to_owned();
    let label = dns_name.split('.').next().unwrap_or_default();
    let (internal, own) = label
        .strip_prefix("internal-")
        .map_or((false, label), |own| (true, own));
    let (name, id) = own.rsplit_once('-').unwrap_or((own, own));
    let sort = match parsed.kind {
        Kind::Application => "app",
        Kind::Network => "net",
    };
    Ok(Balancer {
        arn: format!(
            "arn:aws:elasticloadbalancing:{}:{account}:loadbalancer/{sort}/{name}/{id}",
            parsed.region
        ),
        zone_id: parsed.canonical_zone().to_owned(),
        name: name.to_owned(),
        kind: parsed.kind,
        region: parsed.region.to_owned(),
        internal,
        dualstack: config.addresses.iter().any(IpAddr::is_ipv6) || config.addresses.is_empty(),
        account,
        dns_name,
    })
}
