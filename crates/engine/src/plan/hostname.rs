//! The plan of one hostname: the rules in their order.
//!
//! Invariant: nothing is planned for the zone before its records are known; what is refused keeps what it published.
//! Deliberately absent: the rules (`rule/`), and when what is planned is sent (`zone/`, `pace/`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use super::accept::{self, Placed};
use super::cluster_names::{Named, Steps};
use super::clusters::{self, Found, Look};
use super::diff;
use super::input::{HostnamePlan, PlanInput, ZoneView};
use super::memory::HostnameMemory;
use super::status;
use super::view::{ClusterView, View};
use crate::reason::Problem;
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::ClusterName;
use crate::value::owned::is_placeholder;
use crate::value::record::RecordSet;
use crate::world::hostnames::{Hostname, Selection};

/// Plans one hostname, which lives where `placed` says. Its `memory` is left in the plan as the next one needs it.
pub fn plan(
    input: &PlanInput<'_>,
    hostname: &Hostname,
    placed: &Result<Placed, Problem>,
    memory: HostnameMemory,
) -> HostnamePlan {
    let mut plan = HostnamePlan {
        memory,
        ..HostnamePlan::default()
    };
    let view = match placed {
        Err(problem) => unplaced(hostname, problem.clone(), &mut plan),
        Ok(placed) => in_zone(input, hostname, placed, &mut plan),
    };
    if !hostname.deleting && !hostname.finalizer {
        plan.finalizer = Some(true);
    }
    if plan.finalizer == Some(true) {
        // Nothing is written before the object is sure to be seen when it goes.
        plan.units.clear();
        plan.endpoints.clear();
    }
    plan.status = status::status(hostname, &view, &input.config.hub, &input.config.timings, input.now);
    plan.wake_at(super::outcome::status_wake(&view, input));
    plan
}

/// A hostname without a zone: nothing of it can be published anywhere.
fn unplaced(hostname: &Hostname, problem: Problem, plan: &mut HostnamePlan) -> View {
    if hostname.deleting && hostname.status.zone.is_none() {
        plan.finalizer = hostname.finalizer.then_some(false);
    }
    View {
        refused: Some(problem),
        ..View::default()
    }
}

fn in_zone(input: &PlanInput<'_>, hostname: &Hostname, placed: &Placed, plan: &mut HostnamePlan) -> View {
    plan.zone = Some(placed.zone.clone());
    plan.depends.zone = Some(placed.zone.clone());
    let zone_id = (placed.zone.clone(), placed.zone_spec.hosted_zone.clone());
    let mut view = View {
        zone: Some(zone_id),
        ..View::default()
    };
    let zone = (input.zone)(&placed.zone);
    let Some(zone) = zone.filter(|zone| zone.ready) else {
        let problem = (input.zone)(&placed.zone).and_then(|zone| zone.problem);
        view.refused = problem.map(|problem| {
            let message = format!("DNSZone {}: {}", placed.zone, problem.message);
            Problem::new(Reason::ZoneNotReady, message)
        });
        plan.waits_for_zone = true;
        return view;
    };
    view.zone_read = true;
    Planner {
        input,
        hostname,
        placed,
        zone: &zone,
    }
    .plan(view, plan)
}

/// One hostname in its zone, read and writable.
pub(super) struct Planner<'a, 'w> {
    pub(super) input: &'a PlanInput<'w>,
    pub(super) hostname: &'a Hostname,
    pub(super) placed: &'a Placed,
    pub(super) zone: &'a ZoneView<'w>,
}

