//! Token buckets per AWS account, shared by its zones: requests, record changes, and the audits' share of requests.
//!
//! Invariant: over any window of t seconds at most rate * t + burst requests, the burst being one second's worth; of
//! changes at most rate * t + 2 * burst, unless one unit alone is larger than the burst (a unit is never split): what
//! a large batch takes beyond the bucket is a debt that is paid before the next. Deliberately absent: what AWS itself
//! allows, which is configuration and is learned from throttling: halved at each, regained by a sixteenth every ten
//! seconds (additive increase, multiplicative decrease).

use std::time::Duration;

use crate::time::Mono;

/// Parts of a token; a token refills in whole parts a millisecond at any rate and any step of the reduction.
const TOKEN: i64 = 1000 * STEPS;
/// Steps of the reduction: sixteen is the full rate.
const STEPS: i64 = 16;
/// How long a step takes to come back.
const REGAIN: Duration = Duration::from_secs(10);
/// Throttlings closer than this are one: several zones meet the same empty bucket.
const ONE_EVENT: Duration = Duration::from_secs(1);
/// Seconds of the change rate that may go at once.
const CHANGE_BURST_SECONDS: u32 = 5;
/// The audits' share of the request rate is one in this many (DESIGN.md, section 7).
const AUDIT_SHARE: u32 = 5;

/// What one AWS account may still take.
#[derive(Debug, Clone)]
pub struct Budget {
    requests: Bucket,
    changes: Bucket,
    audits: Bucket,
    steps: i64,
    reduced_at: Option<Mono>,
    regained_at: Mono,
}

impl Budget {
    /// Full buckets of these rates, both a second; a rate of 0 counts as 1.
    pub fn new(requests_per_second: u32, changes_per_second: u32, now: Mono) -> Self {
        Self {
            requests: Bucket::new(requests_per_second, 1, 1, now),
            changes: Bucket::new(changes_per_second, CHANGE_BURST_SECONDS, 1, now),
            audits: Bucket::new(requests_per_second, 1, AUDIT_SHARE, now),
            steps: STEPS,
            reduced_at: None,
            regained_at: now,
        }
    }

    /// Other rates, e.g. when a zone with smaller ones joins the account; the buckets keep at most what they had.
    pub fn set_rates(&mut self, requests_per_second: u32, changes_per_second: u32, now: Mono) {
        self.refill(now);
        self.requests.set_rate(requests_per_second, 1);
        self.changes.set_rate(changes_per_second, CHANGE_BURST_SECONDS);
        self.audits.set_rate(requests_per_second, 1);
    }

    /// Takes this many requests and record changes, or says when to ask again.
    pub fn take(&mut self, now: Mono, requests: u32, changes: u32) -> Result<(), Mono> {
        self.refill(now);
        let when = self
            .requests
            .ready(requests, self.steps)
            .max(self.changes.ready_in_debt(changes, self.steps));
        if when > Duration::ZERO {
            return Err(now + when);
        }
        self.requests.spend(requests);
        self.changes.spend(changes);
        Ok(())
    }

    /// When a request with changes can go, however many they are.
    pub fn ready_for_changes(&mut self, now: Mono) -> Result<(), Mono> {
        self.refill(now);
        let when = self
            .requests
            .ready(1, self.steps)
            .max(self.changes.ready_in_debt(1, self.steps));
        if when > Duration::ZERO { Err(now + when) } else { Ok(()) }
    }

    /// Takes one request out of the audits' share, or says when to ask again.
    pub fn take_audit(&mut self, now: Mono) -> Result<(), Mono> {
        self.refill(now);
        let when = self.audits.ready(1, self.steps).max(self.requests.ready(1, self.steps));
        if when > Duration::ZERO {
            return Err(now + when);
        }
        self.audits.spend(1);
        self.requests.spend(1);
        Ok(())
    }

    /// The most changes that a batch of several units should hold.
    pub fn change_burst(&self) -> usize {
        let burst = self.changes.capacity / TOKEN * self.steps / STEPS;
        usize::try_from(burst).unwrap_or(1).max(1)
    }

    /// Route 53 said to slow down: half the rates from now on.
    pub fn throttled(&mut self, now: Mono) {
        self.refill(now);
        if self.reduced_at.is_some_and(|at| now - at < ONE_EVENT) {
            return;
        }
        self.steps = (self.steps / 2).max(1);
        self.reduced_at = Some(now);
        self.regained_at = now;
        for bucket in [&mut self.requests, &mut self.changes, &mut self.audits] {
            bucket.level = bucket.level.min(0);
        }
    }

    /// Which part of the configured rates is in force, in percent.
    pub fn percent(&self) -> u8 {
        u8::try_from(self.steps * 100 / STEPS).unwrap_or(100)
    }

    fn refill(&mut self, now: Mono) {
        for bucket in [&mut self.requests, &mut self.changes, &mut self.audits] {
            bucket.refill(now, self.steps);
        }
        while self.steps < STEPS && now - self.regained_at >= REGAIN {
            self.steps += 1;
            self.regained_at = self.regained_at + REGAIN;
        }
    }
}

