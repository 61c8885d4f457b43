//! Values of record sets: what each type accepts and when two values are the same (route53.md 1.7, E21; 10.4).
//!
//! Addresses and names compare by meaning; TXT and SOA compare byte for byte, which is the stricter reading of
//! "DELETE must repeat every value".

use std::net::{Ipv4Addr, Ipv6Addr};

use super::names::Name;
use super::record::RecordType;
use super::violation::Violation;

/// Longest character string inside a TXT value, in octets.
const MAX_STRING: usize = 255;

/// The value in the spelling that duplicates and DELETE compare.
///
/// # Errors
/// What is wrong with it, in Route 53's words.
pub fn canonical(rtype: RecordType, value: &str) -> Result<String, Violation> {
    match rtype {
        RecordType::A => value
            .parse::<Ipv4Addr>()
            .map(|ip| ip.to_string())
            .map_err(|_| fatal("ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)", value)),
        RecordType::Aaaa => value.parse::<Ipv6Addr>().map(|ip| ip.to_string()).map_err(|_| {
            fatal(
                "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)",
                value,
            )
        }),
        RecordType::Cname | RecordType::Ns => host(value),
        RecordType::Soa => soa(value).map(|()| value.to_owned()),
        RecordType::Txt => txt_strings(value).map(|_| value.to_owned()),
    }
}

/// The bytes of each character string of a TXT value.
///
/// # Errors
/// A string that is not in quotes, or is longer than 255 octets.
pub fn txt_strings(value: &str) -> Result<Vec<Vec<u8>>, Violation> {
    let unquoted = || {
        fatal(
            "InvalidCharacterString (Value should be enclosed in quotation marks)",
            value,
        )
    };
    let mut strings = Vec::new();
    let mut rest = value.trim_matches([' ', '\t']).as_bytes();
    if rest.is_empty() {
        return Err(unquoted());
    }
    while !rest.is_empty() {
        let inner = rest.strip_prefix(b"\"").ok_or_else(unquoted)?;
        let (string, after) = quoted(inner).ok_or_else(unquoted)?;
        if string.len() > MAX_STRING {
            return Err(fatal("CharacterStringTooLong (Value is too long)", value));
        }
        strings.push(string);
        rest = after.trim_ascii_start();
    }
    Ok(strings)
}

/// Reads up to the closing quote; `\"`, `\\` and `\ooo` are escapes.
fn quoted(mut input: &[u8]) -> Option<(Vec<u8>, &[u8])> {
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

fn host(value: &str) -> Result<String, Violation> {
    Name::parse(value)
        .map(|name| name.as_str().to_owned())
        .map_err(|error| Violation::Value(error.to_string()))
}

/// Seven fields: two names and five numbers.
fn soa(value: &str) -> Result<(), Violation> {
    let fields: Vec<&str> = value.split_ascii_whitespace().collect();
    let [mname, rname, numbers @ ..] = fields.as_slice() else {
        return Err(illegal_soa(value));
    };
    host(mname)?;
    host(rname)?;
    if numbers.len() == 5 && numbers.iter().all(|n| n.parse::<u32>().is_ok()) {
        Ok(())
    } else {
        Err(illegal_soa(value))
    }
}

fn illegal_soa(value: &str) -> Violation {
    fatal("SOARRDATAIllegalFormat (Value is not a valid SOA record)", value)
}

fn fatal(what: &str, value: &str) -> Violation {
    Violation::Value(format!("FATAL problem: {what} encountered with '{value}'"))
}
