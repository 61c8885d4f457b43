//! Record set protections: names and types of a zone that nobody may touch (route53.md 1.8; the API reference of
//! CreateResourceRecordSetProtections).
//!
//! Invariant: a request is done whole or not at all; invalid entries are told before existing ones. Texts are own
//! words, codes are those of the API. Deliberately absent: what a change of a protected set answers (`change`).

use std::collections::BTreeMap;

use super::error::{ApiError, Code, Entry};
use super::names::Name;
use super::record::RecordType;
use super::shape::too_long;

/// Most entries of one request.
pub const MAX_BATCH: usize = 100;
/// Most protections of a zone; the quota is not published.
pub const MAX_PROTECTIONS: usize = 1000;
/// Longest comment, in characters.
const MAX_COMMENT: usize = 256;

/// One entry as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawProtection {
    /// Name.
    pub name: String,
    /// Type.
    pub rtype: String,
    /// Comment.
    pub comment: Option<String>,
}

/// Protections of a zone, by name in list order, then type.
#[derive(Debug, Default)]
pub struct Protections(BTreeMap<(Box<str>, RecordType), Option<String>>);

impl Protections {
    /// The comment of a protection, if there is one for this name (as [`Name::order`]) and type.
    #[must_use]
    pub fn find(&self, order: &str, rtype: RecordType) -> Option<&Option<String>> {
        self.0.get(&(order.into(), rtype))
    }

    /// Whether nothing is protected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Name, type and comment of each, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Name, RecordType, Option<&str>)> {
        self.0
            .iter()
            .map(|((order, rtype), comment)| (Name::from_order(order), *rtype, comment.as_deref()))
    }

    /// CreateResourceRecordSetProtections.
    ///
    /// # Errors
    /// Every entry that cannot be done; `ProtectionAlreadyExists` if all are there already.
    pub fn create(&mut self, zone: &Name, entries: &[RawProtection]) -> Result<(), ApiError> {
        for comment in entries.iter().filter_map(|e| e.comment.as_deref()) {
            if comment.chars().count() > MAX_COMMENT {
                return Err(too_long(comment, MAX_COMMENT, "ResourceDescription"));
            }
        }
        let keys = keys(zone, entries)?;
        let mut there = Vec::new();
        for (key, raw) in keys.iter().zip(entries) {
            if self.0.contains_key(key) {
                there.push(entry(raw, "ProtectionAlreadyExists", "A protection already exists"));
            }
        }
        if !there.is_empty() {
            let code = match there.len() == entries.len() {
                true => Code::ProtectionAlreadyExists,
                false => Code::InvalidResourceRecordSetProtectionBatch,
            };
            return Err(refused(code, there));
        }
        if self.0.len() + keys.len() > MAX_PROTECTIONS {
            return Err(ApiError::new(
                Code::LimitsExceeded,
                format!("Cannot have more than {MAX_PROTECTIONS} protections in a hosted zone."),
            ));
        }
        let comments = entries.iter().map(|e| e.comment.clone());
        self.0.extend(keys.into_iter().zip(comments));
        Ok(())
    }

    /// DeleteResourceRecordSetProtections.
    ///
    /// # Errors
    /// Every entry that cannot be done.
    pub fn delete(&mut self, zone: &Name, entries: &[RawProtection]) -> Result<(), ApiError> {
        let keys = keys(zone, entries)?;
        let mut missing = Vec::new();
        for (key, raw) in keys.iter().zip(entries) {
            if !self.0.contains_key(key) {
                missing.push(entry(raw, "ProtectionNotFound", "No protection exists"));
            }
        }
        if !missing.is_empty() {
            return Err(refused(Code::InvalidResourceRecordSetProtectionBatch, missing));
        }
        for key in keys {
            self.0.remove(&key);
        }
        Ok(())
    }
}

/// What the entries name; each inside the zone, none twice, no more than a request may have.
fn keys(zone: &Name, entries: &[RawProtection]) -> Result<Vec<(Box<str>, RecordType)>, ApiError> {
    if entries.is_empty() || entries.len() > MAX_BATCH {
        return Err(ApiError::invalid_input(format!(
            "Protections must have 1 to {MAX_BATCH} members."
        )));
    }
    let mut keys: Vec<(Box<str>, RecordType)> = Vec::new();
    let mut invalid = Vec::new();
    for raw in entries {
        let name = Name::parse(&raw.name).ok().filter(|name| name.is_within(zone));
        match (name, RecordType::from_api(&raw.rtype)) {
            (Some(name), Some(rtype)) => {
                let key = (name.order().into(), rtype);
                if keys.contains(&key) {
                    invalid.push(entry(
                        raw,
                        "InvalidInput",
                        "The name and type stand twice in the request",
                    ));
                }
                keys.push(key);
            }
            (None, _) => invalid.push(entry(raw, "InvalidInput", "The name is not one of the hosted zone")),
            (_, None) => invalid.push(entry(raw, "InvalidInput", "The type does not exist")),
        }
    }
    match invalid.is_empty() {
        true => Ok(keys),
        false => Err(refused(Code::InvalidResourceRecordSetProtectionBatch, invalid)),
    }
}

fn entry(raw: &RawProtection, code: &'static str, why: &str) -> Entry {
    Entry {
        name: raw.name.clone(),
        rtype: raw.rtype.clone(),
        code,
        message: format!("{why} for [name='{}', type='{}']", raw.name, raw.rtype),
    }
}

fn refused(code: Code, entries: Vec<Entry>) -> ApiError {
    let texts: Vec<&str> = entries.iter().map(|e| e.message.as_str()).collect();
    let mut error = ApiError::new(code, format!("[{}]", texts.join(", ")));
    error.entries = entries;
    error
}
