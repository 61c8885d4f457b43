//! A member's API server: Services, DNSEndpoints, watches that break when it goes down.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use truce_engine::effect::{EffectId, EndpointApply, MemberEffect};
use truce_engine::event::{
    Class, DnsEndpointSeen, Event, Failure, MemberEvent, MemberKind, MemberObject, ServiceSeen, Success, WatchKey,
};
use truce_engine::value::ids::ClusterName;

use super::Sim;

/// One member cluster.
pub(crate) struct Member {
    pub(crate) up: bool,
    pub(crate) uid: String,
    pub(crate) services: BTreeMap<(String, String), ServiceSeen>,
    pub(crate) endpoints: BTreeMap<(String, String), DnsEndpointSeen>,
    /// Owner id and whether its policy is sync; `None`: no ExternalDNS.
    pub(crate) external_dns: Option<(String, bool)>,
    pub(super) session: Option<EffectId>,
    pub(super) watches: Vec<WatchKey>,
    next_uid: u64,
}

impl Sim {
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

    pub(super) fn in_member(&mut self, id: EffectId, cluster: &ClusterName, effect: MemberEffect) {
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

pub(super) fn member_spec(name: &str, region: &str, external_dns: Option<(&str, bool)>) -> Value {
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
