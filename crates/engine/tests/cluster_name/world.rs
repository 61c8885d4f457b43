//! Hub, zone and member together: the hub calls `step`, and its effects land later or never.

use std::collections::BTreeMap;
use std::time::Duration;

use truce_engine::effect::{Change, MemberEffect};
use truce_engine::rule::cluster_name::{ClusterNameInput, ClusterNameMemory, ClusterNameOutput, Writer, step};
use truce_engine::rule::confirm::Confirm;
use truce_engine::rule::endpoint::{endpoint_name, fence_name};
use truce_engine::time::{Mono, Now, Timings, Wall};
use truce_engine::value::address::Address;
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::{ClusterName, HostnameKey, HubId};
use truce_engine::value::observed::Observed;
use truce_engine::value::record::{RecordData, RecordSet, RecordType};
use truce_engine::world::members::{Affix, Dialect, DialectVersion, ExternalDns as Spec, ExternalDnsPolicy};
use truce_engine::world::zones::Records;

use crate::member::{Api, ExternalDns, Objects, simple};
use crate::zone::{Act, Actor, Zone};

pub(crate) const NAME: &str = "app-east.example.com";
pub(crate) const INTERVAL: Duration = Duration::from_secs(3);

/// Everything.
pub(crate) struct World {
    pub(crate) zone: Zone,
    pub(crate) api: Api,
    pub(crate) member: ExternalDns,
    pub(crate) baseline: Vec<RecordSet>,
    pub(crate) now: u64,
    hub: HubId,
    hostname: HostnameKey,
    pub(crate) spec: Option<Spec>,
    timings: Timings,
    // What the user wants.
    pub(crate) name: Option<String>,
    pub(crate) held: Option<String>,
    pub(crate) address: Option<Address>,
    pub(crate) placeholder: bool,
    pub(crate) confirm: Option<String>,
    pub(crate) abandoned: bool,
    pub(crate) paused: bool,
    // What the hub knows.
    records: Records,
    read_at: BTreeMap<RecordName, Mono>,
    view: Option<Objects>,
    pub(crate) reachable: bool,
    /// Whether the member's ExternalDNS runs.
    pub(crate) running: bool,
    /// How often its informer catches up, milliseconds.
    pub(crate) informer_lag: u64,
    memory: ClusterNameMemory,
    maybe_offered: bool,
    pub(crate) last: ClusterNameOutput,
    // What is on its way.
    zone_call: Option<Vec<Change>>,
    member_call: Option<MemberEffect>,
    // For the oracle.
    pub(crate) live: bool,
    pub(crate) releasing: bool,
}

/// A member's ExternalDNS as the MemberCluster describes it.
pub(crate) fn spec(sync: bool, prefix: &str) -> Spec {
    Spec {
        owner_id: "ed-east".to_owned(),
        zones: None,
        namespace: "truce-system".to_owned(),
        labels: BTreeMap::from([("team".to_owned(), "edge".to_owned())]),
        dialect: Dialect {
            version: DialectVersion::V0_22,
            affix: if prefix.is_empty() {
                Affix::None
            } else {
                Affix::Prefix(prefix.into())
            },
            wildcard_replacement: None,
        },
        policy: if sync {
            ExternalDnsPolicy::Sync
        } else {
            ExternalDnsPolicy::UpsertOnly
        },
        interval: INTERVAL,
        record_cache: Duration::from_secs(1),
    }
}

pub(crate) fn ip(text: &str) -> Address {
    Address::from_ips(text.split(' ').map(|ip| ip.parse().unwrap())).unwrap()
}

pub(crate) fn load_balancer(name: &str, dual_stack: bool) -> Address {
    Address::from_name(DnsName::parse(name).unwrap(), dual_stack)
}

