//! Safe order inside a batch.
//!
//! Invariant: deletes go before creates; a set that refers to another (an alias, or a CNAME) is deleted before it and
//! created after it, since Route 53 looks at a batch change by change and refuses an alias whose target is not there
//! (docs/route53.md 1.3). What belongs to no batch here: the fence, which goes before all of it (`fence.rs`).

use std::collections::BTreeMap;

use crate::effect::Change;
use crate::value::dns_name::DnsName;
use crate::value::record::{RecordData, RecordSet, RecordType};

/// Levels of references that are followed: Route 53 documents three levels of aliases, a CNAME may stand in front.
const LEVELS: usize = 8;

/// The changes in an order that Route 53 accepts: deletes from root to leaves, then creates from leaves to root; among
/// equals by name, so that the same changes give the same batch.
pub fn arrange(changes: &[Change]) -> Vec<Change> {
    let (creates, deletes): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| matches!(change, Change::Create(_)));
    let by_depth = |changes: &[&Change]| {
        let depth = Depths::of(changes);
        let mut sorted: Vec<(usize, Change)> = changes.iter().map(|c| (depth.of_set(c.set()), (*c).clone())).collect();
        sorted.sort();
        sorted.into_iter().map(|(_, change)| change)
    };
    by_depth(&deletes).rev().chain(by_depth(&creates)).collect()
}

/// How many references lie between a set and the last that it leads to, inside one batch.
struct Depths(BTreeMap<(String, RecordType), usize>);

impl Depths {
    fn of(changes: &[&Change]) -> Self {
        let group = |set: &RecordSet| (set.name.as_str().to_owned(), set.record_type);
        let mut depths = Self(changes.iter().map(|c| (group(c.set()), 0)).collect());
        // Each round settles one more level; a loop of references, which Route 53 would refuse, ends with the rounds.
        for _ in 0..LEVELS {
            let mut changed = false;
            for change in changes {
                let depth = depths.of_set(change.set());
                let known = depths.0.entry(group(change.set())).or_default();
                if depth > *known {
                    *known = depth;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        depths
    }

    fn of_set(&self, set: &RecordSet) -> usize {
        let Some(target) = target(set) else {
            return 0;
        };
        let types: &[RecordType] = match set.record_type {
            RecordType::Cname => &[RecordType::Cname, RecordType::A, RecordType::Aaaa],
            ref own => std::slice::from_ref(own),
        };
        let depth = |kind: &RecordType| self.0.get(&(target.to_owned(), *kind));
        types.iter().filter_map(depth).max().map_or(0, |depth| depth + 1)
    }
}

/// The name that a set refers to, in our spelling.
fn target(set: &RecordSet) -> Option<&str> {
    match &set.data {
        RecordData::Alias { target, .. } => Some(DnsName::as_str(target)),
        RecordData::Values { values, .. } if set.record_type == RecordType::Cname => {
            values.first().map(|value| value.strip_suffix('.').unwrap_or(value))
        }
        RecordData::Values { .. } | RecordData::Opaque => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::dns_name::RecordName;
    use crate::value::ids::HostedZoneId;
    use crate::value::owned::Owned;
    use crate::value::record::Routing;

    fn set(name: &str, record_type: RecordType, data: RecordData) -> RecordSet {
        RecordSet {
            name: RecordName::listed(name),
            record_type,
            routing: Routing::Simple,
            data,
            health_check: None,
        }
    }

    fn a(name: &str) -> RecordSet {
        set(name, RecordType::A, RecordData::values(60, ["203.0.113.1"]))
    }

    fn cname(name: &str, target: &str) -> RecordSet {
        set(name, RecordType::Cname, RecordData::values(60, [target]))
    }

    fn alias(name: &str, target: &str) -> RecordSet {
        let data = RecordData::Alias {
            zone: HostedZoneId::parse("Z1").unwrap(),
            target: DnsName::parse(target).unwrap(),
            evaluate_target_health: true,
        };
        set(name, RecordType::A, data)
    }

    fn delete(set: &RecordSet) -> Change {
        Change::Delete(Owned::confirmed(set, "hash", "hash").unwrap())
    }

    #[test]
    fn targets_are_created_before_aliases_and_deleted_after_them() {
        let root = alias("app.example.com", "_truce-primary.app.example.com");
        let middle = alias("_truce-primary.app.example.com", "_truce-primary-x.app.example.com");
        let leaf = a("_truce-primary-x.app.example.com");
        let mut changes: Vec<Change> = [&root, &middle, &leaf].map(|s| Change::Create(s.clone())).to_vec();
        changes.extend([&leaf, &root, &middle].map(delete));
        let expected = [
            delete(&root),
            delete(&middle),
            delete(&leaf),
            Change::Create(leaf.clone()),
            Change::Create(middle.clone()),
            Change::Create(root.clone()),
        ];
        assert_eq!(arrange(&changes), expected);
        changes.reverse();
        assert_eq!(arrange(&changes), expected, "the order given has no meaning");
    }

    #[test]
    fn a_cname_goes_before_its_target_too() {
        let root = cname("app.example.com", "_truce-ip-east.app.example.com.");
        let leaf = a("_truce-ip-east.app.example.com");
        assert_eq!(arrange(&[delete(&leaf), delete(&root)]), [delete(&root), delete(&leaf)]);
    }

    #[test]
    fn a_loop_of_cnames_ends() {
        let (x, y) = (
            cname("x.example.com", "y.example.com"),
            cname("y.example.com", "x.example.com"),
        );
        assert_eq!(arrange(&[Change::Create(x), Change::Create(y)]).len(), 2);
    }
}
