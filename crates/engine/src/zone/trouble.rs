//! What goes wrong with a zone's calls, when each is tried again, and what is said about it.
//!
//! Invariant: a passing failure is said only when it lasts (docs/cases.md T29, T30: no condition flips for a success on
//! retry); a call that is denied stops its own kind only. Deliberately absent: refused units (`bisect.rs`).

use std::collections::BTreeMap;

use crate::event::{Class, Failure};
use crate::pace::backoff;
use crate::reason::Problem;
use crate::time::Mono;
use truce_api::Reason;

/// Failures in a row before a passing one is said.
const SAID_AFTER: u32 = 5;
/// Longest text of Route 53 that is repeated.
const MAX_TEXT: usize = 700;

/// Kinds of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// GetCallerIdentity and GetHostedZone.
    Verify,
    /// ListResourceRecordSets.
    Read,
    /// ChangeResourceRecordSets.
    Submit,
    /// GetChange.
    Check,
}

impl Call {
    /// The IAM actions that it needs.
    fn actions(self) -> &'static str {
        match self {
            Self::Verify => "route53:GetHostedZone and sts:GetCallerIdentity",
            Self::Read => "route53:ListResourceRecordSets",
            Self::Submit => "route53:ChangeResourceRecordSets",
            Self::Check => "route53:GetChange",
        }
    }
}

#[derive(Debug, Clone)]
struct Trouble {
    streak: u32,
    until: Mono,
    problem: Option<Problem>,
}

/// The troubles of one zone.
#[derive(Debug, Clone)]
pub struct Troubles {
    /// The zone as messages name it.
    zone: String,
    calls: BTreeMap<Call, Trouble>,
    throttled: Option<Trouble>,
}

impl Troubles {
    /// None yet. `zone` is how messages name the zone.
    pub fn new(zone: String) -> Self {
        Self {
            zone,
            calls: BTreeMap::new(),
            throttled: None,
        }
    }

    /// When this kind of call may go.
    pub fn ready(&self, call: Call, now: Mono) -> Result<(), Mono> {
        let own = self.calls.get(&call).map(|trouble| trouble.until);
        let all = self.throttled.as_ref().map(|trouble| trouble.until);
        match own.max(all) {
            Some(until) if until > now => Err(until),
            _ => Ok(()),
        }
    }

    /// A call succeeded.
    pub fn ok(&mut self, call: Call) {
        self.calls.remove(&call);
        self.throttled = None;
    }

    /// A call failed; until when its kind waits.
    pub fn failed(&mut self, call: Call, failure: &Failure, now: Mono) -> Mono {
        let slot = if failure.class == Class::Throttled {
            &self.throttled
        } else {
            &self.calls.get(&call).cloned()
        };
        let streak = slot.as_ref().map_or(0, |trouble| trouble.streak) + 1;
        // What somebody has to repair is looked at every minute, not ever more rarely.
        let step = if matches!(failure.class, Class::Denied | Class::Permanent) {
            1
        } else {
            streak
        };
        let until = now + backoff::wait(failure.class, step, &self.zone);
        let trouble = Trouble {
            streak,
            until,
            problem: self.problem_of(call, failure, streak),
        };
        if failure.class == Class::Throttled {
            self.throttled = Some(trouble);
        } else {
            self.calls.insert(call, trouble);
        }
        until
    }

    /// A call succeeded, but what it told is wrong; it is asked again in a minute.
    pub fn wrong(&mut self, call: Call, problem: Problem, now: Mono) {
        let trouble = Trouble {
            streak: 1,
            until: now + backoff::wait(Class::Permanent, 1, &self.zone),
            problem: Some(problem),
        };
        self.calls.insert(call, trouble);
    }

    /// What is wrong with one kind of call.
    pub fn problem(&self, call: Call) -> Option<&Problem> {
        self.calls.get(&call)?.problem.as_ref()
    }

    /// Whether and how Route 53 slows the hub down.
    pub fn throttled(&self) -> Option<&Problem> {
        self.throttled.as_ref()?.problem.as_ref()
    }

    fn problem_of(&self, call: Call, failure: &Failure, streak: u32) -> Option<Problem> {
        let zone = &self.zone;
        let text = shortened(&failure.message);
        let lasting = streak >= SAID_AFTER;
        match failure.class {
            Class::Retry | Class::Conflict => lasting.then(|| {
                let message = format!("{zone}: Route 53 does not answer ({text}); what is published stays");
                Problem::new(Reason::ZoneUnreachable, message)
            }),
            Class::Throttled => lasting.then(|| {
                let message = format!(
                    "{zone}: Route 53 throttles the account ({text}); changes are late. Lower what else calls it, or \
                     limits.requestsPerSecond and limits.changesPerSecond"
                );
                Problem::new(Reason::Throttled, message)
            }),
            Class::Denied => {
                let message = format!("{zone}: allow {} to the hub ({text})", call.actions());
                Some(Problem::new(Reason::AccessDenied, message))
            }
            Class::Permanent if no_zone(failure) => {
                let message = format!("{zone} does not exist in the account ({text}); correct hostedZoneID");
                Some(Problem::new(Reason::HostedZoneNotFound, message))
            }
            Class::Permanent => {
                let message = format!("{zone}: {} fails ({}: {text})", call.actions(), failure.code);
                Some(Problem::new(Reason::ZoneUnreachable, message))
            }
        }
    }
}

/// Whether the hosted zone is not there (docs/route53.md 1.1).
pub fn no_zone(failure: &Failure) -> bool {
    failure.code == "NoSuchHostedZone"
}

/// A text of Route 53, cut so that a message with it stays within its bound.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: Class, code: &str) -> Failure {
        Failure {
            class,
            code: code.to_owned(),
            message: "words".to_owned(),
            ambiguous: false,
        }
    }

    fn troubles() -> Troubles {
        Troubles::new("hosted zone Z1 (example.com)".to_owned())
    }

    #[test]
    fn a_denied_call_stops_its_own_kind_and_says_what_to_allow() {
        let mut all = troubles();
        all.failed(Call::Check, &failure(Class::Denied, "AccessDenied"), Mono(0));
        assert!(all.ready(Call::Check, Mono(59_999)).is_err());
        assert_eq!(all.ready(Call::Submit, Mono(0)), Ok(()));
        all.ok(Call::Submit);
        let problem = all.problem(Call::Check).unwrap();
        assert_eq!(problem.reason, Reason::AccessDenied);
        assert!(problem.message.contains("route53:GetChange"), "{}", problem.message);
    }

    #[test]
    fn throttling_stops_all_kinds_and_is_said_when_it_lasts() {
        let mut all = troubles();
        for n in 1..=5 {
            assert_eq!(all.throttled(), None, "after {n}");
            let until = all.failed(Call::Read, &failure(Class::Throttled, "Throttling"), Mono(0));
            assert!(until >= Mono(1000));
            assert_eq!(all.ready(Call::Submit, Mono(0)), Err(until));
        }
        assert_eq!(all.throttled().unwrap().reason, Reason::Throttled);
        all.ok(Call::Submit);
        assert_eq!((all.throttled(), all.ready(Call::Read, Mono(0))), (None, Ok(())));
    }

    #[test]
    fn a_missing_zone_has_its_own_reason() {
        let mut all = troubles();
        all.failed(Call::Verify, &failure(Class::Permanent, "NoSuchHostedZone"), Mono(0));
        assert_eq!(all.problem(Call::Verify).unwrap().reason, Reason::HostedZoneNotFound);
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert_eq!(shortened(&"ü".repeat(800)).chars().count(), MAX_TEXT + 3);
    }
}
