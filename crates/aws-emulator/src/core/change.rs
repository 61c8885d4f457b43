//! One batch against one zone: all of it or nothing, every error collected (route53.md 1.3, 1.4, 10.3 to 10.8).
//!
//! Invariant: after an error the zone is as before; changes are made in place and undone from a log, so that the cost
//! follows the batch. Deliberately absent: request shape and sizes, which come before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cidr::Collections;
use super::group;
use super::names::Name;
use super::record::{Alias, Data, Key, Policy, RecordSet, RecordType};
use super::shape::{Action, Draft, DraftData};
use super::target;
use super::values;
use super::violation::{Subject, Violation};
use super::zone::{Diff, Zone};

/// Most values of one set.
const MAX_VALUES: usize = 400;

/// What AWS leaves open or lets be raised; the defaults are the stricter reading.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Most record sets of a zone.
    pub max_sets_per_zone: usize,
    /// Refuse a batch after which an alias names a (name, type) that the batch emptied (undocumented).
    pub refuse_deleting_targets: bool,
    /// Refuse an UPSERT that gives an existing key another policy (documented for simple and weighted only).
    pub refuse_policy_change_by_upsert: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_sets_per_zone: 10_000,
            refuse_deleting_targets: true,
            refuse_policy_change_by_upsert: true,
        }
    }
}

/// What a batch is judged with beside its zone.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// What AWS leaves open.
    pub rules: &'a Rules,
    /// Locations that IP-based sets may name.
    pub collections: &'a Collections,
}

/// A draft whose name and values are good.
struct Step {
    /// Place in the batch.
    at: usize,
    action: Action,
    key: Key,
    set: RecordSet,
    subject: Subject,
}

/// Applies a batch.
///
/// # Errors
/// Every violation, in the order of the changes; the zone is then unchanged.
pub fn apply(zone: &mut Zone, drafts: &[Draft], around: &Surroundings<'_>) -> Result<Vec<Diff>, Vec<Violation>> {
    let mut violations = Vec::new();
    let mut steps = Vec::with_capacity(drafts.len());
    for (at, draft) in drafts.iter().enumerate() {
        match step(zone, at, draft) {
            Ok(step) => steps.push(step),
            Err(found) => violations.extend(found.into_iter().map(|v| (at, v))),
        }
    }
    let refused = repeated_keys(&steps);
    let mut seen = BTreeSet::new();
    for step in steps.iter().filter(|s| refused.contains(&s.key)) {
        if seen.insert(&step.key) {
            let found = Violation::InvalidSetOfChanges {
                name: step.subject.name.clone(),
                rtype: step.subject.rtype,
            };
            violations.push((step.at, found));
        }
    }
    steps.retain(|s| !refused.contains(&s.key));

    let mut work = Work {
        zone,
        undo: Vec::new(),
        violations,
    };
    work.run(steps, around);
    work.finish(around.rules)
}

/// Keys with more than one change that are not exactly DELETE, then CREATE (E16).
fn repeated_keys(steps: &[Step]) -> BTreeSet<Key> {
    let mut actions: BTreeMap<&Key, Vec<Action>> = BTreeMap::new();
    for step in steps {
        actions.entry(&step.key).or_default().push(step.action);
    }
    actions
        .into_iter()
        .filter(|(_, a)| a.len() > 1 && *a != [Action::Delete, Action::Create])
        .map(|(key, _)| key.clone())
        .collect()
}

