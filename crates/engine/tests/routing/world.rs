//! Random worlds of one hostname: what the routing rules are asked about, changed step by step.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use truce_engine::rule::confirm::Confirm;
use truce_engine::rule::shared::{self, ClusterInput, SharedInput, SharedPlan};
use truce_engine::value::address::Address;
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::{ClusterName, HostedZoneId, HostnameKey, HubId};
use truce_engine::value::record::RecordSet;
use truce_engine::value::region::Region;
use truce_engine::value::shared_name::SharedName;
use truce_engine::world::hostnames::{HostnameSpec, LabelSelector, Policy, Selection};

pub(crate) const NAMES: [&str; 5] = ["colo", "east", "east2", "north", "west"];
const REGIONS: [&str; 3] = ["eu-west-1", "us-east-1", "us-west-2"];

/// All that may change, and what stands.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) hub: HubId,
    pub(crate) shared: SharedName,
    pub(crate) hosted_zone: HostedZoneId,
    pub(crate) apex: bool,
    pub(crate) spec: HostnameSpec,
    pub(crate) clusters: BTreeMap<ClusterName, ClusterInput>,
    pub(crate) published: Vec<RecordSet>,
    pub(crate) in_force: Option<Policy>,
    pub(crate) ever_live: bool,
    pub(crate) claimed: bool,
    pub(crate) wildcard_answers: bool,
}

impl World {
    pub(crate) fn plan(&self) -> SharedPlan {
        shared::plan(&SharedInput {
            hub: &self.hub,
            shared: &self.shared,
            hosted_zone: &self.hosted_zone,
            apex: self.apex,
            spec: &self.spec,
            clusters: &self.clusters,
            published: &self.published,
            in_force: self.in_force,
            ever_live: self.ever_live,
            claimed: self.claimed,
            wildcard_answers: self.wildcard_answers,
            confirm: Confirm {
                hostname: &HostnameKey::new("shop", "app"),
                word: None,
                spent: None,
            },
        })
    }

    /// The zone takes the plan.
    pub(crate) fn apply(&mut self, plan: &SharedPlan) {
        self.published.clone_from(&plan.sets);
        self.in_force = Some(plan.policy);
        self.ever_live |= plan
            .sets
            .iter()
            .any(|set| !truce_engine::value::owned::is_placeholder(set));
        self.claimed = plan.claim;
        self.wildcard_answers &= !plan.claim;
    }
}

/// One change of the input.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Cluster(usize, ClusterInput),
    Forget(usize),
    Select(usize, bool),
    Drain(usize, Option<u8>),
    DrainAll(Vec<Option<u8>>),
    WindowOver(usize, bool),
    Address(usize, Option<Address>),
    AddressesGone,
    Nobody,
    Spec(Box<HostnameSpec>),
    Policy(Option<Policy>),
    Weights(BTreeMap<ClusterName, u8>),
    HubRestarted,
}

pub(crate) fn cluster(index: usize) -> ClusterName {
    ClusterName::parse(NAMES[index]).unwrap()
}

fn wall(hour: u8) -> truce_engine::time::Wall {
    truce_engine::time::Wall::from_second(1_800_000_000 + 3600 * i64::from(hour)).unwrap()
}

impl Step {
    pub(crate) fn apply(self, world: &mut World) {
        let mut with = |index: usize, change: &dyn Fn(&mut ClusterInput)| {
            if let Some(found) = world.clusters.get_mut(&cluster(index)) {
                change(found);
            }
        };
        match self {
            Self::Cluster(index, input) => drop(world.clusters.insert(cluster(index), input)),
            Self::Forget(index) => drop(world.clusters.remove(&cluster(index))),
            Self::Select(index, selected) => with(index, &|c| c.selected = selected),
            Self::Drain(index, hour) => with(index, &|c| c.draining = hour.map(wall)),
            Self::DrainAll(hours) => {
                for (index, hour) in hours.into_iter().enumerate() {
                    with(index, &|c| c.draining = hour.map(wall));
                }
            }
            Self::WindowOver(index, over) => with(index, &|c| c.window_over = over),
            Self::Address(index, address) => with(index, &|c| c.address.clone_from(&address)),
            Self::AddressesGone => world.clusters.values_mut().for_each(|c| c.address = None),
            Self::Nobody => world.clusters.values_mut().for_each(|c| c.selected = false),
            Self::Spec(spec) => world.spec = *spec,
            Self::Policy(policy) => world.spec.policy = policy,
            Self::Weights(weights) => world.spec.weights = weights,
            Self::HubRestarted => world.in_force = None,
        }
    }
}

