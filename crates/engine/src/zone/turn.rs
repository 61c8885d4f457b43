//! What a zone does next.
//!
//! Invariant: what has to be known goes before what is written; among the rest units go first, but after each batch
//! one other call that is due goes (after four while a drain waits), so checks, reads and audits never starve. Each
//! call is paid from the account's budget.

use super::batch::Room;
use super::order;
use super::programmed::Look;
use super::runtime::{Flight, Sent, Step, ZoneNews, ZoneRuntime};
use super::trouble::Call;
use crate::effect::{Change, ZoneEffect};
use crate::pace::budget::Budget;
use crate::plan::unit::Unit;
use crate::time::{Mono, Now};

/// Batches in a row while a drain waits and something else is due.
const URGENT_IN_ROW: u32 = 4;

/// A call that is not possible now, and when to ask again.
type Later = Option<Mono>;

impl ZoneRuntime {
    /// The next call, or how long there is none. Never asks for one while another is in flight. What a look at the
    /// units found (a limit, an old plan) is in `news`.
    pub fn next(&mut self, now: Now, budget: &mut Budget) -> Step {
        self.now = now.mono;
        if self.flight.is_some() || self.superseded() {
            return Step::Wait(None);
        }
        if std::mem::take(&mut self.slow_down) {
            budget.throttled(now.mono);
        }
        let chosen = match self.needed() {
            Some(flight) => self.pay(flight, now.mono, budget),
            None => self.choose(now, budget),
        };
        match chosen {
            Ok(flight) => {
                let submit = matches!(flight, Flight::Submit(_));
                self.submits_in_row = if submit { self.submits_in_row + 1 } else { 0 };
                let effect = self.effect(&flight);
                self.flight = Some(flight);
                Step::Do(effect)
            }
            Err(later) => Step::Wait(later),
        }
    }

    /// What has to be known before anything is written.
    fn needed(&self) -> Option<Flight> {
        if !self.verified {
            return Some(Flight::Verify);
        }
        if self.doubt.is_some() {
            return Some(Flight::Name(self.fence.name().clone()));
        }
        if let Some(name) = self.must_read.first() {
            return Some(Flight::Name(name.clone()));
        }
        self.audit.needed().then_some(Flight::Page)
    }

    fn choose(&mut self, now: Now, budget: &mut Budget) -> Result<Flight, Later> {
        let other_due = self.others().first().is_some_and(|(due, _)| *due <= now.mono);
        let row = if self.submits_in_row > 0 && self.queue.urgent() {
            URGENT_IN_ROW
        } else {
            1
        };
        let submit_first = !other_due || self.submits_in_row < row;
        let mut later = None;
        if submit_first {
            match self.submit(now, budget) {
                Ok(flight) => return Ok(flight),
                Err(when) => later = sooner(later, when),
            }
        }
        for (due, flight) in self.others() {
            if due > now.mono {
                later = sooner(later, Some(due));
                continue;
            }
            match self.pay(flight, now.mono, budget) {
                Ok(flight) => return Ok(flight),
                Err(when) => later = sooner(later, when),
            }
        }
        if !submit_first {
            match self.submit(now, budget) {
                Ok(flight) => return Ok(flight),
                Err(when) => later = sooner(later, when),
            }
        }
        Err(later)
    }

    /// All but batches, the longest due first; an audit counts as due an interval later, so it comes last until then.
    fn others(&self) -> Vec<(Mono, Flight)> {
        let mut due = Vec::new();
        if let Some((when, look)) = self.programmed.next() {
            due.push((when, when, Flight::Look(look)));
        }
        if let Some((name, when)) = self.want_read.iter().min_by_key(|(_, when)| **when) {
            due.push((*when, *when, Flight::Name(name.clone())));
        }
        let page = self.audit.due();
        due.push((page + self.spec.limits.audit_interval, page, Flight::Page));
        due.sort_by_key(|(rank, ..)| *rank);
        due.into_iter().map(|(_, when, flight)| (when, flight)).collect()
    }

