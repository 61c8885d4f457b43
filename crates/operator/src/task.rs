//! A spawned task that ends with whoever holds it.
//!
//! Invariant: no task outlives its owner, so that closing a member's session ends its watches.

use std::future::Future;

use tokio::task::JoinHandle;

/// Aborts its task when dropped.
#[derive(Debug)]
pub struct Task(JoinHandle<()>);

impl Task {
    /// Starts it.
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
