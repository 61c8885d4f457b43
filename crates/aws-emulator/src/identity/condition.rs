//! Conditions of a policy statement (IAM User Guide, "Condition operators", "Set operators").
//!
//! Invariant: a test is total. A key that the request does not have fails a positive test and passes a negated one,
//! `...IfExists` and `ForAllValues:` pass, `ForAnyValue:` fails. Without a set operator, several values of one key
//! match nothing (AWS says to use one).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use super::glob;
use super::policy::{Many, Pattern};

/// What a request says of itself: condition key in lower case -> values.
pub type Context = BTreeMap<String, Vec<String>>;

/// Conditions: operator -> key -> values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Conditions(BTreeMap<Operator, BTreeMap<String, Many<Pattern>>>);

/// How values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Comparison {
    Equals,
    EqualsAnyCase,
    Like,
    ArnLike,
    Bool,
    Null,
}

/// Which of several values have to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Quantifier {
    One,
    All,
    Any,
}

/// An operator with what stands before and behind it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Operator {
    text: String,
    quantifier: Quantifier,
    comparison: Comparison,
    negated: bool,
    if_exists: bool,
}

impl Operator {
    fn parse(text: &str) -> Option<Self> {
        let (quantifier, rest) = match text.split_once(':') {
            Some(("ForAllValues", rest)) => (Quantifier::All, rest),
            Some(("ForAnyValue", rest)) => (Quantifier::Any, rest),
            Some(_) => return None,
            None => (Quantifier::One, text),
        };
        let (name, if_exists) = rest.strip_suffix("IfExists").map_or((rest, false), |name| (name, true));
        let (comparison, negated) = match name {
            "StringEquals" => (Comparison::Equals, false),
            "StringNotEquals" => (Comparison::Equals, true),
            "StringEqualsIgnoreCase" => (Comparison::EqualsAnyCase, false),
            "StringNotEqualsIgnoreCase" => (Comparison::EqualsAnyCase, true),
            "StringLike" => (Comparison::Like, false),
            "StringNotLike" => (Comparison::Like, true),
            // "The ArnEquals and ArnLike condition operators behave identically."
            "ArnEquals" | "ArnLike" => (Comparison::ArnLike, false),
            "ArnNotEquals" | "ArnNotLike" => (Comparison::ArnLike, true),
            "Bool" => (Comparison::Bool, false),
            "Null" if !if_exists && quantifier == Quantifier::One => (Comparison::Null, false),
            _ => return None,
        };
        Some(Self {
            text: text.to_owned(),
            quantifier,
            comparison,
            negated,
            if_exists,
        })
    }

    fn holds(&self, wanted: &Many<Pattern>, values: Option<&Vec<String>>) -> bool {
        if self.comparison == Comparison::Null {
            let absent = values.is_none_or(Vec::is_empty);
            return wanted
                .iter()
                .any(|w| w.as_str() == if absent { "true" } else { "false" });
        }
        let values = match values {
            Some(values) if !values.is_empty() => values.as_slice(),
            Some(_) | None => {
                return match self.quantifier {
                    Quantifier::All => true,
                    Quantifier::Any => self.if_exists,
                    Quantifier::One => self.negated || self.if_exists,
                };
            }
        };
        let matches = |value: &String| {
            let found = wanted.iter().any(|pattern| self.compares(pattern.as_str(), value));
            found != self.negated
        };
        match self.quantifier {
            Quantifier::One => matches!(values, [value] if matches(value)),
            Quantifier::All => values.iter().all(matches),
            Quantifier::Any => values.iter().any(matches),
        }
    }

    fn compares(&self, pattern: &str, value: &str) -> bool {
        match self.comparison {
            Comparison::Equals => pattern == value,
            Comparison::EqualsAnyCase => pattern.eq_ignore_ascii_case(value),
            Comparison::Like => glob::matches(pattern, value),
            Comparison::ArnLike => arn_like(pattern, value),
            Comparison::Bool => pattern.eq_ignore_ascii_case(value),
            Comparison::Null => false,
        }
    }
}

/// "Each of the six colon-delimited components of the ARN is checked separately."
fn arn_like(pattern: &str, value: &str) -> bool {
    let mut patterns = pattern.splitn(6, ':');
    let mut values = value.splitn(6, ':');
    loop {
        match (patterns.next(), values.next()) {
            (None, None) => return true,
            (Some(p), Some(v)) if glob::matches(p, v) => {}
            (Some(_), Some(_)) | (Some(_), None) | (None, Some(_)) => return false,
        }
    }
}

impl<'de> Deserialize<'de> for Operator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "unknown condition operator '{text}'; there are String(Not)Equals, String(Not)EqualsIgnoreCase, \
                 String(Not)Like, Arn(Not)Equals, Arn(Not)Like, Bool, each with IfExists and after ForAllValues: or \
                 ForAnyValue:, and Null"
            ))
        })
    }
}

impl Serialize for Operator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Conditions {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every one holds; keys are compared without regard to case.
    #[must_use]
    pub fn hold(&self, context: &Context) -> bool {
        self.0.iter().all(|(operator, keys)| {
            keys.iter()
                .all(|(key, wanted)| operator.holds(wanted, context.get(&key.to_ascii_lowercase())))
        })
    }
}
