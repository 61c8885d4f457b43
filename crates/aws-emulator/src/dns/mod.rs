//! DNS answers from the INSYNC state of the public zones.

pub mod answer;
mod choose;
pub mod client;
mod health;
pub mod loadbalancer;
pub mod rdata;
pub(crate) mod server;
