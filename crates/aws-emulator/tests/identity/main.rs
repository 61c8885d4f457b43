//! One test per rule of signatures, credentials, trust and permissions, named after the rule: what is refused, code
//! and text, and the nearest thing that is allowed.

#![expect(clippy::expect_used, reason = "a failed expectation is a failed test")]

mod assume;
mod garbage;
mod policy;
mod signature;
mod support;
mod token;
mod web;
