//! One zone's state machine against a small Route 53: cases of the catalogue, and laws under random faults.

mod cases;
mod fake;
mod world;
