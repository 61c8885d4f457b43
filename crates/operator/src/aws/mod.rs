//! Amazon Route 53 and STS through the AWS SDK.
//!
//! Invariant: one request per call; the SDK retries nothing, since budget and retries are the engine's.

pub mod identity;
pub mod records;
pub mod route53;
