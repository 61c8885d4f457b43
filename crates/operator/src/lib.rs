//! The operator: everything between the engine and the world. Watches become events, effects become calls.
//!
//! Invariant: it decides nothing; what happens next is the engine's. Deliberately absent: leader election, which comes
//! with the Lease; until then the fence record in Route 53 tells two hubs apart.

pub mod admin;
pub mod args;
pub mod aws;
pub mod client;
pub mod clock;
pub mod config;
pub mod exec;
pub mod feed;
pub mod member;
pub mod metrics;
pub mod pump;
pub mod run;
pub mod task;
