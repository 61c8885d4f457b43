//! Random worlds and what happens in them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use truce_engine::time::Timings;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing};

use crate::oracle::Facts;
use crate::sim::{ObjectKey, Sim};

/// Seconds after which a world in which nothing happens has come to rest: the longest window is that of an alias.
pub(crate) const REST: u64 = 240;

const CLUSTERS: [&str; 4] = ["aa", "bb", "cc", "dd"];
const REGIONS: [&str; 3] = ["us-east-1", "us-west-2", "eu-west-1"];
const POLICIES: [&str; 6] = ["Auto", "Latency", "Weighted", "LatencyWeighted", "Failover", "Simple"];

/// The names that are declared; the objects are called h0, h1, ... The last two are refused beside `aa` and the
/// wildcard.
pub(crate) const HOSTNAMES: [&str; 7] = [
    "app.example.com",
    "*.apps.example.com",
    "example.com",
    "api.app.example.com",
    "*.example.com",
    "web-aa.example.com",
    "any.apps.example.com",
];

/// What a Service can have; `true`: dual-stack.
const ADDRESSES: [(&[&str], bool); 11] = [
    (&["203.0.113.1"], false),
    (&["203.0.113.2", "203.0.113.3"], false),
    (&["203.0.113.4", "2001:db8::4"], true),
    (&["2001:db8::5"], false),
    (&["k8s-web-1.elb.us-east-1.amazonaws.com"], false),
    (&["k8s-web-2.elb.us-west-2.amazonaws.com"], true),
    (&["lb.example.net"], false),
    (&["lb2.example.net"], false),
    (&[], false),
    (&["10.0.0.1"], false),
    (&["192.0.2.1"], false),
];

/// One cluster.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    pub(crate) region: usize,
    pub(crate) standby: bool,
    /// 0: no ExternalDNS, 1: policy sync, 2: upsert-only.
    pub(crate) external_dns: u8,
    pub(crate) weight: u8,
    pub(crate) address: Option<usize>,
}

/// One GlobalHostname.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) name: usize,
    pub(crate) clusters: u8,
    pub(crate) selector: bool,
    pub(crate) policy: usize,
    pub(crate) primary: usize,
    pub(crate) ttl: u8,
    pub(crate) placeholder: bool,
    pub(crate) cluster_hostnames: bool,
}

/// What there is at the start.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) hostnames: Vec<Declared>,
    pub(crate) foreign: Vec<usize>,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Wait,
    Address(usize, usize),
    ServiceGone(usize),
    Weight(usize, usize, Option<u8>),
    Drain(usize, usize, bool),
    Select(usize, u8),
    Selector(usize, bool),
    Policy(usize, usize, usize),
    Ttl(usize, u8),
    ClusterHostnames(usize, bool),
    Paused(usize, bool),
    Delete(usize),
    Create(usize, Declared),
    ClusterDrain(usize),
    ClusterDrainGone(usize),
    Down(usize),
    Up(usize),
    MemberWeight(usize, u8),
    Standby(usize, bool),
    MemberGone(usize),
    MemberBack(usize),
    Foreign(usize),
    ForeignGone(usize),
    EndpointGone(usize),
    Restart,
}

/// Something that happens, and how long nothing happens after it, seconds.
#[derive(Debug, Clone)]
pub(crate) struct Step(pub(crate) Op, pub(crate) u8);

/// A world and what happens in it.
#[derive(Debug, Clone)]
pub(crate) struct Story {
    pub(crate) world: World,
    pub(crate) steps: Vec<Step>,
}

fn cluster() -> impl Strategy<Value = Cluster> {
    let weight = prop_oneof![4 => Just(100), 1 => 0..5_u8];
    (
        0..3_usize,
        prop::bool::weighted(0.15),
        0..3_u8,
        weight,
        prop::option::weighted(0.8, 0..ADDRESSES.len()),
    )
        .prop_map(|(region, standby, external_dns, weight, address)| Cluster {
            region,
            standby,
            external_dns,
            weight,
            address,
        })
}