impl<'w> Planner<'_, 'w> {
    fn plan(&self, mut view: View, plan: &mut HostnamePlan) -> View {
        let shared = &self.placed.names.shared;
        let (hub, key) = (&self.input.config.hub, &self.hostname.key);
        let present = diff::present(self.zone.records, shared, hub, key);
        let published: Vec<RecordSet> = present.owned.iter().map(|owned| owned.get().clone()).collect();
        let insync = self.zone.change.as_ref().is_none_or(|(_, pending)| pending.is_none());
        let (timings, now) = (&self.input.config.timings, self.input.now);
        clusters::note_ttls(&mut plan.memory, &published, insync, timings, now);
        let ttl_over = plan.memory.ttls.changes_at(now.wall);
        plan.wake_at(ttl_over.map(|at| now.mono_at(at)));
        let placeholder = |set: &RecordSet| is_placeholder(set);
        plan.memory.ever_live |= published.iter().any(|set| !placeholder(set));
        view.refused = self.refused();
        if view.refused.is_some() && present.claim.is_none() {
            // What holds nothing here may still find a better zone.
            view.zone = None;
        }
        view.placeholder = published.iter().any(placeholder);
        view.max_ttl = plan.memory.ttls.pair(now.wall, timings.ttl_memory);
        view.last_change = self
            .zone
            .change
            .as_ref()
            .map(|(id, _)| id.clone())
            .or_else(|| self.hostname.status.last_change_id.clone());
        let found = self.look(&published, insync, plan, &mut view);
        let unreadable = self.unreadable(&published, &mut view);
        let refused = view.refused.is_some();
        let mut found = found;
        if refused && present.claim.is_none() {
            // Nothing of it is published, so nothing serves, drains or stands in anybody's way.
            found.values_mut().for_each(|found| found.input.selected = false);
        }
        let shared = self.shared(&found, &present, &published, refused, plan);
        let in_the_way = self.in_the_way(&present, &shared, plan);
        let holds = present.claim.is_some();
        if let (Some(shared), true) = (&shared, holds || !refused) {
            view.policy = Some((shared.policy, shared.policy_reason.clone()));
            view.problems.extend(shared.problems.iter().cloned());
            if shared.refused && !refused {
                view.refused = shared.problems.first().cloned();
            }
        }
        view.problems.extend(
            self.placed
                .note
                .iter()
                .map(|note| Problem::new(Reason::Accepted, note.clone())),
        );
        view.refused = view.refused.take().or(in_the_way.clone());
        let blocked = in_the_way.is_some() && self.blocked(&present, &shared);
        let frozen = refused && !holds && !self.hostname.deleting;
        // Nobody can say what a cluster without MemberCluster shall be but out: held whole.
        let lost = plan.withdrawal.0.iter().any(|name| !found.contains_key(name));
        let held = (self.hostname.deleting || lost) && self.input.hold.is_some();
        if !frozen && !held && !unreadable && !blocked {
            self.shared_unit(&present, shared.as_ref(), &found, plan);
        }
        let names = self.cluster_names(
            &found,
            (refused && !self.hostname.deleting) || (in_the_way.is_some() && !holds),
            plan,
        );
        plan.memory.words.after(plan.confirms, self.hostname.confirm.as_deref());
        view.last_confirmed = plan.memory.words.spent.clone();
        self.conclude(view, &present, published, found, shared, names, plan)
    }

    /// Why nothing new may be published.
    fn refused(&self) -> Option<Problem> {
        accept::refused(self.input.config, self.input.world, self.hostname, self.placed).or_else(|| {
            accept::lost(
                self.input.world,
                &self.hostname.key,
                self.placed,
                self.input.reservations,
            )
        })
    }

    /// Looks at every cluster that is selected or still holds something.
    fn look(
        &self,
        published: &[RecordSet],
        insync: bool,
        plan: &mut HostnamePlan,
        view: &mut View,
    ) -> BTreeMap<ClusterName, Found> {
        let world = self.input.world;
        let mut selected = accept::selection(world, self.hostname, &self.placed.spec);
        view.problems.append(&mut selected.problems);
        if let Selection::Clusters(listed) = &self.placed.spec.selection {
            plan.depends.clusters.extend(listed.keys().cloned());
        }
        let in_zone = clusters::published_clusters(published, &self.input.config.hub);
        self.unusable(&mut selected.clusters, &in_zone, view);
        let steps = self.steps(false);
        let mut all: BTreeSet<ClusterName> = steps.holding(&selected.clusters);
        all.extend(selected.clusters.iter().cloned());
        all.extend(in_zone);
        let look = Look {
            hub: &self.input.config.hub,
            world,
            timings: &self.input.config.timings,
            spec: &self.placed.spec,
            told: &self.hostname.status,
            shared: &self.placed.names.shared,
            published,
            insync,
            now: self.input.now,
        };
        let mut memory = std::mem::take(&mut plan.memory);
        let mut found = BTreeMap::new();
        for name in all {
            let Some(member) = world.members.get(&name) else {
                continue;
            };
            plan.depends.clusters.insert(name.clone());
            let is_selected = selected.clusters.contains(&name) && !self.hostname.deleting;
            if let Some(cluster) = look.cluster(&name, member, is_selected, &mut memory, plan) {
                found.insert(name, cluster);
            }
        }
        memory.clusters.retain(|name, _| found.contains_key(name));
        plan.memory = memory;
        found
    }

    /// Takes clusters that cannot be used out of the selected ones, and tells why. One whose name is ambiguous only now
    /// (a DNSZone came later, a backup gave new ages) keeps what it has `in_zone`.
    fn unusable(&self, selected: &mut BTreeSet<ClusterName>, in_zone: &BTreeSet<ClusterName>, view: &mut View) {
        let world = self.input.world;
        let listed = match &self.placed.spec.selection {
            Selection::Clusters(listed) => listed.keys().cloned().collect(),
            Selection::Selector(_) => BTreeSet::new(),
        };
        let told = self
            .hostname
            .status
            .clusters
            .iter()
            .filter(|status| status.adoption.is_some());
        let told = told.filter_map(|status| ClusterName::parse(&status.name).ok());
        let unread = told.filter(|name| world.members.get(name).is_some_and(|member| member.spec().is_none()));
        let mut names: BTreeSet<ClusterName> = listed.union(selected).cloned().collect();
        names.extend(unread);
        for name in &names {
            let problem = match world.members.get(name) {
                None => Problem::new(
                    Reason::ClusterNotFound,
                    format!("there is no MemberCluster {name}; create it, or take it off clusters"),
                ),
                Some(member) if member.facts.deleting => continue,
                Some(member) => match (self.input.ambiguous.get(name), member.spec()) {
                    (None, Some(_)) => continue,
                    (Some(_), Some(_)) if in_zone.contains(name) => continue,
                    (Some(problem), _) => problem.clone(),
                    (None, None) => {
                        let cause = member.facts.spec.as_ref().err().map(|problems| accept::first(problems));
                        let cause = cause.map(|problem| problem.message).unwrap_or_default();
                        Problem::new(Reason::Invalid, format!("MemberCluster {name} cannot be used: {cause}"))
                    }
                },
            };
            selected.remove(name);
            // What is told of its cluster name stands, for it may be there still.
            let told = self
                .hostname
                .status
                .clusters
                .iter()
                .find(|status| status.name == name.as_str());
            let cluster_hostname = told.and_then(|status| DnsName::parse(status.cluster_hostname.as_deref()?).ok());
            let cluster = ClusterView {
                selected: true,
                address_problem: Some(problem),
                adoption: told.and_then(|status| status.adoption),
                cluster_hostname: cluster_hostname
                    .and_then(|name| RecordName::within(name, &self.placed.zone_spec.domain)),
                ..ClusterView::default()
            };
            view.clusters.insert(name.clone(), cluster);
        }
    }

    pub(super) fn paused(&self) -> bool {
        self.hostname.paused
            || self
                .input
                .world
                .zones
                .get(&self.placed.zone)
                .is_some_and(|zone| zone.paused)
    }

    fn steps(&self, paused: bool) -> Steps<'_, 'w> {
        Steps {
            input: self.input,
            hostname: self.hostname,
            placed: self.placed,
            zone: self.zone,
            paused: paused || self.paused(),
        }
    }

    fn cluster_names(
        &self,
        found: &BTreeMap<ClusterName, Found>,
        frozen: bool,
        plan: &mut HostnamePlan,
    ) -> BTreeMap<ClusterName, Named> {
        let steps = self.steps(frozen);
        let mut memory = std::mem::take(&mut plan.memory);
        let mut names = BTreeMap::new();
        for (name, found) in found {
            let Some(member) = self.input.world.members.get(name) else {
                continue;
            };
            let wanted = found.input.selected && self.placed.spec.cluster_hostname.is_some();
            names.insert(
                name.clone(),
                steps.cluster(name, member, found, wanted, &mut memory, plan),
            );
        }
        plan.memory = memory;
        names
    }
}
