//! One hostname: what should be, what differs, and what is told.
//!
//! `hostname.rs` is the entry.

pub mod accept;
pub mod cluster_names;
pub mod clusters;
pub mod condition;
pub mod diff;
pub mod hostname;
mod hostname_conditions;
pub mod input;
pub mod memory;
mod outcome;
pub mod progress;
pub mod reach;
pub mod share;
mod shared_name;
pub mod status;
pub mod unit;
pub mod view;