impl World {
    pub(crate) fn new(spec: Option<Spec>) -> Self {
        let (sync, prefix) = match &spec {
            Some(spec) => (
                spec.policy == ExternalDnsPolicy::Sync,
                match &spec.dialect.affix {
                    Affix::Prefix(prefix) => prefix.to_string(),
                    Affix::None | Affix::Suffix(_) => String::new(),
                },
            ),
            None => (true, String::new()),
        };
        let mut world = Self {
            zone: Zone::default(),
            api: Api::default(),
            member: ExternalDns::new("ed-east", sync, &prefix),
            baseline: Vec::new(),
            now: 1_000,
            hub: HubId::parse("demo").unwrap(),
            hostname: HostnameKey::new("shop", "app"),
            spec,
            timings: Timings {
                member_poll: Duration::from_millis(500),
                adoption_causes: Duration::from_secs(20),
                ..Timings::default()
            },
            name: Some(NAME.to_owned()),
            held: None,
            address: None,
            placeholder: true,
            confirm: None,
            abandoned: false,
            paused: false,
            records: Records::default(),
            read_at: BTreeMap::new(),
            view: None,
            reachable: true,
            running: true,
            informer_lag: 250,
            memory: ClusterNameMemory::default(),
            maybe_offered: false,
            last: ClusterNameOutput::default(),
            zone_call: None,
            member_call: None,
            live: false,
            releasing: false,
        };
        // A bystander of the member, which Truce must not touch (T21).
        world.somebody(simple(
            "legacy.example.com",
            RecordType::A,
            RecordData::values(60, ["198.51.100.77"]),
        ));
        let text = "\"heritage=external-dns,external-dns/owner=ed-other,external-dns/resource=ingress/web/legacy\"";
        world.somebody(simple(
            "a-legacy.example.com",
            RecordType::Txt,
            RecordData::values(300, [text]),
        ));
        world.baseline = world.zone.sets().cloned().collect();
        world.audit();
        world
    }

    /// Somebody else creates or overwrites a record.
    pub(crate) fn somebody(&mut self, set: RecordSet) {
        self.zone.apply(Actor::Somebody, &[Act::Upsert(set)]).unwrap();
    }

    pub(crate) fn endpoint_name(&self) -> String {
        endpoint_name(&self.hub, &self.hostname)
    }

    fn observed(&self, name: &str) -> Observed<Option<&truce_engine::event::DnsEndpointSeen>> {
        match &self.view {
            None => Observed::Unknown,
            Some(view) if self.reachable => Observed::Fresh(view.get(name)),
            Some(view) => Observed::Stale {
                value: view.get(name),
                since: Mono(0),
            },
        }
    }

    /// The hub thinks, and starts what it can.
    pub(crate) fn hub(&mut self) {
        let (name, held) = (self.name.clone(), self.held.clone());
        let (name, held) = (
            name.map(|n| RecordName::listed(&n)),
            held.map(|n| RecordName::listed(&n)),
        );
        let object = self.endpoint_name();
        let (cluster, zone) = (
            ClusterName::parse("east").unwrap(),
            DnsName::parse("example.com").unwrap(),
        );
        let input = ClusterNameInput {
            hub: &self.hub,
            hostname: &self.hostname,
            cluster: &cluster,
            name: name.as_ref(),
            held_name: held.as_ref(),
            zone: &zone,
            ttl: 60,
            evaluate_target_health: true,
            writer: self.spec.as_ref().map_or(Writer::Hub, Writer::Member),
            address: self.address.as_ref(),
            placeholder: self.placeholder,
            maybe_offered: self.maybe_offered,
            records: &self.records,
            read_at: &self.read_at,
            endpoint: self.observed(&object),
            fence: self.observed(&fence_name(&object)),
            now: Now {
                mono: Mono(self.now),
                wall: Wall::UNIX_EPOCH,
            },
            timings: &self.timings,
            memory: &self.memory,
            confirm: Confirm {
                hostname: &self.hostname,
                word: self.confirm.as_deref(),
                spent: None,
            },
            abandoned: self.abandoned,
            paused: self.paused,
        };
        let out = step(&input);
        let again = step(&ClusterNameInput {
            memory: &out.memory,
            ..input
        });
        assert_eq!(out, again, "asked again, it asks for the same");
        self.memory = out.memory.clone();
        self.maybe_offered |= out.adoption.is_some_and(|a| a != truce_api::Adoption::Hub);
        if self.zone_call.is_none() && !out.changes.is_empty() {
            self.zone_call = Some(out.changes.clone());
        }
        if self.member_call.is_none() {
            self.member_call.clone_from(&out.endpoint);
        }
        self.last = out;
    }