/// One bucket: refilled by `rate / share` tokens a second.
#[derive(Debug, Clone)]
struct Bucket {
    rate: i64,
    share: i64,
    capacity: i64,
    level: i64,
    at: Mono,
}

impl Bucket {
    fn new(rate: u32, burst_seconds: u32, share: u32, now: Mono) -> Self {
        let mut bucket = Self {
            rate: 1,
            share: i64::from(share),
            capacity: 0,
            level: i64::MAX,
            at: now,
        };
        bucket.set_rate(rate, burst_seconds);
        bucket
    }

    fn set_rate(&mut self, rate: u32, burst_seconds: u32) {
        self.rate = i64::from(rate.max(1));
        self.capacity = (self.rate * i64::from(burst_seconds) * TOKEN / self.share).max(TOKEN);
        self.level = self.level.min(self.capacity);
    }

    fn per_share_milli(&self, steps: i64) -> i64 {
        self.rate * steps
    }

    fn refill(&mut self, now: Mono, steps: i64) {
        let passed = i64::try_from((now - self.at).as_millis()).unwrap_or(i64::MAX);
        // Whole milliseconds only, and of a shared bucket only as many as give whole parts.
        let whole = passed - passed % self.share;
        let gain = (whole / self.share).saturating_mul(self.per_share_milli(steps));
        self.level = self.level.saturating_add(gain).min(self.capacity);
        self.at = self.at + Duration::from_millis(u64::try_from(whole).unwrap_or(0));
    }

    /// How long until `tokens` are there; more than the capacity never are, so those wait for a full bucket.
    fn ready(&self, tokens: u32, steps: i64) -> Duration {
        self.until((i64::from(tokens) * TOKEN).min(self.capacity), steps)
    }

    /// How long until there is any token at all, if some are needed.
    fn ready_in_debt(&self, tokens: u32, steps: i64) -> Duration {
        self.until((i64::from(tokens) * TOKEN).min(TOKEN), steps)
    }

    fn until(&self, wanted: i64, steps: i64) -> Duration {
        let missing = wanted - self.level;
        if wanted == 0 || missing <= 0 {
            return Duration::ZERO;
        }
        let rate = self.per_share_milli(steps);
        let millis = (missing + rate - 1) / rate * self.share;
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    fn spend(&mut self, tokens: u32) {
        self.level -= i64::from(tokens) * TOKEN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes whenever it may during `seconds`; the times of what was taken.
    fn drain(budget: &mut Budget, seconds: u64, changes: u32) -> Vec<u64> {
        let (mut now, mut taken) = (Mono(0), Vec::new());
        while now.0 < seconds * 1000 {
            match budget.take(now, 1, changes) {
                Ok(()) => taken.push(now.0),
                Err(when) => {
                    assert!(when > now, "a wait must be in the future");
                    now = when;
                }
            }
        }
        taken
    }

    #[test]
    fn requests_never_exceed_rate_and_burst_over_any_window() {
        let taken = drain(&mut Budget::new(5, 1000, Mono(0)), 60, 0);
        assert_eq!(taken.len(), 5 * 60 + 4);
        for (at, from) in taken.iter().enumerate() {
            for window in [100, 1000, 7000] {
                let inside = taken[at..].iter().take_while(|t| **t < from + window).count() as u64;
                assert!(inside * 1000 <= 5 * window + 5 * 1000, "{inside} in {window} ms");
            }
        }
    }

    #[test]
    fn a_large_batch_is_paid_for_afterwards() {
        let mut budget = Budget::new(5, 100, Mono(0));
        budget.take(Mono(0), 1, 1000).unwrap();
        // 500 were there; the other 500 take five seconds at 100 a second, and one more token 10 ms.
        assert_eq!(budget.take(Mono(0), 1, 1), Err(Mono(5010)));
        // A request that changes nothing does not wait for them.
        assert_eq!(budget.take(Mono(0), 1, 0), Ok(()));
    }

    #[test]
    fn audits_take_at_most_a_fifth() {
        let mut budget = Budget::new(5, 100, Mono(0));
        let (mut now, mut taken) = (Mono(0), 0);
        while now.0 < 100_000 {
            match budget.take_audit(now) {
                Ok(()) => taken += 1,
                Err(when) => now = when,
            }
        }
        assert_eq!(taken, 100);
    }

    #[test]
    fn throttling_halves_and_time_gives_back() {
        let mut budget = Budget::new(16, 100, Mono(0));
        budget.throttled(Mono(0));
        budget.throttled(Mono(500));
        assert_eq!(budget.percent(), 50, "two at once are one");
        budget.throttled(Mono(1500));
        assert_eq!(budget.percent(), 25);
        assert_eq!(budget.change_burst(), 125);
        let _ = budget.take(Mono(1500 + 10_000 * 12), 0, 0);
        assert_eq!(budget.percent(), 100);
    }

    #[test]
    fn other_rates_hold_at_once() {
        let mut budget = Budget::new(50, 100, Mono(0));
        budget.set_rates(1, 1, Mono(0));
        assert_eq!(budget.take(Mono(0), 1, 0), Ok(()));
        assert_eq!(budget.take(Mono(0), 1, 0), Err(Mono(1000)));
    }
}
