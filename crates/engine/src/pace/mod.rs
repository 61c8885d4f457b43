//! When: budgets, retry times, priorities.

pub mod backoff;
pub mod budget;
pub mod queue;
