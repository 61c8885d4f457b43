//! Retry times by class of failure.
