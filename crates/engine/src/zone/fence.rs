//! The hub's record: lost answers and other writers (DESIGN.md, section 2).
//!
//! Invariant: every batch begins with an exact DELETE of the fence as it was last read or written and a CREATE of a
//! text that this process never wrote before, so Route 53 itself refuses the batch of a process whose view is old.
//! Each attempt has a number of its own, applied or not: a request that arrives late is told apart.
//! Deliberately absent: the Lease, which will hand in the term.

use sha2::{Digest, Sha256};

use super::batch::Cost;
use crate::effect::Change;
use crate::reason::Problem;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::{HubId, ZoneRef};
use crate::value::owned::{Owned, single_txt};
use crate::value::ownership::{FenceText, TXT_TTL};
use crate::value::record::{RecordData, RecordSet, RecordType, Routing};
use truce_api::Reason;

/// What stands under the fence's name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// Not read yet.
    Unread,
    /// Nothing.
    Absent,
    /// The fence of this hub id, whichever instance wrote it.
    Fence(FenceText),
    /// Something else.
    Foreign,
}

/// What a read of the fence's name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// It is as this process knew it, or was read for the first time.
    Expected,
    /// Somebody else wrote under this hub id, or an own request arrived late: what is known of the zone is old.
    Surprise,
}

/// The fence of one hub in one zone, as one process sees it.
#[derive(Debug, Clone)]
pub struct Fence {
    zone: ZoneRef,
    hub: HubId,
    instance: String,
    name: RecordName,
    seen: Seen,
    /// The term of this process; none before its first batch, and after a surprise.
    term: Option<u64>,
    /// The last number used in the term.
    batch: u64,
    /// The highest term seen or used.
    floor: u64,
    /// The highest term in which this process sent a batch.
    sent: u64,
    /// Whether a batch of this process was applied.
    wrote: bool,
    /// The hash that a person confirmed.
    confirmed: Option<String>,
    superseded: bool,
}

impl Fence {
    /// Nothing read yet. `instance` is the UID of the hub's kube-system namespace, `domain` that of the DNSZone.
    pub fn new(zone: ZoneRef, hub: HubId, instance: String, domain: &DnsName) -> Self {
        let label = format!("_truce-hub-{hub}");
        let apex = RecordName::listed(domain.as_str());
        // A zone name so long that the fence does not fit below it makes a name that Route 53 refuses in words.
        let name = apex
            .child(&label)
            .unwrap_or_else(|_| RecordName::listed(&format!("{label}.{domain}")));
        Self {
            zone,
            hub,
            instance,
            name,
            seen: Seen::Unread,
            term: None,
            batch: 0,
            floor: 0,
            sent: 0,
            wrote: false,
            confirmed: None,
            superseded: false,
        }
    }

    /// The DNSZone.
    pub fn zone(&self) -> &ZoneRef {
        &self.zone
    }

    /// `_truce-hub-<hub id>.<zone>`.
    pub fn name(&self) -> &RecordName {
        &self.name
    }

    /// Whether it was not read yet.
    pub fn unread(&self) -> bool {
        self.seen == Seen::Unread
    }

    /// Takes what a read found under the fence's name.
    pub fn observe(&mut self, sets: &[RecordSet]) -> Reading {
        let seen = self.parse(sets);
        if let Seen::Fence(text) = &seen {
            self.floor = self.floor.max(text.term);
            let own = text.instance == self.instance;
            // A term that was sent but not known to be applied may be an own request that arrived late.
            self.superseded |= own && self.wrote && text.term > self.sent;
        }
        let surprise = self.seen != Seen::Unread && self.seen != seen;
        self.seen = seen;
        if !surprise {
            return Reading::Expected;
        }
        self.term = None;
        Reading::Surprise
    }

    /// Whether a process of this hub instance that started later writes: this one has to stop.
    pub fn superseded(&self) -> bool {
        self.superseded
    }

    /// Whether the fence is read and lets this process write.
    pub fn open(&self) -> bool {
        !self.superseded && self.seen != Seen::Unread && self.problem().is_none()
    }

    /// What stands in the way of writing.
    pub fn problem(&self) -> Option<Problem> {
        let name = &self.name;
        match &self.seen {
            Seen::Unread | Seen::Absent => None,
            Seen::Foreign => Some(Problem::new(
                Reason::RecordConflict,
                format!("{name} holds something that is not the hub's fence record; delete it, Truce makes its own"),
            )),
            Seen::Fence(text) if text.instance == self.instance => None,
            Seen::Fence(text) => {
                let hash = self.hash(text);
                (self.confirmed.as_ref() != Some(&hash)).then(|| self.in_use(text, &hash))
            }
        }
    }

