//! CAA: flags, tag and a quoted value (RFC 8659; "CAA record type" of the guide).
//!
//! The texts are own words after those of MX, but for the one about quotation marks, which TXT has too.

use super::fatal;
use super::field::{Field, push_u8, split, wrong_count};
use super::text::{push_string, unquoted};
use crate::core::violation::Violation;

/// Longest tag, in characters (RFC 8659, 4.1).
const MAX_TAG: usize = 255;

/// `0 issue "ca.example.net"`.
pub(super) fn caa(value: &str) -> Result<Vec<u8>, Violation> {
    let fields = split(value).ok_or_else(|| unquoted(value))?;
    let [Field::Bare(flags), Field::Bare(tag), last] = fields.as_slice() else {
        return Err(wrong_count("CAA", "Three", 3, value));
    };
    let Field::Quoted(text) = last else {
        return Err(unquoted(value));
    };
    let mut out = Vec::new();
    push_u8(&mut out, flags)
        .ok_or_else(|| fatal("CAARRDATAIllegalFlags (Flags are not a number from 0 to 255)", value))?;
    if tag.len() > MAX_TAG || !tag.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(fatal(
            "CAARRDATAIllegalTag (Tag is not made of letters and digits)",
            value,
        ));
    }
    push_string(&mut out, tag.to_ascii_lowercase().as_bytes());
    out.extend_from_slice(text);
    Ok(out)
}
