//! Publishes Kubernetes events on objects of the hub (events.k8s.io).
//!
//! Invariant: texts are within the API's limits (reason 128 characters, note 1 kB). Deliberately absent: what is worth
//! an event, and repeating one that was lost.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Resource};
use truce_api::{ClusterDrain, DNSZone, GlobalHostname, MemberCluster};
use truce_engine::effect::UserEvent;
use truce_engine::event::{Failure, HubRef};

use super::class::{self, Call, Server};

/// Longest note, in bytes (Event.note, events.k8s.io/v1).
const NOTE: usize = 1024;

/// Publishes events; repeated ones become a series.
#[derive(Clone)]
pub struct Publisher(Recorder);

impl Publisher {
    /// On this hub.
    #[must_use]
    pub fn new(hub: Client) -> Self {
        Self(Recorder::new(hub, Reporter::from("truce")))
    }

    /// Publishes one.
    ///
    /// # Errors
    /// What the API server refused.
    pub async fn publish(&self, event: UserEvent) -> Result<(), Failure> {
        let UserEvent {
            object,
            uid,
            warning,
            reason,
            note,
        } = event;
        let event = Event {
            type_: if warning { EventType::Warning } else { EventType::Normal },
            action: "Reconcile".to_owned(),
            note: Some(cut(note, NOTE)),
            reason: cut(reason, 128),
            secondary: None,
        };
        let published = self.0.publish(&event, &reference(&object, uid)).await;
        published.map_err(|error| class::kubernetes(&error, Server::Hub, Call::Write))
    }
}

fn reference(object: &HubRef, uid: String) -> ObjectReference {
    fn of<K: Resource<DynamicType = ()>>(namespace: Option<&str>, name: &str, uid: String) -> ObjectReference {
        ObjectReference {
            api_version: Some(K::api_version(&()).into_owned()),
            kind: Some(K::kind(&()).into_owned()),
            namespace: namespace.map(str::to_owned),
            name: Some(name.to_owned()),
            uid: Some(uid),
            ..ObjectReference::default()
        }
    }
    match object {
        HubRef::GlobalHostname { namespace, name } => of::<GlobalHostname>(Some(namespace), name, uid),
        HubRef::MemberCluster { name } => of::<MemberCluster>(None, name, uid),
        HubRef::ClusterDrain { name } => of::<ClusterDrain>(None, name, uid),
        HubRef::DnsZone { name } => of::<DNSZone>(None, name, uid),
        HubRef::Namespace { name } => of::<k8s_openapi::api::core::v1::Namespace>(None, name, uid),
    }
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
    }
    text
}
