//! Lines of documentation, run as written: by a shell, with kubectl in its PATH and the hub as its current context.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::{env, fs, iter};

use anyhow::{Context, Result, ensure};

use crate::world::{HUB, World};

/// Runs `line` in `folder` as a user of the hub would, shows it with its output, and returns its stdout.
///
/// # Errors
/// If it exits with anything but 0.
pub fn run(world: &World, folder: &Path, line: &str) -> Result<String> {
    println!("{HUB}$ {line}");
    let hub = world.kubectl(HUB)?;
    let bin = world.dir().join("bin");
    fs::create_dir_all(&bin).context("create a folder for kubectl")?;
    let link = bin.join("kubectl");
    if !link.exists() {
        symlink(hub.executable(), &link).context("link kubectl")?;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(iter::once(bin).chain(env::split_paths(&path))).context("the PATH")?;
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("KUBECONFIG", hub.kubeconfig())
        .output()
        .context("run sh")?;
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    print!("{out}{err}");
    ensure!(output.status.success(), "{line}: {}: {err}", output.status);
    Ok(out.into_owned())
}

/// The lines that call kubectl in the `sh` blocks of a Markdown text, in order.
#[must_use]
pub fn kubectl_lines(markdown: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```sh";
        } else if inside && line.starts_with("kubectl ") {
            lines.push(line);
        }
    }
    lines
}
