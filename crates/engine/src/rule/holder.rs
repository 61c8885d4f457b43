//! Who holds a name that several hostnames want.
//!
//! Invariant: of all that want a name in a zone, the one that holds it in the zone already has it, then the older
//! (creationTimestamp, then namespace and name); whatever the order in which they came. Only hostnames that may have
//! their names (`claim.rs`) or hold them already are entered, so that one that is refused stands in nobody's way.
//! Deliberately absent: how the zone shows who holds a name, which the caller reads there.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use truce_api::Reason;

use super::names::beside_wildcard;
use crate::reason::Problem;
use crate::time::Wall;
use crate::value::dns_name::RecordName;
use crate::value::ids::HostnameKey;
use crate::world::keys::Keys;

/// The names of one zone with all who want each; changed hostname by hostname.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reservations {
    wanted: BTreeMap<ByText, Keys>,
    /// The names that several want.
    contested: BTreeSet<RecordName>,
    hostnames: BTreeMap<HostnameKey, Wishes>,
}

/// What one hostname wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wishes {
    /// Since when it exists.
    pub created: Wall,
    /// Its names, each with whether it holds it in the zone.
    pub names: BTreeMap<RecordName, bool>,
}

/// A name in the order of its text, which is faster to compare than Route 53's.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ByText(RecordName);

impl Borrow<str> for ByText {
    fn borrow(&self) -> &str {
        self.0.as_str()
    }
}

impl Ord for ByText {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.as_str().cmp(other.0.as_str())
    }
}

impl PartialOrd for ByText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Reservations {
    /// Replaces what a hostname wants; `None` when it wants nothing any more. Returns the others whose standing that
    /// may have changed.
    pub fn replace(&mut self, key: &HostnameKey, wishes: Option<Wishes>) -> BTreeSet<HostnameKey> {
        if self.hostnames.get(key) == wishes.as_ref() {
            return BTreeSet::new();
        }
        let before = self.hostnames.remove(key);
        let mut touched = BTreeSet::new();
        for name in before.iter().flat_map(|wishes| wishes.names.keys()) {
            self.leave(name, key, &mut touched);
        }
        let shared = Arc::new(key.clone());
        for name in wishes.iter().flat_map(|wishes| wishes.names.keys()) {
            self.enter(name, &shared, &mut touched);
        }
        if let Some(wishes) = wishes {
            self.hostnames.insert(key.clone(), wishes);
        }
        touched.remove(key);
        touched
    }

    /// What a hostname wants.
    pub fn of(&self, key: &HostnameKey) -> Option<&Wishes> {
        self.hostnames.get(key)
    }

    /// Who has a name; `None` if nobody wants it.
    pub fn holder(&self, name: &RecordName) -> Option<&HostnameKey> {
        self.wanted.get(name.as_str())?.iter().min_by_key(|key| {
            let wishes = self.hostnames.get(*key);
            let held = wishes.and_then(|wishes| wishes.names.get(name)).copied();
            (held != Some(true), wishes.map(|wishes| wishes.created), *key)
        })
    }

    /// The names that a hostname wants and another has, each with who has it; empty: it has all its names.
    pub fn lost(&self, key: &HostnameKey) -> Vec<(&RecordName, &HostnameKey)> {
        let names = self
            .hostnames
            .get(key)
            .into_iter()
            .flat_map(|wishes| wishes.names.keys());
        let other = |name| Some((name, self.holder(name).filter(|holder| *holder != key)?));
        names
            .filter(|name| self.contested.contains(*name))
            .filter_map(other)
            .collect()
    }

    /// All that want a name.
    pub fn wanting(&self, name: &RecordName) -> Vec<&HostnameKey> {
        self.wanted
            .get(name.as_str())
            .into_iter()
            .flat_map(Keys::iter)
            .collect()
    }

    /// Whether the hostname is known here.
    pub fn contains(&self, key: &HostnameKey) -> bool {
        self.hostnames.contains_key(key)
    }

    fn enter(&mut self, name: &RecordName, key: &Arc<HostnameKey>, touched: &mut BTreeSet<HostnameKey>) {
        let Some(wanted) = self.wanted.get_mut(name.as_str()) else {
            self.wanted.insert(ByText(name.clone()), Keys::One(key.clone()));
            return;
        };
        touched.extend(wanted.iter().cloned());
        wanted.insert(key);
        self.contested.insert(name.clone());
    }

    fn leave(&mut self, name: &RecordName, key: &HostnameKey, touched: &mut BTreeSet<HostnameKey>) {
        let left = self.wanted.remove(name.as_str()).and_then(|keys| keys.without(key));
        if !matches!(left, Some(Keys::Several(_))) {
            self.contested.remove(name);
        }
        if let Some(left) = left {
            touched.extend(left.iter().cloned());
            self.wanted.insert(ByText(name.clone()), left);
        }
    }
}

