//! Which names depend on which fact, and which are to be planned anew.
//!
//! Invariant: every fact that a rule reads is either listed here for the hostnames that read it, or marks all of them.
//! A rule that reads a fact without this is the classic bug of incremental planners; law 13 looks for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::event::{MemberKind, WatchKey};
use crate::value::dns_name::RecordName;
use crate::value::ids::{ClusterName, HostnameKey, ZoneRef};

use super::keys::Keys;
use super::seen::Touched;

/// An object in a member.
pub type ObjectKey = (ClusterName, Touched);

/// What one hostname's plan read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Depends {
    /// Clusters: selected, listed, or still holding something of it.
    pub clusters: BTreeSet<ClusterName>,
    /// Objects in members: sources and DNSEndpoints.
    pub objects: BTreeSet<Arc<ObjectKey>>,
    /// Its zone.
    pub zone: Option<ZoneRef>,
    /// Names in the zone beyond those it reserves: still held after a change of the template, or read for it.
    pub names: BTreeSet<RecordName>,
}

impl Depends {
    /// What has to be watched for it.
    pub fn watches(&self) -> BTreeSet<(ClusterName, WatchKey)> {
        let watch = |read: &Arc<ObjectKey>| {
            let (cluster, object) = read.as_ref();
            let (kind, namespace) = (object.kind, object.namespace.to_string());
            (cluster.clone(), WatchKey { kind, namespace })
        };
        self.objects.iter().map(watch).collect()
    }
}

/// Who reads what.
#[derive(Debug, Clone, Default)]
pub struct Index {
    of: BTreeMap<HostnameKey, Depends>,
    by_cluster: BTreeMap<ClusterName, Keys>,
    by_object: BTreeMap<Arc<ObjectKey>, Keys>,
    by_zone: BTreeMap<ZoneRef, Keys>,
    by_name: BTreeMap<RecordName, Keys>,
}

impl Index {
    /// Replaces what a hostname depends on; the default forgets it.
    pub fn update(&mut self, key: &HostnameKey, depends: Depends) {
        if self.of.get(key) == Some(&depends) {
            return;
        }
        if let Some(Depends {
            clusters,
            objects,
            zone,
            names,
        }) = self.of.remove(key)
        {
            clusters
                .iter()
                .for_each(|cluster| remove(&mut self.by_cluster, cluster, key));
            objects
                .iter()
                .for_each(|object| remove(&mut self.by_object, object, key));
            zone.iter().for_each(|zone| remove(&mut self.by_zone, zone, key));
            names.iter().for_each(|name| remove(&mut self.by_name, name, key));
        }
        if depends == Depends::default() {
            return;
        }
        let Depends {
            clusters,
            objects,
            zone,
            names,
        } = &depends;
        let shared = Arc::new(key.clone());
        clusters
            .iter()
            .for_each(|cluster| insert(&mut self.by_cluster, cluster, &shared));
        objects
            .iter()
            .for_each(|object| insert(&mut self.by_object, object, &shared));
        zone.iter().for_each(|zone| insert(&mut self.by_zone, zone, &shared));
        names.iter().for_each(|name| insert(&mut self.by_name, name, &shared));
        self.of.insert(key.clone(), depends);
    }

    /// What a hostname depends on.
    pub fn depends(&self, key: &HostnameKey) -> Option<&Depends> {
        self.of.get(key)
    }

    /// Hostnames that depend on a cluster.
    pub fn of_cluster(&self, cluster: &ClusterName) -> impl Iterator<Item = &HostnameKey> {
        self.by_cluster.get(cluster).into_iter().flat_map(Keys::iter)
    }

    /// Hostnames that depend on an object of a member.
    pub fn of_object(&self, cluster: &ClusterName, object: &Touched) -> impl Iterator<Item = &HostnameKey> {
        self.by_object
            .get(&(cluster.clone(), object.clone()))
            .into_iter()
            .flat_map(Keys::iter)
    }

    /// Hostnames that depend on any object of a kind in a namespace of a member.
    pub fn of_namespace<'a>(
        &'a self,
        cluster: &'a ClusterName,
        kind: MemberKind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a HostnameKey> {
        let first = Touched {
            kind,
            namespace: namespace.into(),
            name: "".into(),
        };
        let range = self.by_object.range::<ObjectKey, _>((cluster.clone(), first)..);
        let inside = move |key: &ObjectKey| {
            let (c, object) = key;
            c == cluster && object.kind == kind && *object.namespace == *namespace
        };
        range
            .take_while(move |(key, _)| inside(key))
            .flat_map(|(_, hostnames)| hostnames.iter())
    }

    /// Hostnames that depend on a name that they do not reserve.
    pub fn of_name(&self, name: &RecordName) -> impl Iterator<Item = &HostnameKey> {
        self.by_name.get(name).into_iter().flat_map(Keys::iter)
    }

    /// Hostnames of a zone.
    pub fn of_zone(&self, zone: &ZoneRef) -> impl Iterator<Item = &HostnameKey> {
        self.by_zone.get(zone).into_iter().flat_map(Keys::iter)
    }
}

fn insert<K: Ord + Clone>(map: &mut BTreeMap<K, Keys>, key: &K, hostname: &Arc<HostnameKey>) {
    match map.get_mut(key) {
        Some(keys) => keys.insert(hostname),
        None => drop(map.insert(key.clone(), Keys::One(hostname.clone()))),
    }
}

fn remove<K: Ord + Clone>(map: &mut BTreeMap<K, Keys>, key: &K, hostname: &HostnameKey) {
    if let Some(keys) = map.remove(key).and_then(|keys| keys.without(hostname)) {
        map.insert(key.clone(), keys);
    }
}

/// What is to be planned, or told, anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dirty {
    /// Every hostname.
    pub all: bool,
    /// These hostnames.
    pub hostnames: BTreeSet<HostnameKey>,
    /// Statuses of these members.
    pub members: BTreeSet<ClusterName>,
    /// Statuses of these drains.
    pub drains: BTreeSet<String>,
    /// Statuses of these zones.
    pub zones: BTreeSet<ZoneRef>,
}

impl Dirty {
    /// Whether nothing is marked.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// Marks hostnames.
    pub fn mark<'a>(&mut self, hostnames: impl IntoIterator<Item = &'a HostnameKey>) {
        self.hostnames.extend(hostnames.into_iter().cloned());
    }
}
