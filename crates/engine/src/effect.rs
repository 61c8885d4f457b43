//! All that the engine can ask for: each effect is one call, or the start of one watch.
//!
//! Invariant: closed; an effect carries everything its executor needs, which decides nothing. One effect is in flight
//! per `Sink`. Deliberately absent: deadlines and leader checks, which the executor adds to each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truce_api::{ClusterDrainStatus, DNSZoneStatus, GlobalHostnameStatus, MemberClusterStatus};

use crate::event::{Cursor, Endpoint, HubRef, WatchKey};
use crate::value::dns_name::RecordName;
use crate::value::ids::{ClusterName, HostedZoneId, ZoneRef};
use crate::value::owned::Owned;
use crate::value::record::RecordSet;

/// Numbers an effect within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Effect {
    /// On the hub's API server.
    Hub(HubEffect),
    /// In a member.
    Member(ClusterName, MemberEffect),
    /// In a hosted zone.
    Zone(ZoneRef, ZoneEffect),
}

/// What is done on the hub.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum HubEffect {
    /// Merge-patch the status subresource to exactly this.
    WriteStatus(Box<Status>),
    /// Add or remove the finalizer `dns.truce.dev/owned`.
    SetFinalizer {
        /// On which object.
        object: HubRef,
        /// Add, or remove.
        present: bool,
    },
    /// Publish a Kubernetes event.
    EmitEvent(UserEvent),
}

/// A status as it shall be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each variant is the kind of that name")]
pub enum Status {
    GlobalHostname {
        namespace: String,
        name: String,
        status: GlobalHostnameStatus,
    },
    MemberCluster {
        name: String,
        status: MemberClusterStatus,
    },
    ClusterDrain {
        name: String,
        status: ClusterDrainStatus,
    },
    DnsZone {
        name: String,
        status: DNSZoneStatus,
    },
}

/// An event for users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserEvent {
    /// Regarding which object.
    pub object: HubRef,
    /// Its UID.
    pub uid: String,
    /// Warning, or Normal.
    pub warning: bool,
    /// CamelCase reason, of the documented list.
    pub reason: String,
    /// At most 1,024 characters.
    pub note: String,
}

/// What is done in a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberEffect {
    /// Open a session: make a client, read kube-system's UID. Its id names the session in events. An open session
    /// of the same member is closed first.
    Open(Access),
    /// Close the session; its watches end without an event.
    Close,
    /// List completely, then watch. Asked again: list again (a complete read), then go on watching.
    Watch(WatchKey),
    /// End a watch.
    Unwatch(WatchKey),
    /// Server-side apply with field manager `truce/<hub id>`, forced.
    ApplyEndpoint(EndpointApply),
    /// Delete, with this UID as precondition.
    DeleteEndpoint {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its UID.
        uid: String,
    },
    /// Take the finalizer `dns.truce.dev/owned` off a DNSEndpoint that is being deleted: a patch with this UID as
    /// precondition, since an apply would make it anew if it is gone already. Other finalizers stay.
    DropFinalizer {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its UID.
        uid: String,
    },
}

/// How a member is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// A kubeconfig in a Secret of the operator's namespace.
    Kubeconfig {
        /// The Secret's name.
        secret: String,
        /// The key in its data.
        key: String,
    },
    /// The hub itself.
    Local,
}

/// A DNSEndpoint as it shall be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointApply {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// Whether it carries the finalizer `dns.truce.dev/owned`.
    pub finalizer: bool,
    /// `spec.endpoints`.
    pub endpoints: Vec<Endpoint>,
}

/// What is done in a hosted zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum ZoneEffect {
    /// GetCallerIdentity and GetHostedZone.
    Verify {
        /// The zone.
        hosted_zone: HostedZoneId,
    },
    /// One page of ListResourceRecordSets (300 sets).
    ReadPage {
        /// The zone.
        hosted_zone: HostedZoneId,
        /// Where it begins; `None` at the start.
        start: Option<Cursor>,
    },
    /// All sets under one name.
    ReadName {
        /// The zone.
        hosted_zone: HostedZoneId,
        /// The name.
        name: RecordName,
    },
    /// ChangeResourceRecordSets, sent once: the SDK's own retries are off.
    Submit {
        /// The zone.
        hosted_zone: HostedZoneId,
        /// The changes, in the order in which Route 53 shall apply them.
        changes: Vec<Change>,
    },
    /// GetChange.
    CheckChange {
        /// Route 53's change id.
        change_id: String,
    },
}

/// One change of a batch. There is no UPSERT: what is replaced is deleted exactly as read, then created
/// (compare-and-swap; DESIGN.md, section 2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Change {
    /// CREATE.
    Create(RecordSet),
    /// DELETE, exact.
    Delete(Owned<RecordSet>),
}

impl Change {
    /// The set that is created or deleted.
    pub fn set(&self) -> &RecordSet {
        match self {
            Self::Create(set) => set,
            Self::Delete(owned) => owned.get(),
        }
    }
}

/// Where an effect goes; one is in flight for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sink {
    /// The status of one object.
    Status(HubRef),
    /// The finalizers of one object.
    Finalizer(HubRef),
    /// The events of the hub; they are fire and forget.
    Events,
    /// One member's session and watches.
    Session(ClusterName),
    /// One DNSEndpoint of a member.
    Endpoint(ClusterName, String, String),
    /// One hosted zone.
    Zone(ZoneRef),
}

impl Effect {
    /// Its sink.
    pub fn sink(&self) -> Sink {
        match self {
            Self::Hub(HubEffect::WriteStatus(status)) => Sink::Status(status.object()),
            Self::Hub(HubEffect::SetFinalizer { object, .. }) => Sink::Finalizer(object.clone()),
            Self::Hub(HubEffect::EmitEvent(_)) => Sink::Events,
            Self::Member(cluster, effect) => match effect {
                MemberEffect::Open(_) | MemberEffect::Close | MemberEffect::Watch(_) | MemberEffect::Unwatch(_) => {
                    Sink::Session(cluster.clone())
                }
                MemberEffect::ApplyEndpoint(EndpointApply { namespace, name, .. })
                | MemberEffect::DeleteEndpoint { namespace, name, .. }
                | MemberEffect::DropFinalizer { namespace, name, .. } => {
                    Sink::Endpoint(cluster.clone(), namespace.clone(), name.clone())
                }
            },
            Self::Zone(zone, _) => Sink::Zone(zone.clone()),
        }
    }
}

impl Status {
    /// Whose status it is.
    pub fn object(&self) -> HubRef {
        match self {
            Self::GlobalHostname { namespace, name, .. } => HubRef::GlobalHostname {
                namespace: namespace.clone(),
                name: name.clone(),
            },
            Self::MemberCluster { name, .. } => HubRef::MemberCluster { name: name.clone() },
            Self::ClusterDrain { name, .. } => HubRef::ClusterDrain { name: name.clone() },
            Self::DnsZone { name, .. } => HubRef::DnsZone { name: name.clone() },
        }
    }
}
