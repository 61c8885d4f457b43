//! Whether a member is still the cluster it was.
//!
//! Invariant: a cluster whose kube-system UID changed is not trusted until a person confirms exactly the new one
//! (DESIGN.md, section 6).

use crate::value::short_hash::short_hash;

/// Whether the cluster that answers may be taken for the member: its UID is the known one, or there is none known yet,
/// or `dns.truce.dev/confirm` holds its hash.
pub fn trusted(answers: &str, known: Option<&str>, confirm: Option<&str>) -> bool {
    known.is_none_or(|known| known == answers) || confirm == Some(confirm_hash(answers).as_str())
}

/// What `dns.truce.dev/confirm` must say to agree to a replaced cluster.
pub fn confirm_hash(cluster_uid: &str) -> String {
    short_hash(cluster_uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_uid_needs_its_own_hash_confirmed() {
        assert!(trusted("a", None, None));
        assert!(trusted("a", Some("a"), None));
        assert!(!trusted("b", Some("a"), None));
        assert!(!trusted("b", Some("a"), Some(&confirm_hash("a"))));
        assert!(trusted("b", Some("a"), Some(&confirm_hash("b"))));
    }
}
