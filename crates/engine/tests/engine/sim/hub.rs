//! The hub's API server: it keeps the objects, tells of each change, and holds what has a finalizer.

use serde_json::json;
use truce_engine::effect::{EffectId, HubEffect, Status};
use truce_engine::event::{Event, HubEvent, HubObject, HubRef, Success};

use super::{ObjectKey, Sim};

impl Sim {
    pub(super) fn greet_with(&mut self, objects: &[ObjectKey]) {
        self.tell(Event::Hub(HubEvent::Identity {
            uid: "hub-uid".to_owned(),
        }));
        for key in objects {
            self.echo(key);
        }
        self.tell(Event::Hub(HubEvent::Synced));
    }

    pub(super) fn echo(&mut self, key: &(String, String, String)) {
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

    pub(super) fn collect(&mut self, key: &(String, String, String)) {
        let object = &self.objects[key];
        let finalizers = object["metadata"]["finalizers"].as_array().map_or(0, Vec::len);
        if finalizers == 0 && !object["metadata"]["deletionTimestamp"].is_null() {
            self.objects.remove(key);
            self.tell(Event::Hub(HubEvent::Gone(reference(key))));
        } else {
            self.echo(key);
        }
    }

    pub(super) fn hub(&mut self, id: EffectId, effect: HubEffect) {
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
