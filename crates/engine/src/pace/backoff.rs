//! Retry times by class of failure.
//!
//! Invariant: doubling from the class's first wait to its longest, lengthened by up to a quarter that depends on who
//! waits and how often, so that many who failed together do not come back together. There is no randomness in it.

use std::time::Duration;

use crate::event::Class;

/// First and longest wait of a class: what passes is tried again soon, what somebody must repair is asked for slowly.
pub fn bounds(class: Class) -> (Duration, Duration) {
    let (first, longest) = match class {
        Class::Retry | Class::Throttled => (1, 60),
        Class::Conflict => (1, 15 * 60),
        Class::Denied | Class::Permanent => (60, 15 * 60),
    };
    (Duration::from_secs(first), Duration::from_secs(longest))
}

/// How long to wait after the n-th failure in a row (from 1) of the one that `who` names.
pub fn wait(class: Class, failures: u32, who: &str) -> Duration {
    let (first, longest) = bounds(class);
    let doubled = first.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
    let base = doubled.min(longest);
    base + base / 4 * u32::from(spread(who, failures)) / 256
}

/// FNV-1a over the text and the number, folded to a byte.
fn spread(who: &str, failures: u32) -> u8 {
    let bytes = who.bytes().chain(failures.to_le_bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let [a, b, c, d] = hash.to_le_bytes();
    a ^ b ^ c ^ d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_change_waits_1_2_4_up_to_15_minutes() {
        for (failures, seconds) in [(1, 1), (2, 2), (3, 4), (10, 512), (11, 900), (40, 900)] {
            let wait = wait(Class::Conflict, failures, "shop/app").as_secs_f64();
            let seconds = f64::from(seconds);
            assert!((seconds..=seconds * 1.25).contains(&wait), "{failures}: {wait}");
        }
    }

    #[test]
    fn throttling_never_retries_within_a_second() {
        assert!(wait(Class::Throttled, 1, "a") >= Duration::from_secs(1));
        assert!(wait(Class::Throttled, 30, "a") <= Duration::from_secs(75));
    }

    #[test]
    fn those_who_fail_together_come_back_apart() {
        let waits: std::collections::BTreeSet<_> = (0..50)
            .map(|n| wait(Class::Throttled, 3, &format!("zone-{n}")))
            .collect();
        assert!(waits.len() > 25, "{}", waits.len());
    }
}
