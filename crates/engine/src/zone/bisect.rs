//! A refused batch: alone with the culprit.
//!
//! Invariant: who is blamed goes on without the others, and the others without them. Route 53 refuses a batch as a
//! whole, but its text usually names the record sets at fault (docs/route53.md 1.1 and 1.7); where it does not, the
//! batch is halved until one unit is left. n units with one culprit take at most 2 log2(n) + 1 requests.

use crate::event::Class;
use crate::reason::Problem;
use crate::time::Mono;
use crate::value::record::RecordData;

use crate::plan::unit::{Unit, UnitKey};

/// A unit that Route 53 refused although it went alone, or that cannot be sent at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What Route 53 said, or which limit is in the way.
    pub problem: Problem,
    /// Its class.
    pub class: Class,
    /// How often in a row.
    pub attempts: u32,
    /// When it is tried again, alone; `None`: when a limit allows it or the unit changes.
    pub next_try: Option<Mono>,
}

/// Who goes on with whom after a batch was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blame {
    /// The only unit of the batch.
    Refused(UnitKey),
    /// Each of these goes as a batch of its own.
    Lots(Vec<Vec<UnitKey>>),
}

/// Decides it for the units of a refused batch (at least one) by the text of the refusal.
pub fn blame(units: &[Unit], message: &str) -> Blame {
    if let [only] = units {
        return Blame::Refused(only.key());
    }
    let (named, others): (Vec<&Unit>, Vec<&Unit>) = units.iter().partition(|unit| names_unit(message, unit));
    if named.is_empty() {
        let (front, back) = units.split_at(units.len().div_ceil(2));
        let keys = |half: &[Unit]| half.iter().map(Unit::key).collect();
        return Blame::Lots(vec![keys(front), keys(back)]);
    }
    let mut lots: Vec<Vec<UnitKey>> = named.into_iter().map(|unit| vec![unit.key()]).collect();
    lots.push(others.into_iter().map(Unit::key).collect());
    lots.retain(|lot| !lot.is_empty());
    Blame::Lots(lots)
}

/// Whether the text names a record of the unit or the target of one of its aliases.
pub fn names_unit(message: &str, unit: &Unit) -> bool {
    unit.changes.iter().any(|change| {
        let set = change.set();
        let target = match &set.data {
            RecordData::Alias { target, .. } => Some(target.as_str()),
            RecordData::Values { .. } | RecordData::Opaque => None,
        };
        names(message, set.name.as_str()) || target.is_some_and(|target| names(message, target))
    })
}

/// Whether a text of Route 53 holds this name, whole; `*` may be written `\052`.
pub fn names(message: &str, name: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '\\');
    let found = |name: &str| {
        message.match_indices(name).any(|(at, _)| {
            let before = message.get(..at).and_then(|text| text.chars().next_back());
            let mut after = message.get(at + name.len()..).unwrap_or_default().chars();
            let ends = match after.next() {
                Some('.') => after.next().is_none_or(|c| !inside(c)),
                Some(c) => !inside(c),
                None => true,
            };
            ends && before.is_none_or(|c| !inside(c) && c != '.')
        })
    };
    found(name) || (name.starts_with('*') && found(&name.replacen('*', "\\052", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Change;
    use crate::plan::unit::{Part, Priority};
    use crate::value::dns_name::RecordName;
    use crate::value::ids::HostnameKey;
    use crate::value::record::{RecordSet, RecordType, Routing};

    fn unit(host: &str) -> Unit {
        let set = RecordSet {
            name: RecordName::listed(&format!("{host}.example.com")),
            record_type: RecordType::A,
            routing: Routing::Simple,
            data: RecordData::values(60, ["203.0.113.1"]),
            health_check: None,
        };
        Unit {
            hostname: HostnameKey::new("shop", host),
            part: Part::Shared,
            priority: Priority::Onboarding,
            changes: vec![Change::Create(set)],
        }
    }

    #[test]
    fn a_name_is_found_whole_only() {
        // Texts E1, E10 and E14 of docs/route53.md 1.7.
        let e1 = "[Tried to create resource record set [name='app.example.com.', type='A'] but it already exists]";
        assert!(names(e1, "app.example.com"));
        assert!(!names(e1, "example.com"), "part of another name");
        assert!(!names(e1, "app.example"), "goes on");
        let e10 = "[RRSet of type CNAME with DNS name x.app.example.com. is not permitted as it conflicts with other \
                   records with the same DNS name in zone example.com.]";
        assert!(names(e10, "x.app.example.com") && !names(e10, "app.example.com"));
        assert!(names(
            "Tried to delete [name='\\052.example.com.', type='A']",
            "*.example.com"
        ));
        assert!(names(
            "alias that targets a.example.com, type A in zone Z1",
            "a.example.com"
        ));
    }

    #[test]
    fn who_is_named_goes_alone_and_the_others_together() {
        let units = [unit("a"), unit("b"), unit("c")];
        let text = "[Tried to create resource record set [name='b.example.com.', type='A'] but it already exists]";
        let keys = |hosts: &[&str]| hosts.iter().map(|host| unit(host).key()).collect::<Vec<_>>();
        assert_eq!(blame(&units, text), Blame::Lots(vec![keys(&["b"]), keys(&["a", "c"])]));
        assert_eq!(
            blame(&units, "Access denied"),
            Blame::Lots(vec![keys(&["a", "b"]), keys(&["c"])])
        );
        assert_eq!(blame(&units[..1], text), Blame::Refused(unit("a").key()));
    }
}
