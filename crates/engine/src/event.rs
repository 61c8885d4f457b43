//! All that can happen to the engine, by origin.
//!
//! Invariant: closed; with `effect.rs` it is the whole vocabulary between decision and I/O, and it can be serialised,
//! so that an incident can be replayed. Deliberately absent: tokens, TLS, reconnects.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use truce_api::{ClusterDrain, DNSZone, GlobalHostname, MemberCluster};

use crate::effect::EffectId;
use crate::time::Wall;
use crate::value::ids::ClusterName;
use crate::value::record::RecordSet;

/// One thing that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// On the hub's API server.
    Hub(HubEvent),
    /// On a member's API server.
    Member {
        /// Which member.
        cluster: ClusterName,
        /// The `MemberEffect::Open` that began the session; events of an older session are ignored.
        session: EffectId,
        /// What happened.
        event: MemberEvent,
    },
    /// An effect ended. An unknown or settled id is ignored.
    Done(EffectId, Outcome),
}

/// What happens on the hub.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum HubEvent {
    /// The hub cluster's identity: UID of its kube-system namespace. Comes first.
    Identity {
        /// The UID.
        uid: String,
    },
    /// An object exists, as it is now.
    Applied(Box<HubObject>),
    /// An object is gone.
    Gone(HubRef),
    /// All kinds were listed completely once; nothing is decided before.
    Synced,
}

/// An object of the hub.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant is the kind of that name")]
pub enum HubObject {
    GlobalHostname(Box<GlobalHostname>),
    MemberCluster(MemberCluster),
    ClusterDrain(ClusterDrain),
    DnsZone(DNSZone),
    /// A namespace: its name and labels, for `namespaceSelector`.
    Namespace {
        name: String,
        labels: BTreeMap<String, String>,
    },
}

impl HubObject {
    /// Which object it is; `None` if it has no name.
    pub fn reference(&self) -> Option<HubRef> {
        Some(match self {
            Self::GlobalHostname(object) => HubRef::GlobalHostname {
                namespace: object.metadata.namespace.clone()?,
                name: object.metadata.name.clone()?,
            },
            Self::MemberCluster(object) => HubRef::MemberCluster {
                name: object.metadata.name.clone()?,
            },
            Self::ClusterDrain(object) => HubRef::ClusterDrain {
                name: object.metadata.name.clone()?,
            },
            Self::DnsZone(object) => HubRef::DnsZone {
                name: object.metadata.name.clone()?,
            },
            Self::Namespace { name, .. } => HubRef::Namespace { name: name.clone() },
        })
    }
}

/// Which object of the hub.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant is the kind of that name")]
pub enum HubRef {
    GlobalHostname { namespace: String, name: String },
    MemberCluster { name: String },
    ClusterDrain { name: String },
    DnsZone { name: String },
    Namespace { name: String },
}

/// What happens in a member, after its session was opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum MemberEvent {
    /// A complete list of one kind in one namespace: what is not in it does not exist.
    Listed {
        /// What was listed.
        watch: WatchKey,
        /// All objects of it.
        objects: Vec<MemberObject>,
    },
    /// An object exists, as it is now.
    Applied(MemberObject),
    /// An object is gone.
    Gone {
        /// What is watched.
        watch: WatchKey,
        /// Its name.
        name: String,
    },
    /// A watch broke or could not be started; the executor goes on trying and ends this with `Listed`.
    WatchFailed {
        /// What is watched.
        watch: WatchKey,
        /// Why.
        failure: Failure,
    },
}

/// One watch in a member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WatchKey {
    /// What kind.
    pub kind: MemberKind,
    /// In which namespace.
    pub namespace: String,
}

/// The kinds watched in members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant is the kind of that name")]
pub enum MemberKind {
    Service,
    DnsEndpoint,
}

/// An object of a member: the few fields that the engine takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant is the kind of that name")]
pub enum MemberObject {
    Service(ServiceSeen),
    DnsEndpoint(DnsEndpointSeen),
}

