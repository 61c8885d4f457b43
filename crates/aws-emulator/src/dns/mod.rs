//! DNS answers from the INSYNC state of the public zones.

pub mod answer;
pub mod client;
pub mod loadbalancer;
pub(crate) mod server;
