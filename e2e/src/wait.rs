//! Waiting for a condition with a deadline.
//!
//! Invariant: the only sleep is the poll interval in here. A probe that fails says why; the last reason is in the
//! error when the deadline passes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How often a condition is looked at.
pub const POLL: Duration = Duration::from_millis(150);

/// Calls `probe` until it succeeds and returns what it returned.
///
/// # Errors
/// After `within` the last failure of the probe, with `what` was waited for.
pub fn until<T>(what: &str, within: Duration, mut probe: impl FnMut() -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + within;
    loop {
        match probe() {
            Ok(value) => return Ok(value),
            Err(last) if Instant::now() >= deadline => {
                return Err(last).with_context(|| format!("waited {within:?} for {what}"));
            }
            Err(_) => std::thread::sleep(POLL),
        }
    }
}

/// Checks that `probe` holds during all of `span`; used for "nothing happens".
///
/// # Errors
/// The first failure of the probe, with `what` should have held.
pub fn holds(what: &str, span: Duration, mut probe: impl FnMut() -> Result<()>) -> Result<()> {
    let end = Instant::now() + span;
    loop {
        probe().with_context(|| format!("during {span:?} this should have held: {what}"))?;
        if Instant::now() >= end {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
}
