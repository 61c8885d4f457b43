//! What is wrong or noteworthy, and the way out.
//!
//! Invariant: nothing else words a message for users. Reasons themselves (the closed list) are those of `truce_api`.

use serde::{Deserialize, Serialize};
use truce_api::Reason;

/// A reason with its words: what it is about, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// CamelCase, from the documented list.
    pub reason: Reason,
    /// For people: names the object and what to write or do instead; at most 1,024 characters.
    pub message: String,
}

impl Problem {
    /// A problem with its message.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }
}
