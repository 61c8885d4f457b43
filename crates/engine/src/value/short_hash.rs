//! The digest that names, claims and confirmations carry.
//!
//! Invariant: the same in every version, for it stands in zones, members and annotations.

use sha2::{Digest, Sha256};

/// The first 16 hexadecimal digits of a text's SHA-256.
pub fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let first = digest
        .iter()
        .take(8)
        .fold(0, |first: u64, byte| first << 8 | u64::from(*byte));
    format!("{first:016x}")
}
