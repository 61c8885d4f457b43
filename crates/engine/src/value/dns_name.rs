//! Host names in one spelling, and names proven to lie inside a zone.
//!
//! Invariant: lower case, no trailing dot, `*` unescaped and only as the whole leftmost label (RFC 4592), labels of
//! 1 to 63 octets, at most 253 octets in all (RFC 1035, section 2.3.4). Order is that of Route 53's lists: labels from
//! the right, each followed by a dot, bytewise. Deliberately absent: IDNA; users write punycode.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

/// Why a text is not a host name; the message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing between two dots, or nothing at all.
    #[error("{0:?} has an empty label; write labels of 1 to 63 characters separated by single dots")]
    EmptyLabel(String),
    /// RFC 1035 allows 63 octets.
    #[error("the label {0:?} has more than 63 characters; shorten it")]
    LabelTooLong(String),
    /// RFC 1035 allows 253 visible octets.
    #[error("the name {0:?} has more than 253 characters; shorten it")]
    NameTooLong(String),
    /// Letters, digits, `-` and `_` only.
    #[error("{0:?} contains {1:?}; write letters, digits, '-' and '_' only, '*' as the whole leftmost label")]
    Character(String, char),
}

/// A host name.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct DnsName(Arc<str>);

impl DnsName {
    /// Reads a name as people write it: any case, with or without the trailing dot.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
        for (at, label) in name.split('.').enumerate() {
            if label.is_empty() {
                return Err(NameError::EmptyLabel(text.to_owned()));
            }
            if label.len() > 63 {
                return Err(NameError::LabelTooLong(label.to_owned()));
            }
            if at == 0 && label == "*" && name.len() > 1 {
                continue;
            }
            let bad = |c: &char| !(c.is_ascii_alphanumeric() || *c == '-' || *c == '_');
            if let Some(c) = label.chars().find(bad) {
                return Err(NameError::Character(text.to_owned(), c));
            }
        }
        if name.len() > 253 {
            return Err(NameError::NameTooLong(text.to_owned()));
        }
        Ok(Self(name.as_ref().into()))
    }

    /// Takes a name as Route 53 lists it (lower case, trailing dot, `\052` for `*`). Anything it may list is taken:
    /// escapes other than `\052` stay as they are, since such a name can only be someone else's.
    pub fn from_route53(text: &str) -> Self {
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.bytes().all(|byte| !byte.is_ascii_uppercase() && byte != b'\\') {
            return Self(name.into());
        }
        Self(name.to_ascii_lowercase().replace("\\052", "*").into())
    }

    /// The name without trailing dot.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The labels from the left.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }

    /// The leftmost label.
    pub fn first_label(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }

    /// All but the leftmost label; `None` for a name of one label.
    pub fn parent(&self) -> Option<DnsName> {
        self.0.split_once('.').map(|(_, rest)| Self(rest.into()))
    }

    /// Whether the leftmost label is `*`.
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with("*.")
    }

    /// Whether this is `zone` or lies below it.
    pub fn is_within(&self, zone: &DnsName) -> bool {
        self.0
            .strip_suffix(zone.as_str())
            .is_some_and(|front| front.is_empty() || front.ends_with('.'))
    }

    /// `label.self`, checked like any name.
    pub fn child(&self, label: &str) -> Result<DnsName, NameError> {
        Self::parse(&format!("{label}.{}", self.0))
    }
}

/// Order of `ListResourceRecordSets`: "com.example.www." compared bytewise, so `-` sorts before the dot
/// (Route 53 API reference, ListResourceRecordSets, "Sort order").
impl Ord for DnsName {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, two) = (self.0.as_bytes(), other.0.as_bytes());
        let common = common_end(one, two);
        let (one_left, two_left) = (one.len() - common, two.len() - common);
        match (one_left, two_left) {
            (0, 0) => return Ordering::Equal,
            // A name that ends where the other goes on with another label comes first.
            (0, _) if two[two_left - 1] == b'.' => return Ordering::Less,
            (_, 0) if one[one_left - 1] == b'.' => return Ordering::Greater,
            _ => {}
        }
        let fronts = front(one, one_left).iter().zip(front(two, two_left));
        if let Some((one, two)) = fronts.into_iter().find(|(one, two)| one != two) {
            return one.cmp(two);
        }
        // The labels that differ end at the first dot of what is common.
        let (one, two) = (label(one, one_left), label(two, two_left));
        let both = one.len().min(two.len());
        let end = |label: &[u8]| label.get(both).copied().unwrap_or(b'.');
        one[..both].cmp(&two[..both]).then_with(|| end(one).cmp(&end(two)))
    }
}

