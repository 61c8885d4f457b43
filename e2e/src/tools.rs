//! The foreign programs: etcd, kube-apiserver, kubectl and ExternalDNS.
//!
//! Found in `KUBEBUILDER_ASSETS` (envtest's convention), then in `PATH`, then built from the go.mod files in
//! `e2e/tools` into a cache outside `target/`: `${TRUCE_TOOLS:-${XDG_CACHE_HOME:-~/.cache}/truce-tools}/<tool>-<hash of
//! go.mod and go.sum>`. Invariant: a second run builds nothing, and a lock file keeps parallel runs from building twice.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};

/// How often a running build says that it is still at work.
const PROGRESS: Duration = Duration::from_secs(15);

/// A program that the harness runs and did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The store of all API servers.
    Etcd,
    /// One per cluster.
    KubeApiserver,
    /// What a user types.
    Kubectl,
    /// One per member.
    ExternalDns,
}

impl Tool {
    /// The name of the executable.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::Kubectl => "kubectl",
            Self::ExternalDns => "external-dns",
        }
    }

    fn module(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver | Self::Kubectl => "kubernetes",
            Self::ExternalDns => "external-dns",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::KubeApiserver => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::ExternalDns => "sigs.k8s.io/external-dns",
        }
    }

    /// An API server built from modules calls itself `v0.0.0-master+$Format:%H$`, which no client can parse.
    fn linker_flags(self) -> &'static str {
        match self {
            Self::Etcd | Self::ExternalDns => "",
            Self::KubeApiserver | Self::Kubectl => {
                "-X k8s.io/component-base/version.gitVersion=v1.37.2 \
                 -X k8s.io/component-base/version.gitMajor=1 \
                 -X k8s.io/component-base/version.gitMinor=37"
            }
        }
    }

    /// The folder with its go.mod.
    #[must_use]
    pub fn source(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(self.module())
    }

    /// The executable: found or, if need be, built first.
    ///
    /// # Errors
    /// If it is nowhere and Go is missing or the build fails.
    pub fn executable(self) -> Result<PathBuf> {
        if let Some(found) = self.installed() {
            return Ok(found);
        }
        let target = cache()?.join(format!("{}-{}", self.name(), self.hash()?));
        if !target.exists() {
            self.build(&target)?;
        }
        Ok(target)
    }

    fn installed(self) -> Option<PathBuf> {
        let assets = env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
        let path = env::var_os("PATH").unwrap_or_default();
        assets
            .into_iter()
            .chain(env::split_paths(&path))
            .map(|dir| dir.join(self.name()))
            .find(|file| file.is_file())
    }

    fn hash(self) -> Result<String> {
        let mut hash = Sha256::new();
        for file in ["go.mod", "go.sum"] {
            let path = self.source().join(file);
            hash.update(fs::read(&path).with_context(|| format!("read {}", path.display()))?);
        }
        Ok(hash.finalize()[..6].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn build(self, target: &Path) -> Result<()> {
        let beside = |ending: &str| target.with_file_name(format!("{}.{ending}", name_of(target)));
        let lock = File::create(beside("lock")).context("create the build's lock file")?;
        lock.lock().context("wait for another build of the same tool")?;
        if target.exists() {
            return Ok(());
        }
        let (partial, log) = (beside("partial"), beside("build.log"));
        eprintln!(
            "building {} from {} ({})",
            self.name(),
            self.package(),
            self.source().join("go.mod").display()
        );
        let started = Instant::now();
        let out = File::create(&log).context("create the build's log")?;
        let mut child = Command::new("go")
            .arg("build")
            .arg("-C")
            .arg(self.source())
            .args(["-buildvcs=false", "-ldflags", self.linker_flags(), "-o"])
            .arg(&partial)
            .arg(self.package())
            .stdin(Stdio::null())
            .stdout(out.try_clone().context("share the build's log")?)
            .stderr(out)
            .spawn()
            .with_context(|| {
                format!(
                    "run go: install Go, or put {} into KUBEBUILDER_ASSETS or PATH",
                    self.name()
                )
            })?;
        let mut said = started;
        let status = loop {
            if let Some(status) = child.try_wait().context("look at the Go build")? {
                break status;
            }
            if said.elapsed() >= PROGRESS {
                said = Instant::now();
                eprintln!("building {}: {} s so far", self.name(), started.elapsed().as_secs());
            }
            thread::sleep(Duration::from_millis(100));
        };
        if !status.success() {
            bail!(
                "go build of {} failed ({status}):\n{}",
                self.name(),
                fs::read_to_string(&log).unwrap_or_default()
            );
        }
        fs::rename(&partial, target).with_context(|| format!("move the build to {}", target.display()))?;
        eprintln!(
            "built {} in {} s: {}",
            self.name(),
            started.elapsed().as_secs(),
            target.display()
        );
        Ok(())
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn cache() -> Result<PathBuf> {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let dir = match env::var_os("TRUCE_TOOLS") {
        Some(dir) => PathBuf::from(dir),
        None => env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(home)
            .context("none of TRUCE_TOOLS, XDG_CACHE_HOME and HOME is set: set TRUCE_TOOLS to a folder for the tools")?
            .join("truce-tools"),
    };
    fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
    Ok(dir)
}

/// The executables of one run.
#[derive(Debug, Clone)]
pub struct Tools {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub kube_apiserver: PathBuf,
    /// kubectl.
    pub kubectl: PathBuf,
    /// ExternalDNS.
    pub external_dns: PathBuf,
}

impl Tools {
    /// Finds or builds all of them.
    ///
    /// # Errors
    /// As [`Tool::executable`].
    pub fn get() -> Result<Self> {
        // The quickest build first, so that a cold run shows results soon.
        let etcd = Tool::Etcd.executable()?;
        let external_dns = Tool::ExternalDns.executable()?;
        let kube_apiserver = Tool::KubeApiserver.executable()?;
        let kubectl = Tool::Kubectl.executable()?;
        Ok(Self {
            etcd,
            kube_apiserver,
            kubectl,
            external_dns,
        })
    }
}

/// The folder of a Go module that a tool is built from, such as the one with ExternalDNS's CRD.
///
/// # Errors
/// If Go is missing or the module cannot be downloaded.
pub fn module_folder(tool: Tool, module: &str) -> Result<PathBuf> {
    let go = |args: &[&str]| -> Result<String> {
        let output = Command::new("go")
            .args(args)
            .current_dir(tool.source())
            .output()
            .context("run go: install Go; it knows where ExternalDNS's CRD is")?;
        if !output.status.success() {
            bail!("go {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let folder = go(&["list", "-m", "-f", "{{.Dir}}", module])?;
    if !folder.is_empty() {
        return Ok(PathBuf::from(folder));
    }
    go(&["mod", "download", module])?;
    Ok(PathBuf::from(go(&["list", "-m", "-f", "{{.Dir}}", module])?))
}
