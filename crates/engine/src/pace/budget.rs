//! Token buckets per account.
