//! Watches become events.
//!
//! Invariant: what is told is as complete as it says. Deliberately absent: stores; the engine holds the world.

pub mod convert;
pub mod hub;
pub mod member;
