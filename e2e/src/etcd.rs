//! One etcd for all API servers of a run; each has its own key prefix.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::ports;
use crate::process::Process;

/// A running etcd.
#[derive(Debug)]
pub struct Etcd {
    /// Its client URL.
    pub url: String,
    process: Process,
}

impl Etcd {
    /// Starts one with its data in `dir` and waits until it answers.
    ///
    /// # Errors
    /// If it does not get ready within half a minute.
    pub fn start(executable: &Path, dir: &Path, logs: &Path) -> Result<Self> {
        let url = format!("http://127.0.0.1:{}", ports::free()?);
        let peer = format!("http://127.0.0.1:{}", ports::free()?);
        let mut command = Command::new(executable);
        // The data does not outlive the run: syncing it to the disk would only cost time.
        command
            .args(["--unsafe-no-fsync", "--log-level=warn", "--name=default", "--data-dir"])
            .arg(dir.join("etcd"));
        command.args(["--listen-client-urls", &url, "--advertise-client-urls", &url]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("default={peer}")]);
        let mut process = Process::start("etcd", command, logs)?;
        process.ready(Duration::from_secs(30), || {
            ureq::get(format!("{url}/health"))
                .call()
                .context("ask etcd for its health")?;
            Ok(())
        })?;
        Ok(Self { url, process })
    }

    /// Fails if it has ended.
    ///
    /// # Errors
    /// With the end of its log.
    pub fn check_running(&mut self) -> Result<()> {
        self.process.check_running()
    }
}
