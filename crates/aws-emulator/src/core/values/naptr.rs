//! NAPTR: order, preference, flags, service, regular expression and replacement (RFC 3403; the guide's NAPTR format).
//!
//! That a regular expression and a replacement exclude each other is worded as Route 53 does (external-dns issue 3979);
//! the other texts are own words after those of MX.

use super::fatal;
use super::field::{Field, push_name_or_root, push_u16, split, wrong_count};
use super::text::{MAX_STRING, push_string, unquoted};
use crate::core::violation::Violation;

/// `100 50 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .`
pub(super) fn naptr(value: &str) -> Result<Vec<u8>, Violation> {
    let fields = split(value).ok_or_else(|| unquoted(value))?;
    let [
        Field::Bare(order),
        Field::Bare(preference),
        flags,
        service,
        regexp,
        Field::Bare(replacement),
    ] = fields.as_slice()
    else {
        return Err(wrong_count("NAPTR", "Six", 6, value));
    };
    let mut out = Vec::new();
    for (what, text) in [("Order", order), ("Preference", preference)] {
        push_u16(&mut out, text).ok_or_else(|| {
            fatal(
                &format!("NAPTRRRDATAIllegal{what} ({what} is not a number from 0 to 65535)"),
                value,
            )
        })?;
    }
    for field in [flags, service, regexp] {
        let Field::Quoted(text) = field else {
            return Err(unquoted(value));
        };
        if text.len() > MAX_STRING {
            return Err(fatal("CharacterStringTooLong (Value is too long)", value));
        }
        push_string(&mut out, text);
    }
    if *replacement != "." && *regexp != Field::Quoted(Vec::new()) {
        return Err(Violation::Value(format!(
            "WARNING problem: NAPTRRRDATARegexpAndReplacementError (NAPTR record can have only one field in regexp and replacement) encountered with '{value}'"
        )));
    }
    push_name_or_root(&mut out, replacement)?;
    Ok(out)
}
