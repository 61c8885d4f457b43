//! One hostname: what should be, what differs, and what is told.

pub mod condition;
pub mod diff;
