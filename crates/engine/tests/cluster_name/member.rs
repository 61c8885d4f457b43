//! A member: the DNSEndpoints of its API server, and its ExternalDNS 0.22 as a model.
//!
//! The model follows plan/plan.go, registry/txt/registry.go and provider/aws/aws.go at v0.22.0: a run reads the zone,
//! then lists its sources from the informer's cache (writing observedGeneration), then sends what it planned. It names
//! and words its TXTs by itself, not by the engine's code.

use std::collections::{BTreeMap, BTreeSet};

use truce_engine::effect::{EndpointApply, MemberEffect};
use truce_engine::event::{DnsEndpointSeen, Endpoint};
use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ids::HostedZoneId;
use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing};

use crate::zone::{Act, Actor, Zone};

pub(crate) type Objects = BTreeMap<String, DnsEndpointSeen>;

/// The DNSEndpoints of one namespace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Api {
    pub(crate) objects: Objects,
    made: u64,
    /// Writes by the hub.
    pub(crate) writes: Vec<String>,
}

impl Api {
    pub(crate) fn carry_out(&mut self, effect: &MemberEffect) {
        self.writes.push(format!("{effect:?}"));
        match effect {
            MemberEffect::ApplyEndpoint(apply) => self.apply(apply),
            MemberEffect::DeleteEndpoint { name, uid, .. } => self.delete(name, Some(uid)),
            MemberEffect::DropFinalizer { name, uid, .. } => {
                if let Some(object) = self.objects.get_mut(name).filter(|object| object.uid == *uid) {
                    object.finalizer = false;
                    self.collect(name);
                }
            }
            other => panic!("not for an object: {other:?}"),
        }
    }

    fn apply(&mut self, apply: &EndpointApply) {
        assert!(
            apply
                .endpoints
                .iter()
                .all(|e| !e.targets.contains(&"192.0.2.1".to_owned())),
            "the placeholder is never in a DNSEndpoint"
        );
        self.made += 1;
        let fresh = DnsEndpointSeen {
            namespace: apply.namespace.clone(),
            name: apply.name.clone(),
            uid: format!("{:08x}-0000-4000-8000-000000000000", self.made),
            generation: 1,
            observed_generation: None,
            labels: apply.labels.clone(),
            annotations: apply.annotations.clone(),
            deleting: false,
            finalizer: apply.finalizer,
            endpoints: apply.endpoints.clone(),
        };
        let object = self.objects.entry(apply.name.clone()).or_insert(fresh);
        if object.endpoints != apply.endpoints {
            object.endpoints = apply.endpoints.clone();
            object.generation += 1;
        }
        assert!(
            !object.deleting || object.finalizer || !apply.finalizer,
            "a finalizer cannot be added to an object that is being deleted"
        );
        object.finalizer = apply.finalizer;
        object.labels.extend(apply.labels.clone());
        object.annotations.extend(apply.annotations.clone());
        let name = apply.name.clone();
        self.collect(&name);
    }

    /// As `kubectl delete` does.
    pub(crate) fn delete(&mut self, name: &str, uid: Option<&String>) {
        if let Some(object) = self.objects.get_mut(name)
            && uid.is_none_or(|uid| object.uid == *uid)
        {
            object.deleting = true;
            self.collect(name);
        }
    }

    fn collect(&mut self, name: &str) {
        if self
            .objects
            .get(name)
            .is_some_and(|object| object.deleting && !object.finalizer)
        {
            self.objects.remove(name);
        }
    }
}

/// Where a run is.
#[derive(Debug, Clone, Default)]
enum Run {
    #[default]
    Idle,
    ZoneRead(Vec<RecordSet>),
    Planned(Vec<Act>),
}

/// The ExternalDNS.
#[derive(Debug, Clone)]
pub(crate) struct ExternalDns {
    pub(crate) owner: String,
    pub(crate) sync: bool,
    pub(crate) prefix: String,
    /// Drops what it reads (`--exclude-target-net` and the like).
    pub(crate) filters: bool,
    cache: Objects,
    run: Run,
}

/// What a source wants: the record and its resource.
type Candidate = (RecordSet, String);

