//! The two clocks of the process, read in one place.
//!
//! Invariant: monotonic time never goes back, whatever happens to the wall clock.

use std::time::Instant;

use truce_engine::time::{Mono, Now, Wall};

/// Reads both clocks; monotonic time counts from when it was made.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts monotonic time.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// This moment on both clocks.
    #[must_use]
    pub fn now(&self) -> Now {
        Now {
            mono: self.mono(),
            wall: Wall::now(),
        }
    }

    /// This moment on the monotonic clock.
    #[must_use]
    pub fn mono(&self) -> Mono {
        Mono(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
