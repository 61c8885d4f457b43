//! What the plans and the world ask for, as effects: one file a kind of sink.
//!
//! Invariant: one effect in flight per sink; an outcome goes back to the file that asked.

pub mod hostnames;
pub mod members;
pub mod offer;
pub mod statuses;
pub mod zone_status;
pub mod zones;
