//! Effects carried out: one file a kind, and the gate that each passes.
//!
//! Invariant: an executor does what the effect says and decides nothing.

pub mod class;
pub mod endpoint;
pub mod event;
pub mod finalizer;
pub mod gate;
pub mod status;
pub mod zone;
