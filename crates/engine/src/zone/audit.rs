//! What to read next, and what a read proves.
//!
//! Invariant: a page proves the names that it holds whole, nothing else: a group at its edge counts when the next page
//! has completed it (docs/cases.md T32), and a name that a whole pass did not show is read by itself before it counts as
//! gone, since a list is not a snapshot and odd names may sort otherwise (docs/route53.md 4). An error ends a pass,
//! but for the first one, which nothing is decided on before it is complete and which goes on where it was.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::event::Cursor;
use crate::time::Mono;
use crate::value::dns_name::RecordName;
use crate::value::record::RecordSet;
use crate::world::zones::Records;

/// Sets on a full page (docs/route53.md 4).
const PAGE: usize = 300;
/// A pass that ended by an error begins again after this, or after the audit interval if that is shorter.
const AGAIN: Duration = Duration::from_secs(30);

/// Why the zone is read completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To look whether it is still as known; out of the audits' share.
    Audit,
    /// What is known is old or was never known: nothing is written before it is complete.
    Needed,
}

/// A group that the edge of a page cuts.
#[derive(Debug, Clone)]
struct Edge {
    name: RecordName,
    /// Its sets so far; `None` once something else has brought the name up to date.
    sets: Option<Vec<RecordSet>>,
}

/// One complete read in progress.
#[derive(Debug, Clone)]
struct Pass {
    purpose: Purpose,
    since: Mono,
    cursor: Option<Cursor>,
    edge: Option<Edge>,
    /// Names that the pass showed, or that were read or written since it began.
    seen: BTreeSet<RecordName>,
}

/// The complete reads of one zone.
#[derive(Debug, Clone)]
pub struct Audit {
    interval: Duration,
    pass: Option<Pass>,
    next_pass: Mono,
    /// Whether one was ever completed.
    complete: bool,
}

/// What a page proved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Names whose sets are now known, those whose sets changed only.
    pub changed: BTreeSet<RecordName>,
    /// Names of the model that the pass did not show; to be read by themselves.
    pub missing: BTreeSet<RecordName>,
}

impl Audit {
    /// The first read is needed at once.
    pub fn new(interval: Duration, now: Mono) -> Self {
        let mut audit = Self {
            interval,
            pass: None,
            next_pass: now,
            complete: false,
        };
        audit.need(now);
        audit
    }

    /// Another `limits.auditInterval`.
    pub fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// Whether the zone was read completely once.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// What is known may be old: read all again before anything is written. A pass in progress begins again.
    pub fn need(&mut self, now: Mono) {
        self.begin(Purpose::Needed, now);
    }

    /// How many requests a complete read takes.
    pub fn pages(records: &Records) -> usize {
        records.count() / PAGE + 1
    }

    /// Whether a pass is needed before anything is written.
    pub fn needed(&self) -> bool {
        self.pass.as_ref().is_some_and(|pass| pass.purpose == Purpose::Needed)
    }

    /// Since when, or from when on, the next page is due.
    pub fn due(&self) -> Mono {
        self.pass.as_ref().map_or(self.next_pass, |pass| pass.since)
    }

    /// Where the next page begins; starts a pass if none is in progress.
    pub fn start(&mut self, now: Mono) -> Option<Cursor> {
        if self.pass.is_none() {
            self.begin(Purpose::Audit, now);
        }
        self.pass.as_ref().and_then(|pass| pass.cursor.clone())
    }

    fn begin(&mut self, purpose: Purpose, now: Mono) {
        self.next_pass = now + self.interval;
        self.pass = Some(Pass {
            purpose,
            since: now,
            cursor: None,
            edge: None,
            seen: BTreeSet::new(),
        });
    }

