//! A small world around the engine: the hub's objects, members with Services and DNSEndpoints, one hosted zone, and a
//! model of ExternalDNS 0.22 that observes, adopts, updates and (policy sync) deletes.
//!
//! Everything is stepped by hand on virtual time. Every version of the zone is kept.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use truce_engine::effect::{Change, Effect, EffectId, EndpointApply, HubEffect, MemberEffect, Status, ZoneEffect};
use truce_engine::event::{
    Class, DnsEndpointSeen, Event, Failure, HubEvent, HubObject, HubRef, MemberEvent, MemberKind, MemberObject,
    ServiceSeen, Success, WatchKey,
};
use truce_engine::time::{Mono, Now, Timings, Wall};
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::ids::{ClusterName, HubId};
use truce_engine::value::ownership::OwnershipText;
use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing, SetKey};
use truce_engine::{Config, Engine};

use crate::fake::Fake;

/// One member cluster.
pub(crate) struct Member {
    pub(crate) up: bool,
    pub(crate) uid: String,
    pub(crate) services: BTreeMap<(String, String), ServiceSeen>,
    pub(crate) endpoints: BTreeMap<(String, String), DnsEndpointSeen>,
    /// Owner id and whether its policy is sync; `None`: no ExternalDNS.
    pub(crate) external_dns: Option<(String, bool)>,
    session: Option<EffectId>,
    watches: Vec<WatchKey>,
    next_uid: u64,
}

/// The world.
pub(crate) struct Sim {
    pub(crate) engine: Engine,
    pub(crate) now: Now,
    pub(crate) zone: Fake,
    pub(crate) objects: Objects,
    pub(crate) members: BTreeMap<String, Member>,
    /// Every version of the zone, each with who made it.
    pub(crate) versions: Vec<(String, Vec<RecordSet>)>,
    pub(crate) user_events: Vec<String>,
    pub(crate) status_writes: usize,
    pub(crate) hub_batches: usize,
    /// What is looked at whenever the zone changes, a batch is sent or the engine is asked.
    pub(crate) watch: Option<Box<dyn Observer>>,
    /// Where the operator dies, or an answer gets lost: at the so-manieth effect.
    pub(crate) fault: Option<(usize, Fault)>,
    /// Effects that were carried out.
    pub(crate) effects: usize,
    /// In which order effects of one poll are carried out: 0 as they come, else rotated by so many.
    pub(crate) rotate: usize,
    config: Config,
    created: i64,
    next_sync: Mono,
    lose_answer: bool,
}

/// What happens at an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The operator dies before the effect.
    KilledBefore,
    /// The operator dies after the effect, before the answer.
    KilledAfter,
    /// The effect is carried out, the answer gets lost.
    AnswerLost,
}

/// Who looks at everything that happens.
pub(crate) trait Observer {
    /// Before the engine is asked.
    fn asked(&mut self, engine: &Engine, now: Now);
    /// A batch is sent.
    fn batch(&mut self, changes: &[Change]);
    /// The zone has changed.
    fn version(&mut self, who: &str, sets: &BTreeMap<SetKey, RecordSet>, objects: &Objects, now: Now);
}

/// Kind, namespace, name.
pub(crate) type ObjectKey = (String, String, String);

/// The hub's objects as JSON.
pub(crate) type Objects = BTreeMap<ObjectKey, Value>;

/// Between two runs of a member's ExternalDNS, milliseconds.
const SYNC: u64 = 3_000;

pub(crate) fn timings() -> Timings {
    Timings {
        drain_grace: std::time::Duration::from_secs(10),
        ..Timings::default()
    }
}

impl Sim {
    pub(crate) fn new() -> Self {
        Self::with(timings())
    }

    pub(crate) fn with(timings: Timings) -> Self {
        let config = Config {
            hub: HubId::parse("demo").unwrap(),
            namespace: "truce-system".to_owned(),
            timings,
            status_writes_per_second: 1000,
        };
        let mut sim = Self {
            engine: Engine::new(config.clone()),
            now: Now {
                mono: Mono(1_000),
                wall: Wall::from_second(1_800_000_000).unwrap(),
            },
            zone: Fake::new(),
            objects: BTreeMap::new(),
            members: BTreeMap::new(),
            versions: Vec::new(),
            user_events: Vec::new(),
            status_writes: 0,
            hub_batches: 0,
            watch: None,
            fault: None,
            effects: 0,
            rotate: 0,
            config,
            created: 0,
            next_sync: Mono(SYNC),
            lose_answer: false,
        };
        sim.greet();
        sim
    }