    /// The batch on its way reaches Route 53.
    pub(crate) fn zone_lands(&mut self) {
        let Some(changes) = self.zone_call.take() else {
            return;
        };
        let deletes = changes.iter().filter(|c| matches!(c, Change::Delete(_)));
        let creates = changes.iter().filter(|c| matches!(c, Change::Create(_)));
        let acts: Vec<Act> = deletes
            .chain(creates)
            .map(|change| match change {
                Change::Create(set) => Act::Create(set.clone()),
                Change::Delete(owned) => Act::Delete(owned.get().clone()),
            })
            .collect();
        self.hand_over_is_allowed(&acts);
        let accepted = self.zone.apply(Actor::Hub, &acts).is_ok();
        if accepted {
            self.look();
        }
        let names: Vec<_> = acts.iter().map(|act| act.set().name.clone()).collect();
        for name in names {
            let sets = self.zone.at(name.as_str());
            self.records.set(&name, sets);
            if !accepted {
                self.read_at.insert(name, Mono(self.now));
            }
        }
    }

    /// The member call on its way reaches its API server.
    pub(crate) fn member_lands(&mut self) {
        if let Some(effect) = self.member_call.take() {
            self.api.carry_out(&effect);
        }
    }

    /// The watch delivers.
    pub(crate) fn watch(&mut self) {
        if self.reachable {
            self.view = Some(self.api.objects.clone());
        }
    }

    /// The reads that are due.
    pub(crate) fn read(&mut self) {
        for (name, due) in self.last.reads.clone() {
            if due.0 <= self.now {
                let sets = self.zone.at(name.as_str());
                self.records.set(&name, sets);
                self.read_at.insert(name, Mono(self.now));
            }
        }
    }

    /// A complete read of the zone.
    pub(crate) fn audit(&mut self) {
        self.records = Records::default();
        let names: Vec<_> = self.zone.sets().map(|set| set.name.clone()).collect();
        for name in names {
            let sets = self.zone.at(name.as_str());
            self.records.set(&name, sets);
        }
        self.read_at.values_mut().for_each(|at| *at = Mono(self.now));
    }

    /// The hub is killed and starts again; what was on its way arrived or not.
    pub(crate) fn restart(&mut self, arrived: bool) {
        if arrived {
            self.zone_lands();
            self.member_lands();
        }
        self.zone_call = None;
        self.member_call = None;
        self.memory = ClusterNameMemory::default();
        self.read_at.clear();
        self.view = None;
        self.audit();
    }

    /// The member's ExternalDNS sends what it planned.
    pub(crate) fn member_applies(&mut self) {
        self.member.apply(&mut self.zone);
        self.look();
    }

    /// One fair round of everybody.
    pub(crate) fn round(&mut self) {
        self.now += 250;
        self.watch();
        self.hub();
        self.member_lands();
        self.zone_lands();
        self.watch();
        self.hub();
        self.read();
        if self.running {
            self.member_runs();
        }
        if self.now.is_multiple_of(60_000) {
            self.audit();
        }
    }

    /// The member's ExternalDNS runs once a second, a step a round; its informer lags behind.
    fn member_runs(&mut self) {
        if self.now.is_multiple_of(self.informer_lag) {
            self.member.informed(&self.api);
        }
        match self.now % 1_000 {
            0 => self.member.list_zone(&self.zone),
            250 => self.member.list_sources(&mut self.api),
            500 => self.member_applies(),
            _ => {}
        }
    }

    /// Fair rounds until `done`, or a panic after two minutes.
    pub(crate) fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        for _ in 0..480 {
            self.round();
            if done(self) {
                return;
            }
        }
        panic!(
            "never: {what}\nzone {:#?}\nlast {:#?}\nobjects {:#?}",
            self.lines(),
            self.last,
            self.api.objects
        );
    }

    /// Rounds in which nobody may write.
    pub(crate) fn quiet(&mut self) {
        let before = (self.zone.sent.len(), self.api.writes.len());
        for _ in 0..100 {
            self.round();
        }
        let after = (self.zone.sent.len(), self.api.writes.len());
        assert_eq!(before, after, "not quiet: {:?} {:#?}", self.zone.sent, self.api.writes);
        assert!(self.last.reads.is_empty(), "still reads: {:?}", self.last.reads);
    }
}