    /// Takes a page into the model.
    pub fn page(&mut self, sets: Vec<RecordSet>, next: Option<Cursor>, records: &mut Records, now: Mono) -> Proof {
        let mut proof = Proof::default();
        let Some(mut pass) = self.pass.take() else {
            return proof;
        };
        if next.is_some() && next == pass.cursor {
            // A list that does not move on would never end.
            self.pass = Some(pass);
            self.failed(now);
            return proof;
        }
        let cut = next.as_ref().map(|cursor| RecordName::listed(&cursor.name));
        let groups = by_name(sets);
        // The group that was cut may have lost the sets that should have come on this page.
        let goes_on = groups.first().map(|(name, _)| name).or(cut.as_ref()).cloned();
        if let Some(edge) = pass.edge.take_if(|edge| goes_on.as_ref() != Some(&edge.name)) {
            pass.prove(edge, records, &mut proof);
        }
        for (name, group) in groups {
            pass.take(name, group, cut.as_ref(), records, &mut proof);
        }
        match next {
            Some(_) => {
                pass.cursor = next;
                self.pass = Some(pass);
            }
            None => {
                let missing = records
                    .iter()
                    .map(|(name, _)| name)
                    .filter(|name| !pass.seen.contains(*name));
                proof.missing = missing.cloned().collect();
                self.complete = true;
            }
        }
        proof
    }

    /// A name was read by itself, or written, since the page before.
    pub fn known(&mut self, name: &RecordName) {
        if let Some(pass) = &mut self.pass {
            pass.seen.insert(name.clone());
            if let Some(edge) = pass.edge.as_mut().filter(|edge| edge.name == *name) {
                edge.sets = None;
            }
        }
    }

    /// A page could not be read.
    pub fn failed(&mut self, now: Mono) {
        let Some(pass) = self.pass.take() else {
            return;
        };
        match pass.purpose {
            Purpose::Needed if !self.complete => self.pass = Some(pass),
            Purpose::Needed => self.need(now),
            Purpose::Audit => self.next_pass = now + AGAIN.min(self.interval),
        }
    }
}

impl Pass {
    fn take(
        &mut self,
        name: RecordName,
        mut group: Vec<RecordSet>,
        cut: Option<&RecordName>,
        records: &mut Records,
        proof: &mut Proof,
    ) {
        let mut known = Some(Vec::new());
        if let Some(edge) = self.edge.take_if(|edge| edge.name == name) {
            known = edge.sets;
        }
        let sets = known.map(|mut sets| {
            // A set that both pages show counts once.
            group.retain(|set| sets.iter().all(|other| other.key() != set.key()));
            sets.append(&mut group);
            sets
        });
        let edge = Edge { name, sets };
        if cut == Some(&edge.name) {
            self.edge = Some(edge);
        } else {
            self.prove(edge, records, proof);
        }
    }

    fn prove(&mut self, edge: Edge, records: &mut Records, proof: &mut Proof) {
        let Edge { name, sets } = edge;
        if let Some(sets) = sets
            && records.set(&name, sets)
        {
            proof.changed.insert(name.clone());
        }
        self.seen.insert(name);
    }
}

