//! Values that end in a digest: DS, SSHFP, TLSA (RFC 4034, RFC 4255, RFC 6698; the guide's formats).
//!
//! Invariant: a digest of a known kind has the length of that kind. The texts are own words after those of MX.

use super::fatal;
use super::field::{fields, hex, push_u8, push_u16, wrong_count};
use crate::core::violation::Violation;

/// DS: key tag, algorithm, digest type, digest.
pub(super) fn ds(value: &str) -> Result<Vec<u8>, Violation> {
    let [tag, algorithm, kind, digest] = fields("DS", "Four", value)?;
    let mut out = Vec::new();
    push_u16(&mut out, tag).ok_or_else(|| out_of_range("DS", "KeyTag", 65_535, value))?;
    push_u8(&mut out, algorithm).ok_or_else(|| out_of_range("DS", "Algorithm", 255, value))?;
    push_u8(&mut out, kind).ok_or_else(|| out_of_range("DS", "DigestType", 255, value))?;
    // SHA-1, SHA-256, GOST R 34.11-94, SHA-384 (RFC 3658, 4509, 5933, 6605).
    let length = match kind {
        "1" => Some(20),
        "2" | "3" => Some(32),
        "4" => Some(48),
        _ => None,
    };
    push_digest(&mut out, "DS", &[digest], length, value)?;
    Ok(out)
}

/// SSHFP: algorithm, type of the fingerprint, fingerprint.
pub(super) fn sshfp(value: &str) -> Result<Vec<u8>, Violation> {
    let [algorithm, kind, digest] = fields("SSHFP", "Three", value)?;
    let mut out = Vec::new();
    push_u8(&mut out, algorithm).ok_or_else(|| out_of_range("SSHFP", "Algorithm", 255, value))?;
    push_u8(&mut out, kind).ok_or_else(|| out_of_range("SSHFP", "Type", 255, value))?;
    // SHA-1 and SHA-256 (RFC 4255, RFC 6594).
    let length = match kind {
        "1" => Some(20),
        "2" => Some(32),
        _ => None,
    };
    push_digest(&mut out, "SSHFP", &[digest], length, value)?;
    Ok(out)
}

/// TLSA: usage, selector, matching type, data.
pub(super) fn tlsa(value: &str) -> Result<Vec<u8>, Violation> {
    let all: Vec<&str> = value.split_ascii_whitespace().collect();
    let [usage, selector, matching, data @ ..] = all.as_slice() else {
        return Err(wrong_count("TLSA", "Four", 4, value));
    };
    if data.is_empty() {
        return Err(wrong_count("TLSA", "Four", 4, value));
    }
    let mut out = Vec::new();
    push_u8(&mut out, usage).ok_or_else(|| out_of_range("TLSA", "CertificateUsage", 255, value))?;
    push_u8(&mut out, selector).ok_or_else(|| out_of_range("TLSA", "Selector", 255, value))?;
    push_u8(&mut out, matching).ok_or_else(|| out_of_range("TLSA", "MatchingType", 255, value))?;
    // The whole thing, SHA-256, SHA-512 (RFC 6698, 2.1.3).
    let length = match *matching {
        "1" => Some(32),
        "2" => Some(64),
        _ => None,
    };
    push_digest(&mut out, "TLSA", data, length, value)?;
    Ok(out)
}

fn push_digest(
    out: &mut Vec<u8>,
    rtype: &str,
    digits: &[&str],
    length: Option<usize>,
    value: &str,
) -> Result<(), Violation> {
    let digest = hex(digits).ok_or_else(|| {
        fatal(
            &format!("{rtype}RRDATAIllegalDigest (Digest is not made of pairs of hexadecimal digits)"),
            value,
        )
    })?;
    if let Some(length) = length
        && digest.len() != length
    {
        return Err(fatal(
            &format!("{rtype}RRDATAIllegalDigestLength (Digest doesn't have {length} octets)"),
            value,
        ));
    }
    out.extend(digest);
    Ok(())
}

fn out_of_range(rtype: &str, what: &str, max: u32, value: &str) -> Violation {
    fatal(
        &format!("{rtype}RRDATAIllegal{what} ({what} is not a number from 0 to {max})"),
        value,
    )
}