fn address() -> impl Strategy<Value = Address> {
    let ips = |texts: &[&str]| Address::from_ips(texts.iter().map(|ip| ip.parse().unwrap())).unwrap();
    let name = |text: &str, dual_stack| Address::from_name(DnsName::parse(text).unwrap(), dual_stack);
    let plain = prop_oneof![
        4 => any::<u8>().prop_map(move |n| ips(&[&format!("198.51.100.{n}")])),
        1 => any::<u8>().prop_map(move |n| ips(&[&format!("2001:db8::{n:x}")])),
        2 => any::<u8>().prop_map(move |n| ips(&[&format!("203.0.113.{n}"), "203.0.113.7", &format!("2001:db8::{n:x}")])),
        2 => (0..9, any::<bool>()).prop_map(move |(n, dual)| name(&format!("web-{n}.us-east-1.elb.amazonaws.com"), dual)),
        1 => (0..9).prop_map(move |n| name(&format!("web-{n}.elb.us-west-2.amazonaws.com"), false)),
    ];
    let other = (0..9).prop_map(move |n| name(&format!("gw-{n}.example.net"), false));
    prop_oneof![9 => plain, 1 => other]
}

fn region() -> impl Strategy<Value = Region> {
    (0..REGIONS.len()).prop_map(|n| Region::known(REGIONS[n]).unwrap())
}

fn hour() -> impl Strategy<Value = Option<u8>> {
    option::weighted(0.4, 0u8..4)
}

fn cluster_input() -> impl Strategy<Value = ClusterInput> {
    let flags = (
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.3),
    );
    let rest = (
        region(),
        prop_oneof![Just(100u8), 0u8..=255],
        hour(),
        option::weighted(0.8, address()),
    );
    (flags, rest).prop_map(
        |((selected, standby, window_over), (region, weight, draining, address))| ClusterInput {
            selected,
            region,
            standby,
            weight,
            draining: draining.map(wall),
            window_over,
            maybe_name: false,
            address,
        },
    )
}

fn weights() -> impl Strategy<Value = BTreeMap<ClusterName, u8>> {
    btree_map(
        (0..NAMES.len()).prop_map(cluster),
        prop_oneof![Just(0u8), Just(50), 1..=255u8],
        0..3,
    )
}

fn policy() -> impl Strategy<Value = Option<Policy>> {
    let forced = prop_oneof![
        Just(Policy::Simple),
        Just(Policy::Latency),
        Just(Policy::Weighted),
        Just(Policy::LatencyWeighted),
        Just(Policy::Failover),
    ];
    option::weighted(0.6, forced)
}

fn spec() -> impl Strategy<Value = HostnameSpec> {
    let primary = option::weighted(0.5, (0..NAMES.len()).prop_map(cluster));
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop_oneof![Just(5u32), Just(60)],
    );
    (policy(), primary, weights(), flags).prop_map(|(policy, primary, weights, (health, placeholder, ttl))| {
        HostnameSpec {
            hostname: DnsName::parse("app.example.com").unwrap(),
            zone_ref: None,
            ttl,
            source: None,
            selection: Selection::Selector(LabelSelector::default()),
            weights,
            drains: BTreeMap::new(),
            primary: primary.filter(|_| policy == Some(Policy::Failover)),
            policy,
            evaluate_target_health: health,
            cluster_hostname: None,
            placeholder,
        }
    })
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let clusters = btree_map((0..NAMES.len()).prop_map(cluster), cluster_input(), 0..=NAMES.len());
    let place = prop_oneof![
        6 => Just(("app.example.com", false)),
        1 => Just(("*.example.com", false)),
        1 => Just(("example.com", true)),
    ];
    (clusters, spec(), place, prop::bool::weighted(0.2)).prop_map(|(clusters, spec, (name, apex), wildcard_answers)| {
        World {
            hub: HubId::parse("hub-1").unwrap(),
            shared: SharedName::new(RecordName::listed(name)).unwrap(),
            hosted_zone: HostedZoneId::parse("ZEXAMPLE0001").unwrap(),
            apex,
            spec,
            clusters,
            published: Vec::new(),
            in_force: None,
            ever_live: false,
            claimed: false,
            wildcard_answers,
        }
    })
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = || 0..NAMES.len();
    let step = prop_oneof![
        2 => (index(), cluster_input()).prop_map(|(n, input)| Step::Cluster(n, input)),
        1 => index().prop_map(Step::Forget),
        3 => (index(), any::<bool>()).prop_map(|(n, selected)| Step::Select(n, selected)),
        5 => (index(), hour()).prop_map(|(n, hour)| Step::Drain(n, hour)),
        2 => vec(hour(), NAMES.len()).prop_map(Step::DrainAll),
        2 => (index(), any::<bool>()).prop_map(|(n, over)| Step::WindowOver(n, over)),
        4 => (index(), option::weighted(0.7, address())).prop_map(|(n, address)| Step::Address(n, address)),
        1 => Just(Step::AddressesGone),
        1 => Just(Step::Nobody),
        1 => spec().prop_map(|spec| Step::Spec(Box::new(spec))),
        2 => policy().prop_map(Step::Policy),
        2 => weights().prop_map(Step::Weights),
        1 => Just(Step::HubRestarted),
    ];
    vec(step, 1..8)
}