    /// Takes a call's price from the budget, if nothing holds it back.
    fn pay(&self, flight: Flight, now: Mono, budget: &mut Budget) -> Result<Flight, Later> {
        let call = match &flight {
            Flight::Verify => Call::Verify,
            Flight::Page | Flight::Name(_) | Flight::Look(Look::Settle) => Call::Read,
            Flight::Look(Look::Change(_)) => Call::Check,
            Flight::Submit(_) | Flight::Forgotten => Call::Submit,
        };
        self.troubles.ready(call, now)?;
        let changes = match &flight {
            Flight::Submit(sent) => u32::try_from(sent.changes.len()).unwrap_or(u32::MAX),
            _ => 0,
        };
        let audit = matches!(flight, Flight::Page) && !self.audit.needed();
        if audit {
            budget.take_audit(now)?;
        } else {
            budget.take(now, 1, changes)?;
        }
        Ok(flight)
    }

    /// The next batch.
    fn submit(&mut self, now: Now, budget: &mut Budget) -> Result<Flight, Later> {
        let waits = !self.queue.is_empty() || (self.releasing && !self.fence.gone()) || self.probe.is_some();
        if !waits || !self.fence.open() {
            return Err(None);
        }
        self.troubles.ready(Call::Submit, now.mono)?;
        budget.ready_for_changes(now.mono)?;
        let units = if self.probe.is_some() {
            Vec::new()
        } else {
            self.pick(now.mono, budget)?
        };
        let ends = units.is_empty() && self.probe.is_none();
        let fence = self.records.at(self.fence.name());
        let (mut changes, written) = if ends {
            (self.fence.end(fence), None)
        } else {
            let (changes, text) = self.fence.begin(fence);
            (changes, Some(text))
        };
        let wanted: Vec<Change> = units.iter().flat_map(|unit| unit.changes.iter().cloned()).collect();
        changes.extend(order::arrange(&wanted));
        let sent = Sent {
            written,
            units,
            changes,
            at: now,
        };
        self.pay(Flight::Submit(Box::new(sent)), now.mono, budget)
    }

    /// The units of the next batch; none if only the fence is left to take away.
    fn pick(&mut self, now: Mono, budget: &Budget) -> Result<Vec<Unit>, Later> {
        let fence = self.records.at(self.fence.name());
        let room = Room {
            fence: self.fence.cost(fence),
            record_sets: self.records.count() + usize::from(fence.is_empty()),
            max_record_sets: usize::try_from(self.spec.limits.record_sets).unwrap_or(usize::MAX),
            max_changes: budget.change_burst(),
        };
        let picked = self.queue.pick(&self.records, &room, now);
        let refused = picked.blocked.into_iter();
        self.news
            .extend(refused.map(|(hostname, part)| ZoneNews::Refused { hostname, part }));
        self.news.extend(picked.stale.into_iter().map(ZoneNews::Changed));
        let ends = self.queue.is_empty() && self.releasing;
        if picked.units.is_empty() && !ends {
            return Err(picked.wake);
        }
        Ok(picked.units)
    }

    fn effect(&mut self, flight: &Flight) -> ZoneEffect {
        let hosted_zone = self.spec.hosted_zone.clone();
        match flight {
            Flight::Verify | Flight::Forgotten => ZoneEffect::Verify { hosted_zone },
            Flight::Page => ZoneEffect::ReadPage {
                hosted_zone,
                start: self.audit.start(self.now),
            },
            Flight::Name(name) => ZoneEffect::ReadName {
                hosted_zone,
                name: name.clone(),
            },
            Flight::Submit(sent) => ZoneEffect::Submit {
                hosted_zone,
                changes: sent.changes.clone(),
            },
            Flight::Look(Look::Change(change_id)) => ZoneEffect::CheckChange {
                change_id: change_id.clone(),
            },
            Flight::Look(Look::Settle) => ZoneEffect::ReadName {
                hosted_zone,
                name: self.fence.name().clone(),
            },
        }
    }
}

fn sooner(one: Later, other: Later) -> Later {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, None) => one,
        (None, other) => other,
    }
}
