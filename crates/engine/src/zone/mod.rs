//! Many hostnames' changes to one zone's calls.
//!
//! `runtime.rs` is the entry: one zone as a state machine.

mod answer;
pub mod audit;
pub mod batch;
pub mod bisect;
pub mod fence;
pub mod order;
pub mod programmed;
pub mod queue;
pub mod runtime;
pub mod trouble;
mod turn;
