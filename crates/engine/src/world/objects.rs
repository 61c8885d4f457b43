//! The objects of one kind in a member.
//!
//! Invariant: no namespace stands there empty.

use std::collections::BTreeMap;

use super::seen::Touched;

/// By namespace and name.
pub(super) type Objects<T> = BTreeMap<String, BTreeMap<String, T>>;

/// Puts an object in its place; whether it is another than before.
pub(super) fn put<T: PartialEq>(objects: &mut Objects<T>, key: &Touched, new: T) -> bool {
    let inside = objects.entry(key.namespace.to_string()).or_default();
    match inside.get_mut(&*key.name) {
        Some(old) if *old == new => false,
        Some(old) => {
            *old = new;
            true
        }
        None => inside.insert(key.name.to_string(), new).is_none(),
    }
}

/// Takes an object away.
pub(super) fn take<T>(objects: &mut Objects<T>, key: &Touched) {
    if let Some(inside) = objects.get_mut(&*key.namespace) {
        inside.remove(&*key.name);
        if inside.is_empty() {
            objects.remove(&*key.namespace);
        }
    }
}
