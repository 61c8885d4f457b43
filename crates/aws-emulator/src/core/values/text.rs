//! Character strings: TXT, SPF, and the quoted fields of CAA and NAPTR (RFC 1035, 3.3; DomainNameFormat of the guide).
//!
//! Invariant: a string has at most 255 octets. Escapes are Route 53's: `\"`, `\\` and three octal digits.

use super::fatal;
use crate::core::violation::Violation;

/// Longest character string, in octets.
pub(super) const MAX_STRING: usize = 255;

/// The bytes of each character string of a TXT or SPF value.
///
/// # Errors
/// A string that is not in quotes, or is longer than 255 octets.
pub fn txt_strings(value: &str) -> Result<Vec<Vec<u8>>, Violation> {
    let mut strings = Vec::new();
    let mut rest = value.trim_matches([' ', '\t']).as_bytes();
    if rest.is_empty() {
        return Err(unquoted(value));
    }
    while !rest.is_empty() {
        let inner = rest.strip_prefix(b"\"").ok_or_else(|| unquoted(value))?;
        let (string, after) = quoted(inner).ok_or_else(|| unquoted(value))?;
        if string.len() > MAX_STRING {
            return Err(fatal("CharacterStringTooLong (Value is too long)", value));
        }
        strings.push(string);
        rest = after.trim_ascii_start();
    }
    Ok(strings)
}

/// The strings of a value in wire form.
pub(super) fn strings(value: &str) -> Result<Vec<u8>, Violation> {
    let mut out = Vec::new();
    for string in txt_strings(value)? {
        push_string(&mut out, &string);
    }
    Ok(out)
}

/// A character string in wire form; the caller has seen to its length.
pub(super) fn push_string(out: &mut Vec<u8>, string: &[u8]) {
    out.push(u8::try_from(string.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(string);
}

/// The error of a value that should be in quotation marks.
pub(super) fn unquoted(value: &str) -> Violation {
    fatal(
        "InvalidCharacterString (Value should be enclosed in quotation marks)",
        value,
    )
}

/// Reads up to the closing quote and gives what follows; `\"`, `\\` and `\ooo` are escapes.
pub(super) fn quoted(mut input: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    loop {
        let (&first, rest) = input.split_first()?;
        input = rest;
        match first {
            b'"' => return Some((out, input)),
            b'\\' => {
                let (byte, rest) = escape(input)?;
                out.push(byte);
                input = rest;
            }
            byte => out.push(byte),
        }
    }
}

fn escape(input: &[u8]) -> Option<(u8, &[u8])> {
    if let Some((digits, rest)) = input.split_at_checked(3)
        && digits.iter().all(|d| (b'0'..=b'7').contains(d))
    {
        let value = digits.iter().fold(0u16, |value, d| value * 8 + u16::from(d - b'0'));
        return Some((u8::try_from(value).ok()?, rest));
    }
    let (&byte, rest) = input.split_first()?;
    Some((byte, rest))
}
