//! API objects to checked input, or what is wrong with them: the only place that knows `truce_api`'s specs.
//!
//! Invariant: total. What the API server refuses today it may have let through yesterday (an older CRD, validation
//! ratcheting), so every rule is checked again, and whatever is wrong ends as a `Problem` that names the field and what
//! to write. Deliberately absent: what needs a second object to judge (`rule/`).

pub mod drain;
pub mod hostname;
pub mod member;
pub mod zone;

use std::fmt::Display;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector as ApiSelector, ObjectMeta};
use truce_api::Reason;

use crate::reason::Problem;
use crate::time::Wall;
use crate::value::ids::ClusterName;
use crate::world::hostnames::{LabelOperator, LabelRequirement, LabelSelector};

/// `Problem.message` holds at most this many characters.
const MESSAGE_MAX: usize = 1024;

/// What is wrong with one object, found on the way.
#[derive(Default)]
struct Findings(Vec<Problem>);

impl Findings {
    /// One more: which field, and what to write.
    fn add(&mut self, reason: Reason, field: &str, text: impl Display) {
        let message: String = format!("{field}: {text}").chars().take(MESSAGE_MAX).collect();
        self.0.push(Problem::new(reason, message));
    }

    /// One more that makes the spec unusable.
    fn invalid(&mut self, field: &str, text: impl Display) {
        self.add(Reason::Invalid, field, text);
    }

    /// The value, or one more.
    fn take<T, E: Display>(&mut self, field: &str, read: Result<T, E>) -> Option<T> {
        read.map_err(|error| self.invalid(field, error)).ok()
    }

    /// A whole number inside a range, or one more.
    fn within<T: TryFrom<i32>>(&mut self, field: &str, value: i32, range: std::ops::RangeInclusive<i32>) -> Option<T> {
        let fits = range.contains(&value).then(|| T::try_from(value).ok()).flatten();
        if fits.is_none() {
            let (from, to) = range.into_inner();
            self.invalid(field, format!("{value} is out of range; write {from} to {to}"));
        }
        fits
    }

    /// A duration of at least `least` and at most a day, or one more.
    fn duration(&mut self, field: &str, text: &str, least: Duration) -> Option<Duration> {
        let day = Duration::from_secs(24 * 3600);
        let read = truce_api::parse_duration(text).filter(|read| (least..=day).contains(read));
        if read.is_none() {
            let least = least.as_secs();
            let write = format!("write {least}s to 24h in h, m, s and ms, such as 30s, 1m or 1h30m");
            self.invalid(field, format!("{text:?} is not a duration that can be used; {write}"));
        }
        read
    }

    /// Nothing found: the value; else what was found.
    fn conclude<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}

/// Since when an object exists; an object that nobody stored counts as the youngest.
fn created(meta: &ObjectMeta) -> Wall {
    meta.creation_timestamp.as_ref().map_or(Wall::MAX, |time| time.0)
}

fn has_finalizer(meta: &ObjectMeta) -> bool {
    meta.finalizers.iter().flatten().any(|own| own == truce_api::FINALIZER)
}

fn annotation<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    let value = meta.annotations.as_ref()?.get(key)?.trim();
    (!value.is_empty()).then_some(value)
}

fn confirm(meta: &ObjectMeta) -> Option<String> {
    annotation(meta, truce_api::CONFIRM).map(str::to_owned)
}

/// A text that is no cluster's name abandons nothing.
fn abandon(meta: &ObjectMeta) -> Option<ClusterName> {
    ClusterName::parse(annotation(meta, truce_api::ABANDON)?).ok()
}

fn paused(meta: &ObjectMeta) -> bool {
    annotation(meta, truce_api::PAUSED) == Some("true")
}

/// A label selector; an empty one selects everything, as everywhere in Kubernetes.
fn selector(field: &str, api: &ApiSelector, findings: &mut Findings) -> LabelSelector {
    let expressions = api.match_expressions.iter().flatten();
    let requirements = expressions.filter_map(|expression| {
        let values = expression.values.clone().unwrap_or_default();
        let operator = match (expression.operator.as_str(), values.is_empty()) {
            ("In", false) => LabelOperator::In(values),
            ("NotIn", false) => LabelOperator::NotIn(values),
            ("Exists", true) => LabelOperator::Exists,
            ("DoesNotExist", true) => LabelOperator::DoesNotExist,
            (operator, _) => {
                let write = "write operator In or NotIn with values, or Exists or DoesNotExist without";
                findings.invalid(
                    &format!("{field}.matchExpressions"),
                    format!("{operator:?} of {:?} cannot be used; {write}", expression.key),
                );
                return None;
            }
        };
        Some(LabelRequirement {
            key: expression.key.clone(),
            operator,
        })
    });
    LabelSelector {
        match_expressions: requirements.collect(),
        match_labels: api.match_labels.clone().unwrap_or_default(),
    }
}
