//! Temporary credentials.
//!
//! Invariant: made up from a counter, so the same run gives the same keys; the newest [`SESSION_LIMIT`] are known.

use std::collections::{BTreeMap, VecDeque};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use super::policy::Document;

/// Most sessions that are remembered, expired ones included; the oldest go first.
pub const SESSION_LIMIT: usize = 100_000;

/// The letters of made-up ids.
const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A session of a role.
#[derive(Debug, Clone)]
pub struct Session {
    /// Access key id, `ASIA...`.
    pub access_key: String,
    /// Secret access key.
    pub secret: String,
    /// Session token.
    pub token: String,
    /// ARN of the role.
    pub role: String,
    /// Session name.
    pub name: String,
    /// Milliseconds since the epoch from which on the credentials are refused.
    pub expires_at_ms: u64,
    /// Session policy.
    pub policy: Option<Document>,
}

/// What a new session is made of.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// ARN of the role.
    pub role: String,
    /// Session name.
    pub name: String,
    /// When it expires.
    pub expires_at_ms: u64,
    /// Session policy.
    pub policy: Option<Document>,
}

/// All sessions by access key id.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    by_key: BTreeMap<String, Session>,
    order: VecDeque<String>,
    made: u64,
}

impl Sessions {
    /// The session with this access key id.
    #[must_use]
    pub fn get(&self, access_key: &str) -> Option<&Session> {
        self.by_key.get(access_key)
    }

    /// Makes credentials.
    pub fn open(&mut self, new: NewSession) -> Session {
        self.made += 1;
        let seed = format!("{} {} {}", self.made, new.role, new.name);
        let session = Session {
            access_key: made_up_id("ASIA", &seed, 16),
            secret: made_up_text("secret", &seed, 1).chars().take(40).collect(),
            token: made_up_text("token", &seed, 8),
            role: new.role,
            name: new.name,
            expires_at_ms: new.expires_at_ms,
            policy: new.policy,
        };
        self.by_key.insert(session.access_key.clone(), session.clone());
        self.order.push_back(session.access_key.clone());
        if self.order.len() > SESSION_LIMIT
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_key.remove(&oldest);
        }
        session
    }

    /// Ends every session of this role, or of all roles, at this time; gives how many were still alive.
    pub fn expire(&mut self, role: Option<&str>, now_ms: u64) -> usize {
        let alive = self
            .by_key
            .values_mut()
            .filter(|s| s.expires_at_ms > now_ms && role.is_none_or(|role| role == s.role));
        alive.map(|session| session.expires_at_ms = now_ms).count()
    }
}

/// An id like those of AWS: a prefix that tells the kind, then letters and digits made up from the seed.
#[must_use]
pub fn made_up_id(prefix: &str, seed: &str, length: usize) -> String {
    let digest: [u8; 32] = Sha256::digest(seed).into();
    let letters = digest.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)));
    prefix
        .chars()
        .chain(letters.take(length).map(|&b| char::from(b)))
        .collect()
}

fn made_up_text(kind: &str, seed: &str, blocks: usize) -> String {
    let bytes: Vec<u8> = (0..blocks)
        .flat_map(|n| <[u8; 32]>::from(Sha256::digest(format!("{kind} {n} {seed}"))))
        .collect();
    BASE64_STANDARD.encode(bytes)
}
