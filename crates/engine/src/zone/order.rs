//! Safe order inside a batch.
