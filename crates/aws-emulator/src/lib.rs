//! A strict double of Route 53 and STS, with the DNS answers that Route 53 would give.
//!
//! `core` and `identity` hold the rules and are pure; `api` and `dns` are the two fronts; [`serve`] runs both in this process.
//! What is enforced and what is not yet stands in the crate's README.

pub mod api;
pub mod balancers;
pub mod config;
pub mod core;
pub mod dns;
mod emulator;
pub mod identity;
pub mod journal;
mod serve;

pub use config::Config;
pub use emulator::StartError;
pub use serve::{Handle, serve};
