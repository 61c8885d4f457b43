//! The plan of one hostname: the rules in their order.
//!
//! Invariant: nothing is planned for the zone before its records are known; what is refused keeps what it published.
//! Deliberately absent: the rules (`rule/`), and when what is planned is sent (`zone/`, `pace/`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use super::accept::{self, Placed};
use super::cluster_names::{self, Named, Steps};
use super::clusters::{self, Found, Look};
use super::diff::{self, Present};
use super::input::{HostnamePlan, PlanInput, ZoneView};
use super::memory::{AddressBook, HostnameMemory};
use super::progress::Progress;
use super::status;
use super::view::{ClusterView, Programmed, View};
use crate::reason::Problem;
use crate::rule::shared::{self, Place, SharedInput, SharedPlan};
use crate::value::dns_name::RecordName;
use crate::value::ids::ClusterName;
use crate::value::owned::{Owned, is_placeholder};
use crate::value::ownership::ClaimText;
use crate::value::record::{RecordSet, RecordType};
use crate::world::hostnames::{Hostname, Selection};
use crate::world::zones::Records;
use crate::zone::unit::{Part, Priority, Unit};

/// Plans one hostname. `memory` and `book` are left as the next plan needs them.
pub fn plan(
    input: &PlanInput<'_>,
    hostname: &Hostname,
    memory: HostnameMemory,
    book: &mut AddressBook,
) -> HostnamePlan {
    let mut plan = HostnamePlan {
        memory,
        ..HostnamePlan::default()
    };
    let view = match accept::place(input.world, hostname) {
        Err(problem) => unplaced(hostname, problem, &mut plan),
        Ok(placed) => in_zone(input, hostname, &placed, book, &mut plan),
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
    plan.wake_at(status_wake(&view, input));
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

fn in_zone(
    input: &PlanInput<'_>,
    hostname: &Hostname,
    placed: &Placed,
    book: &mut AddressBook,
    plan: &mut HostnamePlan,
) -> View {
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
        return view;
    };
    view.zone_read = true;
    Planner {
        input,
        hostname,
        placed,
        zone: &zone,
    }
    .plan(view, book, plan)
}

/// One hostname in its zone, read and writable.
struct Planner<'a, 'w> {
    input: &'a PlanInput<'w>,
    hostname: &'a Hostname,
    placed: &'a Placed,
    zone: &'a ZoneView<'w>,
}

impl<'w> Planner<'_, 'w> {
    fn plan(&self, mut view: View, book: &mut AddressBook, plan: &mut HostnamePlan) -> View {
        let claim = ClaimText {
            hub: self.input.config.hub.clone(),
            hostname: self.hostname.key.clone(),
        };
        let present = diff::present(
            self.zone.records,
            &self.placed.names.shared,
            &self.input.config.hub,
            &claim,
        );
        let published: Vec<RecordSet> = present.owned.iter().map(|owned| owned.get().clone()).collect();
        let insync = self.zone.change.as_ref().is_none_or(|(_, pending)| pending.is_none());
        let (timings, now) = (&self.input.config.timings, self.input.now);
        clusters::note_ttls(&mut plan.memory, &published, insync, timings, now);
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
        let found = self.look(&published, insync, book, plan, &mut view);
        let unreadable = self.unreadable(&published, &mut view);
        let refused = view.refused.is_some();
        let shared = self.shared(&found, &present, &published, plan);
        let in_the_way = self.in_the_way(&present, &shared);
        if let (Some(shared), false) = (&shared, refused) {
            view.policy = Some((shared.policy, shared.policy_reason.clone()));
            view.problems.extend(shared.problems.iter().cloned());
            if shared.refused {
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
        let frozen = refused && !self.hostname.deleting;
        let held = self.hostname.deleting && self.input.hold.is_some();
        if !frozen && !held && !unreadable && in_the_way.is_none() {
            self.shared_unit(&present, shared.as_ref(), &found, plan);
        }
        let names = self.cluster_names(&found, frozen || in_the_way.is_some(), plan);
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
        book: &mut AddressBook,
        plan: &mut HostnamePlan,
        view: &mut View,
    ) -> BTreeMap<ClusterName, Found> {
        let world = self.input.world;
        let mut selected = accept::selection(world, self.hostname, &self.placed.spec);
        view.problems.append(&mut selected.problems);
        if let Selection::Clusters(listed) = &self.placed.spec.selection {
            plan.depends.clusters.extend(listed.keys().cloned());
        }
        self.unusable(&mut selected.clusters, view);
        let steps = self.steps(false);
        let mut all: BTreeSet<ClusterName> = steps.holding();
        all.extend(selected.clusters.iter().cloned());
        all.extend(clusters::published_clusters(published, &self.input.config.hub));
        let look = Look {
            hub: &self.input.config.hub,
            world,
            timings: &self.input.config.timings,
            spec: &self.placed.spec,
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
            if let Some(cluster) = look.cluster(&name, member, is_selected, &mut memory, book, plan) {
                found.insert(name, cluster);
            }
        }
        memory.clusters.retain(|name, _| found.contains_key(name));
        plan.memory = memory;
        found
    }

    /// Takes clusters that cannot be used out of the selected ones, and tells why.
    fn unusable(&self, selected: &mut BTreeSet<ClusterName>, view: &mut View) {
        let world = self.input.world;
        let listed = match &self.placed.spec.selection {
            Selection::Clusters(listed) => listed.keys().cloned().collect(),
            Selection::Selector(_) => BTreeSet::new(),
        };
        for name in listed.union(&selected.clone()) {
            let problem = match world.members.get(name) {
                None => Problem::new(
                    Reason::ClusterNotFound,
                    format!("there is no MemberCluster {name}; create it, or take it off clusters"),
                ),
                Some(member) if member.facts.deleting => continue,
                Some(member) => match (self.input.ambiguous.get(name), member.spec()) {
                    (None, Some(_)) => continue,
                    (Some(problem), _) => problem.clone(),
                    (None, None) => Problem::new(
                        Reason::Invalid,
                        format!("MemberCluster {name} cannot be used; see its conditions"),
                    ),
                },
            };
            selected.remove(name);
            let cluster = ClusterView {
                selected: true,
                address_problem: Some(problem),
                ..ClusterView::default()
            };
            view.clusters.insert(name.clone(), cluster);
        }
    }

    /// Whether a cluster that the zone has belongs to a MemberCluster whose spec was never valid since the start: then
    /// nobody can say what it shall be, and nothing of the shared name is changed.
    fn unreadable(&self, published: &[RecordSet], view: &mut View) -> bool {
        let published = clusters::published_clusters(published, &self.input.config.hub);
        let members = &self.input.world.members;
        let invalid = |name: &&ClusterName| members.get(*name).is_some_and(|member| member.spec().is_none());
        let Some(name) = published.iter().find(invalid).filter(|_| !self.hostname.deleting) else {
            return false;
        };
        let message = format!("MemberCluster {name} is invalid, so nothing is changed; see its conditions");
        view.problems.push(Problem::new(Reason::Invalid, message));
        true
    }

    /// What the shared name shall be; `None` if the hostname is being deleted.
    fn shared(
        &self,
        found: &BTreeMap<ClusterName, Found>,
        present: &Present,
        published: &[RecordSet],
        plan: &mut HostnamePlan,
    ) -> Option<SharedPlan> {
        if self.hostname.deleting {
            let live = clusters::live_sets(published, &self.input.config.hub);
            plan.withdrawal = (live.keys().cloned().collect(), live.values().sum());
            return None;
        }
        let mut inputs: BTreeMap<_, _> = found
            .iter()
            .map(|(name, found)| (name.clone(), found.input.clone()))
            .collect();
        let make = |inputs: &BTreeMap<ClusterName, shared::ClusterInput>, in_force| {
            shared::plan(&SharedInput {
                hub: &self.input.config.hub,
                shared: &self.placed.names.shared,
                hosted_zone: &self.placed.zone_spec.hosted_zone,
                apex: self.placed.spec.hostname == self.placed.zone_spec.domain,
                spec: &self.placed.spec,
                clusters: inputs,
                published,
                in_force,
                ever_live: plan.memory.ever_live,
                claimed: present.claim.is_some(),
                wildcard_answers: wildcard_answers(self.zone.records, self.placed.names.shared.name()),
            })
        };
        let mut made = make(&inputs, plan.memory.policy);
        plan.withdrawal = self.withdrawal(found, &made, published);
        if self.input.hold.is_some() || self.paused() {
            // Whoever leaves without having been asked to stays as the zone has it.
            for name in &plan.withdrawal.0 {
                if let Some(input) = inputs.get_mut(name) {
                    input.selected = true;
                    input.address =
                        clusters::in_zone(published, &self.placed.names.shared, &self.input.config.hub, name);
                }
            }
            made = make(&inputs, plan.memory.policy);
        }
        plan.memory.policy = Some(made.policy);
        Some(made)
    }

    fn paused(&self) -> bool {
        self.hostname.paused
            || self
                .input
                .world
                .zones
                .get(&self.placed.zone)
                .is_some_and(|zone| zone.paused)
    }

    /// The clusters that leave although no person asked for it: the address is gone, a selector or a deletion
    /// deselects them.
    fn withdrawal(
        &self,
        found: &BTreeMap<ClusterName, Found>,
        made: &SharedPlan,
        published: &[RecordSet],
    ) -> (BTreeSet<ClusterName>, usize) {
        let live = clusters::live_sets(published, &self.input.config.hub);
        let by_list = matches!(self.placed.spec.selection, Selection::Clusters(_));
        let leaves = |name: &&ClusterName| {
            let stays = made.clusters.get(*name).map(|state| &state.place);
            if matches!(stays, Some(Place::Live | Place::LastServing(_))) {
                return false;
            }
            let asked = found.get(*name).is_some_and(|found| found.input.draining.is_some());
            let member = self.input.world.members.get(*name);
            let taken_off = by_list
                && member.is_some_and(|member| !member.facts.deleting)
                && found.get(*name).is_some_and(|found| !found.input.selected);
            !asked && !taken_off
        };
        let clusters: BTreeSet<ClusterName> = live.keys().filter(leaves).cloned().collect();
        let sets = clusters.iter().filter_map(|name| live.get(name)).sum();
        (clusters, sets)
    }

    /// What stands in the way of the shared name, if it is not confirmed that it may be replaced.
    fn in_the_way(&self, present: &Present, shared: &Option<SharedPlan>) -> Option<Problem> {
        let shared = shared.as_ref()?;
        let sets = diff::in_the_way(present, &self.placed.names.shared, &shared.sets);
        sets.first()?;
        let hash = diff::confirm_hash(sets.iter().copied());
        if self.hostname.confirm.as_deref() == Some(hash.as_str()) {
            return None;
        }
        let all: Vec<_> = sets.iter().take(5).map(|set| diff::describe(set)).collect();
        let key = &self.hostname.key;
        let message = format!(
            "someone else's record stands in the way: {}; delete it, or agree to replace exactly this: kubectl annotate \
             ghn {} -n {} {}={hash}",
            all.join("; "),
            key.name,
            key.namespace,
            truce_api::CONFIRM,
        );
        Some(match &self.hostname.confirm {
            None => Problem::new(Reason::RecordConflict, message),
            Some(_) => Problem::new(
                Reason::ConfirmStale,
                format!("what the confirm annotation agreed to is not what is there now: {message}"),
            ),
        })
    }

    fn shared_unit(
        &self,
        present: &Present,
        shared: Option<&SharedPlan>,
        found: &BTreeMap<ClusterName, Found>,
        plan: &mut HostnamePlan,
    ) {
        let names = &self.placed.names.shared;
        let text = ClaimText {
            hub: self.input.config.hub.clone(),
            hostname: self.hostname.key.clone(),
        };
        let claim = shared
            .filter(|shared| shared.claim)
            .map(|_| diff::claim_set(names, &text));
        let wanted: &[RecordSet] = shared.map_or(&[], |shared| shared.sets.as_slice());
        let confirmed = self.confirmed(present, wanted);
        let changes = diff::changes(present, confirmed, claim, wanted, self.zone.records);
        if changes.is_empty() {
            return;
        }
        let drains = found.values().any(|found| found.input.draining.is_some());
        let priority = match (shared, present.claim.is_some()) {
            (Some(_), true) if drains => Priority::Drain,
            (Some(_), true) => Priority::Address,
            (Some(_), false) | (None, _) => Priority::Onboarding,
        };
        if self.paused() && priority != Priority::Drain {
            return;
        }
        plan.urgent = priority == Priority::Drain;
        plan.units.push(Unit {
            hostname: self.hostname.key.clone(),
            part: Part::Shared,
            priority,
            changes,
        });
    }

    /// The foreign sets that a person agreed to replace.
    fn confirmed(&self, present: &Present, wanted: &[RecordSet]) -> Vec<Owned<RecordSet>> {
        let Some(confirm) = self.hostname.confirm.as_deref() else {
            return Vec::new();
        };
        let sets = diff::in_the_way(present, &self.placed.names.shared, wanted);
        let hash = diff::confirm_hash(sets.iter().copied());
        sets.into_iter()
            .filter_map(|set| Owned::confirmed(set, confirm, &hash))
            .collect()
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

    #[expect(clippy::too_many_arguments, reason = "the findings of every step come together here")]
    fn conclude(
        &self,
        mut view: View,
        present: &Present,
        published: Vec<RecordSet>,
        found: BTreeMap<ClusterName, Found>,
        shared: Option<SharedPlan>,
        names: BTreeMap<ClusterName, Named>,
        plan: &mut HostnamePlan,
    ) -> View {
        let live = clusters::live_sets(&published, &self.input.config.hub);
        let owned =
            published.len() + usize::from(present.claim.is_some()) + cluster_names::count(self.zone.records, &names);
        plan.owned = (owned, live.values().sum());
        for (name, found) in found {
            let named = names.get(&name).cloned().unwrap_or_default();
            let state = shared.as_ref().and_then(|shared| shared.clusters.get(&name));
            let cluster = ClusterView {
                cluster_hostname: named.name,
                adoption: named.adoption,
                place: state.map(|state| state.place.clone()),
                place_problems: state.map(|state| state.problems.clone()).unwrap_or_default(),
                name_problems: named.problems,
                left: named.left,
                ..found.view
            };
            let in_zone = live.contains_key(&name);
            plan.progress
                .insert(name.clone(), progress(&cluster, in_zone, named.holds));
            if cluster.selected || named.holds || in_zone {
                view.clusters.insert(name, cluster);
            }
        }
        view.programmed = self.programmed(plan);
        if self.hostname.deleting {
            self.deletion(&mut view, present, plan);
        }
        view.published = published;
        view.shared = Some(self.placed.names.shared.clone());
        plan.read = true;
        view
    }

    fn programmed(&self, plan: &HostnamePlan) -> Programmed {
        let change = self.zone.change.as_ref();
        Programmed {
            pending: !plan.units.is_empty() || change.is_some_and(|(_, pending)| pending.is_some()),
            since: change.and_then(|(_, pending)| *pending),
            refused: self.zone.refusals.first().map(|(_, problem)| problem.clone()),
            held: self.input.hold.clone().filter(|_| !plan.withdrawal.0.is_empty()),
        }
    }

    /// A hostname that goes drops its finalizer once the zone and every member are proven clean of it.
    fn deletion(&self, view: &mut View, present: &Present, plan: &mut HostnamePlan) {
        let mut left: Vec<String> = view
            .clusters
            .iter()
            .flat_map(|(name, cluster)| cluster.left.iter().map(move |left| format!("{name}: {left}")))
            .collect();
        let shared = present.owned.len() + usize::from(present.claim.is_some());
        if shared > 0 {
            left.push(format!("{shared} record sets of {}", self.placed.spec.hostname));
        }
        let holds = view.clusters.values().any(|cluster| !cluster.left.is_empty());
        let open = plan.progress.values().any(|progress| !progress.left.is_empty());
        let pending = self.zone.change.as_ref().is_some_and(|(_, pending)| pending.is_some());
        if shared == 0 && !holds && !open && plan.units.is_empty() && plan.endpoints.is_empty() && !pending {
            plan.finalizer = self.hostname.finalizer.then_some(false);
        }
        view.deleting = Some(left);
    }
}

fn progress(cluster: &ClusterView, in_zone: bool, holds: bool) -> Progress {
    let mut left = cluster.left.clone();
    if in_zone {
        left.push("a set of the shared name".to_owned());
    }
    if holds && left.is_empty() {
        left.extend(
            cluster
                .cluster_hostname
                .as_ref()
                .map(ToString::to_string)
                .or(Some("its cluster name".to_owned())),
        );
    }
    let clock = cluster.drain.as_ref().map(|(_, clock)| clock);
    Progress {
        selected: cluster.selected,
        drained: clock.is_some_and(|clock| clock.drained),
        safe_at: clock.and_then(|clock| clock.safe_at),
        last_serving: cluster.draining() && cluster.last_serving().is_some(),
        left,
    }
}

/// Whether a wildcard of the zone answers for a name today: the name and everything below it does not exist, and its
/// closest encloser has a wildcard (RFC 4592, section 3.3).
fn wildcard_answers(records: &Records, name: &RecordName) -> bool {
    if records.below(name).next().is_some() {
        return false;
    }
    let mut encloser = name.name().parent();
    while let Some(parent) = encloser {
        let at = RecordName::listed(parent.as_str());
        let wildcard = at.child("*").ok().filter(|wildcard| wildcard != name);
        let answers = |set: &RecordSet| matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname);
        if wildcard.is_some_and(|wildcard| records.at(&wildcard).iter().any(answers)) {
            return true;
        }
        if records.below(&at).next().is_some() {
            return false;
        }
        encloser = parent.parent();
    }
    false
}

/// When the status changes by time alone: a change that is not INSYNC for too long, a member that is not fresh.
fn status_wake(view: &View, input: &PlanInput<'_>) -> Option<crate::time::Mono> {
    let timings = &input.config.timings;
    let late = view.programmed.since.map(|since| since + timings.insync_patience);
    let stale = view
        .clusters
        .values()
        .filter_map(|cluster| cluster.not_fresh.as_ref()?.since);
    let stale = stale.map(|since| since + timings.member_fresh);
    late.into_iter().chain(stale).filter(|at| *at > input.now.mono).min()
}
