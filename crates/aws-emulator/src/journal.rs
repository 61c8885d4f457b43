//! The journal: every request, who made it, what came of it; in memory and, if asked for, as JSON lines in a file.
//!
//! Invariant: `seq` counts from 1 without a gap; memory holds the newest [`JOURNAL_LIMIT`] entries.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::error::ApiError;
use crate::core::shape::RawChange;

/// Most entries kept in memory; the oldest go first. The file keeps all.
pub const JOURNAL_LIMIT: usize = 100_000;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Counts from 1.
    pub seq: u64,
    /// Milliseconds since the epoch.
    pub time_ms: u64,
    /// Request id as sent back.
    pub request_id: String,
    /// Access key id; empty without credentials.
    pub access_key: String,
    /// Account; empty without credentials.
    pub account: String,
    /// ARN of who called; empty until the signature is verified. Sessions of one role differ in access key only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub principal: String,
    /// Operation, or method and path of an unknown one.
    pub action: String,
    /// Hosted zone id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Changes as sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RawChange>,
    /// HTTP status.
    pub status: u16,
    /// `OK` or the error code.
    pub code: String,
    /// Text of the error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Change id of a change that was made.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "changeID")]
    pub change_id: Option<String>,
    /// Version of the zone that the change made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

impl Entry {
    /// The request id of the entry with this number.
    #[must_use]
    pub fn request_id(seq: u64) -> String {
        format!("00000000-0000-4000-8000-{seq:012x}")
    }
}

/// What an operation notes while it runs.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) access_key: String,
    pub(crate) account: String,
    pub(crate) principal: String,
    pub(crate) action: String,
    pub(crate) zone: Option<String>,
    pub(crate) changes: Vec<RawChange>,
    pub(crate) change_id: Option<String>,
    pub(crate) version: Option<u64>,
}

/// Counts of requests: access key, then action, then code.
pub type Counts = BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>;

/// All requests so far.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    entries: VecDeque<Arc<Entry>>,
    last: u64,
    counts: Counts,
    file: Option<File>,
}

impl Journal {
    pub(crate) fn new(file: Option<File>) -> Self {
        Self {
            file,
            ..Self::default()
        }
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.last + 1
    }

    pub(crate) fn append(&mut self, time_ms: u64, draft: Draft, result: Result<u16, &ApiError>) -> Arc<Entry> {
        self.last += 1;
        let (status, code, message) = match result {
            Ok(status) => (status, "OK", String::new()),
            Err(error) => (error.code.status(), error.code.as_str(), error.message.clone()),
        };
        let entry = Arc::new(Entry {
            seq: self.last,
            time_ms,
            request_id: Entry::request_id(self.last),
            access_key: draft.access_key,
            account: draft.account,
            principal: draft.principal,
            action: draft.action,
            zone: draft.zone,
            changes: draft.changes,
            status,
            code: code.to_owned(),
            message,
            change_id: draft.change_id,
            version: draft.version,
        });
        self.count(&entry);
        self.write(&entry);
        self.entries.push_back(Arc::clone(&entry));
        if self.entries.len() > JOURNAL_LIMIT {
            self.entries.pop_front();
        }
        entry
    }

    fn count(&mut self, entry: &Entry) {
        *self
            .counts
            .entry(entry.access_key.clone())
            .or_default()
            .entry(entry.action.clone())
            .or_default()
            .entry(entry.code.clone())
            .or_default() += 1;
    }

    fn write(&mut self, entry: &Entry) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_string(entry)
            .map_err(std::io::Error::from)
            .and_then(|line| writeln!(file, "{line}"));
        if let Err(error) = written {
            tracing::error!(%error, "Writing the journal file failed; it ends here");
            self.file = None;
        }
    }

    pub(crate) fn since(&self, seq: u64) -> Vec<Arc<Entry>> {
        let skip = self.entries.partition_point(|e| e.seq <= seq);
        self.entries.iter().skip(skip).map(Arc::clone).collect()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts.clone()
    }
}
