//! A real ExternalDNS in a member, against the AWS double.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::actor::Actor;
use crate::apiserver::{ApiServer, User};
use crate::kubectl::Kubectl;
use crate::ports;
use crate::process::Process;
use crate::tools::{self, Tool};
use crate::wait;

/// How long a sync may take to show up, with room for a machine that does other things too.
const SYNC_DEADLINE: Duration = Duration::from_secs(60);

/// What it is started with.
#[derive(Debug, Clone)]
pub struct Flags {
    /// `--txt-owner-id`.
    pub owner: String,
    /// `--policy`: `sync` or `upsert-only`.
    pub policy: String,
    /// `--interval`, in seconds.
    pub interval: u32,
    /// Whatever else.
    pub extra: Vec<String>,
}

impl Flags {
    /// The usual ones with this owner id and policy: one sync a second, so that stories are short.
    #[must_use]
    pub fn new(owner: &str, policy: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            policy: policy.to_owned(),
            interval: 1,
            extra: Vec::new(),
        }
    }
}

/// A running ExternalDNS.
#[derive(Debug)]
pub struct ExternalDns {
    /// Its flags.
    pub flags: Flags,
    metrics: String,
    process: Process,
}

impl ExternalDns {
    /// Installs the DNSEndpoint CRD and the permissions into a member.
    ///
    /// # Errors
    /// If the module with the CRD cannot be found or the member refuses it.
    pub fn install(kubectl: &Kubectl) -> Result<()> {
        let folder = tools::module_folder(Tool::ExternalDns, "sigs.k8s.io/external-dns")?.join("config/crd/standard");
        let mut files: Vec<_> = fs::read_dir(&folder)
            .with_context(|| format!("read {}", folder.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.retain(|file| {
            file.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("dnsendpoints"))
        });
        let file = files
            .first()
            .with_context(|| format!("no dnsendpoints CRD in {}", folder.display()))?;
        kubectl.apply(&fs::read_to_string(file)?)?;
        kubectl.apply(include_str!("../story/external-dns.yaml"))?;
        kubectl.run(&[
            "wait",
            "--for=condition=Established",
            "crd/dnsendpoints.externaldns.k8s.io",
            "--timeout=30s",
        ])?;
        Ok(())
    }

    /// Starts one for `cluster` as `actor`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(
        executable: &Path,
        cluster: &ApiServer,
        actor: &Actor,
        endpoint: &str,
        flags: &Flags,
        logs: &Path,
    ) -> Result<Self> {
        let port = ports::free()?;
        let kubeconfig = cluster.kubeconfig_file(User::ExternalDns, &cluster.url)?;
        let mut command = Command::new(executable);
        command.args([
            "--source=crd",
            "--provider=aws",
            "--registry=txt",
            "--domain-filter=example.com",
        ]);
        command
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .arg(format!("--metrics-address=127.0.0.1:{port}"));
        command
            .arg(format!("--txt-owner-id={}", flags.owner))
            .arg(format!("--policy={}", flags.policy));
        command
            .arg(format!("--interval={}s", flags.interval))
            .arg("--log-level=debug")
            .args(&flags.extra);
        actor.configure(&mut command, endpoint);
        let name = format!("external-dns-{}", cluster.name);
        let process = Process::start(&name, command, logs)?;
        Ok(Self {
            flags: flags.clone(),
            metrics: format!("http://127.0.0.1:{port}/metrics"),
            process,
        })
    }

    /// How many syncs it has finished: runs that wrote nothing and runs that wrote.
    ///
    /// # Errors
    /// If it has ended or its metrics cannot be read.
    pub fn syncs(&mut self) -> Result<u64> {
        self.process.check_running()?;
        let text = ureq::get(&self.metrics)
            .call()
            .context("ask ExternalDNS for its metrics")?
            .body_mut()
            .read_to_string()?;
        // Every run that ends well stores its time; runs are at least a second apart.
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix("external_dns_controller_last_sync_timestamp_seconds "))
            .context("no last_sync_timestamp_seconds in its metrics")?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a Unix time in whole seconds"
        )]
        Ok(value.trim().parse::<f64>().context("the time of the last sync")? as u64)
    }

    /// Waits until it has begun and finished `count` more syncs.
    ///
    /// # Errors
    /// If it ends or does not sync.
    pub fn wait_for_syncs(&mut self, count: u32) -> Result<()> {
        let deadline = SYNC_DEADLINE;
        // The sync that is under way does not count: its reading of the zone may lie before the call.
        for _ in 0..=count {
            let before = self.syncs().unwrap_or_default();
            let what = format!("a sync of the ExternalDNS of owner {}", self.flags.owner);
            wait::until(&what, deadline, || {
                anyhow::ensure!(self.syncs()? > before, "no sync since {before}");
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Its log so far.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn log(&self) -> Result<String> {
        Ok(fs::read_to_string(self.process.log())? + &fs::read_to_string(self.process.out())?)
    }
}
