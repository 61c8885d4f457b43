//! One zone's state machine against a small Route 53: cases of docs/cases.md, and laws under random faults.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows tests by their attribute only, not their helpers"
)]

mod cases;
mod fake;
mod laws;
mod world;
