//! The pure core: accounts, hosted zones and the rules of their changes.
//!
//! Invariant: no clock, no I/O, no randomness; the caller passes the time in milliseconds since the Unix epoch.
//! Deliberately absent: XML, HTTP, DNS messages.

pub mod accounts;
pub mod change;
pub mod cidr;
pub mod elb;
pub mod error;
pub mod group;
pub mod health;
pub mod list;
pub mod names;
pub mod pace;
pub mod places;
pub mod policy;
pub mod protections;
pub mod record;
pub mod regions;
pub mod service;
pub mod shape;
pub mod sizes;
pub mod tags;
pub mod target;
pub mod values;
pub mod violation;
pub mod zone;
pub mod zones;
