//! The real kubectl with one cluster's kubeconfig.
//!
//! Everything the harness does to a cluster goes through here, as a user's hands would do it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

/// kubectl for one cluster and user.
#[derive(Debug, Clone)]
pub struct Kubectl {
    /// The cluster it talks to.
    pub cluster: String,
    executable: PathBuf,
    kubeconfig: PathBuf,
    cache: PathBuf,
}

impl Kubectl {
    /// kubectl at `executable` with the given kubeconfig; `cache` is where it keeps what it discovered.
    #[must_use]
    pub fn new(cluster: &str, executable: &Path, kubeconfig: &Path, cache: &Path) -> Self {
        Self {
            cluster: cluster.to_owned(),
            executable: executable.to_owned(),
            kubeconfig: kubeconfig.to_owned(),
            cache: cache.to_owned(),
        }
    }

    /// The kubeconfig file it uses.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The path of kubectl itself.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .args(args)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("KUBECACHEDIR", &self.cache);
        command
    }

    /// Runs it and returns stdout.
    ///
    /// # Errors
    /// If it exits with anything but 0; the error is what it said.
    pub fn run(&self, args: &[&str]) -> Result<String> {
        let output = self
            .command(args)
            .stdin(Stdio::null())
            .output()
            .context("run kubectl")?;
        self.answer(args, output)
    }

    /// Runs it with `input` on stdin, for `-f -`.
    ///
    /// # Errors
    /// As [`Kubectl::run`].
    pub fn run_with(&self, args: &[&str], input: &str) -> Result<String> {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("run kubectl")?;
        let mut stdin = child.stdin.take().context("kubectl's stdin is a pipe")?;
        // The manifests of a run fit into the pipe's buffer or are read before kubectl writes more than its own.
        stdin.write_all(input.as_bytes()).context("write to kubectl")?;
        drop(stdin);
        let output = child.wait_with_output().context("wait for kubectl")?;
        self.answer(args, output)
    }

    fn answer(&self, args: &[&str], output: Output) -> Result<String> {
        if output.status.success() {
            return String::from_utf8(output.stdout).context("kubectl's output is UTF-8");
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(anyhow!(
            "kubectl {} in {} ({}): {said}",
            args.join(" "),
            self.cluster,
            output.status
        ))
    }

    /// Applies the YAML text.
    ///
    /// # Errors
    /// If the API server refuses it.
    pub fn apply(&self, yaml: &str) -> Result<String> {
        self.run_with(&["apply", "-f", "-"], yaml)
    }

    /// An object (or list) as JSON: `kubectl get ... -o json`.
    ///
    /// # Errors
    /// If it is not there.
    pub fn get(&self, args: &[&str]) -> Result<Value> {
        let mut all = vec!["get", "-o", "json"];
        all.extend_from_slice(args);
        serde_json::from_str(&self.run(&all)?).context("parse kubectl's JSON")
    }
}
