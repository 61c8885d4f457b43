//! What a plan found out, put together for the status, and whether a hostname that goes is gone.
//!
//! Invariant: the finalizer drops only once the zone and every member are proven clean.

use std::collections::BTreeMap;

use truce_api::Reason;

use super::cluster_names::{self, Named};
use super::clusters::{self, Found};
use super::diff::Present;
use super::hostname::Planner;
use super::input::{HostnamePlan, PlanInput};
use super::progress::Progress;
use super::view::{ClusterView, Programmed, View};
use crate::reason::Problem;
use crate::rule::shared::SharedPlan;
use crate::value::ids::ClusterName;
use crate::value::record::RecordSet;

impl Planner<'_, '_> {
    #[expect(clippy::too_many_arguments, reason = "the findings of every step come together here")]
    pub(super) fn conclude(
        &self,
        mut view: View,
        present: &Present,
        published: Vec<RecordSet>,
        found: BTreeMap<ClusterName, Found>,
        shared: Option<SharedPlan>,
        mut names: BTreeMap<ClusterName, Named>,
        plan: &mut HostnamePlan,
    ) -> View {
        let live = clusters::live_sets(&published, &self.input.config.hub);
        // A hostname that is refused and holds nothing counts for nobody.
        let counts = present.claim.is_some() || view.refused.is_none();
        let owned =
            published.len() + usize::from(present.claim.is_some()) + cluster_names::count(self.zone.records, &names);
        plan.owned = (owned, live.values().sum());
        for (name, found) in found {
            let named = names.remove(&name).unwrap_or_default();
            let state = shared.as_ref().and_then(|shared| shared.clusters.get(&name));
            let cluster = ClusterView {
                cluster_hostname: named.name,
                adoption: named.adoption,
                hub_writes: named.hub_writes,
                place: state.map(|state| state.place.clone()),
                place_problems: state.map(|state| state.problems.clone()).unwrap_or_default(),
                name_problems: named.problems,
                left: named.left,
                ..found.view
            };
            // A set of simple routing does not tell whose it is; the plan does.
            let in_zone = live.contains_key(&name) || cluster.last_serving().is_some();
            let progress = Progress {
                selected: cluster.selected && counts,
                ..progress(&cluster, in_zone, named.holds)
            };
            plan.progress.insert(name.clone(), progress);
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
        view.cluster_hostnames = self.placed.spec.cluster_hostname.is_some();
        view
    }

    fn programmed(&self, plan: &HostnamePlan) -> Programmed {
        let change = self.zone.change.as_ref();
        Programmed {
            pending: !plan.units.is_empty() || change.is_some_and(|(_, pending)| pending.is_some()),
            since: change.and_then(|(_, pending)| *pending),
            refused: self.zone.refusals.first().map(|(_, problem)| problem.clone()),
            held: self
                .input
                .hold
                .clone()
                .filter(|_| !plan.withdrawal.0.is_empty())
                .or(self.paused().then(paused)),
        }
    }

    /// Clusters that have a cluster name by the status, but whose MemberCluster was never valid since the start: nobody
    /// can say what they still hold.
    fn unreadable_members(&self) -> Vec<String> {
        let told = self
            .hostname
            .status
            .clusters
            .iter()
            .filter(|status| status.adoption.is_some());
        let names = told.filter_map(|status| ClusterName::parse(&status.name).ok());
        let abandoned = |name: &ClusterName| self.hostname.abandon.as_ref() == Some(name);
        names
            .filter(|name| {
                self.input
                    .world
                    .members
                    .get(name)
                    .is_some_and(|member| member.spec().is_none())
            })
            .filter(|name| !abandoned(name))
            .map(|name| {
                format!(
                    "{name}: its MemberCluster is invalid; mend it, or leave behind what it has: kubectl annotate ghn {} -n \
                     {} --overwrite {}={name}",
                    self.hostname.key.name,
                    self.hostname.key.namespace,
                    truce_api::ABANDON
                )
            })
            .collect()
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
        left.extend(self.unreadable_members());
        left.extend(self.paused().then(|| paused().message));
        let holds = view.clusters.values().any(|cluster| !cluster.left.is_empty());
        let open = plan
            .progress
            .values()
            .any(|progress| progress.in_zone || !progress.left.is_empty());
        let pending = self.zone.change.as_ref().is_some_and(|(_, pending)| pending.is_some());
        let unreadable = !self.unreadable_members().is_empty();
        if shared == 0
            && !unreadable
            && !holds
            && !open
            && plan.units.is_empty()
            && plan.endpoints.is_empty()
            && !pending
        {
            plan.finalizer = self.hostname.finalizer.then_some(false);
        }
        view.deleting = Some(left);
    }
}

/// What is told of a pause.
fn paused() -> Problem {
    let annotation = truce_api::PAUSED;
    let message =
        format!("{annotation} is set, here or on the DNSZone: nothing but drains is written; remove it to go on");
    Problem::new(Reason::Paused, message)
}

fn progress(cluster: &ClusterView, in_zone: bool, holds: bool) -> Progress {
    let mut left = cluster.left.clone();
    if holds && !in_zone && left.is_empty() {
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
        in_zone,
        left,
    }
}

/// When the status changes by time alone: a change that is not INSYNC for too long, a member that is not fresh.
pub(super) fn status_wake(view: &View, input: &PlanInput<'_>) -> Option<crate::time::Mono> {
    let timings = &input.config.timings;
    let late = view.programmed.since.map(|since| since + timings.insync_patience);
    let stale = view
        .clusters
        .values()
        .filter_map(|cluster| cluster.not_fresh.as_ref()?.since);
    let stale = stale.map(|since| since + timings.member_fresh);
    late.into_iter().chain(stale).filter(|at| *at > input.now.mono).min()
}
