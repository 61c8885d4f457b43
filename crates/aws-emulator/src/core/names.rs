//! Domain names as Route 53 stores, compares and sorts them.
//!
//! Invariant: a `Name` is lower case, ends in a dot, and writes every byte other than `a-z 0-9 - _` as `\ooo`.
//! Deliberately absent: any knowledge of zones or record types.

use std::fmt;

/// Longest name on the wire, in octets, with the length byte of every label and of the root.
const MAX_WIRE: usize = 255;
/// Longest label, in octets.
const MAX_LABEL: usize = 63;

/// Why a text is not a domain name; the text is what Route 53 says (route53.md 1.7, E21).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing but dots or nothing at all.
    #[error("FATAL problem: DomainNameEmpty (Domain name is empty) encountered with '{0}'")]
    Empty(String),
    /// Two dots in a row, or a leading dot.
    #[error("FATAL problem: DomainLabelEmpty (Domain label is empty) encountered with '{0}'")]
    LabelEmpty(String),
    /// A label of more than 63 octets.
    #[error("FATAL problem: DomainLabelTooLong (Domain label is too long) encountered with '{0}'")]
    LabelTooLong(String),
    /// More than 255 octets in all.
    #[error("FATAL problem: DomainNameTooLong (Domain name is too long) encountered with '{0}'")]
    TooLong(String),
    /// A space, a control or non-ASCII character that is not written as `\ooo`, or a bad escape.
    #[error("FATAL problem: UnsupportedCharacter (Value contains unsupported characters) encountered with '{0}'")]
    UnsupportedCharacter(String),
}

/// A domain name in its one spelling.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Box<str>);

impl Name {
    /// Reads a name in any case, with or without the final dot, with `\ooo` escapes.
    ///
    /// # Errors
    /// What is wrong with it, in Route 53's words.
    pub fn parse(input: &str) -> Result<Self, NameError> {
        if input.is_empty() || input == "." {
            return Err(NameError::Empty(input.to_owned()));
        }
        let mut text = String::with_capacity(input.len() + 1);
        let mut wire = 1;
        for label in split_labels(input)? {
            if label.is_empty() {
                return Err(NameError::LabelEmpty(input.to_owned()));
            }
            if label.len() > MAX_LABEL {
                return Err(NameError::LabelTooLong(input.to_owned()));
            }
            wire += label.len() + 1;
            for byte in label {
                push_escaped(&mut text, byte);
            }
            text.push('.');
        }
        if wire > MAX_WIRE {
            return Err(NameError::TooLong(input.to_owned()));
        }
        Ok(Self(text.into()))
    }

    /// The name as the API returns it: `\052.example.com.`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Labels from the leftmost on, still escaped.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.trim_end_matches('.').split('.')
    }

    /// Labels reversed with a dot after each, `com.example.www.`: sorting it as ASCII gives the order of the list
    /// calls (route53.md 4), and all names below another start with its key.
    #[must_use]
    pub fn order(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for label in self.labels().rev() {
            out.push_str(label);
            out.push('.');
        }
        out
    }

    /// The name that [`Name::order`] was made from.
    #[must_use]
    pub fn from_order(order: &str) -> Self {
        let mut out = String::with_capacity(order.len());
        for label in order.trim_end_matches('.').split('.').rev() {
            out.push_str(label);
            out.push('.');
        }
        Self(out.into())
    }

    /// Whether the name is `zone` or lies below it, label by label.
    #[must_use]
    pub fn is_within(&self, zone: &Self) -> bool {
        self.0
            .strip_suffix(&*zone.0)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// Whether the leftmost label is exactly `*`.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with("\\052.")
    }

    /// The name without its leftmost label; `None` for a top-level name.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_once('.')?;
        (!rest.is_empty()).then(|| Self(rest.into()))
    }

    /// `*.` before this name.
    #[must_use]
    pub fn wildcard_child(&self) -> Self {
        Self(format!("\\052.{}", self.0).into())
    }

    /// Labels as raw bytes, for DNS messages.
    #[must_use]
    pub fn wire_labels(&self) -> Vec<Vec<u8>> {
        // A `Name` was made by `parse`, so splitting it again cannot fail; an empty list is the root.
        split_labels(&self.0).unwrap_or_default()
    }

    /// The name with these labels, as they come in DNS messages.
    ///
    /// # Errors
    /// As [`Name::parse`]; the root has no labels and is empty.
    pub fn from_wire_labels<'a>(labels: impl Iterator<Item = &'a [u8]>) -> Result<Self, NameError> {
        let mut text = String::new();
        for label in labels {
            for byte in label {
                push_escaped(&mut text, byte.to_ascii_lowercase());
            }
            text.push('.');
        }
        Self::parse(&text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn push_escaped(text: &mut String, byte: u8) {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => text.push(byte as char),
        other => {
            text.push('\\');
            for shift in [6, 3, 0] {
                text.push((b'0' + ((other >> shift) & 7)) as char);
            }
        }
    }
}

/// Splits at unescaped dots, decodes `\ooo` and lower-cases; one final dot is dropped.
fn split_labels(input: &str) -> Result<Vec<Vec<u8>>, NameError> {
    let bytes = input.strip_suffix('.').unwrap_or(input).as_bytes();
    let mut labels = vec![Vec::new()];
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        let decoded = match byte {
            b'.' => {
                labels.push(Vec::new());
                continue;
            }
            b'\\' => {
                let octal = bytes.get(at..at + 3).and_then(decode_octal);
                at += 3;
                octal.ok_or_else(|| NameError::UnsupportedCharacter(input.to_owned()))?
            }
            b'!'..=b'~' => byte,
            _ => return Err(NameError::UnsupportedCharacter(input.to_owned())),
        };
        if let Some(label) = labels.last_mut() {
            label.push(decoded.to_ascii_lowercase());
        }
    }
    Ok(labels)
}

fn decode_octal(digits: &[u8]) -> Option<u8> {
    let mut value: u16 = 0;
    for digit in digits {
        match digit {
            b'0'..=b'7' => value = value * 8 + u16::from(digit - b'0'),
            _ => return None,
        }
    }
    u8::try_from(value).ok()
}
