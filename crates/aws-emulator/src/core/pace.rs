//! Token buckets: requests of an account, requests of one action, and single record changes (route53.md 1.2).
//!
//! Invariant: off until a rate is set; time only comes in as `now_ms` and may stand still. A refused request takes no
//! token. Deliberately absent: the rate of record changes, which AWS does not publish; it is a setting.

use std::collections::BTreeMap;

use super::error::{ApiError, Code};

/// Thousandths of a token, so that a refill over milliseconds stays whole.
const SCALE: u64 = 1000;

/// Capacity and refill of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Tokens that a full bucket holds.
    pub burst: u64,
    /// Thousandths of a token that come back each second: 10,000 is ten a second.
    pub milli_per_second: u64,
}

impl Rate {
    /// A bucket of `burst` tokens that gets `per_second` back each second.
    #[must_use]
    pub const fn new(burst: u64, per_second: u64) -> Self {
        Self {
            burst,
            milli_per_second: per_second * SCALE,
        }
    }
}

/// Which limits are in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// All requests of an account.
    pub account: Option<Rate>,
    /// Requests of one action, for actions without an entry in `actions`.
    pub action: Option<Rate>,
    /// Requests of one action by its name.
    pub actions: BTreeMap<String, Rate>,
    /// Single record changes of an account.
    pub changes: Option<Rate>,
}

impl Limits {
    /// What AWS has in force since 2026-07-30; the rate of record changes is not published and stays open.
    #[must_use]
    pub fn aws() -> Self {
        let half = Rate {
            burst: 50,
            milli_per_second: SCALE / 2,
        };
        let actions = [
            ("CreateHealthCheck", half),
            ("DeleteHealthCheck", Rate::new(15, 3)),
            ("CreateHostedZone", Rate::new(40, 2)),
            ("GetHealthCheckStatus", Rate::new(4, 1)),
        ];
        Self {
            account: Some(Rate::new(50, 10)),
            action: Some(Rate::new(50, 10)),
            actions: actions
                .into_iter()
                .map(|(name, rate)| (name.to_owned(), rate))
                .collect(),
            changes: None,
        }
    }
}

/// One bucket: thousandths of a token, and when they were counted.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    milli: u64,
    at_ms: u64,
}

impl Bucket {
    fn refill(&mut self, rate: Rate, now_ms: u64) {
        let passed = now_ms.saturating_sub(self.at_ms);
        let back = passed.saturating_mul(rate.milli_per_second) / SCALE;
        self.milli = self.milli.saturating_add(back).min(rate.burst * SCALE);
        if self.milli == rate.burst * SCALE || rate.milli_per_second == 0 {
            self.at_ms = now_ms;
        } else {
            // Only as far as whole thousandths were counted, so that the rest of the time is not lost.
            self.at_ms += back * SCALE / rate.milli_per_second;
        }
    }
}

/// What a bucket counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Counter {
    Account(String),
    Action(String, String),
    Changes(String),
}

/// All buckets.
#[derive(Debug, Default)]
pub struct Pace {
    /// Which limits are in force; may be set at any time.
    pub limits: Limits,
    buckets: BTreeMap<Counter, Bucket>,
}

impl Pace {
    /// Takes one token of the account and one of the action.
    ///
    /// # Errors
    /// `Throttling` if either bucket is empty.
    pub fn request(&mut self, account: &str, action: &str, now_ms: u64) -> Result<(), ApiError> {
        let by_action = self.limits.actions.get(action).copied().or(self.limits.action);
        let wanted = [
            (Counter::Account(account.to_owned()), self.limits.account),
            (Counter::Action(account.to_owned(), action.to_owned()), by_action),
        ];
        self.take(&wanted, 1, now_ms)
    }

    /// Takes a token for each record change of a batch; a batch over the burst waits for a full bucket.
    ///
    /// # Errors
    /// `Throttling` if there are not enough.
    pub fn changes(&mut self, account: &str, count: usize, now_ms: u64) -> Result<(), ApiError> {
        let Some(rate) = self.limits.changes else {
            return Ok(());
        };
        let count = u64::try_from(count).unwrap_or(u64::MAX).min(rate.burst);
        self.take(&[(Counter::Changes(account.to_owned()), Some(rate))], count, now_ms)
    }

    fn take(&mut self, wanted: &[(Counter, Option<Rate>)], tokens: u64, now_ms: u64) -> Result<(), ApiError> {
        let mut enough = true;
        for (counter, rate) in wanted {
            let Some(rate) = *rate else { continue };
            let bucket = self.buckets.entry(counter.clone()).or_insert(Bucket {
                milli: rate.burst * SCALE,
                at_ms: now_ms,
            });
            bucket.refill(rate, now_ms);
            enough &= bucket.milli >= tokens * SCALE;
        }
        if !enough {
            return Err(ApiError::new(Code::Throttling, "Rate exceeded"));
        }
        for (counter, rate) in wanted {
            if let (Some(bucket), Some(_)) = (self.buckets.get_mut(counter), rate) {
                bucket.milli -= tokens * SCALE;
            }
        }
        Ok(())
    }
}
