//! A model of ExternalDNS 0.22 in every member: it observes DNSEndpoints, adopts, updates and (policy sync) deletes.

use std::collections::BTreeMap;

use truce_engine::value::dns_name::{DnsName, RecordName};
use truce_engine::value::ownership::OwnershipText;
use truce_engine::value::record::{RecordData, RecordSet, RecordType, Routing};

use super::Sim;

impl Sim {
    /// One run of every member's ExternalDNS: read the zone, list the sources (writing observedGeneration), apply.
    pub(crate) fn external_dns(&mut self) {
        for name in self.members.keys().cloned().collect::<Vec<_>>() {
            let member = self.members.get_mut(&name).unwrap();
            let Some((owner, sync)) = member.external_dns.clone().filter(|_| member.up) else {
                continue;
            };
            let mut observed = Vec::new();
            let mut wanted: BTreeMap<(RecordName, RecordType), (RecordSet, String)> = BTreeMap::new();
            for (key, endpoint) in &mut member.endpoints {
                if endpoint.observed_generation != Some(endpoint.generation) {
                    endpoint.observed_generation = Some(endpoint.generation);
                    observed.push(key.clone());
                }
                let records = truce_engine::rule::endpoint::records(
                    &RecordName::listed(
                        endpoint
                            .annotations
                            .get("dns.truce.dev/cluster-hostname")
                            .map_or("x.invalid", String::as_str),
                    ),
                    &endpoint.endpoints,
                );
                for set in records.into_iter().flatten() {
                    let resource = format!("crd/{}/{}", endpoint.namespace, endpoint.name);
                    wanted.insert((set.name.clone(), set.record_type), (set, resource));
                }
            }
            for key in observed {
                self.endpoint_changed(&name, &key);
            }
            self.reconcile(&name, &owner, sync, wanted);
        }
    }

    fn reconcile(
        &mut self,
        who: &str,
        owner: &str,
        sync: bool,
        wanted: BTreeMap<(RecordName, RecordType), (RecordSet, String)>,
    ) {
        let before = self.zone.sets.clone();
        for ((name, record_type), (set, resource)) in &wanted {
            if !name.name().is_within(&DnsName::parse("example.com").unwrap()) {
                continue;
            }
            let txt = txt_name(name, *record_type);
            let current = self.zone.sets.get(&set.key()).cloned();
            let held = self.owner_of(&txt);
            let anything = self.zone.sets.values().any(|other| other.name == *name);
            match (current, held) {
                (Some(current), Some(held)) if held == owner && current != *set => self.zone.put(set.clone()),
                (Some(_), _) => {}
                (None, held) => {
                    let row_owned = !anything
                        || self
                            .zone
                            .sets
                            .values()
                            .filter(|s| s.name == *name)
                            .all(|s| self.owner_of(&txt_name(&s.name, s.record_type)).as_deref() == Some(owner));
                    // Record and TXT are created in one batch, so a stranger's TXT keeps both away.
                    let txt_exists = self.zone.sets.values().any(|set| set.name == txt);
                    if row_owned && (held.as_deref() == Some(owner) || !txt_exists) {
                        self.zone.put(set.clone());
                        if held.is_none() {
                            self.zone.put(ownership(&txt, owner, resource));
                        }
                    }
                }
            }
        }
        if sync {
            let mine: Vec<RecordSet> = self
                .zone
                .sets
                .values()
                .filter(|set| matches!(set.record_type, RecordType::A | RecordType::Aaaa | RecordType::Cname))
                .filter(|set| self.owner_of(&txt_name(&set.name, set.record_type)).as_deref() == Some(owner))
                .filter(|set| !wanted.contains_key(&(set.name.clone(), set.record_type)))
                .cloned()
                .collect();
            for set in mine {
                let txt = txt_name(&set.name, set.record_type);
                self.zone.sets.remove(&set.key());
                self.zone.sets.retain(|_, other| other.name != txt);
            }
        }
        if self.zone.sets != before {
            self.record(who);
        }
    }

    fn owner_of(&self, txt: &RecordName) -> Option<String> {
        let set = self
            .zone
            .sets
            .values()
            .find(|set| set.name == *txt && set.record_type == RecordType::Txt)?;
        let RecordData::Values { values, .. } = &set.data else {
            return None;
        };
        OwnershipText::read(values.first()?).map(|text| text.owner)
    }
}

pub(crate) fn txt_name(name: &RecordName, record_type: RecordType) -> RecordName {
    RecordName::listed(&format!("{}-{name}", record_type.as_str().to_lowercase()))
}

fn ownership(name: &RecordName, owner: &str, resource: &str) -> RecordSet {
    RecordSet {
        name: name.clone(),
        record_type: RecordType::Txt,
        routing: Routing::Simple,
        data: RecordData::values(300, [OwnershipText::write(owner, resource)]),
        health_check: None,
    }
}
