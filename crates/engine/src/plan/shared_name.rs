//! The shared name of one hostname: its plan, what holds it back, and the unit for the zone.
//!
//! Invariant: whoever leaves without having been asked to is named, so that the guard can hold it; whatever stands in
//! the way without being confirmed stops the unit. Deliberately absent: the rules (`rule/shared.rs`).

use std::collections::{BTreeMap, BTreeSet};

use truce_api::Reason;

use super::clusters::{self, Found};
use super::diff::{self, Present};
use super::hostname::Planner;
use super::input::HostnamePlan;
use super::reach::{InZone, Reach};
use super::unit::{Part, Priority, Unit};
use super::view::View;
use crate::reason::Problem;
use crate::rule::confirm::Words;
use crate::rule::shared::{self, Place, SharedInput, SharedPlan};
use crate::value::dns_name::{DnsName, RecordName};
use crate::value::ids::ClusterName;
use crate::value::owned::{Owned, is_replaceable};
use crate::value::record::{RecordSet, RecordType};
use crate::world::hostnames::Selection;
use crate::world::zones::Records;

impl Planner<'_, '_> {
    /// Whether a cluster that the zone has belongs to a MemberCluster whose spec was never valid since the start: then
    /// nobody can say what it shall be, and nothing of the shared name is changed.
    pub(super) fn unreadable(&self, published: &[RecordSet], view: &mut View) -> bool {
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
    pub(super) fn shared(
        &self,
        found: &BTreeMap<ClusterName, Found>,
        present: &Present,
        published: &[RecordSet],
        refused: bool,
        plan: &mut HostnamePlan,
    ) -> Option<SharedPlan> {
        if self.hostname.deleting {
            let live = clusters::live_sets(published, &self.input.config.hub);
            plan.withdrawal = (live.keys().cloned().collect(), live.values().sum());
            return None;
        }
        let in_force = plan.memory.policy;
        let wildcard = wildcard_answers(self.zone.records, self.placed.names.shared.name());
        plan.behind_wildcard =
            present.claim.is_none() && below_wildcard(self.zone.records, self.placed.names.shared.name());
        let zone = InZone {
            hub: &self.input.config.hub,
            shared: &self.placed.names.shared,
            published,
        };
        let words = plan.memory.words.clone();
        let make = |reach: Reach, inputs: BTreeMap<ClusterName, shared::ClusterInput>| {
            shared::plan(&SharedInput {
                hub: zone.hub,
                shared: zone.shared,
                hosted_zone: &self.placed.zone_spec.hosted_zone,
                apex: self.placed.spec.hostname == self.placed.zone_spec.domain,
                spec: &reach.spec(&self.placed.spec, in_force),
                clusters: &reach.clusters(inputs, zone),
                published,
                in_force,
                ever_live: plan.memory.ever_live,
                claimed: present.claim.is_some(),
                wildcard_answers: wildcard,
                confirm: words.confirm(self.hostname),
            })
        };
        let reach = match (self.paused(), refused) {
            (true, _) => Reach::DrainsOnly,
            (false, true) => Reach::NothingNew,
            (false, false) => Reach::Whole,
        };
        let mut inputs: BTreeMap<_, _> = found
            .iter()
            .map(|(name, found)| (name.clone(), found.input.clone()))
            .collect();
        let mut made = make(reach, inputs.clone());
        plan.withdrawal = self.withdrawal(found, &made, published);
        if self.input.hold.is_some() {
            // Whoever leaves without having been asked to stays as the zone has it.
            for name in &plan.withdrawal.0 {
                if let Some(input) = inputs.get_mut(name) {
                    input.selected = true;
                    input.address = clusters::in_zone(published, zone.shared, zone.hub, name);
                }
            }
            made = make(reach, inputs.clone());
        }
        if made.refused && present.claim.is_some() {
            // What the spec asks for cannot be served; what is served is still drained and follows its addresses.
            let fallback = make(Reach::NothingNew, inputs);
            if !fallback.refused {
                made = SharedPlan {
                    problems: made.problems,
                    refused: true,
                    ..fallback
                };
            }
        }
        plan.memory.policy = Some(made.policy);
        plan.confirms |= made.gives_up;
        Some(made)
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
        let off_list = |name: &ClusterName| match &self.placed.spec.selection {
            Selection::Clusters(listed) => !listed.contains_key(name),
            Selection::Selector(_) => false,
        };
        let leaves = |name: &&ClusterName| {
            let stays = made.clusters.get(*name).map(|state| &state.place);
            if matches!(stays, Some(Place::Live | Place::LastServing(_))) {
                return false;
            }
            let asked = found.get(*name).is_some_and(|found| found.input.draining.is_some());
            let member = self.input.world.members.get(*name);
            let taken_off = off_list(name)
                && member.is_some_and(|member| !member.facts.deleting)
                && found.get(*name).is_some_and(|found| !found.input.selected);
            !asked && !taken_off
        };
        let clusters: BTreeSet<ClusterName> = live.keys().filter(leaves).cloned().collect();
        let sets = clusters.iter().filter_map(|name| live.get(name)).sum();
        (clusters, sets)
    }

    /// What stands in the way of the shared name, if it is not confirmed that it may be replaced.
    pub(super) fn in_the_way(
        &self,
        present: &Present,
        shared: &Option<SharedPlan>,
        plan: &mut HostnamePlan,
    ) -> Option<Problem> {
        let shared = shared.as_ref()?;
        let sets = diff::in_the_way(present, &self.placed.names.shared, &shared.sets);
        sets.first()?;
        let (what, confirm) = (agreement(&sets), plan.memory.words.confirm(self.hostname));
        let replaceable = sets.iter().all(|set| is_replaceable(set));
        if replaceable && confirm.agrees(&what) {
            plan.confirms = true;
            return None;
        }
        let all: Vec<_> = sets.iter().take(5).map(|set| diff::describe(set)).collect();
        let way_out = match replaceable {
            true => format!(
                "delete it, or agree to replace exactly this: {}",
                confirm.command(&what)
            ),
            false => "Truce cannot replace it exactly: delete it".to_owned(),
        };
        let message = format!("someone else's record stands in the way: {}; {way_out}", all.join("; "));
        // A word that was carried out agreed to something else.
        let word = confirm.word.filter(|word| replaceable && confirm.spent != Some(word));
        Some(match word {
            None => Problem::new(Reason::RecordConflict, message),
            Some(_) => Problem::new(
                Reason::ConfirmStale,
                format!("what the confirm annotation agreed to is not what is there now: {message}"),
            ),
        })
    }

    pub(super) fn shared_unit(
        &self,
        present: &Present,
        shared: Option<&SharedPlan>,
        found: &BTreeMap<ClusterName, Found>,
        plan: &mut HostnamePlan,
    ) {
        let names = &self.placed.names.shared;
        let wanted: Vec<RecordSet> = shared.map(|shared| shared.sets.clone()).unwrap_or_default();
        let confirmed = self.confirmed(present, &wanted, &plan.memory.words);
        let any = !wanted.is_empty();
        let wanted = self.free_of_others(present, &confirmed, wanted);
        if any && wanted.is_empty() {
            // Every family that is wanted is taken by somebody else: what answers now stays until that is settled.
            return;
        }
        let (hub, key) = (&self.input.config.hub, &self.hostname.key);
        let claim = shared
            .filter(|shared| shared.claim)
            .map(|_| diff::claim_set(names, hub, key, &wanted));
        let changes = diff::changes(present, confirmed, claim, &wanted, self.zone.records);
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

    /// What is wanted; of the families in which somebody else's set stands in the way, what is there now: the families
    /// never lean on each other.
    fn free_of_others(
        &self,
        present: &Present,
        confirmed: &[Owned<RecordSet>],
        mut wanted: Vec<RecordSet>,
    ) -> Vec<RecordSet> {
        if confirmed.is_empty() {
            let others = diff::in_the_way(present, &self.placed.names.shared, &wanted);
            let blocked: BTreeSet<RecordType> = others.iter().map(|set| set.record_type).collect();
            wanted.retain(|set| !blocked.contains(&set.record_type));
            let stays = present.owned.iter().map(Owned::get);
            wanted.extend(stays.filter(|set| blocked.contains(&set.record_type)).cloned());
        }
        wanted
    }

    /// Whether what stands in the way leaves nothing to be done: nothing is claimed yet, or it is no matter of one
    /// family alone.
    pub(super) fn blocked(&self, present: &Present, shared: &Option<SharedPlan>) -> bool {
        let Some(shared) = shared else { return false };
        let others = diff::in_the_way(present, &self.placed.names.shared, &shared.sets);
        let family = |set: &&RecordSet| {
            matches!(set.record_type, RecordType::A | RecordType::Aaaa) && set.name == *self.placed.names.shared.name()
        };
        let cname = shared.sets.iter().any(|set| set.record_type == RecordType::Cname);
        present.claim.is_none() || cname || !others.iter().all(family)
    }

    /// The foreign sets that a person agreed to replace.
    fn confirmed(&self, present: &Present, wanted: &[RecordSet], words: &Words) -> Vec<Owned<RecordSet>> {
        let confirm = words.confirm(self.hostname);
        let Some(word) = confirm.word else {
            return Vec::new();
        };
        let sets = diff::in_the_way(present, &self.placed.names.shared, wanted);
        let hash = confirm.hash(&agreement(&sets));
        sets.into_iter()
            .filter_map(|set| Owned::confirmed(set, word, &hash))
            .collect()
    }
}

/// What a person agrees to who lets sets be replaced: exactly these.
fn agreement(sets: &[&RecordSet]) -> String {
    sets.iter().map(|set| format!("{set:?}\n")).collect()
}

/// Whether a wildcard of the zone answers for a name today: the name and everything below it does not exist, and its
/// closest encloser has a wildcard (RFC 4592, section 3.3).
fn wildcard_answers(records: &Records, name: &RecordName) -> bool {
    let exists = |name: &RecordName| records.below(name).next().is_some();
    if exists(name) {
        return false;
    }
    for parent in parents(name) {
        if answering_wildcard(records, &parent, name) {
            return true;
        }
        if exists(&parent) {
            return false;
        }
    }
    false
}

/// Whether a wildcard of the zone could answer for a name if nothing closer existed: then any record that comes or goes
/// may decide it.
fn below_wildcard(records: &Records, name: &RecordName) -> bool {
    parents(name).any(|parent| answering_wildcard(records, &parent, name))
}

fn parents(name: &RecordName) -> impl Iterator<Item = RecordName> {
    let first = name.name().parent();
    std::iter::successors(first, DnsName::parent).map(|parent| RecordName::listed(parent.as_str()))
}

fn answering_wildcard(records: &Records, parent: &RecordName, name: &RecordName) -> bool {
    let wildcard = parent.child("*").ok().filter(|wildcard| wildcard != name);
    let answers = |set: &RecordSet| matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname);
    wildcard.is_some_and(|wildcard| records.at(&wildcard).iter().any(answers))
}
