//! Sizes of one request (route53.md 1.2, 10.2): 1,000 elements and 32,000 characters, an UPSERT counting twice.

use super::shape::{Action, Draft, DraftData};
use super::violation::Violation;

/// Most ResourceRecord elements of a request; an alias set counts as one.
pub const MAX_RECORDS: usize = 1000;
/// Most characters of all values of a request.
pub const MAX_CHARACTERS: usize = 32_000;

/// Elements and characters that a change counts.
#[must_use]
pub fn cost(draft: &Draft) -> (usize, usize) {
    let times = match draft.action {
        Action::Upsert => 2,
        Action::Create | Action::Delete => 1,
    };
    let (records, characters) = match &draft.data {
        DraftData::Alias { .. } => (1, 0),
        DraftData::Records { values, .. } => (values.len(), values.iter().map(|v| v.chars().count()).sum()),
    };
    (records * times, characters * times)
}

/// What of the request is over a limit.
#[must_use]
pub fn check(drafts: &[Draft]) -> Vec<Violation> {
    let (records, characters) = drafts
        .iter()
        .map(cost)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mut violations = Vec::new();
    if records > MAX_RECORDS {
        violations.push(Violation::TooManyRecords);
    }
    if characters > MAX_CHARACTERS {
        violations.push(Violation::TooManyCharacters);
    }
    violations
}
