//! The one merge of conditions.
//!
//! Invariant: a transition time moves only when the status of the condition does; nothing else makes a condition.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use truce_api::Reason;

use crate::reason::Problem;
use crate::time::Wall;

/// Longest message of a condition that we write, in bytes (the API server allows 32,768).
const LONGEST: usize = 1024;

/// What is said of an object that has not been read since the start.
pub const FIRST_READ: &str = "being read for the first time";

/// True, False or Unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the three values of Kubernetes conditions")]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

impl ConditionStatus {
    /// As in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

/// A condition as a plan states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// Its type.
    pub type_: &'static str,
    /// Its status.
    pub status: ConditionStatus,
    /// Why.
    pub reason: Reason,
    /// In words.
    pub message: String,
}

impl Stated {
    /// A condition of this type.
    pub fn new(type_: &'static str, status: ConditionStatus, reason: Reason, message: impl Into<String>) -> Self {
        Self {
            type_,
            status,
            reason,
            message: message.into(),
        }
    }

    /// The condition that tells of a problem.
    pub fn problem(type_: &'static str, status: ConditionStatus, problem: &Problem) -> Self {
        Self::new(type_, status, problem.reason, problem.message.as_str())
    }
}

/// The conditions to write: those stated, with the transition times of `old` where the status is the same.
pub fn merge(old: &[Condition], stated: Vec<Stated>, generation: i64, now: Wall) -> Vec<Condition> {
    stated
        .into_iter()
        .map(
            |Stated {
                 type_,
                 status,
                 reason,
                 mut message,
             }| {
                // The default in the CRD carries no time that anything happened at.
                let is_same = |c: &&Condition| {
                    c.type_ == type_ && c.status == status.as_str() && c.last_transition_time.0 > Wall::UNIX_EPOCH
                };
                let before = old.iter().find(is_same);
                truncate(&mut message, LONGEST);
                Condition {
                    type_: type_.to_owned(),
                    status: status.as_str().to_owned(),
                    reason: reason.as_str().to_owned(),
                    message,
                    observed_generation: Some(generation),
                    last_transition_time: before.map_or(Time(now), |c| c.last_transition_time.clone()),
                }
            },
        )
        .collect()
}

/// Cuts a text to at most `longest` bytes at a character, marking the cut.
pub fn truncate(text: &mut String, longest: usize) {
    if text.len() > longest {
        let cut = (0..=longest.saturating_sub(3))
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(cut);
        text.push_str("...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(status: ConditionStatus, message: &str) -> Vec<Stated> {
        vec![Stated {
            type_: "Ready",
            status,
            reason: Reason::Serving,
            message: message.to_owned(),
        }]
    }

    #[test]
    fn the_transition_time_moves_with_the_status_only() {
        let at = |s| Wall::from_second(s).unwrap();
        let first = merge(&[], stated(ConditionStatus::False, "a"), 1, at(10));
        let second = merge(&first, stated(ConditionStatus::False, "b"), 2, at(20));
        assert_eq!(second[0].last_transition_time, Time(at(10)));
        assert_eq!(
            (second[0].message.as_str(), second[0].observed_generation),
            ("b", Some(2))
        );
        let third = merge(&second, stated(ConditionStatus::True, "b"), 2, at(30));
        assert_eq!(third[0].last_transition_time, Time(at(30)));
    }

    #[test]
    fn the_default_of_the_schema_is_no_transition() {
        let at = |s| Wall::from_second(s).unwrap();
        let default = merge(&[], stated(ConditionStatus::Unknown, "Pending"), 1, Wall::UNIX_EPOCH);
        let written = merge(&default, stated(ConditionStatus::Unknown, "a"), 1, at(10));
        assert_eq!(written[0].last_transition_time, Time(at(10)));
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let mut text = "é".repeat(600);
        truncate(&mut text, 1024);
        assert!(text.len() <= 1024 && text.ends_with("..."));
    }
}
