//! Our own programs: the operator and the AWS double, built by the cargo that runs the harness.
//!
//! Invariant: what runs is what the sources say. Cargo decides whether anything has to be built; if nothing has, this
//! takes a fraction of a second.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail};

/// Where the two programs are.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// The operator, `truce`.
    pub truce: PathBuf,
    /// The AWS double, `truce-aws-emulator`.
    pub aws_emulator: PathBuf,
}

impl Binaries {
    /// Builds both, once per process, in the profile the harness itself was built in.
    ///
    /// # Errors
    /// If the build fails; cargo has printed why.
    pub fn get() -> Result<Self> {
        static BUILT: OnceLock<Result<Binaries, String>> = OnceLock::new();
        BUILT
            .get_or_init(|| build().map_err(|error| format!("{error:#}")))
            .clone()
            .map_err(|error| anyhow!(error))
    }
}

fn build() -> Result<Binaries> {
    let me = env::current_exe().context("find the folder of this program")?;
    let mut dir = me.parent().context("a program lies in a folder")?;
    if dir.ends_with("deps") {
        dir = dir.parent().context("deps lies in the profile's folder")?;
    }
    let target = dir
        .parent()
        .context("the profile's folder lies in cargo's target folder")?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args([
        "build",
        "--locked",
        "-p",
        "truce-operator",
        "-p",
        "truce-aws-emulator",
        "--bins",
    ]);
    // Beside this program, wherever cargo would build by itself.
    cargo.arg("--target-dir").arg(target);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let status = cargo.status().context("run cargo")?;
    if !status.success() {
        bail!("cargo build of truce and truce-aws-emulator failed ({status})");
    }
    Ok(Binaries {
        truce: dir.join("truce"),
        aws_emulator: dir.join("truce-aws-emulator"),
    })
}
