//! What the answer to a zone's call means.
//!
//! Invariant: an answer that was lost is looked up, never guessed; a refusal makes the model fresh before anything is
//! sent again; what Route 53 accepted is in the model at once.

use std::collections::BTreeSet;

use super::audit::Audit;
use super::bisect;
use super::fence::Reading;
use super::programmed::Look;
use super::runtime::{Flight, Sent, ZoneNews, ZoneRuntime};
use super::trouble::{Call, no_zone, shortened};
use crate::event::{Class, Failure, Outcome, Success};
use crate::plan::unit::Unit;
use crate::reason::Problem;
use crate::time::{Now, Wall};
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::record::RecordSet;
use truce_api::Reason;

/// For how long an accepted batch shows that the zone as a whole may be written.
const WRITABLE: std::time::Duration = std::time::Duration::from_secs(60);
/// Point reads beyond the pages of a complete read that are still preferred to one.
const FEW: usize = 2;

impl ZoneRuntime {
    /// Takes the outcome of the call that `next` asked for; without one in flight it is ignored.
    pub fn done(&mut self, outcome: Outcome, now: Now) -> Vec<ZoneNews> {
        self.now = now.mono;
        let Some(flight) = self.flight.take() else {
            return Vec::new();
        };
        let before = (self.ready(), self.problem());
        match outcome {
            Ok(success) => self.succeeded(flight, success),
            Err(failure) => self.failed(flight, failure),
        }
        if before != (self.ready(), self.problem()) {
            self.news.push(ZoneNews::Problem);
        }
        self.news()
    }

    fn succeeded(&mut self, flight: Flight, success: Success) {
        match (flight, success) {
            (Flight::Forgotten, _) => {}
            (
                Flight::Verify,
                Success::Zone {
                    account, name, private, ..
                },
            ) => self.zone(&account, &name, private),
            (Flight::Page, Success::Page { sets, next }) => {
                self.troubles.ok(Call::Read);
                let proof = self.audit.page(sets, next, &mut self.records, self.now);
                self.must_read.extend(proof.missing);
                let fence = proof.changed.contains(self.fence.name());
                self.news.extend(proof.changed.into_iter().map(ZoneNews::Changed));
                if fence || (self.audit.complete() && self.fence.unread()) {
                    self.look_at_fence();
                }
            }
            (Flight::Name(name), Success::Name { sets }) => {
                self.troubles.ok(Call::Read);
                self.name(&name, sets);
            }
            (Flight::Look(look @ Look::Settle), Success::Name { sets }) => {
                self.troubles.ok(Call::Read);
                let name = self.fence.name().clone();
                self.name(&name, sets);
                self.looked(&look, true);
            }
            (Flight::Look(look @ Look::Change(_)), Success::Change { insync }) => {
                self.troubles.ok(Call::Check);
                self.looked(&look, insync);
            }
            (Flight::Submit(sent), Success::Submitted { change_id, at }) => {
                self.troubles.ok(Call::Submit);
                self.accepted(&sent, Some(change_id), at);
            }
            (flight, other) => {
                let failure = Failure {
                    class: Class::Retry,
                    code: "UnexpectedAnswer".to_owned(),
                    message: format!("an answer to another question: {other:?}")
                        .chars()
                        .take(200)
                        .collect(),
                    ambiguous: true,
                };
                self.failed(flight, failure);
            }
        }
    }

    /// Route 53 told account, name and visibility of the hosted zone.
    fn zone(&mut self, account: &str, name: &str, private: bool) {
        let spec = &self.spec;
        let zone = format!("hosted zone {}", spec.hosted_zone);
        let wrong = if account != spec.account {
            let text = format!(
                "{zone}: the hub's credentials are of account {account}, accountID says {}; correct one of them",
                spec.account
            );
            Some(Problem::new(Reason::WrongAccount, text))
        } else if DnsName::from_route53(name) != spec.domain {
            let text = format!(
                "{zone} is that of {name}, domain says {}; correct domain or hostedZoneID",
                spec.domain
            );
            Some(Problem::new(Reason::WrongDomain, text))
        } else if private {
            let text = format!(
                "{zone} ({}) is a private zone; write the id of a public one",
                spec.domain
            );
            Some(Problem::new(Reason::PrivateZone, text))
        } else {
            None
        };
        match wrong {
            Some(problem) => self.troubles.wrong(Call::Verify, problem, self.now),
            None => {
                self.troubles.ok(Call::Verify);
                self.verified = true;
            }
        }
    }

    /// All sets under one name were read.
    fn name(&mut self, name: &RecordName, sets: Vec<RecordSet>) {
        self.must_read.remove(name);
        if self.want_read.get(name).is_some_and(|due| *due <= self.now) {
            self.want_read.remove(name);
        }
        let fence = name == self.fence.name();
        if fence && let Some(sent) = self.doubt.take() {
            self.resolve(&sent, &sets);
        }
        self.audit.known(name);
        if self.records.set(name, sets) {
            self.news.push(ZoneNews::Changed(name.clone()));
        }
        if fence {
            self.look_at_fence();
        }
    }

    /// The fence tells whether a batch whose answer was lost was applied. Its names are read all the same: a twin of
    /// this process that started at the same moment may have written the same fence.
    fn resolve(&mut self, sent: &Sent, fence: &[RecordSet]) {
        if self.fence.tells_applied(fence, sent.written.as_ref()) {
            self.troubles.ok(Call::Submit);
            self.accepted(sent, None, sent.at.wall);
        }
        self.reread(&sent.units);
    }

