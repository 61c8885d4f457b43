//! What was seen in one member: its session, its watches, the objects they brought.
//!
//! Invariant: nothing is forgotten because the member cannot be reached; it becomes stale. An object counts as absent
//! only while its watch is fresh. Deliberately absent: what the objects mean (`rule/`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::objects::{Objects, put, take};
use crate::effect::{Access, EffectId};
use crate::event::{DnsEndpointSeen, Failure, MemberKind, MemberObject, ServiceSeen, WatchKey};
use crate::time::{Mono, Now, Wall};
use crate::value::ids::HostnameKey;
use crate::value::observed::Observed;

/// Annotation of a DNSEndpoint: its GlobalHostname, `namespace/name`.
pub const HOSTNAME_ANNOTATION: &str = "dns.truce.dev/hostname";

/// The session with a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Session {
    /// None; the next try is not before `retry_at`.
    Closed {
        /// When to try (again).
        retry_at: Mono,
        /// How many tries failed in a row.
        failures: u32,
        /// Why the last one failed.
        failure: Option<Failure>,
    },
    /// Being opened.
    Opening {
        /// The effect that opens it, and so its name.
        id: EffectId,
        /// How it is being reached.
        access: Access,
        /// How many tries failed before.
        failures: u32,
        /// Why the last one failed.
        failure: Option<Failure>,
    },
    /// Open.
    Open {
        /// Its name in events.
        id: EffectId,
        /// How it is reached.
        access: Access,
        /// UID of the member's kube-system namespace.
        cluster_uid: String,
        /// Its version.
        server_version: String,
    },
}

/// One watch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Watch {
    /// When it was last asked for in this session.
    pub asked_at: Option<Mono>,
    /// When the last complete list came; `None`: never since the start of the process.
    pub listed_at: Option<Mono>,
    /// Since when it is not fresh.
    pub stale_since: Option<Mono>,
    /// Why not.
    pub failure: Option<Failure>,
}

/// All that was seen in one member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The session.
    pub session: Session,
    /// Its watches.
    pub watches: BTreeMap<WatchKey, Watch>,
    /// Whether the cluster's identity is trusted: the UID is the one known, or was confirmed.
    pub trusted: bool,
    /// When something was last heard of it.
    pub last_seen: Option<Wall>,
    services: Objects<ServiceSeen>,
    endpoints: Objects<DnsEndpointSeen>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            session: Session::Closed {
                retry_at: Mono::default(),
                failures: 0,
                failure: None,
            },
            watches: BTreeMap::new(),
            trusted: false,
            last_seen: None,
            services: BTreeMap::new(),
            endpoints: BTreeMap::new(),
        }
    }
}

