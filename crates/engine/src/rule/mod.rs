//! One question a file, a pure function each, its cases beside it.

pub mod ambiguous;
pub mod claim;
pub mod dialect;
pub mod drained;
pub mod failover;
pub mod handover;
pub mod hold;
pub mod last_serving;
pub mod latency;
pub mod latency_weighted;
pub mod names;
pub mod placeholder;
pub mod policy;
pub mod publishing;
pub mod release;
pub mod selected;
pub mod service_address;
pub mod shared;
pub mod simple;
pub mod usable_address;
pub mod weight;
pub mod weighted;
pub mod zone_of;
