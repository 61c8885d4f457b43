//! One cluster name between the hub and a member: cases, and any interleaving of both with restarts, against a small
//! zone and a model of ExternalDNS 0.22.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod cases_handover;
mod cases_release;
mod common;
mod interleaving;
mod member;
mod oracle;
mod world;
mod zone;
