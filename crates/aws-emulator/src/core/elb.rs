//! Names of AWS load balancers: which are one, of which kind and region, and in which hosted zone they lie.
//!
//! Deliberately absent: whether such a load balancer exists; every well-formed name is taken for one.

use super::names::Name;
use super::regions::{self, REGIONS};

/// Kind of a load balancer, as far as its DNS name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Application or classic: `NAME.REGION.elb.amazonaws.com`.
    Application,
    /// Network: `NAME.elb.REGION.amazonaws.com`.
    Network,
}

/// A load balancer's DNS name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadBalancer {
    /// Kind.
    pub kind: Kind,
    /// Region.
    pub region: &'static str,
    /// The name without `dualstack.`: both spellings are one load balancer.
    pub name: Name,
    /// Whether the name was written with `dualstack.`.
    pub dualstack: bool,
}

/// Takes a name apart if it is that of a load balancer in a known region.
#[must_use]
pub fn parse(name: &Name) -> Option<LoadBalancer> {
    let labels: Vec<&str> = name.labels().collect();
    let (dualstack, rest) = match labels.split_first() {
        Some((&"dualstack", rest)) => (true, rest),
        _ => (false, labels.as_slice()),
    };
    let host = rest.strip_suffix(&["cn"]).unwrap_or(rest);
    let host = host.strip_suffix(&["amazonaws", "com"])?;
    let (kind, region, own) = match host {
        [own @ .., "elb", region] if regions::find(region).is_some() => (Kind::Network, region, own),
        [own @ .., region, "elb"] => (Kind::Application, region, own),
        _ => return None,
    };
    let region = regions::find(region)?.name;
    if own.is_empty() {
        return None;
    }
    let mut bare = name.clone();
    if dualstack {
        bare = bare.parent()?;
    }
    Some(LoadBalancer {
        kind,
        region,
        name: bare,
        dualstack,
    })
}

/// Whether this is the canonical hosted zone of some kind of load balancer in some region.
#[must_use]
pub fn is_canonical_zone(zone_id: &str) -> bool {
    REGIONS
        .iter()
        .any(|r| !zone_id.is_empty() && (r.alb_zone == zone_id || r.nlb_zone == zone_id))
}

impl LoadBalancer {
    /// The hosted zone that an alias to this load balancer must name; empty where it is not known.
    #[must_use]
    pub fn canonical_zone(&self) -> &'static str {
        match (regions::find(self.region), self.kind) {
            (Some(region), Kind::Application) => region.alb_zone,
            (Some(region), Kind::Network) => region.nlb_zone,
            (None, _) => "",
        }
    }

    /// Whether the name has IPv6 addresses: a network load balancer always, the others as `dualstack.` only.
    #[must_use]
    pub fn has_ipv6(&self) -> bool {
        match self.kind {
            Kind::Application => self.dualstack,
            Kind::Network => true,
        }
    }
}