    /// A person says that the other instance is gone for good; whether `hash` is the one shown now.
    pub fn confirm(&mut self, hash: &str) -> bool {
        match &self.seen {
            Seen::Fence(text) if text.instance != self.instance && self.hash(text) == hash => {
                self.confirmed = Some(hash.to_owned());
                true
            }
            _ => false,
        }
    }

    /// The changes that a batch begins with, and the text that tells whether it was applied. `sets` is what the model
    /// has under the fence's name, as last observed.
    pub fn begin(&mut self, sets: &[RecordSet]) -> (Vec<Change>, FenceText) {
        let term = self.term.unwrap_or_else(|| {
            self.batch = 0;
            self.floor + 1
        });
        self.term = Some(term);
        self.floor = term;
        self.sent = term;
        self.batch += 1;
        let text = FenceText {
            instance: self.instance.clone(),
            term,
            batch: self.batch,
        };
        let mut changes = self.end(sets);
        changes.push(Change::Create(self.set(&text)));
        (changes, text)
    }

    /// What the fence takes in the next batch, at most.
    pub fn cost(&self, sets: &[RecordSet]) -> Cost {
        let create = Cost {
            elements: 1,
            // A character string of a TXT value has at most 255 (RFC 1035, section 3.3).
            characters: 257,
            changes: 1,
        };
        Cost::of(&self.end(sets)) + create
    }

    /// The changes that take the fence away: none if there is none.
    pub fn end(&self, sets: &[RecordSet]) -> Vec<Change> {
        let own = sets.iter().filter_map(|set| Owned::fence(set, &self.hub));
        own.map(Change::Delete).collect()
    }

    /// Whether what was read under the fence's name is what a batch wrote (`None`: it took the fence away).
    pub fn tells_applied(&self, sets: &[RecordSet], written: Option<&FenceText>) -> bool {
        match (self.parse(sets), written) {
            (Seen::Fence(text), Some(written)) => text == *written,
            (Seen::Absent, None) => true,
            _ => false,
        }
    }

    /// A batch of this process was applied.
    pub fn applied(&mut self, written: Option<FenceText>) {
        match written {
            Some(text) => {
                self.wrote = true;
                // From now on it is ours; if another instance appears again, somebody has to look again.
                self.confirmed = None;
                self.seen = Seen::Fence(text);
            }
            None => {
                self.term = None;
                self.seen = Seen::Absent;
            }
        }
    }

    /// Whether the zone, as read, holds no fence that this hub instance wrote.
    pub fn gone(&self) -> bool {
        match &self.seen {
            Seen::Unread => false,
            Seen::Absent | Seen::Foreign => true,
            Seen::Fence(text) => text.instance != self.instance,
        }
    }

    fn parse(&self, sets: &[RecordSet]) -> Seen {
        match sets {
            [] => Seen::Absent,
            [set] if set.routing == Routing::Simple => single_txt(set)
                .and_then(|value| FenceText::read(value, &self.hub))
                .map_or(Seen::Foreign, Seen::Fence),
            _ => Seen::Foreign,
        }
    }

    fn set(&self, text: &FenceText) -> RecordSet {
        RecordSet {
            name: self.name.clone(),
            record_type: RecordType::Txt,
            routing: Routing::Simple,
            data: RecordData::values(TXT_TTL, [text.write(&self.hub)]),
            health_check: None,
        }
    }

    /// What a person confirms: that instance in that term. Its further batches change nothing about it, its next start
    /// does.
    fn hash(&self, text: &FenceText) -> String {
        let Self { hub, name, .. } = self;
        let FenceText { instance, term, .. } = text;
        let digest = Sha256::digest(format!("{hub} {name} {instance} {term}"));
        digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect()
    }

