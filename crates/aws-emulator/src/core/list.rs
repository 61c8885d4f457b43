//! ListResourceRecordSets: exact order, pages of 300 at most, a cursor of name, type and identifier (route53.md 4).

use std::sync::Arc;

use super::error::ApiError;
use super::names::Name;
use super::record::{Key, RecordSet, RecordType};
use super::zone::Zone;

/// Most record sets of a page.
pub const MAX_PAGE: usize = 300;

/// Where to start, as the query string has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// Name.
    pub name: Option<String>,
    /// Type.
    pub rtype: Option<String>,
    /// Set identifier.
    pub identifier: Option<String>,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Record sets in list order.
    pub sets: Vec<Arc<RecordSet>>,
    /// Key of the first that did not fit.
    pub next: Option<Key>,
}

/// The page that starts at `start`.
///
/// # Errors
/// `InvalidInput` for a type without a name, an identifier without a type, or a name that is none.
pub fn page(zone: &Zone, start: &Start, max: usize) -> Result<Page, ApiError> {
    let max = max.clamp(1, MAX_PAGE);
    let mut sets = Vec::new();
    let mut next = None;
    let first = start_key(start)?;
    for (key, set) in zone.from_key(&first) {
        if sets.len() == max {
            next = Some(key.clone());
            break;
        }
        sets.push(Arc::clone(set));
    }
    Ok(Page { sets, next })
}

fn start_key(start: &Start) -> Result<Key, ApiError> {
    if start.identifier.is_some() && start.rtype.is_none() {
        return Err(ApiError::invalid_input(
            "The parameter identifier requires the parameter type.",
        ));
    }
    let Some(name) = &start.name else {
        return match start.rtype {
            Some(_) => Err(ApiError::invalid_input(
                "The parameter type requires the parameter name.",
            )),
            None => Ok(Key {
                order: "".into(),
                rtype: RecordType::A,
                set_id: None,
            }),
        };
    };
    let name = Name::parse(name).map_err(|e| ApiError::invalid_input(e.to_string()))?;
    let order = name.order();
    let Some(rtype) = &start.rtype else {
        return Ok(Key {
            order: order.into(),
            rtype: RecordType::A,
            set_id: None,
        });
    };
    // A type that is not kept here still has its place in the order.
    let at_least = RecordType::ALL.into_iter().find(|t| t.as_str() >= rtype.as_str());
    Ok(match at_least {
        Some(found) => Key {
            order: order.into(),
            rtype: found,
            set_id: (found.as_str() == rtype)
                .then_some(start.identifier.as_deref())
                .flatten()
                .map(Into::into),
        },
        None => Key {
            // Sorts after every type of the name and before every name below it.
            order: format!("{order}\u{1}").into(),
            rtype: RecordType::A,
            set_id: None,
        },
    })
}
