//! Fields of a value: split at blanks, numbers in range, names, hexadecimal digits.
//!
//! Deliberately absent: what the fields mean; the rooms of the types know.

use super::{fatal, text};
use crate::core::names::Name;
use crate::core::violation::Violation;

/// One field: bare, or in quotation marks with its escapes resolved.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Field<'v> {
    /// As it stands.
    Bare(&'v str),
    /// What is between the quotation marks.
    Quoted(Vec<u8>),
}

/// Splits a value at blanks; a quoted field may contain some. `None` if a quotation mark has no partner.
pub(super) fn split(value: &str) -> Option<Vec<Field<'_>>> {
    let mut fields = Vec::new();
    let mut rest = value.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('"') {
            let (string, after) = text::quoted(inner.as_bytes())?;
            fields.push(Field::Quoted(string));
            rest = std::str::from_utf8(after).ok()?;
        } else {
            let end = rest.find([' ', '\t']).unwrap_or(rest.len());
            fields.push(Field::Bare(rest.get(..end)?));
            rest = rest.get(end..)?;
        }
        rest = rest.trim_start_matches([' ', '\t']);
    }
    Some(fields)
}

/// Exactly `N` fields separated by blanks; otherwise the error that Route 53 has for it, such as
/// `MXRRDATANotTwoFields (MX record doesn't have 2 fields)`.
pub(super) fn fields<'v, const N: usize>(rtype: &str, number: &str, value: &'v str) -> Result<[&'v str; N], Violation> {
    let all: Vec<&str> = value.split_ascii_whitespace().collect();
    all.try_into().map_err(|_| wrong_count(rtype, number, N, value))
}

/// The error for a wrong number of fields.
pub(super) fn wrong_count(rtype: &str, number: &str, count: usize, value: &str) -> Violation {
    fatal(
        &format!("{rtype}RRDATANot{number}Fields ({rtype} record doesn't have {count} fields)"),
        value,
    )
}

/// A decimal number of at most `max`.
pub(super) fn number(text: &str, max: u32) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n| digits && *n <= max)
}

/// A decimal number of 16 bits in wire form.
pub(super) fn push_u16(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let number = u16::try_from(number(text, 65_535)?).ok()?;
    out.extend(number.to_be_bytes());
    Some(())
}

/// A decimal number of 8 bits in wire form.
pub(super) fn push_u8(out: &mut Vec<u8>, text: &str) -> Option<()> {
    out.push(u8::try_from(number(text, 255)?).ok()?);
    Some(())
}

/// A host name in wire form.
pub(super) fn push_name(out: &mut Vec<u8>, text: &str) -> Result<(), Violation> {
    let name = Name::parse(text).map_err(|error| Violation::Value(error.to_string()))?;
    for label in name.wire_labels() {
        text::push_string(out, &label);
    }
    out.push(0);
    Ok(())
}

/// A host name, or the root, which MX, SRV, NAPTR, SVCB and HTTPS use to say that there is none.
pub(super) fn push_name_or_root(out: &mut Vec<u8>, text: &str) -> Result<(), Violation> {
    if text == "." {
        out.push(0);
        return Ok(());
    }
    push_name(out, text)
}

/// An even number of hexadecimal digits, blanks between them allowed.
pub(super) fn hex(parts: &[&str]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = parts
        .concat()
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    if digits.is_empty() || !pairs.remainder().is_empty() {
        return None;
    }
    Some(
        pairs
            .filter_map(|pair| Some((pair.first()? << 4) | pair.get(1)?))
            .collect(),
    )
}