/// A Service as seen in a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceSeen {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whether `spec.type` is LoadBalancer.
    pub load_balancer: bool,
    /// Whether `spec.ipFamilies` holds both families.
    pub dual_stack: bool,
    /// Whether annotations ask for an internal load balancer (AWS `scheme`, and other clouds' internal annotations).
    pub internal: bool,
    /// `status.loadBalancer.ingress[].ip`.
    pub ips: Vec<IpAddr>,
    /// `status.loadBalancer.ingress[].hostname`.
    pub hostnames: Vec<String>,
}

/// A DNSEndpoint with a label of Truce, as seen in a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsEndpointSeen {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
    /// `status.observedGeneration`, which ExternalDNS writes when it has listed the object.
    pub observed_generation: Option<i64>,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`, those of `dns.truce.dev/` only.
    pub annotations: BTreeMap<String, String>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// Whether it carries the finalizer `dns.truce.dev/owned`.
    pub finalizer: bool,
    /// `spec.endpoints`.
    pub endpoints: Vec<Endpoint>,
}

/// One endpoint of a DNSEndpoint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Endpoint {
    /// `dnsName`, lower case, no trailing dot.
    pub dns_name: String,
    /// `recordType`, upper case.
    pub record_type: String,
    /// `targets`.
    pub targets: Vec<String>,
    /// `recordTTL`, seconds.
    pub record_ttl: Option<i64>,
    /// `providerSpecific`, by name.
    pub provider_specific: BTreeMap<String, String>,
}

/// How an effect ended.
pub type Outcome = Result<Success, Failure>;

/// What an effect brought.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Success {
    /// It is done; nothing to tell. Also the answer to deleting what was not there.
    Done,
    /// A member's session is open.
    Opened {
        /// UID of the member's kube-system namespace.
        cluster_uid: String,
        /// Its version, e.g. `v1.37.2`.
        server_version: String,
    },
    /// The hosted zone and the account that Truce's credentials belong to.
    Zone {
        /// STS GetCallerIdentity's account.
        account: String,
        /// The zone's name, as Route 53 gives it.
        name: String,
        /// Whether it is a private zone.
        private: bool,
        /// ResourceRecordSetCount.
        record_sets: u64,
    },
    /// A page of the zone's record sets, in Route 53's order.
    Page {
        /// The sets.
        sets: Vec<RecordSet>,
        /// Where the next page begins; `None` after the last one.
        next: Option<Cursor>,
    },
    /// All sets under one name, possibly none.
    Name {
        /// The sets.
        sets: Vec<RecordSet>,
    },
    /// A batch was accepted, or is known to be.
    Submitted {
        /// Route 53's change id.
        change_id: String,
        /// When Route 53 took it.
        at: Wall,
    },
    /// State of a change.
    Change {
        /// Whether every Route 53 server has it.
        insync: bool,
    },
}

/// Where a page of record sets begins: the three parts of Route 53's cursor, as it gave them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// NextRecordName.
    pub name: String,
    /// NextRecordType.
    pub record_type: String,
    /// NextRecordIdentifier.
    pub set_identifier: Option<String>,
}

/// Why an effect failed. The class decides what happens next, the rest is for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub class: Class,
    /// A machine-readable code: AWS's error code, Kubernetes' reason, or the executor's own.
    pub code: String,
    /// In words, without secrets, at most 1,024 characters.
    pub message: String,
    /// Whether the call may have taken effect: the answer was lost, cut or late.
    pub ambiguous: bool,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Passing: network, 5xx, deadline.
    Retry,
    /// Slow down: Throttling, PriorRequestNotComplete, 429.
    Throttled,
    /// The world is not as assumed: InvalidChangeBatch, 409.
    Conflict,
    /// No permission: 401, 403, AccessDenied.
    Denied,
    /// Will not work as asked: not found, invalid.
    Permanent,
}