/// How many bytes at the end are the same, eight at a time as long as that goes: names of one zone end alike.
fn common_end(one: &[u8], two: &[u8]) -> usize {
    let (eights, others) = (one.as_rchunks::<8>().1, two.as_rchunks::<8>().1);
    let eights = eights.iter().rev().zip(others.iter().rev());
    let common = 8 * eights.take_while(|(a, b)| a == b).count();
    let rest = one[..one.len() - common].iter().rev();
    let others = two[..two.len() - common].iter().rev();
    common + rest.zip(others).take_while(|(a, b)| a == b).count()
}

/// What stands before position `at` in its label.
fn front(name: &[u8], at: usize) -> &[u8] {
    let start = name[..at]
        .iter()
        .rposition(|byte| *byte == b'.')
        .map_or(0, |dot| dot + 1);
    &name[start..at]
}

/// The label that position `at` is in (or ends), without the dot that ends it.
fn label(name: &[u8], at: usize) -> &[u8] {
    let is_dot = |byte: &u8| *byte == b'.';
    let end = name[at..].iter().position(is_dot).map_or(name.len(), |dot| at + dot);
    let start = name[..at].iter().rposition(is_dot).map_or(0, |dot| dot + 1);
    &name[start..end]
}

impl PartialOrd for DnsName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for DnsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DnsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DnsName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self::from_route53(&text))
    }
}

/// A name proven to lie inside a hosted zone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordName(DnsName);

impl RecordName {
    /// The proof: `name` is `zone` or below it.
    pub fn within(name: DnsName, zone: &DnsName) -> Option<Self> {
        name.is_within(zone).then_some(Self(name))
    }

    /// A name that a list of a zone contained, as Route 53 spelled it; being listed is the proof.
    pub fn listed(text: &str) -> Self {
        Self(DnsName::from_route53(text))
    }

    /// `label.self`: what lies below a name inside a zone lies inside that zone.
    pub fn child(&self, label: &str) -> Result<Self, NameError> {
        self.0.child(label).map(Self)
    }

    /// The name itself.
    pub fn name(&self) -> &DnsName {
        &self.0
    }

    /// The name without trailing dot.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DnsName {
        DnsName::parse(text).unwrap()
    }

    #[test]
    fn any_case_and_a_trailing_dot_are_one_name() {
        assert_eq!(name("App.Example.COM."), name("app.example.com"));
        assert_eq!(DnsName::from_route53("\\052.example.com."), name("*.example.com"));
    }

    #[test]
    fn the_wildcard_is_a_whole_leftmost_label() {
        assert!(name("*.example.com").is_wildcard());
        for bad in ["a.*.example.com", "a*.example.com", "*", ""] {
            assert!(DnsName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_are_those_of_rfc_1035() {
        let label = "a".repeat(63);
        assert!(DnsName::parse(&format!("{label}.com")).is_ok());
        assert!(matches!(
            DnsName::parse(&format!("a{label}.com")),
            Err(NameError::LabelTooLong(_))
        ));
        let long = [label.as_str(); 4].join(".");
        assert!(matches!(DnsName::parse(&long), Err(NameError::NameTooLong(_))));
    }

    #[test]
    fn order_is_that_of_route_53_lists() {
        let mut names = [
            "a.b.example.com",
            "b.example.com",
            "b-c.example.com",
            "a-b.example.com",
            "example.com",
        ]
        .map(name);
        names.sort();
        let sorted = [
            "example.com",
            "a-b.example.com",
            "b-c.example.com",
            "b.example.com",
            "a.b.example.com",
        ];
        assert_eq!(names, sorted.map(name));
    }

    #[test]
    fn order_is_that_of_the_reversed_names_as_text() {
        let reversed = |name: &DnsName| {
            name.labels()
                .rev()
                .fold(String::new(), |text, label| text + label + ".")
        };
        let labels = ["a", "b", "a-b", "b-c", "a0", "_x", "*", "aa", "ab"];
        let mut names = vec![name("com")];
        for first in labels {
            names.push(name(&format!("{first}.com")));
            names.extend(labels[..6].iter().map(|second| name(&format!("{first}.{second}.com"))));
        }
        for (one, two) in names.iter().flat_map(|one| names.iter().map(move |two| (one, two))) {
            assert_eq!(one.cmp(two), reversed(one).cmp(&reversed(two)), "{one} {two}");
        }
    }

    #[test]
    fn inside_a_zone_is_by_whole_labels() {
        let zone = name("example.com");
        assert!(RecordName::within(name("example.com"), &zone).is_some());
        assert!(RecordName::within(name("a.example.com"), &zone).is_some());
        assert!(RecordName::within(name("an-example.com"), &zone).is_none());
    }
}
