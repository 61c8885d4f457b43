//! One zone as a state machine: what is known of it, what shall be written, what is under way.
//!
//! Invariant: one effect is in flight; nothing is written before the zone is verified, read completely once and its
//! fence understood, nor while an answer is in doubt. What to do next is decided in `turn.rs`, what an answer means in
//! `answer.rs`. Deliberately absent: what the records shall be (the plan's), numbers of effects (the engine's).

use std::collections::{BTreeMap, BTreeSet};

use super::audit::Audit;
use super::bisect::Refusal;
use super::fence::Fence;
use super::programmed::{LastChange, Look, Programmed};
use super::queue::UnitQueue;
use super::trouble::{Call, Troubles};
use crate::effect::{Change, ZoneEffect};
use crate::event::Failure;
use crate::plan::unit::{Part, Unit};
use crate::reason::Problem;
use crate::time::{Mono, Now, Timings};
use crate::value::dns_name::RecordName;
use crate::value::ids::{HostnameKey, HubId, ZoneRef};
use crate::value::ownership::FenceText;
use crate::world::zones::{Records, ZoneSpec};
use truce_api::Reason;

/// One zone.
#[derive(Debug, Clone)]
pub struct ZoneRuntime {
    pub(super) hub: HubId,
    pub(super) instance: String,
    pub(super) spec: ZoneSpec,
    pub(super) records: Records,
    /// Whether account, name and visibility of the hosted zone are as the spec says.
    pub(super) verified: bool,
    pub(super) audit: Audit,
    pub(super) fence: Fence,
    pub(super) queue: UnitQueue,
    /// Names that are read before anything else is written.
    pub(super) must_read: BTreeSet<RecordName>,
    /// Names that somebody waits for, with the time before which they are not read.
    pub(super) want_read: BTreeMap<RecordName, Mono>,
    pub(super) programmed: Programmed,
    pub(super) troubles: Troubles,
    /// A batch of which nobody knows whether it was applied.
    pub(super) doubt: Option<Sent>,
    /// A denied batch: the fence alone shows whether the zone is meant or one of the units.
    pub(super) probe: Option<(Vec<Unit>, Failure)>,
    pub(super) flight: Option<Flight>,
    /// When a batch was accepted last.
    pub(super) accepted_at: Option<Mono>,
    /// Batches since something else was done.
    pub(super) submits_in_row: u32,
    /// Whether the account's budget has to learn of a throttling.
    pub(super) slow_down: bool,
    /// Whether the fence shall go.
    pub(super) releasing: bool,
    pub(super) news: Vec<ZoneNews>,
    pub(super) now: Mono,
}

/// What `ZoneRuntime::next` asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// One call; its outcome goes to `done`.
    Do(ZoneEffect),
    /// Nothing until then, or until something happens.
    Wait(Option<Mono>),
}

/// What happened in a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneNews {
    /// The model changed under this name, or a plan proved to be older than it.
    Changed(RecordName),
    /// A unit is in the zone.
    Applied {
        /// Whose.
        hostname: HostnameKey,
        /// Which part.
        part: Part,
        /// Route 53's id of the change; empty if the answer was lost.
        change_id: String,
    },
    /// A change is on all servers of Route 53.
    Insync {
        /// Whose units were in it.
        hostnames: BTreeSet<HostnameKey>,
        /// Its id; empty if the answer was lost.
        change_id: String,
    },
    /// A unit was refused; `refusal` tells why.
    Refused {
        /// Whose.
        hostname: HostnameKey,
        /// Which part.
        part: Part,
    },
    /// `problem` or `ready` tells something else now.
    Problem,
}

/// A batch that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// The fence that it writes; `None`: it takes the fence away.
    pub(super) written: Option<FenceText>,
    pub(super) units: Vec<Unit>,
    /// All changes, the fence's included.
    pub(super) changes: Vec<Change>,
    pub(super) at: Now,
}

/// What is in flight.
#[derive(Debug, Clone)]
pub(super) enum Flight {
    Verify,
    Page,
    Name(RecordName),
    Submit(Box<Sent>),
    Look(Look),
    /// Of the zone that the spec named before.
    Forgotten,
}

impl ZoneRuntime {
    /// The zone of a DNSZone of which nothing is known. `instance` is the UID of the hub's kube-system namespace.
    pub fn new(zone: ZoneRef, hub: HubId, instance: String, spec: ZoneSpec, timings: &Timings, now: Mono) -> Self {
        Self {
            records: Records::default(),
            verified: false,
            audit: Audit::new(spec.limits.audit_interval, now),
            fence: Fence::new(zone, hub.clone(), instance.clone(), &spec.domain),
            queue: UnitQueue::default(),
            must_read: BTreeSet::new(),
            want_read: BTreeMap::new(),
            programmed: Programmed::new(timings.insync_poll, timings.insync_patience),
            troubles: Troubles::new(format!("hosted zone {} ({})", spec.hosted_zone, spec.domain)),
            doubt: None,
            probe: None,
            flight: None,
            accepted_at: None,
            submits_in_row: 0,
            slow_down: false,
            releasing: false,
            news: Vec::new(),
            now,
            hub,
            instance,
            spec,
        }
    }

