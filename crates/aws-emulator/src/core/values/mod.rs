//! Values of record sets: what each type accepts, its form in DNS messages, and when two values are the same
//! (route53.md 1.7, E21; 10.4). One room per family of types.
//!
//! Values compare by meaning; TXT, SPF and SOA compare byte for byte, which is the stricter reading of "DELETE must
//! repeat every value".

mod caa;
mod field;
mod hash;
mod host;
mod naptr;
mod service;
mod text;

use std::net::{Ipv4Addr, Ipv6Addr};

use super::record::RecordType;
use super::violation::Violation;

pub use text::txt_strings;

/// The value in the form that duplicates and DELETE compare.
///
/// # Errors
/// What is wrong with it, in Route 53's words.
pub fn canonical(rtype: RecordType, value: &str) -> Result<Vec<u8>, Violation> {
    let wire = wire(rtype, value)?;
    Ok(match rtype {
        RecordType::Soa | RecordType::Spf | RecordType::Txt => value.as_bytes().to_vec(),
        _ => wire,
    })
}

/// The value as the data of a record in a DNS message, names in lower case and not compressed.
///
/// # Errors
/// What is wrong with it, in Route 53's words.
pub fn wire(rtype: RecordType, value: &str) -> Result<Vec<u8>, Violation> {
    match rtype {
        RecordType::A => a(value),
        RecordType::Aaaa => aaaa(value),
        RecordType::Caa => caa::caa(value),
        RecordType::Cname | RecordType::Ns | RecordType::Ptr => host::name(value),
        RecordType::Ds => hash::ds(value),
        RecordType::Https | RecordType::Svcb => service::binding(rtype, value),
        RecordType::Mx => host::mx(value),
        RecordType::Naptr => naptr::naptr(value),
        RecordType::Soa => host::soa(value),
        RecordType::Spf | RecordType::Txt => text::strings(value),
        RecordType::Srv => host::srv(value),
        RecordType::Sshfp => hash::sshfp(value),
        RecordType::Tlsa => hash::tlsa(value),
    }
}

fn a(value: &str) -> Result<Vec<u8>, Violation> {
    value
        .parse::<Ipv4Addr>()
        .map(|ip| ip.octets().to_vec())
        .map_err(|_| fatal("ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)", value))
}

fn aaaa(value: &str) -> Result<Vec<u8>, Violation> {
    value.parse::<Ipv6Addr>().map(|ip| ip.octets().to_vec()).map_err(|_| {
        fatal(
            "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)",
            value,
        )
    })
}

/// What Route 53 says of a value: a code with a sentence, and the value.
fn fatal(what: &str, value: &str) -> Violation {
    Violation::Value(format!("FATAL problem: {what} encountered with '{value}'"))
}
