//! A strict double of Route 53 and STS.