/// Checks name and values by themselves.
fn step(zone: &Zone, at: usize, draft: &Draft) -> Result<Step, Vec<Violation>> {
    let name = Name::parse(&draft.name).map_err(|e| vec![Violation::Name(e)])?;
    if !name.is_within(&zone.name) {
        return Err(vec![Violation::OutsideZone {
            name: name.to_string(),
            zone: zone.name.to_string(),
        }]);
    }
    if let Some(comment) = zone.protections.find(&name.order(), draft.rtype) {
        return Err(vec![Violation::Protected {
            name: name.to_string(),
            rtype: draft.rtype,
            comment: comment.clone(),
        }]);
    }
    let data = match &draft.data {
        DraftData::Records { ttl, values } => {
            let violations = check_values(&name, draft.rtype, values);
            if !violations.is_empty() {
                return Err(violations);
            }
            Data::Records {
                ttl: *ttl,
                values: values.clone(),
            }
        }
        DraftData::Alias {
            zone_id,
            name: target,
            evaluate_target_health,
        } => Data::Alias(Alias {
            zone_id: zone_id.clone(),
            name: Name::parse(target).map_err(|e| vec![Violation::Name(e)])?,
            evaluate_target_health: *evaluate_target_health,
        }),
    };
    let set = RecordSet {
        name,
        rtype: draft.rtype,
        set_id: draft.set_id.clone(),
        policy: draft.policy.clone(),
        data,
        health_check: draft.health_check.clone(),
    };
    Ok(Step {
        at,
        action: draft.action,
        key: set.key(),
        subject: Subject {
            name: set.name.to_string(),
            rtype: set.rtype,
            set_id: set.set_id.clone(),
        },
        set,
    })
}

fn check_values(name: &Name, rtype: RecordType, values: &[String]) -> Vec<Violation> {
    let mut violations = Vec::new();
    if values.len() > MAX_VALUES {
        violations.push(Violation::TooManyValues);
    }
    if values.len() > 1 && matches!(rtype, RecordType::Cname | RecordType::Soa) {
        violations.push(Violation::OneValueOnly {
            name: name.to_string(),
            rtype,
        });
    }
    let mut seen = BTreeSet::new();
    for value in values {
        match values::canonical(rtype, value) {
            Ok(canonical) => {
                if !seen.insert(canonical) {
                    violations.push(Violation::DuplicateValue(value.clone()));
                }
            }
            Err(violation) => violations.push(violation),
        }
    }
    violations
}

/// Place of a violation that no single change is guilty of.
const AT_END: usize = usize::MAX;

/// A batch in progress on the zone itself.
struct Work<'z> {
    zone: &'z mut Zone,
    undo: Vec<(Key, Option<Arc<RecordSet>>)>,
    /// With the place of the change in the batch; [`AT_END`] for what only the end shows.
    violations: Vec<(usize, Violation)>,
}

