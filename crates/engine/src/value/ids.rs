//! Identifiers: who, where, which object.
//!
//! Invariant: each is checked when made. Deliberately absent: UIDs, which are opaque text where they are used.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// The hub's own id (`--hub-id`): `[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?`.
    HubId
}
text_id! {
    /// A member cluster: the name of its MemberCluster, one DNS label of at most 40 characters.
    ClusterName
}
text_id! {
    /// A DNSZone object, by name.
    ZoneRef
}
text_id! {
    /// A hosted zone of Route 53: `Z[A-Z0-9]{1,31}`.
    HostedZoneId
}
text_id! {
    /// The SetIdentifier of a record set, 1 to 128 characters, unique per name and type.
    SetIdentifier
}

/// An identifier that does not have the required form; the message says what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}; write {write}")]
pub struct IdError {
    text: String,
    what: &'static str,
    write: &'static str,
}

fn checked(text: &str, ok: bool, what: &'static str, write: &'static str) -> Result<Arc<str>, IdError> {
    if ok {
        Ok(text.into())
    } else {
        Err(IdError {
            text: text.to_owned(),
            what,
            write,
        })
    }
}

fn is_label(text: &str, max: usize) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !text.is_empty() && text.len() <= max && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

impl HubId {
    /// Checks the form.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        checked(
            text,
            is_label(text, 32),
            "a hub id",
            "1 to 32 lower-case letters, digits and inner '-'",
        )
        .map(Self)
    }
}

impl ClusterName {
    /// Checks the form.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        checked(
            text,
            is_label(text, 40),
            "a cluster name",
            "one DNS label of at most 40 characters",
        )
        .map(Self)
    }
}

impl ZoneRef {
    /// An object's name; the API server has checked it.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }
}

impl HostedZoneId {
    /// Checks the form.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let upper = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit();
        let ok = text.len() >= 2 && text.len() <= 32 && text.starts_with('Z') && text.bytes().all(upper);
        checked(
            text,
            ok,
            "a hosted zone id",
            "'Z' and 1 to 31 upper-case letters and digits",
        )
        .map(Self)
    }
}

impl SetIdentifier {
    /// A cluster's own set: `<hub id>/<cluster>`.
    pub fn of_cluster(hub: &HubId, cluster: &ClusterName) -> Self {
        Self(format!("{hub}/{cluster}").into())
    }

    /// An alias to a group (`us-east-1`, `primary`, `secondary`): `<hub id>/@<group>`.
    pub fn of_group(hub: &HubId, group: &str) -> Self {
        Self(format!("{hub}/@{group}").into())
    }

    /// As listed by Route 53.
    pub fn listed(text: &str) -> Self {
        Self(text.into())
    }

    /// The cluster, if this is `<hub id>/<cluster>` of `hub`.
    pub fn cluster(&self, hub: &HubId) -> Option<ClusterName> {
        ClusterName::parse(self.within(hub)?).ok()
    }

    /// Whether this is `<hub id>/<cluster>` of these two.
    pub fn is_of(&self, hub: &HubId, cluster: &ClusterName) -> bool {
        self.within(hub) == Some(cluster.as_str())
    }

    fn within(&self, hub: &HubId) -> Option<&str> {
        self.0.strip_prefix(hub.as_str())?.strip_prefix('/')
    }
}

/// A GlobalHostname object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostnameKey {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl HostnameKey {
    /// The key of `namespace/name`.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for HostnameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl fmt::Debug for HostnameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
