//! One hostname whose plans are applied step by step, and its record sets as lines to read.

use std::collections::BTreeMap;

use truce_api::Reason;
use truce_engine::reason::Problem;
use truce_engine::rule::confirm::Confirm;
use truce_engine::rule::shared::{self, ClusterInput, Place, SharedInput, SharedPlan};
use truce_engine::value::address::Address;
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::{ClusterName, HostedZoneId, HostnameKey, HubId};
use truce_engine::value::record::{FailoverRole, RecordData, RecordSet, Routing};
use truce_engine::value::region::Region;
use truce_engine::value::shared_name::SharedName;
use truce_engine::world::hostnames::{HostnameSpec, LabelSelector, Policy, Selection};

pub(crate) struct App {
    pub(crate) hub: HubId,
    pub(crate) shared: SharedName,
    pub(crate) spec: HostnameSpec,
    pub(crate) clusters: Clusters,
    pub(crate) published: Vec<RecordSet>,
    pub(crate) wildcard_answers: bool,
    /// `dns.truce.dev/confirm`.
    pub(crate) confirm: Option<String>,
    key: HostnameKey,
    apex: bool,
    in_force: Option<Policy>,
    ever_live: bool,
    claimed: bool,
}

type Clusters = BTreeMap<ClusterName, ClusterInput>;

impl App {
    pub(crate) fn new(hostname: &str) -> Self {
        Self {
            hub: HubId::parse("hub-1").unwrap(),
            shared: SharedName::new(RecordName::listed(hostname)).unwrap(),
            spec: HostnameSpec {
                hostname: DnsName::parse(hostname).unwrap(),
                zone_ref: None,
                ttl: 60,
                source: None,
                selection: Selection::Selector(LabelSelector::default()),
                weights: BTreeMap::new(),
                drains: BTreeMap::new(),
                policy: None,
                primary: None,
                evaluate_target_health: true,
                cluster_hostname: None,
                placeholder: true,
            },
            clusters: Clusters::new(),
            published: Vec::new(),
            wildcard_answers: false,
            confirm: None,
            key: HostnameKey::new("shop", "app"),
            apex: hostname == "example.com",
            in_force: None,
            ever_live: false,
            claimed: false,
        }
    }

    /// Selects a cluster with an address: IPs, or one name.
    pub(crate) fn cluster(&mut self, name: &str, region: &str, address: &[&str]) {
        let input = ClusterInput {
            selected: true,
            region: Region::known(region).unwrap(),
            standby: false,
            weight: 100,
            draining: None,
            window_over: false,
            maybe_name: false,
            address: parse(address),
        };
        self.clusters.insert(ClusterName::parse(name).unwrap(), input);
    }

    pub(crate) fn address(&mut self, name: &str, address: &[&str]) {
        self.of(name).address = parse(address);
    }

    pub(crate) fn dual_stack(&mut self, name: &str, target: &str) {
        self.of(name).address = Some(Address::from_name(DnsName::parse(target).unwrap(), true));
    }

    pub(crate) fn deselect(&mut self, name: &str) {
        self.of(name).selected = false;
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.clusters.remove(&ClusterName::parse(name).unwrap());
    }

    pub(crate) fn standby(&mut self, name: &str) {
        self.of(name).standby = true;
    }

    pub(crate) fn drain(&mut self, name: &str, hour: i64) {
        let since = truce_engine::time::Wall::from_second(1_800_000_000 + 3600 * hour).unwrap();
        self.of(name).draining = Some(since);
    }

    pub(crate) fn undrain(&mut self, name: &str) {
        self.of(name).draining = None;
        self.of(name).window_over = false;
    }

    pub(crate) fn window_over(&mut self, name: &str, over: bool) {
        self.of(name).window_over = over;
    }

    pub(crate) fn weights(&mut self, weights: &[(&str, u8)]) {
        self.spec.weights.clear();
        for (name, weight) in weights {
            self.spec.weights.insert(ClusterName::parse(name).unwrap(), *weight);
            if *weight > 0 {
                self.of(name).weight = *weight;
            }
        }
    }