    fn greet(&mut self) {
        let keys: Vec<_> = self.objects.keys().cloned().collect();
        self.greet_with(&keys);
    }

    fn greet_with(&mut self, objects: &[ObjectKey]) {
        self.tell(Event::Hub(HubEvent::Identity {
            uid: "hub-uid".to_owned(),
        }));
        for key in objects {
            self.echo(key);
        }
        self.tell(Event::Hub(HubEvent::Synced));
    }

    /// The operator is killed and started again: the engine forgets everything.
    pub(crate) fn restart(&mut self) {
        let keys: Vec<_> = self.objects.keys().cloned().collect();
        self.restart_with(&keys);
    }

    /// As `restart`; the objects are listed in this order.
    pub(crate) fn restart_with(&mut self, objects: &[ObjectKey]) {
        self.engine = Engine::new(self.config.clone());
        for member in self.members.values_mut() {
            member.session = None;
            member.watches.clear();
        }
        self.greet_with(objects);
    }

    fn tell(&mut self, event: Event) {
        self.engine.handle(event, self.now);
    }

    // What people do.

    /// Creates or replaces the spec of an object, as `kubectl apply` does.
    pub(crate) fn apply(&mut self, kind: &str, namespace: &str, name: &str, spec: Value) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.created += 1;
        let created = Wall::from_second(1_700_000_000 + self.created).unwrap().to_string();
        let object = self.objects.entry(key.clone()).or_insert_with(|| {
            json!({"apiVersion": "dns.truce.dev/v1alpha1", "kind": kind, "metadata": {
                "name": name, "namespace": namespace, "uid": format!("uid-{name}"), "generation": 0,
                "creationTimestamp": created, "labels": {}}, "status": null})
        });
        if object["spec"] != spec {
            object["spec"] = spec;
            object["metadata"]["generation"] = json!(object["metadata"]["generation"].as_i64().unwrap() + 1);
        }
        self.echo(&key);
    }

    /// Merge-patches the spec of an object.
    pub(crate) fn patch(&mut self, kind: &str, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let mut spec = self.objects[&key]["spec"].clone();
        change(&mut spec);
        self.apply(kind, namespace, name, spec);
    }

    /// Sets an annotation.
    pub(crate) fn annotate(&mut self, kind: &str, namespace: &str, name: &str, annotation: &str, value: &str) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.annotations(&key, json!({annotation: value}));
    }

    /// The watches of a member that went down break.
    pub(crate) fn fail_watches(&mut self, member: &str) {
        let state = &self.members[member];
        let Some(session) = state.session else { return };
        for watch in state.watches.clone() {
            let failure = unreachable(member);
            let event = MemberEvent::WatchFailed { watch, failure };
            self.tell(Event::Member {
                cluster: ClusterName::parse(member).unwrap(),
                session,
                event,
            });
        }
    }

    /// Sets an object's annotations, if it exists.
    pub(crate) fn annotations(&mut self, key: &ObjectKey, annotations: Value) {
        if let Some(object) = self.objects.get_mut(key) {
            object["metadata"]["annotations"] = annotations;
            self.echo(key);
        }
    }

    /// The MemberCluster of a cluster that still runs is created anew, without ExternalDNS' help if it had none.
    pub(crate) fn member_back(&mut self, name: &str, region: &str) {
        let external_dns = self.members[name].external_dns.clone();
        let spec = member_spec(
            name,
            region,
            external_dns.as_ref().map(|(owner, sync)| (owner.as_str(), *sync)),
        );
        self.apply("MemberCluster", "", name, spec);
    }

    /// Somebody deletes all DNSEndpoints of a member.
    pub(crate) fn delete_endpoints(&mut self, member: &str) {
        let state = self.members.get_mut(member).unwrap();
        let keys: Vec<_> = state.endpoints.keys().cloned().collect();
        for key in keys {
            if let Some(endpoint) = self.members.get_mut(member).unwrap().endpoints.get_mut(&key)
                && !endpoint.deleting
            {
                endpoint.deleting = true;
                endpoint.generation += 1;
                self.endpoint_changed(member, &key);
            }
        }
    }

    /// Deletes an object; it stays while it has finalizers.
    pub(crate) fn delete(&mut self, kind: &str, namespace: &str, name: &str) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let object = self.objects.get_mut(&key).unwrap();
        object["metadata"]["deletionTimestamp"] = json!("2027-01-01T00:00:00Z");
        let generation = object["metadata"]["generation"].as_i64().unwrap();
        object["metadata"]["generation"] = json!(generation + 1);
        self.collect(&key);
    }

    pub(crate) fn exists(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.objects
            .contains_key(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
    }

    fn collect(&mut self, key: &(String, String, String)) {
        let object = &self.objects[key];
        let finalizers = object["metadata"]["finalizers"].as_array().map_or(0, Vec::len);
        if finalizers == 0 && !object["metadata"]["deletionTimestamp"].is_null() {
            self.objects.remove(key);
            self.tell(Event::Hub(HubEvent::Gone(reference(key))));
        } else {
            self.echo(key);
        }
    }

    fn echo(&mut self, key: &(String, String, String)) {
        let value = self.objects[key].clone();
        let object = match key.0.as_str() {
            "GlobalHostname" => HubObject::GlobalHostname(serde_json::from_value(value).unwrap()),
            "MemberCluster" => HubObject::MemberCluster(serde_json::from_value(value).unwrap()),
            "ClusterDrain" => HubObject::ClusterDrain(serde_json::from_value(value).unwrap()),
            "DNSZone" => HubObject::DnsZone(serde_json::from_value(value).unwrap()),
            _ => unreachable!(),
        };
        self.tell(Event::Hub(HubEvent::Applied(Box::new(object))));
    }

    /// A DNSZone for example.com that lets the namespace shop declare everything.
    pub(crate) fn zone_object(&mut self) {
        let spec = json!({"domain": "example.com", "hostedZoneID": "Z1", "accountID": "111111111111",
            "claims": [{"namespaces": ["shop"], "hostnames": ["*.example.com"]}],
            "limits": {"requestsPerSecond": 1000, "changesPerSecond": 100000}});
        self.apply("DNSZone", "", "example-com", spec);
    }

    /// A member cluster with a MemberCluster object. `external_dns`: owner id and whether it syncs.
    pub(crate) fn member(&mut self, name: &str, region: &str, external_dns: Option<(&str, bool)>) {
        self.members.insert(
            name.to_owned(),
            Member {
                up: true,
                uid: format!("kube-system-of-{name}"),
                services: BTreeMap::new(),
                endpoints: BTreeMap::new(),
                external_dns: external_dns.map(|(owner, sync)| (owner.to_owned(), sync)),
                session: None,
                watches: Vec::new(),
                next_uid: 0,
            },
        );
        self.apply("MemberCluster", "", name, member_spec(name, region, external_dns));
    }

    /// A GlobalHostname shop/app for app.example.com over these clusters.
    pub(crate) fn app(&mut self, clusters: &[&str]) {
        let clusters: Vec<Value> = clusters.iter().map(|name| json!({"name": name})).collect();
        let spec = json!({"hostname": "app.example.com", "ttl": 5, "source": {"service": {"name": "gateway"}}, "clusters": clusters});
        self.apply("GlobalHostname", "shop", "app", spec);
    }

    /// The Service shop/gateway of a member gets this load-balancer status: IPs or a name.
    pub(crate) fn gateway(&mut self, member: &str, addresses: &[&str]) {
        self.service(member, "gateway", false, addresses);
    }

    /// A Service of the namespace shop gets this load-balancer status.
    pub(crate) fn service(&mut self, member: &str, name: &str, dual_stack: bool, addresses: &[&str]) {
        let service = ServiceSeen {
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            load_balancer: true,
            dual_stack,
            internal: false,
            ips: addresses.iter().filter_map(|text| text.parse().ok()).collect(),
            hostnames: addresses
                .iter()
                .filter(|t| t.parse::<std::net::IpAddr>().is_err())
                .map(|t| (*t).to_owned())
                .collect(),
        };
        let key = ("shop".to_owned(), name.to_owned());
        let object = self.members.get_mut(member).unwrap();
        object.services.insert(key, service.clone());
        self.member_says(member, MemberObject::Service(service));
    }

    /// A Service of the namespace shop is deleted.
    pub(crate) fn service_gone(&mut self, member: &str, name: &str) {
        let state = self.members.get_mut(member).unwrap();
        if state.services.remove(&("shop".to_owned(), name.to_owned())).is_none() {
            return;
        }
        let watch = WatchKey {
            kind: MemberKind::Service,
            namespace: "shop".to_owned(),
        };
        let gone = MemberEvent::Gone {
            watch: watch.clone(),
            name: name.to_owned(),
        };
        self.member_event(member, &watch, gone);
    }

    /// A member goes down: its watches break. It comes back: they are listed again.
    pub(crate) fn set_up(&mut self, member: &str, up: bool) {
        let state = self.members.get_mut(member).unwrap();
        if state.up == up {
            return;
        }
        state.up = true;
        let watches = state.watches.clone();
        for watch in watches {
            let event = if up {
                MemberEvent::Listed {
                    objects: self.members[member].list(&watch),
                    watch: watch.clone(),
                }
            } else {
                MemberEvent::WatchFailed {
                    watch: watch.clone(),
                    failure: unreachable(member),
                }
            };
            self.member_event(member, &watch, event);
        }
        self.members.get_mut(member).unwrap().up = up;
    }

    fn member_event(&mut self, member: &str, watch: &WatchKey, event: MemberEvent) {
        let state = &self.members[member];
        if let (Some(session), true, true) = (state.session, state.watches.contains(watch), state.up) {
            self.tell(Event::Member {
                cluster: ClusterName::parse(member).unwrap(),
                session,
                event,
            });
        }
    }

    fn member_says(&mut self, member: &str, object: MemberObject) {
        let key = match &object {
            MemberObject::Service(s) => WatchKey {
                kind: MemberKind::Service,
                namespace: s.namespace.clone(),
            },
            MemberObject::DnsEndpoint(e) => WatchKey {
                kind: MemberKind::DnsEndpoint,
                namespace: e.namespace.clone(),
            },
        };
        self.member_event(member, &key, MemberEvent::Applied(object));
    }

    // Time.

    /// Runs until the engine asks for nothing now.
    pub(crate) fn settle(&mut self) -> Option<Mono> {
        for _ in 0..1_000 {
            if let Some(watch) = &mut self.watch {
                watch.asked(&self.engine, self.now);
            }
            let (mut effects, wake) = self.engine.poll(self.now);
            if effects.is_empty() {
                match wake {
                    Some(at) if at <= self.now.mono => continue,
                    other => return other,
                }
            }
            let by = self.rotate % effects.len();
            effects.rotate_left(by);
            for (id, effect) in effects {
                if !self.carry_out(id, effect) {
                    break;
                }
            }
        }
        panic!("the engine never comes to rest: {:?}", self.status());
    }

    /// Settles, looking after every single effect.
    pub(crate) fn settle_watching(&mut self, look: impl Fn(&Self)) {
        loop {
            let (effects, _) = self.engine.poll(self.now);
            if effects.is_empty() {
                return;
            }
            for (id, effect) in effects {
                self.execute(id, effect);
                look(self);
            }
        }
    }

    /// Lets time pass, with ExternalDNS running every three seconds.
    pub(crate) fn run(&mut self, seconds: u64) {
        let end = Mono(self.now.mono.0 + seconds * 1_000);
        loop {
            let wake = self.settle();
            if self.now.mono >= end {
                return;
            }
            let next = wake.into_iter().chain([end, self.next_sync]).min().unwrap_or(end);
            self.pass(next.0.saturating_sub(self.now.mono.0));
            if self.now.mono >= self.next_sync {
                self.next_sync = Mono(self.now.mono.0 + SYNC);
                self.external_dns();
            }
        }
    }

    /// Runs until a condition holds; fails after a minute of virtual time... or `seconds`.
    pub(crate) fn until(&mut self, what: &str, seconds: u64, done: impl Fn(&Self) -> bool) {
        for _ in 0..seconds {
            self.run(1);
            if done(self) {
                return;
            }
        }
        panic!(
            "{what}: not within {seconds} s\n{}\n{}",
            self.lines().join("\n"),
            serde_json::to_string_pretty(&self.status()).unwrap()
        );
    }

    fn pass(&mut self, millis: u64) {
        let wall = self.now.wall.as_millisecond() + i64::try_from(millis).unwrap();
        self.now = Now {
            mono: Mono(self.now.mono.0 + millis),
            wall: Wall::from_millisecond(wall).unwrap(),
        };
    }

    fn done(&mut self, id: EffectId, outcome: Result<Success, Failure>) {
        let lost = Failure {
            class: Class::Retry,
            code: "ConnectionReset".to_owned(),
            message: "the answer got lost".to_owned(),
            ambiguous: true,
        };
        let outcome = if self.lose_answer { Err(lost) } else { outcome };
        self.tell(Event::Done(id, outcome));
    }

    /// Carries an effect out, or what the fault makes of it; false: the operator was started anew.
    fn carry_out(&mut self, id: EffectId, effect: Effect) -> bool {
        self.effects += 1;
        let fault = self.fault.filter(|(at, _)| *at == self.effects).map(|(_, fault)| fault);
        match fault {
            None => self.execute(id, effect),
            Some(Fault::KilledBefore) => self.restart(),
            Some(Fault::KilledAfter) => {
                self.execute(id, effect);
                self.restart();
            }
            Some(Fault::AnswerLost) => {
                self.lose_answer = true;
                self.execute(id, effect);
                self.lose_answer = false;
            }
        }
        matches!(fault, None | Some(Fault::AnswerLost))
    }

    fn execute(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::Hub(effect) => self.hub(id, effect),
            Effect::Member(cluster, effect) => self.in_member(id, &cluster, effect),
            Effect::Zone(_, effect) => {
                if let (ZoneEffect::Submit { changes, .. }, Some(watch)) = (&effect, &mut self.watch) {
                    watch.batch(changes);
                }
                let outcome = self.zone.answer(&effect, self.now.wall);
                if matches!(effect, ZoneEffect::Submit { .. }) && outcome.is_ok() {
                    self.hub_batches += 1;
                    self.record("hub");
                }
                self.done(id, outcome);
            }
        }
    }

    /// Notes a version of the zone, and who made it.
    pub(crate) fn record(&mut self, who: &str) {
        if let Some(watch) = &mut self.watch {
            watch.version(who, &self.zone.sets, &self.objects, self.now);
            return;
        }
        let sets = self.zone.sets.values().cloned().collect();
        self.versions.push((who.to_owned(), sets));
    }

    fn hub(&mut self, id: EffectId, effect: HubEffect) {
        match effect {
            HubEffect::EmitEvent(event) => self.user_events.push(format!("{} {}", event.reason, event.note)),
            HubEffect::WriteStatus(status) => {
                self.status_writes += 1;
                let (key, value) = match *status {
                    Status::GlobalHostname {
                        namespace,
                        name,
                        status,
                    } => (
                        ("GlobalHostname".to_owned(), namespace, name),
                        serde_json::to_value(status),
                    ),
                    Status::MemberCluster { name, status } => (
                        ("MemberCluster".to_owned(), String::new(), name),
                        serde_json::to_value(status),
                    ),
                    Status::ClusterDrain { name, status } => (
                        ("ClusterDrain".to_owned(), String::new(), name),
                        serde_json::to_value(status),
                    ),
                    Status::DnsZone { name, status } => (
                        ("DNSZone".to_owned(), String::new(), name),
                        serde_json::to_value(status),
                    ),
                };
                if let Some(object) = self.objects.get_mut(&key) {
                    object["status"] = value.unwrap();
                    self.echo(&key);
                }
                self.done(id, Ok(Success::Done));
            }
            HubEffect::SetFinalizer { object, present } => {
                let key = key_of(&object);
                if let Some(value) = self.objects.get_mut(&key) {
                    value["metadata"]["finalizers"] = if present {
                        json!(["dns.truce.dev/owned"])
                    } else {
                        json!([])
                    };
                    self.collect(&key);
                }
                self.done(id, Ok(Success::Done));
            }
        }
    }

    fn in_member(&mut self, id: EffectId, cluster: &ClusterName, effect: MemberEffect) {
        let name = cluster.as_str().to_owned();
        let member = self.members.get_mut(&name).unwrap();
        let local = matches!(effect, MemberEffect::Close | MemberEffect::Unwatch(_));
        if !member.up && !local {
            return self.done(id, Err(unreachable(&name)));
        }
        match effect {
            MemberEffect::Open(_) => {
                member.watches.clear();
                member.session = Some(id);
                let uid = member.uid.clone();
                self.done(
                    id,
                    Ok(Success::Opened {
                        cluster_uid: uid,
                        server_version: "v1.37.2".to_owned(),
                    }),
                );
            }
            MemberEffect::Close => {
                member.session = None;
                member.watches.clear();
                self.done(id, Ok(Success::Done));
            }
            MemberEffect::Watch(key) => {
                member.watches.retain(|watch| *watch != key);
                member.watches.push(key.clone());
                let session = member.session.unwrap();
                let objects = member.list(&key);
                self.done(id, Ok(Success::Done));
                let event = MemberEvent::Listed { watch: key, objects };
                self.tell(Event::Member {
                    cluster: cluster.clone(),
                    session,
                    event,
                });
            }
            MemberEffect::Unwatch(key) => {
                member.watches.retain(|watch| *watch != key);
                self.done(id, Ok(Success::Done));
            }
            MemberEffect::ApplyEndpoint(apply) => {
                let seen = member.store(apply);
                self.done(id, Ok(Success::Done));
                self.member_says(&name, MemberObject::DnsEndpoint(seen));
            }
            MemberEffect::DeleteEndpoint {
                namespace,
                name: object,
                ..
            } => {
                let key = (namespace, object);
                if let Some(endpoint) = member.endpoints.get_mut(&key) {
                    endpoint.deleting = true;
                    endpoint.generation += 1;
                }
                self.done(id, Ok(Success::Done));
                self.endpoint_changed(&name, &key);
            }
            MemberEffect::DropFinalizer {
                namespace,
                name: object,
                ..
            } => {
                let key = (namespace, object);
                if let Some(endpoint) = member.endpoints.get_mut(&key) {
                    endpoint.finalizer = false;
                }
                self.done(id, Ok(Success::Done));
                self.endpoint_changed(&name, &key);
            }
        }
    }

    /// Tells of a DNSEndpoint; one that is being deleted and has no finalizer goes.
    pub(crate) fn endpoint_changed(&mut self, member: &str, key: &(String, String)) {
        let state = self.members.get_mut(member).unwrap();
        let Some(endpoint) = state.endpoints.get(key).cloned() else {
            return;
        };
        if !endpoint.deleting || endpoint.finalizer {
            return self.member_says(member, MemberObject::DnsEndpoint(endpoint));
        }
        state.endpoints.remove(key);
        let watch = WatchKey {
            kind: MemberKind::DnsEndpoint,
            namespace: key.0.clone(),
        };
        let gone = MemberEvent::Gone {
            watch: watch.clone(),
            name: key.1.clone(),
        };
        self.member_event(member, &watch, gone);
    }

    // ExternalDNS.

    /// One run of every member's ExternalDNS: read the zone, list the sources (writing observedGeneration), apply.
    pub(crate) fn external_dns(&mut self) {
        for name in self.members.keys().cloned().collect::<Vec<_>>() {
            let member = self.members.get_mut(&name).unwrap();
            let Some((owner, sync)) = member.external_dns.clone().filter(|_| member.up) else {
                continue;
            };
            let mut observed = Vec::new();
            let mut wanted: BTreeMap<(RecordName, RecordType), (RecordSet, String)> = BTreeMap::new();
            for (key, endpoint) in &mut member.endpoints {
                if endpoint.observed_generation != Some(endpoint.generation) {
                    endpoint.observed_generation = Some(endpoint.generation);
                    observed.push(key.clone());
                }
                let records = truce_engine::rule::endpoint::records(
                    &RecordName::listed(
                        endpoint
                            .annotations
                            .get("dns.truce.dev/cluster-hostname")
                            .map_or("x.invalid", String::as_str),
                    ),
                    &endpoint.endpoints,
                );
                for set in records.into_iter().flatten() {
                    let resource = format!("crd/{}/{}", endpoint.namespace, endpoint.name);
                    wanted.insert((set.name.clone(), set.record_type), (set, resource));
                }
            }
            for key in observed {
                self.endpoint_changed(&name, &key);
            }
            self.reconcile(&name, &owner, sync, wanted);
        }
    }

    fn reconcile(
        &mut self,
        who: &str,
        owner: &str,
        sync: bool,
        wanted: BTreeMap<(RecordName, RecordType), (RecordSet, String)>,
    ) {
        let before = self.zone.sets.clone();
        for ((name, record_type), (set, resource)) in &wanted {
            if !name
                .name()
                .is_within(&truce_engine::value::dns_name::DnsName::parse("example.com").unwrap())
            {
                continue;
            }
            let txt = txt_name(name, *record_type);
            let current = self.zone.sets.get(&set.key()).cloned();
            let held = self.owner_of(&txt);
            let anything = self.zone.sets.values().any(|other| other.name == *name);
            match (current, held) {
                (Some(current), Some(held)) if held == owner && current != *set => self.zone.put(set.clone()),
                (Some(_), _) => {}
                (None, held) => {
                    let row_owned = !anything
                        || self
                            .zone
                            .sets
                            .values()
                            .filter(|s| s.name == *name)
                            .all(|s| self.owner_of(&txt_name(&s.name, s.record_type)).as_deref() == Some(owner));
                    // Record and TXT are created in one batch, so a stranger's TXT keeps both away.
                    let txt_exists = self.zone.sets.values().any(|set| set.name == txt);
                    if row_owned && (held.as_deref() == Some(owner) || !txt_exists) {
                        self.zone.put(set.clone());
                        if held.is_none() {
                            self.zone.put(ownership(&txt, owner, resource));
                        }
                    }
                }
            }
        }
        if sync {
            let mine: Vec<RecordSet> = self
                .zone
                .sets
                .values()
                .filter(|set| matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname))
                .filter(|set| self.owner_of(&txt_name(&set.name, set.record_type)).as_deref() == Some(owner))
                .filter(|set| !wanted.contains_key(&(set.name.clone(), set.record_type)))
                .cloned()
                .collect();
            for set in mine {
                let txt = txt_name(&set.name, set.record_type);
                self.zone.sets.remove(&set.key());
                self.zone.sets.retain(|_, other| other.name != txt);
            }
        }
        if self.zone.sets != before {
            self.record(who);
        }
    }

    fn owner_of(&self, txt: &RecordName) -> Option<String> {
        let set = self
            .zone
            .sets
            .values()
            .find(|set| set.name == *txt && set.record_type == RecordType::Txt)?;
        let RecordData::Values { values, .. } = &set.data else {
            return None;
        };
        OwnershipText::read(values.first()?).map(|text| text.owner)
    }

    // What is seen from outside.

    /// The zone in lines: name, type, routing, answer. The fence is left out.
    pub(crate) fn lines(&self) -> Vec<String> {
        let fence = |set: &&RecordSet| !set.name.as_str().starts_with("_truce-hub-");
        self.zone.sets.values().filter(fence).map(line).collect()
    }

    /// The lines of one name.
    pub(crate) fn at(&self, name: &str) -> Vec<String> {
        self.zone.at(&RecordName::listed(name)).iter().map(line).collect()
    }

    pub(crate) fn status(&self) -> Value {
        let key = ("GlobalHostname".to_owned(), "shop".to_owned(), "app".to_owned());
        self.objects
            .get(&key)
            .map_or(Value::Null, |object| object["status"].clone())
    }

    /// `Status/Reason` of a condition.
    pub(crate) fn condition(&self, kind: &str, namespace: &str, name: &str, type_: &str) -> String {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let Some(object) = self.objects.get(&key) else {
            return "gone".to_owned();
        };
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|condition| condition["type"] == type_);
        found.map_or("none".to_owned(), |c| {
            format!("{}/{}", c["status"].as_str().unwrap(), c["reason"].as_str().unwrap())
        })
    }

    /// The state of a cluster in the status of shop/app.
    pub(crate) fn state(&self, cluster: &str) -> String {
        let status = self.status();
        let clusters = status["clusters"].as_array().cloned().unwrap_or_default();
        let found = clusters.iter().find(|c| c["name"] == cluster);
        found
            .and_then(|c| c["state"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

impl Member {
    fn list(&self, key: &WatchKey) -> Vec<MemberObject> {
        let inside = |namespace: &String| *namespace == key.namespace;
        match key.kind {
            MemberKind::Service => {
                let services = self.services.values().filter(|s| inside(&s.namespace));
                services.cloned().map(MemberObject::Service).collect()
            }
            MemberKind::DnsEndpoint => {
                let endpoints = self.endpoints.values().filter(|e| inside(&e.namespace));
                endpoints.cloned().map(MemberObject::DnsEndpoint).collect()
            }
        }
    }

    fn store(&mut self, apply: EndpointApply) -> DnsEndpointSeen {
        let EndpointApply {
            namespace,
            name,
            labels,
            annotations,
            finalizer,
            endpoints,
        } = apply;
        let key = (namespace.clone(), name.clone());
        let before = self.endpoints.get(&key);
        let generation = match before {
            Some(before) if before.endpoints == endpoints => before.generation,
            Some(before) => before.generation + 1,
            None => 1,
        };
        self.next_uid += 1;
        let uid = before.map_or(format!("endpoint-{}", self.next_uid), |before| before.uid.clone());
        let seen = DnsEndpointSeen {
            namespace,
            name,
            uid,
            generation,
            observed_generation: before.and_then(|before| before.observed_generation),
            labels,
            annotations,
            deleting: before.is_some_and(|before| before.deleting),
            finalizer,
            endpoints,
        };
        self.endpoints.insert(key, seen.clone());
        seen
    }
}

fn member_spec(name: &str, region: &str, external_dns: Option<(&str, bool)>) -> Value {
    let policy = |sync: bool| if sync { "sync" } else { "upsert-only" };
    let instances: Vec<Value> = external_dns
        .iter()
        .map(|(owner, sync)| json!({"ownerID": owner, "policy": policy(*sync), "interval": "3s"}))
        .collect();
    json!({"region": region, "access": {"kubeconfig": {"secretRef": {"name": name}}}, "externalDNS": instances})
}

fn unreachable(member: &str) -> Failure {
    Failure {
        class: Class::Retry,
        code: "MemberUnreachable".to_owned(),
        message: format!("{member} does not answer"),
        ambiguous: false,
    }
}

pub(crate) fn txt_name(name: &RecordName, record_type: RecordType) -> RecordName {
    RecordName::listed(&format!("{}-{name}", record_type.as_str().to_lowercase()))
}

fn ownership(name: &RecordName, owner: &str, resource: &str) -> RecordSet {
    RecordSet {
        name: name.clone(),
        record_type: RecordType::Txt,
        routing: Routing::Simple,
        data: RecordData::values(300, [OwnershipText::write(owner, resource)]),
        health_check: None,
    }
}

fn line(set: &RecordSet) -> String {
    let routing = match &set.routing {
        Routing::Simple => String::new(),
        Routing::Weighted { id, weight } => format!(" [{id} w{weight}]"),
        Routing::Latency { id, region } => format!(" [{id} {region}]"),
        Routing::Failover { id, role } => format!(" [{id} {role:?}]"),
        Routing::Foreign { id } => format!(" [{id} ?]"),
    };
    let answer = match &set.data {
        RecordData::Values { ttl, values } => format!("{} ttl {ttl}", values.join(" ")),
        RecordData::Alias { target, .. } => format!("alias {target}"),
        RecordData::Opaque => "?".to_owned(),
    };
    format!("{} {}{routing} {answer}", set.name, set.record_type)
}

fn reference(key: &(String, String, String)) -> HubRef {
    let (kind, namespace, name) = key.clone();
    match kind.as_str() {
        "GlobalHostname" => HubRef::GlobalHostname { namespace, name },
        "MemberCluster" => HubRef::MemberCluster { name },
        "ClusterDrain" => HubRef::ClusterDrain { name },
        _ => HubRef::DnsZone { name },
    }
}

fn key_of(object: &HubRef) -> (String, String, String) {
    let (kind, namespace, name) = match object {
        HubRef::GlobalHostname { namespace, name } => ("GlobalHostname", namespace.as_str(), name),
        HubRef::MemberCluster { name } => ("MemberCluster", "", name),
        HubRef::ClusterDrain { name } => ("ClusterDrain", "", name),
        HubRef::DnsZone { name } => ("DNSZone", "", name),
        HubRef::Namespace { name } => ("Namespace", "", name),
    };
    (kind.to_owned(), namespace.to_owned(), name.clone())
}