    /// The spec changed. Another hosted zone or domain is another zone: all that was known is forgotten.
    pub fn update_spec(&mut self, spec: ZoneSpec, timings: &Timings) {
        let same = spec.hosted_zone == self.spec.hosted_zone && spec.domain == self.spec.domain;
        if !same {
            let flight = self.flight.take().map(|_| Flight::Forgotten);
            *self = Self::new(
                self.fence.zone().clone(),
                self.hub.clone(),
                self.instance.clone(),
                spec,
                timings,
                self.now,
            );
            self.flight = flight;
            return;
        }
        if spec.account != self.spec.account {
            self.verified = false;
            self.troubles.ok(Call::Verify);
        }
        self.audit.set_interval(spec.limits.audit_interval);
        self.spec = spec;
    }

    /// What is known of the records.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Whether the zone is the right one, was read completely once, and its fence lets this hub write.
    pub fn ready(&self) -> bool {
        self.verified && self.audit.complete() && self.fence.open()
    }

    /// What is wrong: the zone itself first, then who writes it, then single calls.
    pub fn problem(&self) -> Option<Problem> {
        let call = |call| self.troubles.problem(call).cloned();
        call(Call::Verify)
            .or_else(|| self.fence.problem())
            .or_else(|| call(Call::Read))
            .or_else(|| call(Call::Submit))
            .or_else(|| call(Call::Check))
            .or_else(|| self.troubles.throttled().cloned())
    }

    /// Whether a process of this hub that started later writes: this one does nothing more and has to end.
    pub fn superseded(&self) -> bool {
        self.fence.superseded()
    }

    /// Replaces what one hostname wants written; at most one unit a part. Empty: nothing.
    pub fn set_units(&mut self, hostname: &HostnameKey, units: Vec<Unit>) {
        self.queue.set(hostname, units);
    }

    /// Why a unit is not in the zone, if Route 53 refused it alone or a limit keeps it back.
    pub fn refusal(&self, hostname: &HostnameKey, part: &Part) -> Option<&Refusal> {
        self.queue.refusal(&(hostname.clone(), part.clone()))
    }

    /// Route 53's id of the newest change of this process.
    pub fn latest_change(&self) -> Option<String> {
        self.programmed.latest()
    }

    /// Why units of a hostname are not in the zone, by part.
    pub fn refusals(&self, hostname: &HostnameKey) -> Vec<(Part, Problem)> {
        let parts = self.queue.parts(hostname);
        let refused = |part: Part| Some((part.clone(), self.refusal(hostname, &part)?.problem.clone()));
        parts.into_iter().filter_map(refused).collect()
    }

    /// The last change of a hostname by this process.
    pub fn last_change(&self, hostname: &HostnameKey) -> Option<&LastChange> {
        self.programmed.of(hostname)
    }

    /// A hostname lives here no more: drops what it wants and what is remembered of it.
    pub fn forget(&mut self, hostname: &HostnameKey) {
        self.queue.set(hostname, Vec::new());
        self.programmed.forget(hostname);
    }

    /// Somebody waits for what others write under a name: it is read once, not before then.
    pub fn want_read(&mut self, name: RecordName, not_before: Mono) {
        let due = self.want_read.entry(name).or_insert(not_before);
        *due = (*due).min(not_before);
    }

    /// A person says that the other hub instance is gone for good; whether `hash` is the one shown now. All is read
    /// again before this one writes.
    pub fn confirm(&mut self, hash: &str) -> bool {
        let confirmed = self.fence.confirm(hash);
        if confirmed {
            self.audit.need(self.now);
            self.news.push(ZoneNews::Problem);
        }
        confirmed
    }

    /// The DNSZone is being deleted and no hostname lives in it: the fence goes once no unit waits.
    pub fn release_fence(&mut self) {
        self.releasing = true;
    }

    /// Whether nothing of this hub instance's fence is left: gone, or the spec names no zone that it could be in.
    pub fn fence_gone(&self) -> bool {
        let not_ours = |problem: &Problem| {
            matches!(
                problem.reason,
                Reason::HostedZoneNotFound | Reason::WrongAccount | Reason::WrongDomain | Reason::PrivateZone
            )
        };
        let read = self.audit.complete() && self.doubt.is_none() && self.fence.gone();
        read || (!self.verified && self.troubles.problem(Call::Verify).is_some_and(not_ours))
    }

    /// What happened without an answer, e.g. a unit that a limit keeps back. `done` tells it too.
    pub fn news(&mut self) -> Vec<ZoneNews> {
        std::mem::take(&mut self.news)
    }
}
