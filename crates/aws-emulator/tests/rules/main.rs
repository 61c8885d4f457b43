//! One test per rule of ChangeResourceRecordSets and ListResourceRecordSets, named after the rule: what is refused,
//! code and text, and the nearest thing that is allowed. The ids are those of `core::violation`.

#![expect(clippy::expect_used, reason = "a failed expectation is a failed test")]

mod alias;
mod batch;
mod config;
mod dns;
mod garbage;
mod groups;
mod health;
mod keys;
mod list;
mod more_values;
mod names;
mod pace;
mod policies;
mod protections;
mod shape;
mod sizes;
mod state;
mod support;
mod types;
mod values;
mod zones;