impl Work<'_> {
    /// UPSERTs behave as "remove every upserted key first, then create in order" (octodns issue 366).
    fn run(&mut self, steps: Vec<Step>, around: &Surroundings<'_>) {
        for step in steps.iter().filter(|s| s.action == Action::Upsert) {
            let old = self.put(step.key.clone(), None);
            if around.rules.refuse_policy_change_by_upsert
                && let Some(old) = old
                && !old.policy.same_kind(&step.set.policy)
            {
                let found = Violation::OtherPolicyExists {
                    subject: step.subject.clone(),
                    policy: step.set.policy.word(),
                };
                self.violations.push((step.at, found));
            }
        }
        for step in steps {
            let at = step.at;
            let found = match step.action {
                Action::Delete => self.delete(step).into_iter().collect(),
                Action::Create | Action::Upsert => self.create(step, around.collections),
            };
            self.violations.extend(found.into_iter().map(|v| (at, v)));
        }
    }

    fn delete(&mut self, step: Step) -> Option<Violation> {
        let Some(current) = self.zone.get(&step.key) else {
            return Some(Violation::NotFound(step.subject));
        };
        if !same(current, &step.set) {
            return Some(Violation::ValuesDoNotMatch(step.subject));
        }
        self.put(step.key, None);
        None
    }

    fn create(&mut self, step: Step, collections: &Collections) -> Vec<Violation> {
        if self.zone.get(&step.key).is_some() {
            return vec![Violation::AlreadyExists(step.subject)];
        }
        let mut found = group::check(self.zone, &step.set, &step.subject);
        if let Policy::Cidr { collection, location } = &step.set.policy
            && !collections.has_location(collection, location)
        {
            found.push(Violation::UnknownLocation {
                collection: collection.clone(),
                location: location.clone(),
            });
        }
        if let Some(alias) = step.set.alias() {
            found.extend(target::check(self.zone, &step.set.name, step.set.rtype, alias));
        }
        if found.is_empty() {
            self.put(step.key, Some(Arc::new(step.set)));
        }
        found
    }

    fn put(&mut self, key: Key, set: Option<Arc<RecordSet>>) -> Option<Arc<RecordSet>> {
        let old = self.zone.put(key.clone(), set);
        self.undo.push((key, old.clone()));
        old
    }

    /// Judges the end of the batch; commits it or takes it back.
    fn finish(mut self, rules: &Rules) -> Result<Vec<Diff>, Vec<Violation>> {
        let diff = self.diff();
        if self.violations.is_empty() {
            let found = judge_end(self.zone, &diff, rules);
            self.violations.extend(found.into_iter().map(|v| (AT_END, v)));
        }
        if self.violations.is_empty() {
            return Ok(diff);
        }
        while let Some((key, old)) = self.undo.pop() {
            self.zone.put(key, old);
        }
        self.violations.sort_by_key(|(at, _)| *at);
        Err(self.violations.into_iter().map(|(_, v)| v).collect())
    }

    fn diff(&self) -> Vec<Diff> {
        let mut first: BTreeMap<&Key, &Option<Arc<RecordSet>>> = BTreeMap::new();
        for (key, old) in &self.undo {
            first.entry(key).or_insert(old);
        }
        first
            .into_iter()
            .map(|(key, before)| Diff {
                key: key.clone(),
                before: before.clone(),
                after: self.zone.get(key).cloned(),
            })
            .collect()
    }
}

/// What only the end of the batch shows.
fn judge_end(zone: &Zone, diff: &[Diff], rules: &Rules) -> Vec<Violation> {
    let mut violations = Vec::new();
    let apex = zone.name.order();
    if zone.group(&apex, RecordType::Ns).next().is_none() {
        violations.push(Violation::ApexNsMissing);
    }
    if zone.group(&apex, RecordType::Soa).next().is_none() {
        violations.push(Violation::ApexSoaMissing);
    }
    if zone.len() > rules.max_sets_per_zone {
        violations.push(Violation::ZoneFull(zone.id.clone()));
    }
    for change in diff {
        let found = match (&change.before, &change.after) {
            (_, Some(after)) => after
                .alias()
                .filter(|alias| target::too_deep(zone, &after.name, after.rtype, alias))
                .map(|_| Violation::AliasTooDeep(subject(after))),
            (Some(before), None) if rules.refuse_deleting_targets => {
                target::still_named(zone, &subject(before), &change.key.order)
            }
            (_, None) => None,
        };
        violations.extend(found);
    }
    violations
}

fn subject(set: &RecordSet) -> Subject {
    Subject {
        name: set.name.to_string(),
        rtype: set.rtype,
        set_id: set.set_id.clone(),
    }
}

/// Whether two sets are the same in every field; the order of values does not matter (route53.md 1.4).
fn same(a: &RecordSet, b: &RecordSet) -> bool {
    let data = match (&a.data, &b.data) {
        (Data::Alias(a), Data::Alias(b)) => a == b,
        (
            Data::Records {
                ttl: ttl_a,
                values: values_a,
            },
            Data::Records {
                ttl: ttl_b,
                values: values_b,
            },
        ) => ttl_a == ttl_b && canonical_set(a.rtype, values_a) == canonical_set(b.rtype, values_b),
        (Data::Alias(_), Data::Records { .. }) | (Data::Records { .. }, Data::Alias(_)) => false,
    };
    data && a.policy == b.policy && a.health_check == b.health_check
}

fn canonical_set(rtype: RecordType, values: &[String]) -> BTreeSet<Vec<u8>> {
    values
        .iter()
        .filter_map(|value| values::canonical(rtype, value).ok())
        .collect()
}
