//! Policy documents: identity policies, session policies, trust policies.
//!
//! Invariant: a document that was read has nothing in it that the evaluation does not know: an unknown element,
//! operator or variable is an error that names it, never a condition that quietly never matches. Deliberately absent:
//! policy variables, operators for numbers, dates, binary values and addresses.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::condition::Conditions;

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Document {
    /// `2012-10-17`, or `2008-10-17` as before variables.
    #[serde(default = "newest")]
    pub version: Version,
    /// A name, without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Statements.
    pub statement: Many<Statement>,
}

/// Versions of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Version {
    /// Before variables.
    #[serde(rename = "2008-10-17")]
    V2008,
    /// The present one.
    #[serde(rename = "2012-10-17")]
    V2012,
}

fn newest() -> Version {
    Version::V2012
}

/// What a statement that matches does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Effect {
    /// Allows, unless another denies.
    Allow,
    /// Denies.
    Deny,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Statement {
    /// A name, without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// Effect.
    pub effect: Effect,
    /// Whom a trust policy means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principals>,
    /// Actions, with wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Many<Pattern>>,
    /// All actions but these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_action: Option<Many<Pattern>>,
    /// ARNs, with wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Many<Pattern>>,
    /// All resources but these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_resource: Option<Many<Pattern>>,
    /// Conditions, all of which must hold.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub condition: Conditions,
}

/// `Principal` of a trust policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Principals {
    /// `"*"`.
    Anybody(String),
    /// By kind: `AWS`, `Federated`, `Service`.
    ByKind(BTreeMap<PrincipalKind, Many<String>>),
}

/// Kinds of principals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum PrincipalKind {
    /// Accounts, users, roles, sessions.
    #[serde(rename = "AWS")]
    Aws,
    /// Identity providers.
    Federated,
    /// AWS services; none calls here.
    Service,
}

impl<'de> Deserialize<'de> for Principals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Principals;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"*\" or a map of AWS, Federated and Service")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Principals, E> {
                match text {
                    "*" => Ok(Principals::Anybody(text.to_owned())),
                    other => Err(E::custom(format!("Principal '{other}'; write \"*\" or {{AWS: ARN}}"))),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Principals, A::Error> {
                Deserialize::deserialize(de::value::MapAccessDeserializer::new(map)).map(Principals::ByKind)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A text with wildcards and without variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern(String);

impl Pattern {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.contains("${") {
            return Err(de::Error::custom(format!(
                "'{text}' has a policy variable, which truce-aws-emulator does not know; write the value itself"
            )));
        }
        Ok(Self(text))
    }
}

/// One, or a list of some.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Many<T>(Vec<T>);

impl<T> Many<T> {
    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = Many<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one or a list of some")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element()? {
                    all.push(one);
                }
                Ok(Many(all))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(|one| Many(vec![one]))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Many<T>, E> {
                T::deserialize(de::value::StrDeserializer::new(text)).map(|one| Many(vec![one]))
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Many<T>, E> {
                self.visit_str(if value { "true" } else { "false" })
            }
        }
        deserializer.deserialize_any(Read(std::marker::PhantomData))
    }
}

impl Document {
    /// Checks what the grammar demands of a policy that stands at an identity (or of a session policy).
    ///
    /// # Errors
    /// What is wrong with which statement.
    pub fn check_identity(&self) -> Result<(), String> {
        for (n, statement) in self.statement.iter().enumerate() {
            if statement.principal.is_some() {
                return Err(format!(
                    "Statement[{n}]: Policy document should not specify a principal."
                ));
            }
            statement.check_actions().map_err(|e| format!("Statement[{n}]: {e}"))?;
            if statement.resource.is_some() == statement.not_resource.is_some() {
                return Err(format!(
                    "Statement[{n}]: Policy statement must contain resources: exactly one of Resource and NotResource."
                ));
            }
        }
        Ok(())
    }

    /// Checks what the grammar demands of a trust policy.
    ///
    /// # Errors
    /// What is wrong with which statement.
    pub fn check_trust(&self) -> Result<(), String> {
        for (n, statement) in self.statement.iter().enumerate() {
            statement.check_actions().map_err(|e| format!("Statement[{n}]: {e}"))?;
            if statement.principal.is_none() {
                return Err(format!("Statement[{n}]: a trust policy must name a Principal."));
            }
            if statement.resource.is_some() || statement.not_resource.is_some() {
                return Err(format!("Statement[{n}]: Has prohibited field Resource"));
            }
        }
        Ok(())
    }
}

impl Statement {
    fn check_actions(&self) -> Result<(), String> {
        let actions = match (&self.action, &self.not_action) {
            (Some(actions), None) | (None, Some(actions)) => actions,
            (Some(_), Some(_)) | (None, None) => {
                return Err("Policy statement must contain actions: exactly one of Action and NotAction.".to_owned());
            }
        };
        match actions.iter().find(|a| a.as_str() != "*" && !a.as_str().contains(':')) {
            Some(action) => Err(format!(
                "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.; got '{}'",
                action.as_str()
            )),
            None => Ok(()),
        }
    }
}
