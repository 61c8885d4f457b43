//! What Route 53 would answer: zone lookup, wildcards, policies, aliases, CNAME chains, negative answers.
//!
//! Invariant: pure; the client and the draws for weights come in. Deliberately absent: messages and sockets, and which
//! set of a group answers (`choose`).

use std::sync::Arc;

use crate::core::elb::{self, LoadBalancer};
use crate::core::names::Name;
use crate::core::record::{Data, RecordSet, RecordType};
use crate::core::service::Service;
use crate::core::zone::{Served, Zone};

use super::choose::Choice;
use super::client::Client;
use super::health::{self, MAX_ALIASES};
use super::loadbalancer::{self, LoadBalancers};
use super::rdata::{from_value, soa};

pub use super::rdata::{Rdata, Soa};

/// Most CNAMEs followed in one answer.
const MAX_CNAMES: usize = 8;

/// One record of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Owner.
    pub name: Name,
    /// Seconds.
    pub ttl: u32,
    /// Data.
    pub data: Rdata,
}

/// Kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The name exists; the answer section may still be empty (NODATA).
    Found,
    /// The name does not exist.
    NoSuchName,
    /// The name is delegated; the authority section has the NS records.
    Referral,
    /// No zone here holds the name.
    Refused,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Kind.
    pub kind: Kind,
    /// Answer section.
    pub answers: Vec<Record>,
    /// Authority section.
    pub authority: Vec<Record>,
}

/// What answering depends on beside the zones.
pub struct Resolver<'a, D> {
    /// Zones; each must have been advanced to the time of the query.
    pub service: &'a Service,
    /// Load balancers.
    pub load_balancers: &'a LoadBalancers,
    /// Who asks.
    pub client: Client<'a>,
    /// Gives a number below its argument; successive calls spread evenly.
    pub draw: D,
}

/// Result of one lookup in one zone.
enum Step {
    Done(Kind, Vec<Record>),
    Follow(Name),
}

impl<D: FnMut(u64) -> u64> Resolver<'_, D> {
    /// Answers a question; `rtype` is `None` for a type that is not kept here.
    pub fn answer(&mut self, name: &Name, rtype: Option<RecordType>) -> Answer {
        let service = self.service;
        let mut answers = Vec::new();
        let mut at = name.clone();
        for hop in 0..=MAX_CNAMES {
            let step = match zone_for(service, &at) {
                Some(zone) => self.in_zone(zone, &at, rtype, &mut answers),
                None => match elb::parse(&at) {
                    Some(lb) => self.load_balancer(&lb, &at, rtype, &mut answers),
                    None if hop == 0 => Step::Done(Kind::Refused, Vec::new()),
                    // The rest of the chain is for the resolver to find elsewhere.
                    None => Step::Done(Kind::Found, Vec::new()),
                },
            };
            match step {
                Step::Follow(next) => at = next,
                Step::Done(kind, authority) => {
                    return Answer {
                        kind,
                        answers,
                        authority,
                    };
                }
            }
        }
        Answer {
            kind: Kind::Found,
            answers,
            authority: Vec::new(),
        }
    }

    /// Answers from one zone alone, whatever other zones hold; a CNAME is not followed out of it.
    pub fn answer_in(&mut self, zone: &Zone, name: &Name, rtype: RecordType) -> Answer {
        let mut answers = Vec::new();
        let (kind, authority) = match self.in_zone(zone, name, Some(rtype), &mut answers) {
            Step::Follow(_) => (Kind::Found, Vec::new()),
            Step::Done(kind, authority) => (kind, authority),
        };
        Answer {
            kind,
            answers,
            authority,
        }
    }

    fn in_zone(&mut self, zone: &Zone, name: &Name, rtype: Option<RecordType>, answers: &mut Vec<Record>) -> Step {
        let served = zone.served();
        if let Some(delegation) = delegation(zone, name) {
            return Step::Done(Kind::Referral, delegation);
        }
        let Some(node) = node(served, zone, name) else {
            return Step::Done(Kind::NoSuchName, negative(zone));
        };
        let order = node.order();
        if rtype != Some(RecordType::Cname) {
            let cnames = self.group(zone, &order, RecordType::Cname, name, 0);
            if let Some(Record {
                data: Rdata::Cname(target),
                ..
            }) = cnames.first()
            {
                let target = target.clone();
                answers.extend(cnames);
                return Step::Follow(target);
            }
        }
        let found = match rtype {
            Some(rtype) => self.group(zone, &order, rtype, name, 0),
            None => Vec::new(),
        };
        if found.is_empty() {
            return Step::Done(Kind::Found, negative(zone));
        }
        answers.extend(found);
        Step::Done(Kind::Found, Vec::new())
    }

    fn load_balancer(
        &mut self,
        lb: &LoadBalancer,
        name: &Name,
        rtype: Option<RecordType>,
        answers: &mut Vec<Record>,
    ) -> Step {
        let found: Vec<Record> = rtype.map(|rtype| self.lb_records(lb, rtype, name)).unwrap_or_default();
        let authority = match found.is_empty() {
            true => lb_soa(lb).into_iter().collect(),
            false => Vec::new(),
        };
        answers.extend(found);
        Step::Done(Kind::Found, authority)
    }

    fn lb_records(&self, lb: &LoadBalancer, rtype: RecordType, owner: &Name) -> Vec<Record> {
        self.load_balancers
            .addresses(lb, rtype)
            .into_iter()
            .map(|ip| Record {
                name: owner.clone(),
                ttl: loadbalancer::TTL,
                data: Rdata::Address(ip),
            })
            .collect()
    }

    /// Records of one (name, type), chosen by policy and health, owned by the name that was asked for.
    fn group(&mut self, zone: &Zone, order: &str, rtype: RecordType, owner: &Name, depth: usize) -> Vec<Record> {
        let sets: Vec<&Arc<RecordSet>> = zone.served().group(order, rtype).collect();
        let service = self.service;
        let mut choice = Choice {
            client: &self.client,
            collections: &service.collections,
            draw: &mut self.draw,
        };
        let chosen = choice.choose(&sets, |set| health::healthy(service, zone, set));
        let mut records = Vec::new();
        for set in chosen {
            match &set.data {
                Data::Records { ttl, values } => {
                    records.extend(values.iter().filter_map(|v| from_value(rtype, v)).map(|data| Record {
                        name: owner.clone(),
                        ttl: *ttl,
                        data,
                    }));
                }
                Data::Alias(alias) if alias.zone_id == zone.id && depth < MAX_ALIASES => {
                    records.extend(self.group(zone, &alias.name.order(), rtype, owner, depth + 1));
                }
                Data::Alias(alias) => {
                    let load_balancer = elb::parse(&alias.name);
                    records.extend(load_balancer.iter().flat_map(|lb| self.lb_records(lb, rtype, owner)));
                }
            }
        }
        records
    }
}

