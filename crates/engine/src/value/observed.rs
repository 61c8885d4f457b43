//! What is known of something far away, and how well.
//!
//! Invariant: an absence is only ever `Fresh(None)`-like knowledge; not knowing is `Unknown`, never an empty value
//! (DESIGN.md, section 6).

use serde::{Deserialize, Serialize};

use crate::time::Mono;

/// A value with the state of our knowledge of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Observed<T> {
    /// Never read since the start.
    Unknown,
    /// What the last complete read, kept current by a live watch, says.
    Fresh(T),
    /// What it was when it was last fresh.
    Stale {
        /// The last value.
        value: T,
        /// Since when it is not fresh.
        since: Mono,
    },
}

impl<T> Observed<T> {
    /// The value, fresh or stale.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Unknown => None,
            Self::Fresh(value) | Self::Stale { value, .. } => Some(value),
        }
    }

    /// The value if it is fresh.
    pub fn fresh(&self) -> Option<&T> {
        match self {
            Self::Fresh(value) => Some(value),
            Self::Unknown | Self::Stale { .. } => None,
        }
    }
}
