//! Free loopback ports.
//!
//! A port is never given out twice by one process, and lies below the ephemeral range, so that no outgoing connection
//! takes it between the look and the use. A stopped kube-apiserver holds its port for some seconds: ports are not
//! reused.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, bail};

const FIRST: u16 = 20_000;
const SPAN: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port on 127.0.0.1 that nobody listens on.
///
/// # Errors
/// If every port of the range is taken.
pub fn free() -> Result<u16> {
    // Processes that run side by side start at different places of the range.
    let offset = u16::try_from(u64::from(std::process::id()) * 97 % u64::from(SPAN))?;
    for _ in 0..SPAN {
        let port = FIRST + (offset + NEXT.fetch_add(1, Ordering::Relaxed) % SPAN) % SPAN;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port on 127.0.0.1 between {FIRST} and {}", FIRST + SPAN)
}
