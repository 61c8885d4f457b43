//! When a drain is safe.
