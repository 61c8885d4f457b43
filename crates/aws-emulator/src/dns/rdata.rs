//! Data of records: from values that `core::values` has checked to what a DNS message carries.
//!
//! Names that answering depends on (CNAME, NS, SOA) are kept as names; every other type is bytes in wire form.

use std::fmt;
use std::net::IpAddr;

use crate::core::names::Name;
use crate::core::record::RecordType;
use crate::core::values;

/// Data of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rdata {
    /// A or AAAA.
    Address(IpAddr),
    /// CNAME.
    Cname(Name),
    /// NS.
    Ns(Name),
    /// SOA.
    Soa(Soa),
    /// TXT, string by string.
    Txt(Vec<Vec<u8>>),
    /// Any other type.
    Other {
        /// Type.
        rtype: RecordType,
        /// In wire form.
        wire: Vec<u8>,
        /// As it is stored.
        value: String,
    },
}

impl Rdata {
    /// The type of the record.
    #[must_use]
    pub fn rtype(&self) -> RecordType {
        match self {
            Self::Address(IpAddr::V4(_)) => RecordType::A,
            Self::Address(IpAddr::V6(_)) => RecordType::Aaaa,
            Self::Cname(_) => RecordType::Cname,
            Self::Ns(_) => RecordType::Ns,
            Self::Soa(_) => RecordType::Soa,
            Self::Txt(_) => RecordType::Txt,
            Self::Other { rtype, .. } => *rtype,
        }
    }
}

impl fmt::Display for Rdata {
    /// As TestDNSAnswer shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(ip) => write!(f, "{ip}"),
            Self::Cname(name) | Self::Ns(name) => write!(f, "{name}"),
            Self::Soa(soa) => {
                write!(f, "{} {}", soa.mname, soa.rname)?;
                soa.numbers.iter().try_for_each(|n| write!(f, " {n}"))
            }
            Self::Txt(strings) => {
                for (nth, string) in strings.iter().enumerate() {
                    f.write_str(if nth > 0 { " \"" } else { "\"" })?;
                    for byte in string {
                        match byte {
                            b'"' | b'\\' => write!(f, "\\{}", *byte as char)?,
                            b' '..=b'~' => write!(f, "{}", *byte as char)?,
                            other => write!(f, "\\{other:03o}")?,
                        }
                    }
                    f.write_str("\"")?;
                }
                Ok(())
            }
            Self::Other { value, .. } => f.write_str(value),
        }
    }
}

/// The fields of an SOA record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Soa {
    /// Primary name server.
    pub mname: Name,
    /// Mailbox.
    pub rname: Name,
    /// Serial, refresh, retry, expire, minimum.
    pub numbers: [u32; 5],
}

/// A stored value as data; `None` cannot happen for what `core::values` has let through.
#[must_use]
pub fn from_value(rtype: RecordType, value: &str) -> Option<Rdata> {
    match rtype {
        RecordType::A | RecordType::Aaaa => value.parse().ok().map(Rdata::Address),
        RecordType::Cname => Name::parse(value).ok().map(Rdata::Cname),
        RecordType::Ns => Name::parse(value).ok().map(Rdata::Ns),
        RecordType::Txt => values::txt_strings(value).ok().map(Rdata::Txt),
        RecordType::Soa => soa(value).map(Rdata::Soa),
        RecordType::Caa
        | RecordType::Ds
        | RecordType::Https
        | RecordType::Mx
        | RecordType::Naptr
        | RecordType::Ptr
        | RecordType::Spf
        | RecordType::Srv
        | RecordType::Sshfp
        | RecordType::Svcb
        | RecordType::Tlsa => values::wire(rtype, value).ok().map(|wire| Rdata::Other {
            rtype,
            wire,
            value: value.to_owned(),
        }),
    }
}

/// The fields of an SOA value.
#[must_use]
pub fn soa(value: &str) -> Option<Soa> {
    let mut fields = value.split_ascii_whitespace();
    let mname = Name::parse(fields.next()?).ok()?;
    let rname = Name::parse(fields.next()?).ok()?;
    let numbers: Vec<u32> = fields.map_while(|f| f.parse().ok()).collect();
    Some(Soa {
        mname,
        rname,
        numbers: numbers.try_into().ok()?,
    })
}