/// The groups of a page, in its order; sets of one name always stand together. The ownership TXTs of one hostname often
/// follow each other with the same text, which they share.
fn by_name(sets: Vec<RecordSet>) -> Vec<(RecordName, Vec<RecordSet>)> {
    let mut groups: Vec<(RecordName, Vec<RecordSet>)> = Vec::new();
    for mut set in sets {
        let before = groups.last().and_then(|(_, group)| group.last());
        if let Some(before) = before.filter(|before| before.data == set.data) {
            set.data = before.data.clone();
        }
        match groups.last_mut() {
            Some((name, group)) if *name == set.name => group.push(set),
            _ => groups.push((set.name.clone(), vec![set])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ids::SetIdentifier;
    use crate::value::record::{RecordData, RecordType, Routing};

    const INTERVAL: Duration = Duration::from_secs(300);

    fn weighted(host: &str, id: &str) -> RecordSet {
        RecordSet {
            name: RecordName::listed(&format!("{host}.example.com")),
            record_type: RecordType::A,
            routing: Routing::Weighted {
                id: SetIdentifier::listed(id),
                weight: 1,
            },
            data: RecordData::values(60, ["203.0.113.1"]),
            health_check: None,
        }
    }

    fn cursor(set: &RecordSet) -> Option<Cursor> {
        Some(Cursor {
            name: format!("{}.", set.name),
            record_type: set.record_type.to_string(),
            set_identifier: set.routing.id().map(|id| id.as_str().to_owned()),
        })
    }

    fn name(host: &str) -> RecordName {
        weighted(host, "x").name
    }

    /// A whole pass over two pages: a, east of b | west of b, c.
    fn zone() -> (Vec<RecordSet>, Vec<RecordSet>) {
        let first = vec![weighted("a", "x"), weighted("b", "east")];
        let second = vec![weighted("b", "west"), weighted("c", "x")];
        (first, second)
    }

    fn read(audit: &mut Audit, records: &mut Records) -> (Proof, Proof) {
        let (first, second) = zone();
        assert_eq!(audit.start(Mono(0)), None);
        let next = cursor(&second[0]);
        let one = audit.page(first, next.clone(), records, Mono(0));
        assert_eq!(audit.start(Mono(0)), next, "all three parts of the cursor");
        (one, audit.page(second, None, records, Mono(0)))
    }

    #[test]
    fn siblings_on_both_sides_of_a_page_edge_are_one_group() {
        let (mut audit, mut records) = (Audit::new(INTERVAL, Mono(0)), Records::default());
        let (first, second) = read(&mut audit, &mut records);
        assert_eq!(first.changed, BTreeSet::from([name("a")]), "b is not whole yet");
        assert_eq!(second.changed, BTreeSet::from([name("b"), name("c")]));
        assert_eq!(records.at(&name("b")).len(), 2);
        assert!(audit.complete() && !audit.needed());
        for _ in 0..3 {
            let again = read(&mut audit, &mut records);
            assert_eq!(again, (Proof::default(), Proof::default()));
        }
    }

    #[test]
    fn a_name_that_a_pass_did_not_show_is_only_suspected() {
        let (mut audit, mut records) = (Audit::new(INTERVAL, Mono(0)), Records::default());
        read(&mut audit, &mut records);
        records.set(&name("aa"), vec![weighted("aa", "x")]);
        let (first, second) = read(&mut audit, &mut records);
        assert_eq!(
            (first.missing, second.missing),
            (BTreeSet::new(), BTreeSet::from([name("aa")]))
        );
        assert_eq!(records.at(&name("aa")).len(), 1, "not believed");
    }

    #[test]
    fn what_was_written_or_read_between_two_pages_is_not_undone() {
        let (mut audit, mut records) = (Audit::new(INTERVAL, Mono(0)), Records::default());
        read(&mut audit, &mut records);
        let (first, second) = zone();
        audit.start(Mono(0));
        audit.page(first, cursor(&second[0]), &mut records, Mono(0));
        records.set(&name("b"), vec![weighted("b", "new")]);
        audit.known(&name("b"));
        records.set(&name("aa"), vec![weighted("aa", "x")]);
        audit.known(&name("aa"));
        let last = audit.page(second, None, &mut records, Mono(0));
        assert_eq!(last, Proof::default());
        assert_eq!(records.at(&name("b")), [weighted("b", "new")]);
    }

    #[test]
    fn a_group_whose_rest_went_before_the_next_page_is_what_was_seen() {
        let (mut audit, mut records) = (Audit::new(INTERVAL, Mono(0)), Records::default());
        let (first, second) = zone();
        audit.start(Mono(0));
        audit.page(first, cursor(&second[0]), &mut records, Mono(0));
        audit.page(vec![weighted("c", "x")], None, &mut records, Mono(0));
        assert_eq!(records.at(&name("b")), [weighted("b", "east")]);
    }

    #[test]
    fn an_error_ends_an_audit_but_the_first_read_goes_on() {
        let (mut audit, mut records) = (Audit::new(INTERVAL, Mono(0)), Records::default());
        let (first, second) = zone();
        let next = cursor(&second[0]);
        audit.page(first.clone(), next.clone(), &mut records, Mono(0));
        audit.failed(Mono(10));
        assert_eq!(audit.start(Mono(20)), next);
        audit.page(second, None, &mut records, Mono(20));
        assert_eq!(audit.due(), Mono(300_000));
        audit.start(Mono(300_000));
        audit.page(first, next, &mut records, Mono(300_000));
        audit.failed(Mono(300_001));
        assert_eq!(audit.due(), Mono(330_001));
        assert_eq!(audit.start(Mono(330_001)), None, "from the beginning");
    }

    #[test]
    fn a_list_that_does_not_move_on_ends_the_pass() {
        let (mut audit, mut records) = (Audit::new(INTERVAL, Mono(0)), Records::default());
        read(&mut audit, &mut records);
        let (first, second) = zone();
        audit.start(Mono(0));
        audit.page(first.clone(), cursor(&second[0]), &mut records, Mono(0));
        audit.page(first, cursor(&second[0]), &mut records, Mono(5));
        assert_eq!(audit.due(), Mono(30_005));
    }
}