/// Which object of a member changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touched {
    /// Its kind.
    pub kind: MemberKind,
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl Seen {
    /// The name of the open session.
    pub fn session_id(&self) -> Option<EffectId> {
        match &self.session {
            Session::Open { id, .. } => Some(*id),
            Session::Closed { .. } | Session::Opening { .. } => None,
        }
    }

    /// Whether every watch asked for is fresh in an open, trusted session.
    pub fn fresh(&self) -> bool {
        self.session_id().is_some() && self.trusted && self.watches.keys().all(|key| self.is_fresh(key))
    }

    /// Since when the member is not fresh: the oldest of its stale watches.
    pub fn stale_since(&self) -> Option<Mono> {
        self.watches.values().filter_map(|watch| watch.stale_since).min()
    }

    /// Why the member cannot be read: the session's failure, or the first failed watch's.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.session {
            Session::Closed { failure, .. } | Session::Opening { failure, .. } => failure.as_ref(),
            Session::Open { .. } => self.watches.values().find_map(|watch| watch.failure.as_ref()),
        }
    }

    /// A Service as far as it is known.
    pub fn service(&self, namespace: &str, name: &str) -> Observed<Option<&ServiceSeen>> {
        let found = self.services.get(namespace).and_then(|objects| objects.get(name));
        self.observed(MemberKind::Service, namespace, found)
    }

    /// A DNSEndpoint of Truce as far as it is known.
    pub fn endpoint(&self, namespace: &str, name: &str) -> Observed<Option<&DnsEndpointSeen>> {
        let found = self.endpoints.get(namespace).and_then(|objects| objects.get(name));
        self.observed(MemberKind::DnsEndpoint, namespace, found)
    }

    /// The hostname that a DNSEndpoint names as its own, as far as the object is there.
    pub fn hostname_of(&self, touched: &Touched) -> Option<HostnameKey> {
        let objects = self.endpoints.get(&*touched.namespace)?;
        hostname_named(objects.get(&*touched.name)?)
    }

    /// The hostnames that the DNSEndpoints name as theirs.
    pub fn hostnames(&self) -> impl Iterator<Item = HostnameKey> {
        self.endpoints().filter_map(hostname_named)
    }

    /// All DNSEndpoints of Truce that were seen.
    pub fn endpoints(&self) -> impl Iterator<Item = &DnsEndpointSeen> {
        self.endpoints.values().flat_map(BTreeMap::values)
    }

    /// When the last complete list of a kind in a namespace came.
    pub fn listed_at(&self, kind: MemberKind, namespace: &str) -> Option<Mono> {
        self.watches
            .get(&WatchKey {
                kind,
                namespace: namespace.to_owned(),
            })
            .and_then(|watch| watch.listed_at)
    }

    fn is_fresh(&self, key: &WatchKey) -> bool {
        self.watches
            .get(key)
            .is_some_and(|watch| watch.listed_at.is_some() && watch.stale_since.is_none())
    }

    fn observed<'a, T>(&self, kind: MemberKind, namespace: &str, found: Option<&'a T>) -> Observed<Option<&'a T>> {
        let key = WatchKey {
            kind,
            namespace: namespace.to_owned(),
        };
        let Some(watch) = self.watches.get(&key).filter(|watch| watch.listed_at.is_some()) else {
            return Observed::Unknown;
        };
        match watch.stale_since {
            _ if !self.trusted => Observed::Unknown,
            Some(since) => Observed::Stale { value: found, since },
            None => Observed::Fresh(found),
        }
    }

    /// A complete list came: what is not in it does not exist. Returns what changed.
    pub fn listed(&mut self, watch: &WatchKey, objects: Vec<MemberObject>, now: Now) -> Vec<Touched> {
        let (kind, namespace) = (watch.kind, &watch.namespace);
        let mut gone: BTreeSet<Touched> = self.names_in(kind, namespace);
        let mut touched = Vec::new();
        for object in objects {
            let key = key_of(&object);
            gone.remove(&key);
            if self.applied(object, now).is_some() {
                touched.push(key);
            }
        }
        for object in gone {
            self.remove(&object);
            touched.push(object);
        }
        if let Some(services) = self.services.get_mut(&watch.namespace) {
            // The nodes of a tree that is filled in order stay half empty; of one that is made at once they are full.
            *services = std::mem::take(services).into_iter().collect();
        }
        let state = self.watches.entry(watch.clone()).or_default();
        state.listed_at = Some(now.mono);
        state.stale_since = None;
        state.failure = None;
        self.last_seen = Some(now.wall);
        touched
    }

    /// An object exists, as it is now. Returns it if that is news.
    pub fn applied(&mut self, object: MemberObject, now: Now) -> Option<Touched> {
        self.last_seen = Some(now.wall);
        let touched = key_of(&object);
        let changed = match object {
            MemberObject::Service(new) => put(&mut self.services, &touched, new),
            MemberObject::DnsEndpoint(new) => put(&mut self.endpoints, &touched, new),
        };
        changed.then_some(touched)
    }

    /// An object is gone.
    pub fn gone(&mut self, watch: &WatchKey, name: &str, now: Now) -> Touched {
        self.last_seen = Some(now.wall);
        let touched = Touched {
            kind: watch.kind,
            namespace: watch.namespace.as_str().into(),
            name: name.into(),
        };
        self.remove(&touched);
        touched
    }

    /// A watch broke.
    pub fn watch_failed(&mut self, watch: &WatchKey, failure: Failure, now: Now) {
        let state = self.watches.entry(watch.clone()).or_default();
        state.stale_since.get_or_insert(now.mono);
        state.failure = Some(failure);
    }

    /// The session ended: all that was seen becomes stale, and watches have to be asked for again.
    pub fn session_ended(&mut self, now: Mono) {
        for watch in self.watches.values_mut() {
            watch.asked_at = None;
            watch.stale_since.get_or_insert(now);
        }
    }

    /// The session ended by itself; it is opened anew at once.
    pub fn session_lost(&mut self, failure: Failure, now: Mono) {
        self.session_ended(now);
        self.session = Session::Closed {
            retry_at: now,
            failures: 0,
            failure: Some(failure),
        };
    }

    fn names_in(&self, kind: MemberKind, namespace: &str) -> BTreeSet<Touched> {
        let names: Vec<&String> = match kind {
            MemberKind::Service => self
                .services
                .get(namespace)
                .into_iter()
                .flat_map(BTreeMap::keys)
                .collect(),
            MemberKind::DnsEndpoint => self
                .endpoints
                .get(namespace)
                .into_iter()
                .flat_map(BTreeMap::keys)
                .collect(),
        };
        let namespace: Arc<str> = namespace.into();
        let touched = |name: &String| Touched {
            kind,
            namespace: namespace.clone(),
            name: name.as_str().into(),
        };
        names.into_iter().map(touched).collect()
    }

    fn remove(&mut self, touched: &Touched) {
        match touched.kind {
            MemberKind::Service => take(&mut self.services, touched),
            MemberKind::DnsEndpoint => take(&mut self.endpoints, touched),
        }
    }
}

