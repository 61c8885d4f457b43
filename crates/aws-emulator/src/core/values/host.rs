//! Values that are host names, alone or after numbers: CNAME, NS, PTR, MX, SRV, SOA.
//!
//! The texts for a wrong number of fields are Route 53's for MX and SRV (service-discovery-ecs-dns issue 23); those for
//! numbers are own words after them.

use super::fatal;
use super::field::{fields, push_name, push_name_or_root, push_u16};
use crate::core::violation::Violation;

/// CNAME, NS, PTR: one name.
pub(super) fn name(value: &str) -> Result<Vec<u8>, Violation> {
    let mut out = Vec::new();
    push_name(&mut out, value)?;
    Ok(out)
}

/// MX: preference and mail server; `0 .` says that there is none (RFC 7505).
pub(super) fn mx(value: &str) -> Result<Vec<u8>, Violation> {
    let [preference, exchange] = fields("MX", "Two", value)?;
    let mut out = Vec::new();
    push_u16(&mut out, preference).ok_or_else(|| {
        fatal(
            "MXRRDATAIllegalPriority (Priority is not a number from 0 to 65535)",
            value,
        )
    })?;
    push_name_or_root(&mut out, exchange)?;
    Ok(out)
}

/// SRV: priority, weight, port and target; the target `.` says that there is none.
pub(super) fn srv(value: &str) -> Result<Vec<u8>, Violation> {
    let [priority, weight, port, target] = fields("SRV", "Four", value)?;
    let mut out = Vec::new();
    for (what, text) in [("Priority", priority), ("Weight", weight), ("Port", port)] {
        push_u16(&mut out, text).ok_or_else(|| {
            fatal(
                &format!("SRVRRDATAIllegal{what} ({what} is not a number from 0 to 65535)"),
                value,
            )
        })?;
    }
    push_name_or_root(&mut out, target)?;
    Ok(out)
}

/// SOA: two names and five numbers.
pub(super) fn soa(value: &str) -> Result<Vec<u8>, Violation> {
    let illegal = || fatal("SOARRDATAIllegalFormat (Value is not a valid SOA record)", value);
    let all: Vec<&str> = value.split_ascii_whitespace().collect();
    let [mname, rname, numbers @ ..] = all.as_slice() else {
        return Err(illegal());
    };
    let mut out = Vec::new();
    push_name(&mut out, mname)?;
    push_name(&mut out, rname)?;
    if numbers.len() != 5 {
        return Err(illegal());
    }
    for number in numbers {
        let number: u32 = number.parse().map_err(|_| illegal())?;
        out.extend(number.to_be_bytes());
    }
    Ok(out)
}