/// What is said of a name that another hostname has. `shared` is the own shared name, `holders` that of the holder.
pub fn taken(name: &RecordName, holder: &HostnameKey, shared: &RecordName, holders: Option<&RecordName>) -> Problem {
    let twins = |wildcard: &RecordName, other: &RecordName| beside_wildcard(wildcard).as_ref() == Some(other);
    if holders.is_some_and(|holders| twins(shared, holders) || twins(holders, shared)) {
        let text = "their cluster names would be the same; write the first label otherwise, such as anyone";
        return Problem::new(
            Reason::NameAmbiguous,
            format!("{shared} does not go beside the name of GlobalHostname {holder}: {text}"),
        );
    }
    let what = if name == shared {
        format!("{name} belongs to GlobalHostname {holder}")
    } else {
        format!("{name}, which {shared} needs, belongs to GlobalHostname {holder}")
    };
    let write = "choose another hostname or clusterHostname, or delete the other one";
    Problem::new(Reason::NameTaken, format!("{what}; {write}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> HostnameKey {
        HostnameKey::new("shop", name)
    }

    fn name(text: &str) -> RecordName {
        RecordName::listed(text)
    }

    fn wishes(created: i64, names: &[(&str, bool)]) -> Option<Wishes> {
        Some(Wishes {
            created: Wall::from_second(created).unwrap(),
            names: names.iter().map(|(text, held)| (name(text), *held)).collect(),
        })
    }

    #[test]
    fn the_older_has_the_name_and_the_one_that_holds_it_before_that() {
        let mut all = Reservations::default();
        all.replace(&key("b"), wishes(2, &[("x.example.com", false)]));
        assert_eq!(all.holder(&name("x.example.com")), Some(&key("b")));
        let touched = all.replace(&key("a"), wishes(1, &[("x.example.com", false)]));
        assert_eq!(touched, BTreeSet::from([key("b")]));
        assert_eq!(all.holder(&name("x.example.com")), Some(&key("a")));
        assert_eq!(all.lost(&key("b")), [(&name("x.example.com"), &key("a"))]);
        let touched = all.replace(&key("b"), wishes(2, &[("x.example.com", true)]));
        assert_eq!(touched, BTreeSet::from([key("a")]));
        assert_eq!(all.holder(&name("x.example.com")), Some(&key("b")));
        // Of one age: by namespace and name.
        all.replace(&key("b"), wishes(1, &[("x.example.com", false)]));
        assert_eq!(all.holder(&name("x.example.com")), Some(&key("a")));
    }

    #[test]
    fn a_name_that_is_given_up_goes_to_the_next() {
        let mut all = Reservations::default();
        all.replace(
            &key("a"),
            wishes(1, &[("x.example.com", true), ("y.example.com", true)]),
        );
        all.replace(&key("b"), wishes(2, &[("x.example.com", false)]));
        all.replace(&key("c"), wishes(3, &[("x.example.com", false)]));
        let touched = all.replace(&key("a"), wishes(1, &[("y.example.com", true)]));
        assert_eq!(touched, BTreeSet::from([key("b"), key("c")]));
        assert_eq!(all.holder(&name("x.example.com")), Some(&key("b")));
        for gone in ["a", "b", "c"] {
            all.replace(&key(gone), None);
        }
        assert_eq!(all, Reservations::default());
    }

    #[test]
    fn the_same_again_touches_nobody() {
        let mut all = Reservations::default();
        all.replace(&key("a"), wishes(1, &[("x.example.com", true)]));
        all.replace(&key("b"), wishes(2, &[("x.example.com", false)]));
        assert!(all.replace(&key("a"), wishes(1, &[("x.example.com", true)])).is_empty());
    }

    #[test]
    fn any_beside_a_wildcard_is_ambiguous_and_everything_else_taken() {
        let (wildcard, any) = (name("*.example.com"), name("any.example.com"));
        let problem = taken(&any, &key("w"), &any, Some(&wildcard));
        assert_eq!(problem.reason, Reason::NameAmbiguous);
        assert_eq!(
            taken(&any, &key("a"), &wildcard, Some(&any)).reason,
            Reason::NameAmbiguous
        );
        let app = name("app.example.com");
        let problem = taken(&app, &key("a"), &app, Some(&app));
        assert_eq!(problem.reason, Reason::NameTaken);
        assert!(
            problem
                .message
                .starts_with("app.example.com belongs to GlobalHostname shop/a")
        );
    }
}