fn declared() -> impl Strategy<Value = Declared> {
    let name = prop_oneof![4 => Just(0_usize), 2 => Just(1), 2 => Just(2), 1 => 3..HOSTNAMES.len()];
    let policy = prop_oneof![4 => Just(0_usize), 2 => 0..POLICIES.len()];
    let flags = (
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.8),
    );
    (name, 1..16_u8, policy, 0..4_usize, 1..4_u8, flags).prop_map(
        |(name, clusters, policy, primary, ttl, (selector, placeholder, cluster_hostnames))| Declared {
            name,
            clusters,
            selector,
            policy,
            primary,
            ttl,
            placeholder,
            cluster_hostnames,
        },
    )
}

/// What there is at the start.
pub(crate) fn world() -> impl Strategy<Value = World> {
    let parts = (
        prop::collection::vec(cluster(), 1..=4),
        prop::collection::vec(declared(), 1..=3),
        prop::collection::vec(0..FOREIGN, 0..3),
    );
    parts.prop_map(|(clusters, hostnames, foreign)| World {
        clusters,
        hostnames,
        foreign,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let (c, h) = (0..4_usize, 0..3_usize);
    prop_oneof![
        2 => Just(Op::Wait),
        5 => (c.clone(), 0..ADDRESSES.len()).prop_map(|(c, a)| Op::Address(c, a)),
        1 => c.clone().prop_map(Op::ServiceGone),
        3 => (h.clone(), c.clone(), prop::option::of(prop_oneof![Just(0_u8), 1..4_u8])).prop_map(|(h, c, w)| Op::Weight(h, c, w)),
        2 => (h.clone(), c.clone(), any::<bool>()).prop_map(|(h, c, on)| Op::Drain(h, c, on)),
        3 => (h.clone(), 1..16_u8).prop_map(|(h, mask)| Op::Select(h, mask)),
        1 => (h.clone(), any::<bool>()).prop_map(|(h, on)| Op::Selector(h, on)),
        3 => (h.clone(), 0..POLICIES.len(), c.clone()).prop_map(|(h, p, c)| Op::Policy(h, p, c)),
        1 => (h.clone(), 1..4_u8).prop_map(|(h, ttl)| Op::Ttl(h, ttl)),
        1 => (h.clone(), any::<bool>()).prop_map(|(h, on)| Op::ClusterHostnames(h, on)),
        1 => (h.clone(), any::<bool>()).prop_map(|(h, on)| Op::Paused(h, on)),
        1 => h.clone().prop_map(Op::Delete),
        1 => (h, declared()).prop_map(|(h, d)| Op::Create(h, d)),
        2 => c.clone().prop_map(Op::ClusterDrain),
        2 => c.clone().prop_map(Op::ClusterDrainGone),
        2 => c.clone().prop_map(Op::Down),
        2 => c.clone().prop_map(Op::Up),
        1 => (c.clone(), 0..3_u8).prop_map(|(c, w)| Op::MemberWeight(c, w)),
        1 => (c.clone(), any::<bool>()).prop_map(|(c, on)| Op::Standby(c, on)),
        1 => c.clone().prop_map(Op::MemberGone),
        1 => c.clone().prop_map(Op::MemberBack),
        1 => (0..FOREIGN).prop_map(Op::Foreign),
        1 => (0..FOREIGN).prop_map(Op::ForeignGone),
        1 => c.prop_map(Op::EndpointGone),
        2 => Just(Op::Restart),
    ]
}

/// A world and what happens in it.
pub(crate) fn story() -> impl Strategy<Value = Story> {
    let wait = prop_oneof![3 => Just(0_u8), 3 => 1..4_u8, 2 => 4..15_u8, 1 => Just(60_u8)];
    let step = (op(), wait).prop_map(|(op, wait)| Step(op, wait));
    (world(), prop::collection::vec(step, 1..12)).prop_map(|(world, steps)| Story { world, steps })
}

/// Short, so that much happens in few steps.
fn timings() -> Timings {
    let seconds = Duration::from_secs;
    Timings {
        settle: seconds(2),
        kind_change_settle: seconds(4),
        absence_reread: seconds(3),
        absence_grace: seconds(8),
        drain_grace: seconds(4),
        ttl_memory: seconds(30),
        member_fresh: seconds(20),
        insync_patience: seconds(10),
        guard_window: seconds(20),
        ..Timings::default()
    }
}

/// The world with nobody having looked at it yet.
pub(crate) fn build(world: &World, facts: &Rc<RefCell<Facts>>) -> Sim {
    let mut sim = Sim::with(timings());
    for index in &world.foreign {
        put_foreign(&mut sim, facts, *index);
    }
    let spec = json!({"domain": "example.com", "hostedZoneID": "Z1", "accountID": "111111111111",
        "claims": [{"namespaces": ["shop"], "hostnames": ["*.example.com", "example.com"]}],
        "limits": {"requestsPerSecond": 1000, "changesPerSecond": 100000, "auditInterval": "60s"}});
    sim.apply("DNSZone", "", "example-com", spec);
    for (cluster, name) in world.clusters.iter().zip(CLUSTERS) {
        let owner = format!("ed-{name}");
        let external_dns = (cluster.external_dns > 0).then_some((owner.as_str(), cluster.external_dns == 1));
        sim.member(name, REGIONS[cluster.region], external_dns);
        sim.patch("MemberCluster", "", name, |spec| {
            spec["standby"] = json!(cluster.standby);
            spec["weight"] = json!(cluster.weight);
        });
        if let Some(address) = cluster.address {
            let (addresses, dual_stack) = ADDRESSES[address];
            sim.service(name, "gateway", dual_stack, addresses);
        }
    }
    for (index, declared) in world.hostnames.iter().enumerate() {
        sim.apply("GlobalHostname", "shop", &format!("h{index}"), spec_of(declared));
    }
    sim
}

fn spec_of(declared: &Declared) -> Value {
    let mut spec = json!({"hostname": HOSTNAMES[declared.name], "ttl": declared.ttl, "placeholder": declared.placeholder,
        "source": {"service": {"name": "gateway"}}, "routing": {"policy": "Auto"}});
    route(&mut spec, declared.policy, declared.primary);
    select(&mut spec, declared.clusters, declared.selector);
    if !declared.cluster_hostnames {
        spec["clusterHostname"] = json!("");
    }
    spec
}

fn route(spec: &mut Value, policy: usize, primary: usize) {
    spec["routing"] = json!({"policy": POLICIES[policy]});
    if POLICIES[policy] == "Failover" && primary < 3 {
        spec["routing"]["primary"] = json!(CLUSTERS[primary]);
    }
}

/// By name those of the mask; by label all, since labels are not what is tried here.
fn select(spec: &mut Value, mask: u8, selector: bool) {
    let fields = spec.as_object_mut().unwrap();
    if selector {
        fields.remove("clusters");
        fields.insert("clusterSelector".to_owned(), json!({"matchLabels": {}}));
        return;
    }
    let listed = CLUSTERS.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0);
    let listed: Vec<Value> = listed.map(|(_, name)| json!({"name": name})).collect();
    fields.remove("clusterSelector");
    fields.insert("clusters".to_owned(), json!(listed));
}

/// The objects of the hub in another order.
pub(crate) fn shuffled(sim: &Sim, seed: u64) -> Vec<ObjectKey> {
    let mut keys: Vec<ObjectKey> = sim.objects.keys().cloned().collect();
    let mut state = seed | 1;
    for at in (1..keys.len()).rev() {
        // Knuth's linear congruential generator: any order will do.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        keys.swap(at, usize::try_from(state >> 33).unwrap() % (at + 1));
    }
    keys
}

/// Everything that is broken is repaired: members answer, nothing is paused.
pub(crate) fn heal(sim: &mut Sim) {
    for name in sim.members.keys().cloned().collect::<Vec<_>>() {
        sim.set_up(&name, true);
    }
    for index in 0..3 {
        pause(sim, index, false);
    }
}

/// Every cluster gets an address that can be used.
pub(crate) fn give_addresses(sim: &mut Sim) {
    for (index, name) in CLUSTERS.iter().enumerate() {
        if sim.members.contains_key(*name) {
            let addresses = [format!("203.0.113.{}", 50 + index), format!("2001:db8::5{index}")];
            sim.service(name, "gateway", true, &addresses.each_ref().map(String::as_str));
        }
    }
}

/// One step, and the time after it.
pub(crate) fn step(sim: &mut Sim, facts: &Rc<RefCell<Facts>>, step: &Step) {
    apply(sim, facts, &step.0);
    if step.1 > 0 {
        sim.run(u64::from(step.1));
    } else {
        sim.settle();
    }
}

fn hostname(sim: &mut Sim, index: usize, change: impl FnOnce(&mut Value)) {
    let name = format!("h{index}");
    let key = ("GlobalHostname".to_owned(), "shop".to_owned(), name.clone());
    let living = sim
        .objects
        .get(&key)
        .is_some_and(|object| object["metadata"]["deletionTimestamp"].is_null());
    if living {
        sim.patch("GlobalHostname", "shop", &name, change);
    }
}

fn pause(sim: &mut Sim, index: usize, on: bool) {
    let key = ("GlobalHostname".to_owned(), "shop".to_owned(), format!("h{index}"));
    let annotations = if on {
        json!({"dns.truce.dev/paused": "true"})
    } else {
        json!({})
    };
    sim.annotations(&key, annotations);
}

fn member(sim: &mut Sim, index: usize, change: impl FnOnce(&mut Value)) {
    let name = CLUSTERS[index];
    if living(sim, "MemberCluster", name) {
        sim.patch("MemberCluster", "", name, change);
    }
}

fn living(sim: &Sim, kind: &str, name: &str) -> bool {
    let namespace = if kind == "GlobalHostname" { "shop" } else { "" };
    let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
    sim.objects
        .get(&key)
        .is_some_and(|object| object["metadata"]["deletionTimestamp"].is_null())
}

fn key_in(spec: &mut Value, field: &str, key: &str, value: Option<Value>) {
    if spec[field].is_null() {
        spec[field] = json!({});
    }
    let map = spec[field].as_object_mut().unwrap();
    match value {
        Some(value) => drop(map.insert(key.to_owned(), value)),
        None => drop(map.remove(key)),
    }
}

fn apply(sim: &mut Sim, facts: &Rc<RefCell<Facts>>, op: &Op) {
    let known = |sim: &Sim, c: usize| sim.members.contains_key(CLUSTERS[c]);
    match op {
        Op::Wait => {}
        Op::Address(c, address) if known(sim, *c) => {
            let (addresses, dual_stack) = ADDRESSES[*address];
            note_lost(facts, addresses, dual_stack);
            sim.service(CLUSTERS[*c], "gateway", dual_stack, addresses);
        }
        Op::ServiceGone(c) if known(sim, *c) => sim.service_gone(CLUSTERS[*c], "gateway"),
        Op::Weight(h, c, weight) => hostname(sim, *h, |spec| {
            key_in(spec, "weights", CLUSTERS[*c], weight.map(|w| json!(w)))
        }),
        Op::Drain(h, c, on) => hostname(sim, *h, |spec| {
            key_in(spec, "drain", CLUSTERS[*c], on.then(|| json!("upgrade")))
        }),
        Op::Select(h, mask) => hostname(sim, *h, |spec| select(spec, *mask, false)),
        Op::Selector(h, on) => hostname(sim, *h, |spec| select(spec, 15, *on)),
        Op::Policy(h, policy, primary) => hostname(sim, *h, |spec| route(spec, *policy, *primary)),
        Op::Ttl(h, ttl) => hostname(sim, *h, |spec| spec["ttl"] = json!(ttl)),
        Op::ClusterHostnames(h, on) => hostname(sim, *h, |spec| {
            spec["clusterHostname"] = json!(if *on { "{name}-{cluster}" } else { "" });
        }),
        Op::Paused(h, on) => pause(sim, *h, *on),
        Op::Delete(h) if living(sim, "GlobalHostname", &format!("h{h}")) => {
            sim.delete("GlobalHostname", "shop", &format!("h{h}"));
        }
        Op::Create(h, declared) if !sim.exists("GlobalHostname", "shop", &format!("h{h}")) => {
            sim.apply("GlobalHostname", "shop", &format!("h{h}"), spec_of(declared));
        }
        Op::ClusterDrain(c) if !sim.exists("ClusterDrain", "", CLUSTERS[*c]) => {
            sim.apply(
                "ClusterDrain",
                "",
                CLUSTERS[*c],
                json!({"cluster": CLUSTERS[*c], "reason": "upgrade"}),
            );
        }
        Op::ClusterDrainGone(c) if sim.exists("ClusterDrain", "", CLUSTERS[*c]) => {
            sim.delete("ClusterDrain", "", CLUSTERS[*c]);
        }
        Op::Down(c) if known(sim, *c) => sim.set_up(CLUSTERS[*c], false),
        Op::Up(c) if known(sim, *c) => sim.set_up(CLUSTERS[*c], true),
        Op::MemberWeight(c, weight) => member(sim, *c, |spec| spec["weight"] = json!(weight)),
        Op::Standby(c, on) => member(sim, *c, |spec| spec["standby"] = json!(on)),
        Op::MemberGone(c) if living(sim, "MemberCluster", CLUSTERS[*c]) => {
            sim.delete("MemberCluster", "", CLUSTERS[*c])
        }
        Op::MemberBack(c) if known(sim, *c) && !sim.exists("MemberCluster", "", CLUSTERS[*c]) => {
            sim.member_back(CLUSTERS[*c], REGIONS[*c % 3]);
        }
        Op::Foreign(index) => put_foreign(sim, facts, *index),
        Op::ForeignGone(index) => {
            let set = foreign(*index);
            if facts.borrow_mut().foreign.remove(&set.key()).is_some() {
                sim.zone.sets.remove(&set.key());
                sim.record("somebody");
            }
        }
        Op::EndpointGone(c) if known(sim, *c) => sim.delete_endpoints(CLUSTERS[*c]),
        Op::Restart => sim.restart(),
        _ => {}
    }
}

/// A family that an address lacks may be lost: which names had it of that cluster is the engine's to know.
fn note_lost(facts: &Rc<RefCell<Facts>>, addresses: &[&str], dual_stack: bool) {
    let lost = &mut facts.borrow_mut().lost;
    let name = addresses.iter().any(|a| a.ends_with("example.net"));
    let balancer = addresses.iter().any(|a| a.ends_with("amazonaws.com"));
    let usable = !addresses.is_empty() && !name;
    let four = balancer || addresses.iter().any(|a| a.contains('.'));
    let six = (balancer && dual_stack) || addresses.iter().any(|a| a.contains(':'));
    if usable && !four {
        lost.insert(RecordType::A);
    }
    if usable && !six {
        lost.insert(RecordType::Aaaa);
    }
}

const FOREIGN: usize = 13;

/// Records of other people: bystanders, and some in the way.
fn foreign(index: usize) -> RecordSet {
    let (name, record_type, value) = [
        ("app.example.com", RecordType::Txt, "\"v=spf1 -all\""),
        ("mail.example.com", RecordType::A, "198.18.0.1"),
        ("app.example.com", RecordType::A, "198.18.0.2"),
        ("app-aa.example.com", RecordType::A, "198.18.0.3"),
        ("_truce-us-east-1.app.example.com", RecordType::A, "198.18.0.4"),
        ("*.example.com", RecordType::A, "198.18.0.5"),
        ("a-app-bb.example.com", RecordType::Txt, "\"something\""),
        ("example.com", RecordType::Mx, "10 mail.example.com"),
        ("app-bb.example.com", RecordType::Cname, "elsewhere.example.net"),
        ("_truce.app.example.com", RecordType::Txt, "\"mine\""),
        ("api.app.example.com", RecordType::A, "198.18.0.6"),
        (
            "a-app-aa.example.com",
            RecordType::Txt,
            "\"heritage=external-dns,external-dns/owner=other,external-dns/resource=crd/x/y\"",
        ),
        ("app.example.com", RecordType::Aaaa, "2001:db8:ffff::1"),
    ][index];
    RecordSet {
        name: RecordName::listed(name),
        record_type,
        routing: Routing::Simple,
        data: RecordData::values(60, [value]),
        health_check: None,
    }
}

/// Somebody creates a record, if Route 53 takes it.
fn put_foreign(sim: &mut Sim, facts: &Rc<RefCell<Facts>>, index: usize) {
    let set = foreign(index);
    let cname = |t: RecordType| t == RecordType::Cname;
    let clash = |other: &RecordSet| {
        let same_name = other.name == set.name;
        let policy = std::mem::discriminant(&other.routing) != std::mem::discriminant(&set.routing);
        let same_group = other.record_type == set.record_type && (policy || other.key() == set.key());
        same_name && (same_group || cname(other.record_type) || cname(set.record_type))
    };
    if !sim.zone.sets.values().any(clash) {
        sim.zone.put(set.clone());
        facts.borrow_mut().foreign.insert(set.key(), set);
        sim.record("somebody");
    }
}
