//! Who calls, and what they may do: accounts, users, roles and sessions, signatures, policies.
//!
//! Invariant: no clock, no I/O, no randomness; the caller passes the time in milliseconds since the Unix epoch, and
//! credentials are made up from a counter. Without accounts in the configuration every credential is accepted.
//! Deliberately absent: HTTP and wire formats, which are in `api`.

pub mod arn;
pub mod assume;
pub mod cluster;
pub mod condition;
pub mod config;
pub mod directory;
pub mod evaluate;
pub mod glob;
pub mod policy;
pub mod principal;
pub mod service;
pub mod session;
pub mod signature;
pub mod token;
pub mod web;

pub use directory::{Identity, IdentityError};
