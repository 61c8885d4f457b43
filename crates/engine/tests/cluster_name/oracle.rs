//! What must hold in every version of the zone, and how a world is told apart in tests.

use truce_engine::reason::Problem;
use truce_engine::rule::endpoint::fence_name;
use truce_engine::value::record::{RecordData, RecordSet};

use crate::world::{NAME, World};
use crate::zone::Act;

impl World {
    /// Law 1: what a member owns is deleted only when no run of it is about to write; a TXT names a member only after
    /// it has read the DNSEndpoint.
    pub(crate) fn hand_over_is_allowed(&self, acts: &[Act]) {
        let members = |act: &Act| format!("{:?}", act.set().data).contains("owner=ed-east");
        for act in acts.iter().filter(|act| members(act)) {
            match act {
                Act::Delete(set) => {
                    assert!(
                        !self.member.about_to(NAME),
                        "the hub deletes {set:?} while a run of the member writes"
                    );
                    let fence = self.api.objects.get(&fence_name(&self.endpoint_name()));
                    let passed = fence.is_some_and(|fence| {
                        fence.observed_generation == Some(fence.generation)
                            && fence.endpoints[0].dns_name.ends_with("-2.fence.truce.invalid")
                    });
                    assert!(passed, "the hub deletes {set:?} before the fence");
                }
                Act::Create(set) | Act::Upsert(set) => {
                    let object = self.api.objects.get(&self.endpoint_name());
                    let read = object.is_some_and(|object| object.observed_generation.is_some());
                    assert!(read || self.releasing, "{set:?} for a DNSEndpoint that was not read");
                }
            }
        }
    }

    /// The oracle's look at a zone version: whole pairs, an address once there is one, no placeholder beside it.
    pub(crate) fn look(&mut self) {
        for bystander in &self.baseline {
            assert!(
                self.zone.sets().any(|set| set == bystander),
                "{bystander:?} was touched"
            );
        }
        let records = self.zone.at(NAME);
        let placeholder = |set: &RecordSet| format!("{:?}", set.data).contains("\"192.0.2.1\"");
        let real = records.iter().filter(|set| !placeholder(set)).count();
        assert!(real == 0 || real == records.len(), "the placeholder beside an address");
        self.live |= real > 0;
        if self.live && !self.releasing {
            assert!(real > 0, "the name lost its address");
        }
        for kind in ["a", "aaaa", "cname"] {
            let txt = !self.zone.at(&format!("{}{kind}-{NAME}", self.member.prefix)).is_empty();
            let record = records
                .iter()
                .any(|set| set.record_type.as_str().eq_ignore_ascii_case(kind));
            assert_eq!(record, txt, "half a pair of {kind}: {:#?}", self.lines());
        }
    }

    /// The zone but for the bystanders, a line a set.
    pub(crate) fn lines(&self) -> Vec<String> {
        let own = self.zone.sets().filter(|set| !self.baseline.contains(set));
        own.map(|set| {
            let data = match &set.data {
                RecordData::Values { ttl, values } => format!("{ttl} {}", values.join(" ")),
                RecordData::Alias { zone, target, .. } => format!("ALIAS {target} {zone}"),
                RecordData::Opaque => "opaque".to_owned(),
            };
            format!("{} {} {data}", set.name, set.record_type)
        })
        .collect()
    }

    pub(crate) fn problem(&self, reason: truce_api::Reason) -> Option<&Problem> {
        self.last.problems.iter().find(|problem| problem.reason == reason)
    }

    pub(crate) fn adopted(&self) -> bool {
        self.last.adoption == Some(truce_api::Adoption::Adopted)
    }
}
