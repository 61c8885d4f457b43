//! Child processes that end whatever happens.
//!
//! Invariant: every child leads a process group of its own, and a *warden* (a shell that reads process ids from a pipe
//! held by this process) kills each group that is still there when the pipe closes: at normal exit, panic, abort,
//! Ctrl-C, SIGTERM and SIGKILL alike. A dropped `Process` is killed at once. Deliberately absent: restarts; who wants
//! one starts another.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::wait;

/// Reads `+ PID` and `- PID` lines; at the end of its input it kills every group still listed. It has to survive the
/// signals that a terminal sends to its foreground group, and a harness that is killed.
const WARDEN: &str = r#"
trap '' INT TERM HUP QUIT
alive=
while read -r op pid; do
  rest=
  for p in $alive; do [ "$p" = "$pid" ] || rest="$rest $p"; done
  alive=$rest
  [ "$op" = + ] && alive="$alive $pid"
done
for p in $alive; do kill -s KILL -- "-$p" 2>/dev/null; done
"#;

static WARDEN_PROCESS: OnceLock<Mutex<Child>> = OnceLock::new();

fn tell_warden(line: &str) -> Result<()> {
    if WARDEN_PROCESS.get().is_none() {
        let child = Command::new("sh")
            .args(["-c", WARDEN])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("start the warden (sh)")?;
        // A second one, started by another thread at the same moment, ends with its input at once.
        drop(WARDEN_PROCESS.set(Mutex::new(child)));
    }
    let warden = WARDEN_PROCESS.get().context("the warden was just started")?;
    let mut child = warden.lock().unwrap_or_else(PoisonError::into_inner);
    let pipe = child.stdin.as_mut().context("the warden's stdin is a pipe")?;
    writeln!(pipe, "{line}")
        .and_then(|()| pipe.flush())
        .context("tell the warden")
}

/// A running child process with its output in two files.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    out: PathBuf,
    log: PathBuf,
}

impl Process {
    /// Starts `command` as `name`: stdout goes to `<logs>/<name>.out`, stderr to `<logs>/<name>.log`, both appended.
    ///
    /// # Errors
    /// If the log files cannot be opened or the program cannot be started.
    pub fn start(name: &str, mut command: Command, logs: &Path) -> Result<Self> {
        fs::create_dir_all(logs).with_context(|| format!("create {}", logs.display()))?;
        let out = logs.join(format!("{name}.out"));
        let log = logs.join(format!("{name}.log"));
        let open = |path: &Path| -> Result<File> {
            File::options()
                .create(true)
                .append(true)
                .open(path)
                .with_context(|| format!("open {}", path.display()))
        };
        let child = command
            .stdin(Stdio::null())
            .stdout(open(&out)?)
            .stderr(open(&log)?)
            .process_group(0)
            .spawn()
            .with_context(|| format!("start {name}: {}", command.get_program().display()))?;
        tell_warden(&format!("+ {}", child.id()))?;
        Ok(Self {
            name: name.to_owned(),
            child,
            out,
            log,
        })
    }

    /// The process id, which is also its group's.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The file that holds its stdout.
    #[must_use]
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The file that holds its stderr.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Fails with the end of its log if it has ended.
    ///
    /// # Errors
    /// If the process is not running any more.
    pub fn check_running(&mut self) -> Result<()> {
        match self
            .child
            .try_wait()
            .with_context(|| format!("look at {}", self.name))?
        {
            None => Ok(()),
            Some(status) => Err(anyhow!(
                "{} ended ({status}); the end of {}:\n{}",
                self.name,
                self.log.display(),
                self.log_tail(15)
            )),
        }
    }

    /// The last lines of its stderr.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// Waits until `probe` succeeds, and fails early if the process ends.
    ///
    /// # Errors
    /// After `within`, or as soon as the process has ended.
    pub fn ready<T>(&mut self, within: Duration, mut probe: impl FnMut() -> Result<T>) -> Result<T> {
        let what = format!("{} to be ready", self.name);
        let mut ended = None;
        let answer = wait::until(&what, within, || {
            if let Err(error) = self.check_running() {
                ended = Some(error);
                return Ok(None);
            }
            probe().map(Some)
        });
        match (ended, answer) {
            (Some(error), _) => Err(error),
            (None, Ok(Some(value))) => Ok(value),
            (None, Ok(None)) => bail!("{what}: no answer"),
            (None, Err(error)) => Err(error.context(format!("end of its log:\n{}", self.log_tail(15)))),
        }
    }

    /// Kills the process and its group with SIGKILL and waits for it.
    pub fn kill(&mut self) {
        self.signal("KILL");
        // Nothing can be done about a child that cannot be waited for; the warden still knows it.
        if self.child.wait().is_ok() {
            drop(tell_warden(&format!("- {}", self.child.id())));
        }
    }

    /// Asks the process to end with SIGTERM and waits for it.
    ///
    /// # Errors
    /// If it has not ended after `within`; it is killed then.
    pub fn terminate(&mut self, within: Duration) -> Result<std::process::ExitStatus> {
        self.signal("TERM");
        let what = format!("{} to end after SIGTERM", self.name);
        let status = wait::until(&what, within, || self.child.try_wait()?.context("still running"));
        self.kill();
        status
    }

    /// Sends a signal, named as `kill` names it, to its group (std can only send SIGKILL to one process).
    pub fn signal(&self, signal: &str) {
        let line = format!("kill -s {signal} -- -{}", self.child.id());
        drop(Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
        }
    }
}
