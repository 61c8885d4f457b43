//! Time as the engine sees it: two clocks handed in, and the table of timings of DESIGN.md, section 6.
//!
//! Invariant: every wait is on the monotonic clock; wall time is only for what is shown or outlives a restart.

use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Wall-clock time.
pub type Wall = jiff::Timestamp;

/// Monotonic time: milliseconds since an arbitrary start of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mono(pub u64);

impl Add<Duration> for Mono {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Mono {
    type Output = Duration;

    /// The time since `earlier`; zero if that is later.
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// This moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// For waits.
    pub mono: Mono,
    /// For what is shown or outlives a restart.
    pub wall: Wall,
}

impl Now {
    /// When a wall-clock moment comes, on the monotonic clock: now if it has passed.
    pub fn mono_at(self, wall: Wall) -> Mono {
        let ahead = wall.as_millisecond().saturating_sub(self.wall.as_millisecond());
        self.mono + Duration::from_millis(u64::try_from(ahead).unwrap_or(0))
    }

    /// The wall-clock time of a monotonic moment (past or future).
    pub fn wall_at(self, mono: Mono) -> Wall {
        let (mono, now) = (i128::from(mono.0), i128::from(self.mono.0));
        let millis = i128::from(self.wall.as_millisecond()) + (mono - now);
        i64::try_from(millis)
            .ok()
            .and_then(|m| Wall::from_millisecond(m).ok())
            .unwrap_or(self.wall)
    }
}

/// How long things take before they are believed or done (DESIGN.md, section 6). Tests and the demo shorten them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// A cluster's first address must hold this long.
    pub settle: Duration,
    /// An address of another kind must hold this long before it replaces one.
    pub kind_change_settle: Duration,
    /// Between the two complete reads that an absence needs.
    pub absence_reread: Duration,
    /// After those, how long an address may be gone before it is withdrawn.
    pub absence_grace: Duration,
    /// A member's intervals after which a DNSEndpoint that was not observed, or a record that differs, is reported.
    pub adoption_intervals: u32,
    /// When a pending adoption names its likely causes.
    pub adoption_causes: Duration,
    /// Added to twice the longest TTL before `Drained`.
    pub drain_grace: Duration,
    /// The window over which the longest TTL counts.
    pub ttl_memory: Duration,
    /// After how long a member that is not fresh is reported.
    pub member_fresh: Duration,
    /// A change that is not INSYNC for this long turns Programmed False.
    pub insync_patience: Duration,
    /// Between two looks at a pending change.
    pub insync_poll: Duration,
    /// The window of the guard on derived withdrawals.
    pub guard_window: Duration,
    /// Between two looks at records whose writer is a member while something is awaited of it.
    pub member_poll: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            settle: Duration::from_secs(5),
            kind_change_settle: Duration::from_secs(30),
            absence_reread: Duration::from_secs(60),
            absence_grace: Duration::from_secs(600),
            adoption_intervals: 3,
            adoption_causes: Duration::from_secs(600),
            drain_grace: Duration::from_secs(300),
            ttl_memory: Duration::from_secs(3600),
            member_fresh: Duration::from_secs(300),
            insync_patience: Duration::from_secs(60),
            insync_poll: Duration::from_millis(500),
            guard_window: Duration::from_secs(600),
            member_poll: Duration::from_secs(2),
        }
    }
}
