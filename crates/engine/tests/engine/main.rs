//! The whole engine against a small world: a hub, members with ExternalDNS, one hosted zone.

#![expect(clippy::unwrap_used, reason = "a test ends where its world breaks")]

mod cluster_hostnames;
#[path = "../zone/fake.rs"]
#[expect(dead_code, reason = "other tests use the rest of it")]
mod fake;
mod found;
mod laws;
mod oracle;
mod others;
mod restart;
mod sim;
mod story;
mod worlds;
