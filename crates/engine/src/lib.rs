//! Every decision of Truce: events in, effects out.
//!
//! Invariant: pure, total and deterministic: no clock, no randomness, no I/O, ordered maps only.

pub mod effect;
pub mod event;
pub mod intake;
pub mod pace;
pub mod plan;
pub mod reason;
pub mod rule;
pub mod time;
pub mod value;
pub mod world;
pub mod zone;
