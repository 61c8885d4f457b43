//! The texts of `InvalidInput` (route53.md 1.7, I1 to I5): those of an XML schema's checker, and those of the service.

use super::RawChange;
use crate::core::error::ApiError;

/// Exactly one of these fields was expected.
pub(super) fn expected_one_of(fields: &str, too_many: bool, change: &RawChange) -> ApiError {
    let found = if too_many { "more than one" } else { "none" };
    ApiError::invalid_input(format!(
        "Invalid request: Expected exactly one of [{fields}], but found {found} in {}",
        whereabouts(change)
    ))
}

/// A field that is missing beside others.
pub(super) fn missing(field: &str, change: &RawChange) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid request: Missing field '{field}' in {}",
        whereabouts(change)
    ))
}

fn whereabouts(change: &RawChange) -> String {
    let set = &change.record_set;
    format!(
        "Change with [Action={}, Name={}, Type={}, SetIdentifier={}]",
        change.action,
        set.name,
        set.rtype,
        set.set_identifier.as_deref().unwrap_or("null")
    )
}

/// Something that Route 53 has and the double has not.
pub(super) fn unsupported(what: &str) -> ApiError {
    ApiError::invalid_input(format!("truce-aws-emulator does not implement {what} yet"))
}

/// A value that a closed list has not.
pub(in crate::core) fn not_in_enumeration(value: &str, enumeration: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-enumeration-valid: Value '{value}' is not facet-valid with respect to enumeration '{enumeration}'. It must be a value from the enumeration."
    ))
}

/// An element that lacks a child.
pub(in crate::core) fn incomplete(element: &str, expected: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-complex-type.2.4.b: The content of element '{element}' is not complete. One of '{{\"https://route53.amazonaws.com/doc/2013-04-01/\":{expected}}}' is expected."
    ))
}

/// A text over its length.
pub(in crate::core) fn too_long(value: &str, limit: usize, kind: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-maxLength-valid: Value '{value}' with length = '{}' is not facet-valid with respect to maxLength '{limit}' for type '{kind}'.",
        value.chars().count()
    ))
}

/// A number out of its range.
pub(in crate::core) fn out_of_range(value: i64, low: i64, high: i64, kind: &str) -> ApiError {
    let (facet, bound) = if value < low {
        ("minInclusive", low)
    } else {
        ("maxInclusive", high)
    };
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-{facet}-valid: Value '{value}' is not facet-valid with respect to {facet} '{bound}' for type '{kind}'."
    ))
}

/// An empty text where one is needed.
pub(in crate::core) fn too_short(kind: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-minLength-valid: Value '' with length = '0' is not facet-valid with respect to minLength '1' for type '{kind}'."
    ))
}

/// A text that its pattern does not allow.
pub(in crate::core) fn not_of_pattern(value: &str, pattern: &str, kind: &str) -> ApiError {
    ApiError::invalid_input(format!(
        "Invalid XML ; cvc-pattern-valid: Value '{value}' is not facet-valid with respect to pattern '{pattern}' for type '{kind}'."
    ))
}
