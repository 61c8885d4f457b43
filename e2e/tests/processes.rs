//! Children of the harness end with it, even when it is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use truce_e2e::process::Process;
use truce_e2e::wait;

/// The harness of the test below: starts a child that would outlive it, says its id and hangs.
#[test]
#[ignore = "run by the test below, as a process to kill"]
fn harness_that_is_killed() {
    if std::env::var_os("TRUCE_E2E_VICTIM").is_none() {
        return;
    }
    let logs = tempfile::tempdir().unwrap();
    let mut sleep = Command::new("sleep");
    sleep.arg("600");
    let child = Process::start("sleep", sleep, logs.path()).unwrap();
    println!("CHILD {}", child.id());
    std::thread::park();
}

fn alive(pid: &str) -> bool {
    let line = format!("kill -0 {pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/{pid}/status 2>/dev/null");
    Command::new("sh")
        .args(["-c", &line])
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn children_end_when_the_harness_is_killed() -> Result<()> {
    for signal in ["KILL", "TERM", "INT"] {
        let mut harness = Command::new(std::env::current_exe()?)
            .args(["--ignored", "--exact", "harness_that_is_killed", "--nocapture"])
            .env("TRUCE_E2E_VICTIM", "1")
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = BufReader::new(harness.stdout.take().context("its stdout is a pipe")?).lines();
        let child = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("CHILD ").map(|(_, pid)| pid.to_owned()))
            .context("the harness did not say its child's id")?;
        ensure!(alive(&child), "the child should be running");
        let kill = format!("kill -{signal} {}", harness.id());
        Command::new("sh").args(["-c", &kill]).status()?;
        harness.wait()?;
        wait::until(
            &format!("the child to end after SIG{signal}"),
            Duration::from_secs(10),
            || {
                ensure!(!alive(&child), "child {child} still runs");
                Ok(())
            },
        )?;
    }
    Ok(())
}
