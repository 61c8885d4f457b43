//! When 192.0.2.1 may stand, and when the claim may.
//!
//! Invariant: never beside or after a live set. Where a wildcard answers for the name today, neither comes before the
//! first live cluster, since any record at or below the name would switch the wildcard off for it (RFC 4592, section
//! 2.2.1 and 3.3.1).

use super::shared::SharedInput;
use crate::value::address::PLACEHOLDER;
use crate::value::owned::is_placeholder;
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};

/// The placeholder of a shared name, if it may stand beside `live`, all that is planned.
pub fn set(input: &SharedInput<'_>, live: &[RecordSet]) -> Option<RecordSet> {
    let ever_live = input.ever_live || input.published.iter().any(|set| !is_placeholder(set));
    let may = input.spec.placeholder && !ever_live && live.is_empty() && !input.wildcard_answers;
    may.then(|| RecordSet {
        name: input.shared.name().clone(),
        record_type: RecordType::A,
        routing: Routing::Simple,
        data: RecordData::values(input.spec.ttl, [PLACEHOLDER.to_string()]),
        health_check: None,
    })
}

/// Whether the claim shall stand, `live` being all live sets that are planned. A claim that stands is not withdrawn.
pub fn claim_may_stand(input: &SharedInput<'_>, live: &[RecordSet]) -> bool {
    input.claimed || !input.wildcard_answers || !live.is_empty()
}