    fn in_use(&self, text: &FenceText, hash: &str) -> Problem {
        let Self {
            zone,
            hub,
            name,
            instance,
            ..
        } = self;
        Problem::new(
            Reason::HubIdInUse,
            format!(
                "{name} says that another hub instance ({}, term {}) writes under the hub id {hub}; this one is \
                 {instance} and writes nothing. Stop the other one or give one of them another --hub-id; if the other \
                 is gone for good: kubectl annotate dz {zone} --overwrite {}={hash}",
                text.instance,
                text.term,
                truce_api::CONFIRM
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(instance: &str) -> Fence {
        let domain = DnsName::parse("example.com").unwrap();
        Fence::new(
            ZoneRef::new("com"),
            HubId::parse("prod").unwrap(),
            instance.to_owned(),
            &domain,
        )
    }

    fn txt(instance: &str, term: u64, batch: u64) -> Vec<RecordSet> {
        let own = fence(instance);
        let text = FenceText {
            instance: instance.to_owned(),
            term,
            batch,
        };
        vec![own.set(&text)]
    }

    /// The batch's fence is applied; what the zone holds then.
    fn write(fence: &mut Fence, sets: &[RecordSet]) -> Vec<RecordSet> {
        let (_, text) = fence.begin(sets);
        fence.applied(Some(text.clone()));
        vec![fence.set(&text)]
    }

    #[test]
    fn the_first_batch_after_a_start_writes_the_next_term() {
        let mut own = fence("uid");
        assert_eq!(own.observe(&txt("uid", 4, 17)), Reading::Expected);
        let (changes, text) = own.begin(&txt("uid", 4, 17));
        assert_eq!((text.term, text.batch), (5, 1));
        assert_eq!(changes.len(), 2, "delete what was read, create the next");
        assert_eq!(*changes[0].set(), txt("uid", 4, 17)[0]);
        let (_, second) = own.begin(&txt("uid", 4, 17));
        assert_eq!(
            (second.term, second.batch),
            (5, 2),
            "an attempt is never repeated under its number"
        );
    }

    #[test]
    fn the_first_ever_only_creates() {
        let mut own = fence("uid");
        own.observe(&[]);
        let (changes, text) = own.begin(&[]);
        assert_eq!((changes.len(), text.term, text.batch), (1, 1, 1));
        assert_eq!(changes[0].set().name.as_str(), "_truce-hub-prod.example.com");
    }

    #[test]
    fn a_higher_term_of_the_own_instance_stops_this_process() {
        let mut old = fence("uid");
        old.observe(&[]);
        let zone = write(&mut old, &[]);
        let mut new = fence("uid");
        new.observe(&zone);
        let zone = write(&mut new, &zone);
        assert_eq!(old.observe(&zone), Reading::Surprise);
        assert!(old.superseded() && !old.open());
        assert!(!new.superseded() && new.open());
    }

    #[test]
    fn of_two_that_start_at_once_the_one_that_was_refused_goes_on_in_a_higher_term() {
        let (mut first, mut second) = (fence("uid"), fence("uid"));
        first.observe(&[]);
        second.observe(&[]);
        let zone = write(&mut first, &[]);
        let (_, refused) = second.begin(&[]);
        assert_eq!(
            refused.write(&second.hub),
            single_txt(&zone[0]).unwrap(),
            "the same text"
        );
        assert_eq!(second.observe(&zone), Reading::Surprise, "but not its batch");
        let zone = write(&mut second, &zone);
        first.observe(&zone);
        assert!(first.superseded() && !second.superseded());
    }

    #[test]
    fn another_instance_stops_all_writes_until_that_one_is_confirmed() {
        let mut own = fence("uid");
        own.observe(&txt("clone", 3, 1));
        let problem = own.problem().unwrap();
        assert_eq!(problem.reason, Reason::HubIdInUse);
        let hash = problem.message.rsplit('=').next().unwrap().to_owned();
        assert!(!own.open() && own.gone());
        assert!(!own.confirm("0123456789"));
        own.observe(&txt("clone", 3, 2));
        assert!(
            own.confirm(&hash),
            "a further batch of the other changes nothing about the question"
        );
        assert!(own.open());
        let zone = write(&mut own, &txt("clone", 3, 2));
        assert_eq!(own.sent, 4);
        own.observe(&zone);
        own.observe(&txt("clone", 5, 1));
        assert!(!own.open(), "it came back: ask again");
        assert!(!own.confirm(&hash));
    }

    #[test]
    fn something_else_under_the_name_is_named_and_left_alone() {
        let mut own = fence("uid");
        let mut foreign = txt("uid", 1, 1);
        foreign[0].data = RecordData::values(300, ["\"hello\""]);
        own.observe(&foreign);
        assert_eq!(own.problem().unwrap().reason, Reason::RecordConflict);
        assert_eq!(own.end(&foreign), []);
    }

    #[test]
    fn an_own_request_that_arrives_late_is_a_surprise() {
        let mut own = fence("uid");
        own.observe(&[]);
        let zone = write(&mut own, &[]);
        let (_, late) = own.begin(&zone);
        assert!(!own.tells_applied(&zone, Some(&late)));
        assert_eq!(own.observe(&zone), Reading::Expected);
        let zone = vec![own.set(&late)];
        assert_eq!(own.observe(&zone), Reading::Surprise);
        assert!(!own.superseded());
        let (_, late) = own.begin(&zone);
        assert_eq!((late.term, late.batch), (2, 1), "and the answer to the doubt who wrote");
        own.observe(&[own.set(&late)]);
        assert!(!own.superseded(), "late again, in a term that this process sent");
    }
}
