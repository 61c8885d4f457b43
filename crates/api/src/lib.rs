//! The Kubernetes types of Truce: its four kinds, the conditions they carry, and the one foreign kind it writes.
//!
//! Invariant: the schema is derived from these types and from nothing else, so that what the API server takes, what
//! the code reads and what the documentation says is one thing. Deliberately absent: clients, and every decision.

#![expect(
    unreachable_pub,
    reason = "the schema derive copies public structs into the bodies of functions"
)]
#![expect(
    clippy::duplicated_attributes,
    reason = "columns of a kind have the same attributes each"
)]

mod cluster_drain;
mod condition;
mod crds;
mod dns_zone;
mod duration;
mod external_dns;
mod global_hostname;
mod hostname_status;
mod member_cluster;
mod rules;

pub use cluster_drain::*;
pub use condition::*;
pub use crds::*;
pub use dns_zone::*;
pub use duration::*;
pub use external_dns::*;
pub use global_hostname::*;
pub use hostname_status::*;
pub use member_cluster::*;

/// The API group of all kinds of Truce.
pub const GROUP: &str = "dns.truce.dev";

/// The API version of all kinds of Truce.
pub const VERSION: &str = "v1alpha1";

/// Annotation that says yes to exactly what a condition shows with this hash.
pub const CONFIRM: &str = "dns.truce.dev/confirm";

/// Annotation that leaves behind, in the cluster it names, what a condition lists.
pub const ABANDON: &str = "dns.truce.dev/abandon";

/// Annotation whose value `true` means: read and report, write nothing but drains.
pub const PAUSED: &str = "dns.truce.dev/paused";

/// Finalizer on everything that stands for records in a zone, in the hub and in members.
pub const FINALIZER: &str = "dns.truce.dev/owned";

/// Label on DNSEndpoints: the hub that wrote it.
pub const HUB_LABEL: &str = "dns.truce.dev/hub-id";

/// Label on DNSEndpoints: the ExternalDNS owner it is for.
pub const OWNER_LABEL: &str = "dns.truce.dev/owner-id";

/// Takes the default out of a schema: an empty list in Rust need not stand in every object.
fn no_default(schema: &mut schemars::Schema) {
    schema.remove("default");
}