impl ExternalDns {
    pub(crate) fn new(owner: &str, sync: bool, prefix: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            sync,
            prefix: prefix.to_owned(),
            filters: false,
            cache: Objects::new(),
            run: Run::Idle,
        }
    }

    /// The informer catches up.
    pub(crate) fn informed(&mut self, api: &Api) {
        self.cache = api.objects.clone();
    }

    pub(crate) fn list_zone(&mut self, zone: &Zone) {
        if matches!(self.run, Run::Idle) {
            self.run = Run::ZoneRead(zone.sets().cloned().collect());
        }
    }

    pub(crate) fn list_sources(&mut self, api: &mut Api) {
        let Run::ZoneRead(sets) = &self.run else {
            return;
        };
        let sets = sets.clone();
        for object in self.cache.values_mut() {
            let stored = api
                .objects
                .get_mut(&object.name)
                .filter(|stored| stored.uid == object.uid);
            if let Some(stored) = stored {
                stored.observed_generation = Some(object.generation);
            }
        }
        let acts = self.plan(&sets);
        self.run = Run::Planned(acts);
    }

    /// Sends the whole batch, and if that is refused name by name (aws.go, submitChanges).
    pub(crate) fn apply(&mut self, zone: &mut Zone) {
        let Run::Planned(acts) = &self.run else {
            return;
        };
        let acts = acts.clone();
        self.run = Run::Idle;
        if acts.is_empty() || zone.apply(Actor::Member, &acts).is_ok() {
            return;
        }
        let names: BTreeSet<_> = acts.iter().map(|act| self.record_of(act.set())).collect();
        for name in names {
            let group: Vec<_> = acts
                .iter()
                .filter(|act| self.record_of(act.set()) == name)
                .cloned()
                .collect();
            // A refusal is retried in the next run.
            let _ = zone.apply(Actor::Member, &group);
        }
    }

    /// What the run that is alive is about to send for a name.
    pub(crate) fn about_to(&self, name: &str) -> bool {
        match &self.run {
            Run::Planned(acts) => acts.iter().any(|act| self.record_of(act.set()) == name),
            Run::Idle | Run::ZoneRead(_) => false,
        }
    }

    fn record_of(&self, set: &RecordSet) -> String {
        let name = set.name.as_str();
        if set.record_type != RecordType::Txt {
            return name.to_owned();
        }
        let rest = name.strip_prefix(&self.prefix).unwrap_or(name);
        rest.split_once('-').map_or(rest, |(_, rest)| rest).to_owned()
    }

    fn txt_name(&self, set: &RecordSet) -> String {
        let kind = set.record_type.as_str().to_ascii_lowercase();
        format!("{}{kind}-{}", self.prefix, set.name)
    }

    fn txt(&self, set: &RecordSet, resource: &str) -> RecordSet {
        let value = format!(
            "\"heritage=external-dns,external-dns/owner={},external-dns/resource={resource}\"",
            self.owner
        );
        simple(&self.txt_name(set), RecordType::Txt, RecordData::values(300, [value]))
    }

    fn plan(&self, sets: &[RecordSet]) -> Vec<Act> {
        let mut rows: BTreeMap<String, (Vec<&RecordSet>, Vec<Candidate>)> = BTreeMap::new();
        for set in sets.iter().filter(|set| is_managed(set)) {
            rows.entry(set.name.to_string()).or_default().0.push(set);
        }
        for candidate in self.candidates() {
            rows.entry(candidate.0.name.to_string()).or_default().1.push(candidate);
        }
        rows.values()
            .flat_map(|(current, candidates)| self.row(sets, current, candidates))
            .collect()
    }

    fn row(&self, sets: &[RecordSet], current: &[&RecordSet], candidates: &[Candidate]) -> Vec<Act> {
        let mut acts = Vec::new();
        let label = |set: &RecordSet| self.label(sets, set).filter(|(owner, _)| *owner == self.owner);
        for set in current {
            let wanted = candidates.iter().find(|(c, _)| c.record_type == set.record_type);
            let Some((_, resource)) = label(set) else {
                continue;
            };
            match wanted {
                None if self.sync => {
                    acts.push(Act::Delete((*set).clone()));
                    acts.push(Act::Delete(self.txt(set, &resource)));
                }
                Some((candidate, resource)) if candidate.data != set.data => {
                    acts.push(Act::Upsert(self.txt(candidate, resource)));
                    if is_alias(candidate) == is_alias(set) {
                        acts.push(Act::Upsert(candidate.clone()));
                    } else {
                        acts.push(Act::Delete((*set).clone()));
                        acts.push(Act::Create(candidate.clone()));
                    }
                }
                None | Some(_) => {}
            }
        }
        let all_mine = current.iter().all(|set| label(set).is_some());
        let new = |(c, _): &&Candidate| !current.iter().any(|set| set.record_type == c.record_type);
        for (candidate, resource) in candidates.iter().filter(new).filter(|_| all_mine) {
            acts.push(Act::Create(candidate.clone()));
            let txt = self.txt(candidate, resource);
            // An existing TXT of whatever owner is left as it is (registry.go, since 0.19).
            if !sets.iter().any(|set| set.key() == txt.key()) {
                acts.push(Act::Create(txt));
            }
        }
        // Deletes before creates, as Route 53 applies them in order.
        acts.sort_by_key(|act| matches!(act, Act::Create(_)));
        acts
    }

    fn label(&self, sets: &[RecordSet], set: &RecordSet) -> Option<(String, String)> {
        let name = self.txt_name(set);
        let txt = sets
            .iter()
            .find(|txt| txt.record_type == RecordType::Txt && txt.name.as_str() == name)?;
        let RecordData::Values { values, .. } = &txt.data else {
            return None;
        };
        let text = values.first()?.trim_matches('"');
        let token = |key: &str| text.split(',').find_map(|t| t.strip_prefix(key)).map(str::to_owned);
        Some((
            token("external-dns/owner=")?,
            token("external-dns/resource=").unwrap_or_default(),
        ))
    }

    fn candidates(&self) -> Vec<Candidate> {
        if self.filters {
            return Vec::new();
        }
        let objects = self.cache.values();
        let of = |object: &DnsEndpointSeen| {
            let resource = format!("crd/{}/{}", object.namespace, object.name);
            object
                .endpoints
                .iter()
                .filter_map(made_of)
                .map(move |set| (set, resource.clone()))
                .collect::<Vec<_>>()
        };
        objects.flat_map(of).collect()
    }
}

