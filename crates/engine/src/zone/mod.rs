//! Many hostnames' changes to one zone's calls.

pub mod audit;
pub mod batch;
pub mod bisect;
pub mod fence;
pub mod order;
pub mod unit;