    pub(crate) fn weight(&mut self, name: &str, weight: u8) {
        self.of(name).weight = weight;
    }

    pub(crate) fn primary(&mut self, name: &str) {
        self.spec.primary = Some(ClusterName::parse(name).unwrap());
    }

    /// Somebody emptied the zone by hand.
    pub(crate) fn delete_memory_of_zone(&mut self) {
        self.published.clear();
    }

    pub(crate) fn plan(&self) -> SharedPlan {
        shared::plan(&SharedInput {
            hub: &self.hub,
            shared: &self.shared,
            hosted_zone: &HostedZoneId::parse("ZEXAMPLE0001").unwrap(),
            apex: self.apex,
            spec: &self.spec,
            clusters: &self.clusters,
            published: &self.published,
            in_force: self.in_force,
            ever_live: self.ever_live,
            claimed: self.claimed,
            wildcard_answers: self.wildcard_answers,
            confirm: Confirm {
                hostname: &self.key,
                word: self.confirm.as_deref(),
                spent: None,
            },
        })
    }

    /// Plans, applies, and shows the sets.
    pub(crate) fn step(&mut self) -> Vec<String> {
        let plan = self.plan();
        self.ever_live |= plan
            .sets
            .iter()
            .any(|set| !truce_engine::value::owned::is_placeholder(set));
        self.in_force = Some(plan.policy);
        self.claimed = plan.claim;
        self.published = plan.sets;
        self.lines(&self.published)
    }

    pub(crate) fn reason(&self) -> String {
        self.plan().policy_reason
    }

    pub(crate) fn reasons(&self) -> Vec<Reason> {
        self.plan().problems.into_iter().map(|problem| problem.reason).collect()
    }

    pub(crate) fn place(&self, name: &str) -> Place {
        self.plan().clusters[&ClusterName::parse(name).unwrap()].place.clone()
    }

    pub(crate) fn problem_of(&self, name: &str) -> Problem {
        self.plan().clusters[&ClusterName::parse(name).unwrap()].problems[0].clone()
    }

    pub(crate) fn lines(&self, sets: &[RecordSet]) -> Vec<String> {
        sets.iter().map(|set| line(set, self.spec.ttl)).collect()
    }

    fn of(&mut self, name: &str) -> &mut ClusterInput {
        self.clusters.get_mut(&ClusterName::parse(name).unwrap()).unwrap()
    }
}

fn parse(address: &[&str]) -> Option<Address> {
    match address {
        [] => None,
        [name] if name.parse::<std::net::IpAddr>().is_err() => {
            Some(Address::from_name(DnsName::parse(name).unwrap(), false))
        }
        ips => Address::from_ips(ips.iter().map(|ip| ip.parse().unwrap())),
    }
}

/// `TYPE name [set what] values` or `-> target`, names without the zone.
fn line(set: &RecordSet, ttl: u32) -> String {
    let short = |name: &str| name.strip_suffix(".example.com").unwrap_or(name).to_owned();
    let id = set
        .routing
        .id()
        .map_or("", |id| id.as_str().strip_prefix("hub-1/").unwrap());
    let routing = match &set.routing {
        Routing::Simple => String::new(),
        Routing::Weighted { weight, .. } => format!(" [{id} w{weight}]"),
        Routing::Latency { region, .. } => format!(" [{id} {region}]"),
        Routing::Failover { role, .. } => match role {
            FailoverRole::Primary => format!(" [{id} PRIMARY]"),
            FailoverRole::Secondary => format!(" [{id} SECONDARY]"),
        },
        Routing::Foreign { .. } => format!(" [{id} foreign]"),
    };
    let data = match &set.data {
        RecordData::Values { ttl: own, values } => {
            assert_eq!(*own, ttl, "every set has the hostname's TTL");
            values.iter().map(|value| short(value)).collect::<Vec<_>>().join(",")
        }
        RecordData::Alias { target, .. } => format!("-> {}", short(target.as_str())),
        RecordData::Opaque => "opaque".to_owned(),
    };
    format!("{} {}{routing} {data}", set.record_type, short(set.name.as_str()))
}
