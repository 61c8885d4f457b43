//! The AWS double as a process: Route 53, STS and DNS on loopback.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process::Process;

/// The hosted zone of every story.
pub const ZONE_ID: &str = "ZEXAMPLE0001";

/// Its name.
pub const ZONE_NAME: &str = "example.com";

/// A running double.
#[derive(Debug)]
pub struct Emulator {
    /// The address of its AWS API.
    pub aws: String,
    /// The address of its DNS server.
    pub dns: SocketAddr,
    process: Process,
}

/// One change of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// CREATE, DELETE or UPSERT.
    pub action: String,
    /// The record set's name, without the trailing dot.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its set identifier, or nothing.
    pub set: String,
}

/// One request as the double saw it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its place in the journal.
    pub number: u64,
    /// The access key that signed it.
    pub actor: String,
    /// The operation, such as `ChangeResourceRecordSets`.
    pub operation: String,
    /// The changes it asked for.
    pub changes: Vec<Change>,
    /// Whether it was accepted.
    pub accepted: bool,
    /// The whole entry.
    pub raw: Value,
}

impl Entry {
    /// Whether it asked for a change of a zone, granted or not.
    #[must_use]
    pub fn changes_a_zone(&self) -> bool {
        self.operation == "ChangeResourceRecordSets"
    }

    /// Whether it asked for a change of a record set of this name.
    #[must_use]
    pub fn touches(&self, name: &str) -> bool {
        self.changes.iter().any(|change| change.name == name)
    }

    /// Whether it asked for this action on this record set.
    #[must_use]
    pub fn did(&self, action: &str, name: &str, set: &str) -> bool {
        self.changes
            .iter()
            .any(|change| change.action == action && change.name == name && change.set == set)
    }

    /// Whether it changed a zone.
    #[must_use]
    pub fn wrote(&self) -> bool {
        self.changes_a_zone() && self.accepted
    }
}

impl Emulator {
    /// Starts one with the zone of the stories; a change is INSYNC after `insync`.
    ///
    /// # Errors
    /// If it does not get ready within 20 seconds.
    pub fn start(executable: &Path, insync: Duration, run: &Path) -> Result<Self> {
        let config = run.join("aws-emulator.yaml");
        fs::write(&config, include_str!("../story/aws-emulator.yaml")).context("write the double's configuration")?;
        let mut command = Command::new(executable);
        command.args(["--listen", "127.0.0.1:0", "--dns", "127.0.0.1:0"]);
        command.args(["--insync-ms", &insync.as_millis().to_string()]);
        command
            .args(["--zone", &format!("{ZONE_NAME}={ZONE_ID}")])
            .arg("--config")
            .arg(&config);
        command.arg("--journal").arg(Self::journal_file(run));
        let mut process = Process::start("aws-emulator", command, &run.join("logs"))?;
        let out = process.out().to_owned();
        let said: Value = process.ready(Duration::from_secs(20), || {
            let text = fs::read_to_string(&out)?;
            serde_json::from_str(text.lines().next().context("it has not printed its addresses")?).context("parse it")
        })?;
        let text = |key: &str| said[key].as_str().with_context(|| format!("no {key} in {said}"));
        let aws = text("aws")?;
        let aws = if aws.starts_with("http") {
            aws.to_owned()
        } else {
            format!("http://{aws}")
        };
        Ok(Self {
            aws,
            dns: text("dns")?.parse().context("its DNS address")?,
            process,
        })
    }

    fn journal_file(run: &Path) -> PathBuf {
        run.join("logs").join("aws-journal.jsonl")
    }

    /// Fails if it has ended.
    ///
    /// # Errors
    /// With the end of its log.
    pub fn check_running(&mut self) -> Result<()> {
        self.process.check_running()
    }

    fn admin(&self, path: &str) -> Result<Value> {
        let url = format!("{}/_emulator/{path}", self.aws);
        let text = ureq::get(&url)
            .call()
            .with_context(|| format!("GET {url}"))?
            .body_mut()
            .read_to_string()?;
        serde_json::from_str(&text).with_context(|| format!("parse the answer of {url}"))
    }

    /// Every request so far.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn journal(&self) -> Result<Vec<Entry>> {
        let all = self.admin("journal")?;
        all.as_array()
            .context("the journal is a list")?
            .iter()
            .map(entry)
            .collect()
    }

    /// Every version of the zone so far, as the difference to the one before.
    ///
    /// # Errors
    /// If the double does not tell.
    pub fn versions(&self) -> Result<Vec<Value>> {
        let all = self.admin(&format!("zones/{ZONE_ID}/versions"))?;
        all.as_array().cloned().context("the versions are a list")
    }

    /// The accepted changes so far.
    ///
    /// # Errors
    /// As [`Emulator::journal`].
    pub fn writes(&self) -> Result<Vec<Entry>> {
        Ok(self.journal()?.into_iter().filter(Entry::wrote).collect())
    }
}

fn entry(raw: &Value) -> Result<Entry> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let changes = raw["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let change = |change: &Value| {
        let set = &change["recordSet"];
        Change {
            action: text(change, "action"),
            name: text(set, "name").trim_end_matches('.').to_lowercase(),
            kind: text(set, "type"),
            set: text(set, "setIdentifier"),
        }
    };
    Ok(Entry {
        number: raw["seq"].as_u64().context("a journal entry has a number")?,
        actor: text(raw, "accessKey"),
        operation: text(raw, "action"),
        changes: changes.iter().map(change).collect(),
        accepted: raw["code"] == "OK",
        raw: raw.clone(),
    })
}