/// The public zone with the longest name that holds this one and is served.
fn zone_for<'z>(service: &'z Service, name: &Name) -> Option<&'z Zone> {
    service
        .zones()
        .filter(|z| !z.private && !z.served().is_empty() && name.is_within(&z.name))
        .max_by_key(|z| z.name.as_str().len())
}

/// The name whose sets answer: itself if it exists, else the wildcard of its closest encloser (RFC 4592).
fn node(served: Served<'_>, zone: &Zone, name: &Name) -> Option<Name> {
    if served.exists(&name.order()) {
        return Some(name.clone());
    }
    let mut encloser = name.parent()?;
    while encloser.is_within(&zone.name) && !served.exists(&encloser.order()) {
        encloser = encloser.parent()?;
    }
    let wildcard = encloser.wildcard_child();
    served.has_name(&wildcard.order()).then_some(wildcard)
}

/// NS records of the topmost zone cut at or above the name, below the apex.
fn delegation(zone: &Zone, name: &Name) -> Option<Vec<Record>> {
    let mut cut = None;
    let mut at = name.clone();
    while at != zone.name {
        let records = records(zone, &at, RecordType::Ns);
        if !records.is_empty() {
            cut = Some(records);
        }
        at = at.parent()?;
    }
    cut
}

/// The SOA for a negative answer, with the negative TTL of RFC 2308.
fn negative(zone: &Zone) -> Vec<Record> {
    let mut soa = records(zone, &zone.name, RecordType::Soa);
    for record in &mut soa {
        if let Rdata::Soa(Soa {
            numbers: [.., minimum], ..
        }) = record.data
        {
            record.ttl = record.ttl.min(minimum);
        }
    }
    soa
}

fn records(zone: &Zone, name: &Name, rtype: RecordType) -> Vec<Record> {
    let mut out = Vec::new();
    for set in zone.served().group(&name.order(), rtype) {
        if let Data::Records { ttl, values } = &set.data {
            out.extend(values.iter().filter_map(|v| from_value(rtype, v)).map(|data| Record {
                name: name.clone(),
                ttl: *ttl,
                data,
            }));
        }
    }
    out
}

/// A made-up SOA of the load balancers' own zone.
fn lb_soa(lb: &LoadBalancer) -> Option<Record> {
    let zone = Name::parse(&match lb.kind {
        elb::Kind::Application => format!("{}.elb.amazonaws.com", lb.region),
        elb::Kind::Network => format!("elb.{}.amazonaws.com", lb.region),
    })
    .ok()?;
    let data = soa("ns-1.awsdns-00.com. awsdns-hostmaster.amazon.com. 1 7200 900 7200 60")?;
    Some(Record {
        name: zone,
        ttl: loadbalancer::TTL,
        data: Rdata::Soa(data),
    })
}