    fn look_at_fence(&mut self) {
        let sets = self.records.at(self.fence.name());
        if self.fence.observe(sets) == Reading::Surprise && self.fence.open() {
            self.audit.need(self.now);
        }
    }

    /// A batch is in the zone.
    fn accepted(&mut self, sent: &Sent, change_id: Option<String>, at: Wall) {
        self.fence.applied(sent.written.clone());
        for name in self.records.apply(&sent.changes) {
            self.audit.known(&name);
            if name != *self.fence.name() {
                self.news.push(ZoneNews::Changed(name));
            }
        }
        self.queue.applied(&sent.units);
        self.accepted_at = Some(self.now);
        for unit in &sent.units {
            self.news.push(ZoneNews::Applied {
                hostname: unit.hostname.clone(),
                part: unit.part.clone(),
                change_id: change_id.clone().unwrap_or_default(),
            });
        }
        let hostnames = sent.units.iter().map(|unit| unit.hostname.clone()).collect();
        self.programmed.accepted(change_id, hostnames, at, self.now);
        if sent.units.is_empty()
            && let Some((units, failure)) = self.probe.take()
        {
            // The fence alone went through: it is a unit that is denied.
            self.blame(&units, &failure);
        }
    }

    fn looked(&mut self, look: &Look, insync: bool) {
        let hostnames = self.programmed.looked(look, insync, self.now);
        if !hostnames.is_empty() {
            let change_id = match look {
                Look::Change(id) => id.clone(),
                Look::Settle => String::new(),
            };
            self.news.push(ZoneNews::Insync { hostnames, change_id });
        }
    }

    fn failed(&mut self, flight: Flight, failure: Failure) {
        if no_zone(&failure) && !matches!(flight, Flight::Forgotten) {
            self.verified = false;
            self.troubles.failed(Call::Verify, &failure, self.now);
        }
        if failure.class == Class::Throttled && failure.code != "PriorRequestNotComplete" {
            // That one is about this zone alone; all others are about the account (docs/route53.md 1.2).
            self.slow_down = true;
        }
        match flight {
            Flight::Forgotten => {}
            Flight::Verify => {
                self.troubles.failed(Call::Verify, &failure, self.now);
            }
            Flight::Page => {
                self.troubles.failed(Call::Read, &failure, self.now);
                self.audit.failed(self.now);
            }
            Flight::Name(_) => {
                self.troubles.failed(Call::Read, &failure, self.now);
            }
            Flight::Look(Look::Change(id)) if failure.class == Class::Permanent => {
                self.programmed.unknown(&id, self.now)
            }
            Flight::Look(look) => {
                let call = if look == Look::Settle { Call::Read } else { Call::Check };
                let until = self.troubles.failed(call, &failure, self.now);
                self.programmed.postpone(&look, until);
            }
            Flight::Submit(sent) => self.submit_failed(*sent, &failure),
        }
    }

    fn submit_failed(&mut self, sent: Sent, failure: &Failure) {
        if failure.ambiguous {
            self.doubt = Some(sent);
            self.troubles.failed(Call::Submit, failure, self.now);
            return;
        }
        match failure.class {
            Class::Retry | Class::Throttled => {
                self.troubles.failed(Call::Submit, failure, self.now);
            }
            Class::Conflict => self.conflict(&sent, failure),
            Class::Denied | Class::Permanent => {
                let writable = self.accepted_at.is_some_and(|at| self.now - at < WRITABLE);
                if sent.units.is_empty() || no_zone(failure) {
                    self.troubles.failed(Call::Submit, failure, self.now);
                } else if writable {
                    self.blame(&sent.units, failure);
                } else {
                    self.probe = Some((sent.units, failure.clone()));
                }
            }
        }
    }

    /// The zone is not as the batch assumed, or Route 53's rules forbid one of its changes.
    fn conflict(&mut self, sent: &Sent, failure: &Failure) {
        self.must_read.insert(self.fence.name().clone());
        let fence = bisect::names(&failure.message, self.fence.name().as_str());
        if fence || sent.units.is_empty() {
            // Somebody else writes the fence; the units may be right.
            self.troubles.failed(Call::Submit, failure, self.now);
            self.reread(&sent.units);
            return;
        }
        let named = |unit: &&Unit| bisect::names_unit(&failure.message, unit);
        let named: Vec<Unit> = sent.units.iter().filter(named).cloned().collect();
        self.reread(if named.is_empty() { &sent.units } else { &named });
        self.blame(&sent.units, failure);
    }

    fn blame(&mut self, units: &[Unit], failure: &Failure) {
        let reason = if failure.class == Class::Denied {
            Reason::AccessDenied
        } else {
            Reason::ChangeRefused
        };
        let problem = Problem::new(
            reason,
            format!(
                "hosted zone {} ({}): Route 53 refused the change: {}",
                self.spec.hosted_zone,
                self.spec.domain,
                shortened(&failure.message)
            ),
        );
        let blame = bisect::blame(units, &failure.message);
        if let Some((hostname, part)) = self.queue.blame(units, blame, failure.class, problem, self.now) {
            self.news.push(ZoneNews::Refused { hostname, part });
        }
    }

    /// What is known under the units' names may be old: read them, or all where that takes fewer requests.
    fn reread(&mut self, units: &[Unit]) {
        let names: BTreeSet<RecordName> = units.iter().flat_map(Unit::names).cloned().collect();
        if names.len() <= Audit::pages(&self.records) + FEW {
            self.must_read.extend(names);
        } else {
            self.audit.need(self.now);
        }
    }
}