fn hostname_named(object: &DnsEndpointSeen) -> Option<HostnameKey> {
    let (namespace, name) = object.annotations.get(HOSTNAME_ANNOTATION)?.split_once('/')?;
    Some(HostnameKey::new(namespace, name))
}

fn key_of(object: &MemberObject) -> Touched {
    let (kind, namespace, name) = match object {
        MemberObject::Service(s) => (MemberKind::Service, &s.namespace, &s.name),
        MemberObject::DnsEndpoint(e) => (MemberKind::DnsEndpoint, &e.namespace, &e.name),
    };
    Touched {
        kind,
        namespace: namespace.as_str().into(),
        name: name.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(name: &str) -> MemberObject {
        MemberObject::Service(ServiceSeen {
            namespace: "web".to_owned(),
            name: name.to_owned(),
            load_balancer: true,
            dual_stack: false,
            internal: false,
            ips: vec!["203.0.113.1".parse().unwrap()],
            hostnames: vec![],
        })
    }

    fn at(mono: u64) -> Now {
        Now {
            mono: Mono(mono),
            wall: Wall::from_second(1_000).unwrap(),
        }
    }

    #[test]
    fn absence_is_known_only_from_a_complete_list_and_a_live_watch() {
        let web = WatchKey {
            kind: MemberKind::Service,
            namespace: "web".to_owned(),
        };
        let mut seen = Seen {
            trusted: true,
            ..Seen::default()
        };
        assert_eq!(seen.service("web", "gateway"), Observed::Unknown);
        seen.listed(&web, vec![service("gateway")], at(1));
        assert!(matches!(seen.service("web", "gateway"), Observed::Fresh(Some(_))));
        assert_eq!(seen.service("web", "other"), Observed::Fresh(None));
        let failure = Failure {
            class: crate::event::Class::Denied,
            code: "Forbidden".to_owned(),
            message: String::new(),
            ambiguous: false,
        };
        seen.watch_failed(&web, failure, at(2));
        assert!(matches!(
            seen.service("web", "gateway"),
            Observed::Stale {
                value: Some(_),
                since: Mono(2)
            }
        ));
        assert!(matches!(
            seen.service("web", "other"),
            Observed::Stale { value: None, .. }
        ));
        let touched = seen.listed(&web, vec![], at(3));
        assert_eq!(touched.len(), 1);
        assert_eq!(seen.service("web", "gateway"), Observed::Fresh(None));
    }
}