fn made_of(endpoint: &Endpoint) -> Option<RecordSet> {
    endpoint.dns_name.ends_with(".example.com").then_some(())?;
    let record_type = RecordType::parse(&endpoint.record_type)?;
    let data = if endpoint.provider_specific.get("alias").is_some_and(|v| v == "true") {
        let target = endpoint.targets.first()?;
        // The suffixes that these tests use, from canonicalHostedZones.
        let zone = match target {
            t if t.ends_with("elb.us-west-2.amazonaws.com") => "Z18D5FSROUN65G",
            t if t.ends_with("us-east-1.elb.amazonaws.com") => "Z35SXDOTRQ7X7K",
            t => panic!("an alias to {t} would point into the own zone"),
        };
        RecordData::Alias {
            zone: HostedZoneId::parse(zone).unwrap(),
            target: DnsName::parse(target).unwrap(),
            evaluate_target_health: endpoint.provider_specific.get("aws/evaluate-target-health")? == "true",
        }
    } else {
        let ttl = u32::try_from(endpoint.record_ttl.unwrap_or(300)).unwrap();
        RecordData::values(ttl, endpoint.targets.iter().map(String::as_str))
    };
    Some(simple(&endpoint.dns_name, record_type, data))
}

/// A record set without routing.
pub(crate) fn simple(name: &str, record_type: RecordType, data: RecordData) -> RecordSet {
    RecordSet {
        name: RecordName::listed(name),
        record_type,
        routing: Routing::Simple,
        data,
        health_check: None,
    }
}

fn is_managed(set: &RecordSet) -> bool {
    matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname)
}

fn is_alias(set: &RecordSet) -> bool {
    matches!(set.data, RecordData::Alias { .. })
}
