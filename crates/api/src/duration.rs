//! Durations as users write them: `30s`, `1m`, `1h30m`.
//!
//! Invariant: takes exactly what the CRDs' rules take. Deliberately absent: fractions, signs and units above hours.

use std::time::Duration;

/// Reads a duration of one or more numbers, each with a unit of `h`, `m`, `s` or `ms`.
///
/// `None` if it is not one; the CRDs refuse such a value already, so that needs no message.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        if !(1..=5).contains(&digits) {
            return None;
        }
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        total += match &rest[..unit] {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number * 60),
            "h" => Duration::from_secs(number * 3600),
            _ => return None,
        };
        rest = &rest[unit..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_schema_takes() {
        assert_eq!(parse_duration("30s"), Some(Duration::from_secs(30)));
        assert_eq!(parse_duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(parse_duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(parse_duration("0s"), Some(Duration::ZERO));
    }

    #[test]
    fn refuses_the_rest() {
        for text in ["", "5", "s", "1.5s", "-1s", "1d", "1 s", "100000s", "1m5"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
