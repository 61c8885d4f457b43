//! SVCB and HTTPS: priority, target and parameters (RFC 9460, 2.1 and 7; the guide's formats).
//!
//! Invariant: parameters leave in ascending order of their numbers, each once. The texts are own words after those of
//! MX. Deliberately absent: what is inside `ech`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fatal;
use super::field::{number, push_name_or_root, push_u16};
use super::text::{push_string, quoted};
use crate::core::record::RecordType;
use crate::core::violation::Violation;

/// Names and numbers of the parameters (RFC 9460, 14.3.2).
const KEYS: [(&str, u16); 7] = [
    ("mandatory", 0),
    ("alpn", 1),
    ("no-default-alpn", 2),
    ("port", 3),
    ("ipv4hint", 4),
    ("ech", 5),
    ("ipv6hint", 6),
];
/// The number of `mandatory`.
const MANDATORY: u16 = 0;
/// The number of `alpn`.
const ALPN: u16 = 1;
/// The number of `no-default-alpn`.
const NO_DEFAULT_ALPN: u16 = 2;

/// `1 . alpn="h2,h3" port=8443`; priority 0 is an alias without parameters.
pub(super) fn binding(rtype: RecordType, value: &str) -> Result<Vec<u8>, Violation> {
    let illegal = |what: &str, why: &str| fatal(&format!("{rtype}RRDATAIllegal{what} ({why})"), value);
    let tokens = tokens(value).ok_or_else(|| illegal("Format", "A quotation mark has no partner"))?;
    let [(priority, None), (target, None), rest @ ..] = tokens.as_slice() else {
        return Err(illegal("Format", "Value is not a priority, a target and parameters"));
    };
    let mut out = Vec::new();
    push_u16(&mut out, priority).ok_or_else(|| illegal("Priority", "Priority is not a number from 0 to 65535"))?;
    push_name_or_root(&mut out, target)?;
    if number(priority, 0).is_some() && !rest.is_empty() {
        return Err(illegal("Parameters", "An alias, with priority 0, has no parameters"));
    }
    let mut parameters = BTreeMap::new();
    for (key, text) in rest {
        let number = key_number(key).ok_or_else(|| illegal("Parameters", &format!("'{key}' is not a parameter")))?;
        let text = text.as_deref().unwrap_or_default();
        let data =
            parameter(number, text).ok_or_else(|| illegal("Parameters", &format!("'{key}' has no valid value")))?;
        if parameters.insert(number, data).is_some() {
            return Err(illegal("Parameters", &format!("'{key}' stands twice")));
        }
    }
    if !complete(&parameters) {
        return Err(illegal(
            "Parameters",
            "'mandatory' names others that are there, 'no-default-alpn' needs 'alpn'",
        ));
    }
    for (number, data) in parameters {
        out.extend(number.to_be_bytes());
        out.extend(u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend(data);
    }
    Ok(out)
}

/// A key with the value after its `=`, if it has one.
type Token<'v> = (&'v str, Option<Vec<u8>>);

/// Splits at blanks outside quotation marks, and each part at its first `=`.
fn tokens(value: &str) -> Option<Vec<Token<'_>>> {
    let mut out = Vec::new();
    let mut rest = value.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        let end = rest.find([' ', '\t', '=']).unwrap_or(rest.len());
        let (key, after) = rest.split_at_checked(end)?;
        rest = after;
        let mut text = None;
        if let Some(after) = rest.strip_prefix('=') {
            if let Some(inner) = after.strip_prefix('"') {
                let (string, after) = quoted(inner.as_bytes())?;
                rest = std::str::from_utf8(after).ok()?;
                text = Some(string);
            } else {
                let end = after.find([' ', '\t']).unwrap_or(after.len());
                let (string, after) = after.split_at_checked(end)?;
                rest = after;
                text = Some(string.as_bytes().to_vec());
            }
        }
        out.push((key, text));
        rest = rest.trim_start_matches([' ', '\t']);
    }
    Some(out)
}

fn key_number(key: &str) -> Option<u16> {
    if let Some((_, number)) = KEYS.iter().find(|(name, _)| *name == key) {
        return Some(*number);
    }
    let digits = key.strip_prefix("key")?;
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    // 65535 is reserved (RFC 9460, 14.3.2).
    u16::try_from(number(digits, 65_534)?).ok()
}

/// A parameter's value in wire form (RFC 9460, 7).
fn parameter(key: u16, text: &[u8]) -> Option<Vec<u8>> {
    let utf8 = std::str::from_utf8(text).ok();
    let list = || utf8.filter(|t| !t.is_empty()).map(|t| t.split(','));
    let mut out = Vec::new();
    match key {
        MANDATORY => {
            let mut numbers = list()?.map(key_number).collect::<Option<Vec<_>>>()?;
            let given = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.len() != given {
                return None;
            }
            out.extend(numbers.into_iter().flat_map(u16::to_be_bytes));
        }
        ALPN => {
            for protocol in list()? {
                if protocol.is_empty() || protocol.len() > 255 {
                    return None;
                }
                push_string(&mut out, protocol.as_bytes());
            }
        }
        NO_DEFAULT_ALPN if !text.is_empty() => return None,
        NO_DEFAULT_ALPN => {}
        3 => push_u16(&mut out, utf8?)?,
        4 => {
            for address in list()? {
                out.extend(address.parse::<Ipv4Addr>().ok()?.octets());
            }
        }
        5 if text.is_empty() => return None,
        5 => out = STANDARD.decode(text).ok()?,
        6 => {
            for address in list()? {
                out.extend(address.parse::<Ipv6Addr>().ok()?.octets());
            }
        }
        _ => out.extend_from_slice(text),
    }
    Some(out)
}

/// Whether `mandatory` names only others that are there, and `no-default-alpn` has its `alpn` (RFC 9460, 7.1.1, 8).
fn complete(parameters: &BTreeMap<u16, Vec<u8>>) -> bool {
    let mandatory = parameters.get(&MANDATORY).map_or(&[][..], Vec::as_slice);
    let named = mandatory
        .chunks_exact(2)
        .filter_map(|pair| Some(u16::from_be_bytes([*pair.first()?, *pair.get(1)?])));
    let all_there = { named }.all(|number| number != MANDATORY && parameters.contains_key(&number));
    all_there && (!parameters.contains_key(&NO_DEFAULT_ALPN) || parameters.contains_key(&ALPN))
}
