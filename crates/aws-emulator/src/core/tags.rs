//! Tags of hosted zones and health checks (the API reference of ChangeTagsForResource).
//!
//! Invariant: at most [`MAX_TAGS`] tags on one thing. Deliberately absent: whether the thing exists, which the caller
//! has seen to.

use std::collections::BTreeMap;

use super::error::ApiError;
use super::shape::{not_in_enumeration, too_long};

/// Most tags of one thing, and of one request.
pub const MAX_TAGS: usize = 10;
/// Longest key, in characters.
const MAX_KEY: usize = 128;
/// Longest value, in characters.
const MAX_VALUE: usize = 256;

/// What has tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A health check.
    HealthCheck,
    /// A hosted zone.
    HostedZone,
}

impl Kind {
    /// The kind with this name in the API.
    ///
    /// # Errors
    /// `InvalidInput`.
    pub fn from_api(text: &str) -> Result<Self, ApiError> {
        match text {
            "healthcheck" => Ok(Self::HealthCheck),
            "hostedzone" => Ok(Self::HostedZone),
            other => Err(not_in_enumeration(other, "[healthcheck, hostedzone]")),
        }
    }

    /// The name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HealthCheck => "healthcheck",
            Self::HostedZone => "hostedzone",
        }
    }
}

/// Tags of one thing.
pub type Tagged = BTreeMap<String, String>;

/// All tags.
#[derive(Debug, Default)]
pub struct Tags(BTreeMap<(Kind, String), Tagged>);

impl Tags {
    /// Tags of one thing, in the order of their keys.
    #[must_use]
    pub fn of(&self, kind: Kind, id: &str) -> Option<&Tagged> {
        self.0.get(&(kind, id.to_owned()))
    }

    /// Adds and edits, then removes.
    ///
    /// # Errors
    /// Nothing asked for, too many, too long, or a reserved key; the texts are own words.
    pub fn change(
        &mut self,
        kind: Kind,
        id: &str,
        add: &[(String, String)],
        remove: &[String],
    ) -> Result<(), ApiError> {
        if add.is_empty() && remove.is_empty() {
            return Err(ApiError::invalid_input(
                "At least one of AddTags and RemoveTagKeys must be given.",
            ));
        }
        if add.len() > MAX_TAGS || remove.len() > MAX_TAGS {
            return Err(too_many());
        }
        for (key, value) in add {
            if key.chars().count() > MAX_KEY {
                return Err(too_long(key, MAX_KEY, "TagKey"));
            }
            if value.chars().count() > MAX_VALUE {
                return Err(too_long(value, MAX_VALUE, "TagValue"));
            }
            if key.is_empty() || key.to_ascii_lowercase().starts_with("aws:") {
                return Err(ApiError::invalid_input(format!(
                    "The tag key '{key}' is not allowed: it must not be empty nor start with aws:"
                )));
            }
        }
        let mut tagged = self.of(kind, id).cloned().unwrap_or_default();
        tagged.extend(add.iter().cloned());
        for key in remove {
            tagged.remove(key);
        }
        if tagged.len() > MAX_TAGS {
            return Err(too_many());
        }
        self.0.insert((kind, id.to_owned()), tagged);
        Ok(())
    }

    /// Forgets the tags of something that is gone.
    pub fn forget(&mut self, kind: Kind, id: &str) {
        self.0.remove(&(kind, id.to_owned()));
    }
}

fn too_many() -> ApiError {
    ApiError::invalid_input(format!("A resource must not have more than {MAX_TAGS} tags."))
}
