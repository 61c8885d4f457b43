//! One record type of a shared name: who stands in it, and how one set of it is written.
//!
//! Invariant: every set that routing writes is made here, so TTL, `EvaluateTargetHealth` and set identifiers are the
//! same in all policies. Deliberately absent: who stands (`rule/shared.rs`) and where (the file of each policy).

use truce_api::Reason;

use super::policy::list;
use super::shared::SharedInput;
use crate::reason::Problem;
use crate::value::address::Address;
use crate::value::dns_name::{NameError, RecordName};
use crate::value::elb;
use crate::value::ids::{ClusterName, SetIdentifier};
use crate::value::record::{FailoverRole, RecordData, RecordSet, RecordType, Routing};
use crate::value::region::Region;
use crate::value::shared_name::Group;

/// A cluster that stands in a family, if its group lets it.
#[derive(Debug, Clone)]
pub struct Member {
    /// Who.
    pub cluster: ClusterName,
    /// Its region.
    pub region: Region,
    /// Its role, should the policy be Failover.
    pub role: FailoverRole,
    /// Its weight; 0 while it is drained and may stay for the TTL window.
    pub weight: u8,
    /// What it publishes; has this family.
    pub address: Address,
}

impl Member {
    /// Whether it may be the answer.
    pub fn serves(&self) -> bool {
        self.weight > 0
    }
}

/// One record type of a shared name.
#[derive(Debug)]
pub struct Family<'a> {
    /// What is planned.
    pub input: &'a SharedInput<'a>,
    /// A or AAAA; or CNAME, and then it is the only family.
    pub record_type: RecordType,
    /// Who stands in it, by name.
    pub members: Vec<Member>,
}

impl Family<'_> {
    /// The set identifier of a cluster's own set.
    pub fn cluster_id(&self, cluster: &ClusterName) -> SetIdentifier {
        SetIdentifier::of_cluster(self.input.hub, cluster)
    }

    /// The set identifier of the alias to a group.
    pub fn group_id(&self, group: &Group) -> SetIdentifier {
        SetIdentifier::of_group(self.input.hub, &group.label())
    }

    /// A cluster's set at a name; fails if the name of its IP group would be too long.
    pub fn cluster_set(&self, at: &RecordName, member: &Member, routing: Routing) -> Result<RecordSet, Problem> {
        Ok(RecordSet {
            name: at.clone(),
            record_type: self.record_type,
            routing,
            data: self.data(member)?,
            health_check: None,
        })
    }

    /// An alias at a name to a group of the same type.
    pub fn group_alias(&self, at: &RecordName, group: &Group, routing: Routing) -> Result<RecordSet, Problem> {
        Ok(RecordSet {
            name: at.clone(),
            record_type: self.record_type,
            routing,
            data: RecordData::Alias {
                zone: self.input.hosted_zone.clone(),
                target: self.group_name(group)?.name().clone(),
                evaluate_target_health: self.input.spec.evaluate_target_health,
            },
            health_check: None,
        })
    }

    /// A group's name; fails if it would be too long.
    pub fn group_name(&self, group: &Group) -> Result<RecordName, Problem> {
        let shared = self.input.shared;
        shared.group(group).map_err(|error| too_long(shared.name(), &error))
    }

    /// Whether a member's set at the shared name or in a group can be an alias: only a load balancer outside CNAME.
    pub fn is_alias(&self, member: &Member) -> bool {
        matches!(member.address, Address::Alias { .. }) && self.record_type != RecordType::Cname
    }

    /// The addresses behind the CNAME of a cluster with IPs: simple sets under a name of its own.
    pub fn ip_targets(&self, member: &Member) -> Result<Vec<RecordSet>, Problem> {
        let Address::Ips { v4, v6 } = &member.address else {
            return Ok(Vec::new());
        };
        let name = self.group_name(&Group::Ip(member.cluster.clone()))?;
        let families = [
            (RecordType::A, v4.iter().map(ToString::to_string).collect::<Vec<_>>()),
            (RecordType::Aaaa, v6.iter().map(ToString::to_string).collect()),
        ];
        Ok(families
            .into_iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(record_type, values)| RecordSet {
                name: name.clone(),
                record_type,
                routing: Routing::Simple,
                data: RecordData::values(self.input.spec.ttl, values),
                health_check: None,
            })
            .collect())
    }

    fn data(&self, member: &Member) -> Result<RecordData, Problem> {
        let ttl = self.input.spec.ttl;
        Ok(match (&member.address, self.record_type) {
            (Address::Ips { .. }, RecordType::Cname) => {
                let target = self.group_name(&Group::Ip(member.cluster.clone()))?;
                RecordData::values(ttl, [target.as_str()])
            }
            (Address::Ips { v6, .. }, RecordType::Aaaa) => RecordData::values(ttl, v6.iter().map(ToString::to_string)),
            (Address::Ips { v4, .. }, _) => RecordData::values(ttl, v4.iter().map(ToString::to_string)),
            // The prefix is how `published_address` later tells a dual-stack load balancer from another.
            (Address::Alias { target, dual_stack, .. }, RecordType::Cname) if *dual_stack => {
                RecordData::values(ttl, [target.as_str()])
            }
            (Address::Alias { target, .. }, RecordType::Cname) => {
                RecordData::values(ttl, [elb::without_dualstack(target)])
            }
            (Address::Alias { zone, target, .. }, _) => RecordData::Alias {
                zone: zone.clone(),
                target: target.clone(),
                evaluate_target_health: self.input.spec.evaluate_target_health,
            },
            (Address::Name(name), _) => RecordData::values(ttl, [name.as_str()]),
        })
    }
}

fn too_long(shared: &RecordName, error: &NameError) -> Problem {
    let message =
        format!("{shared} needs a name below it that Route 53 does not take: {error}; use a shorter hostname");
    Problem::new(Reason::Invalid, message)
}

/// The record types a shared name has in a mode: CNAME alone, or A and AAAA.
pub fn types(cname: bool) -> &'static [RecordType] {
    if cname {
        &[RecordType::Cname]
    } else {
        &[RecordType::A, RecordType::Aaaa]
    }
}

/// Whether an address has sets of a type in its mode; every address can be a CNAME's target.
pub fn has(address: &Address, record_type: RecordType) -> bool {
    record_type == RecordType::Cname || address.has(record_type)
}

/// Clusters without a family that others have.
pub fn mismatch(input: &SharedInput<'_>, cname: bool) -> Option<Problem> {
    if cname {
        return None;
    }
    let selected = input.clusters.iter().filter(|(_, cluster)| cluster.selected);
    let seen: Vec<(&ClusterName, &Address)> = selected
        .filter_map(|(name, cluster)| Some((name, cluster.address.as_ref()?)))
        .collect();
    let texts = [(RecordType::A, "IPv4 (A)"), (RecordType::Aaaa, "IPv6 (AAAA)")].map(|(record_type, words)| {
        let side = |has: bool| {
            let side = seen.iter().filter(move |(_, address)| address.has(record_type) == has);
            side.map(|(name, _)| *name).collect::<Vec<_>>()
        };
        let (with, without) = (side(true), side(false));
        let differ = !with.is_empty() && !without.is_empty();
        differ.then(|| format!("{} has {words}, {} has not", list(with), list(without)))
    });
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| {
        let message = format!(
            "{}; give all clusters' load balancers the same families",
            texts.join("; ")
        );
        Problem::new(Reason::AddressFamilyMismatch, message)
    })
}
