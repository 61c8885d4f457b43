//! The operator as a process, with the timings that make a story short.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::actor::Actor;
use crate::ports;
use crate::process::Process;

/// How a hub's operator is run; it can be started any number of times.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The program.
    pub executable: PathBuf,
    /// `--hub-id`.
    pub hub_id: String,
    /// The hub's kubeconfig.
    pub kubeconfig: PathBuf,
    /// Who it is to AWS.
    pub actor: Actor,
    /// Where AWS is.
    pub endpoint: String,
    /// More flags.
    pub extra: Vec<String>,
    /// Where its output goes.
    pub logs: PathBuf,
    /// The name of its log files; two operators of one run need two.
    pub name: String,
}

/// A running operator.
#[derive(Debug)]
pub struct Running {
    /// The address of `/livez`, `/readyz` and `/metrics`.
    pub admin: String,
    process: Process,
}

impl Operator {
    /// Starts it without waiting.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&self) -> Result<Running> {
        let admin = format!("127.0.0.1:{}", ports::free()?);
        let mut command = Command::new(&self.executable);
        command.args(["run", "--hub-id", &self.hub_id, "--namespace", "truce-system"]);
        command
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["--admin-address", &admin, "--log-format=text"]);
        command.args(&self.extra);
        self.actor.configure(&mut command, &self.endpoint);
        let level = std::env::var("TRUCE_E2E_LOG").unwrap_or_else(|_| "info".to_owned());
        command
            .env("RUST_LOG", level)
            .env("RUST_BACKTRACE", "1")
            .env("NO_COLOR", "1");
        let process = Process::start(&self.name, command, &self.logs)?;
        Ok(Running {
            admin: format!("http://{admin}"),
            process,
        })
    }
}

impl Running {
    /// Waits until `/readyz` says so.
    ///
    /// # Errors
    /// If it ends or does not get ready within half a minute.
    pub fn ready(&mut self) -> Result<()> {
        let url = format!("{}/readyz", self.admin);
        self.process.ready(Duration::from_secs(30), || {
            ureq::get(&url).call().context("ask for /readyz")?;
            Ok(())
        })
    }

    /// Fails with the end of its log if it has ended.
    ///
    /// # Errors
    /// If it is not running.
    pub fn check_running(&mut self) -> Result<()> {
        self.process.check_running()
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// SIGTERM, as Kubernetes ends a pod.
    ///
    /// # Errors
    /// If it does not end within 30 seconds (Kubernetes' own patience).
    pub fn terminate(&mut self) -> Result<std::process::ExitStatus> {
        self.process.terminate(Duration::from_secs(30))
    }

    /// The end of its log.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        self.process.log_tail(lines)
    }
}
