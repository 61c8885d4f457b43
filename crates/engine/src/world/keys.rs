//! The hostnames that have something in common.
//!
//! Nearly always it is one, and there are hundreds of thousands of such things: so one takes no more room than a
//! pointer. Invariant: never empty; `Several` holds two or more.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::value::ids::HostnameKey;

/// One hostname, or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// One.
    One(Arc<HostnameKey>),
    /// Two or more.
    Several(Box<BTreeSet<Arc<HostnameKey>>>),
}

impl Keys {
    /// The hostnames, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &HostnameKey> {
        let (one, several) = match self {
            Self::One(key) => (Some(key), None),
            Self::Several(keys) => (None, Some(keys.iter())),
        };
        one.into_iter().chain(several.into_iter().flatten()).map(AsRef::as_ref)
    }

    /// Adds one.
    pub fn insert(&mut self, key: &Arc<HostnameKey>) {
        match self {
            Self::One(one) if one == key => {}
            Self::One(one) => *self = Self::Several(Box::new(BTreeSet::from([one.clone(), key.clone()]))),
            Self::Several(keys) => drop(keys.insert(key.clone())),
        }
    }

    /// These without one; `None`: nobody is left.
    pub fn without(self, key: &HostnameKey) -> Option<Self> {
        match self {
            Self::One(one) => (*one != *key).then_some(Self::One(one)),
            Self::Several(mut keys) => {
                keys.remove(key);
                match keys.len() {
                    0 | 1 => keys.pop_first().map(Self::One),
                    _ => Some(Self::Several(keys)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostnames_come_and_go() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Arc::new(HostnameKey::new("shop", name)));
        let mut keys = Keys::One(b.clone());
        keys.insert(&b);
        assert_eq!(keys, Keys::One(b.clone()));
        keys.insert(&c);
        keys.insert(&a);
        assert_eq!(keys.iter().collect::<Vec<_>>(), [&*a, &*b, &*c]);
        let keys = keys
            .without(&b)
            .unwrap()
            .without(&HostnameKey::new("shop", "d"))
            .unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), [&*a, &*c]);
        assert_eq!(keys.without(&a).unwrap(), Keys::One(c.clone()));
        assert_eq!(Keys::One(c.clone()).without(&c), None);
    }
}
