//! A zone to try changes on, and short spellings for changes.

use truce_aws_emulator::core::accounts::{Accounts, Caller};
use truce_aws_emulator::core::change::Rules;
use truce_aws_emulator::core::error::{ApiError, Code};
use truce_aws_emulator::core::list::{Page, Start};
use truce_aws_emulator::core::service::{NewZone, Service};
use truce_aws_emulator::core::shape::{RawAlias, RawChange, RawCidr, RawGeoLocation, RawGeoproximity, RawSet};

/// The zone's id.
pub(crate) const ZONE: &str = "ZEXAMPLE0001";
/// The one health check that exists.
pub(crate) const HEALTH_CHECK: &str = "hc-1";

/// A service with the zone `example.com` and one caller.
pub(crate) struct World {
    pub(crate) service: Service,
    pub(crate) caller: Caller,
    pub(crate) now_ms: u64,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_rules(Rules::default())
    }

    pub(crate) fn with_rules(rules: Rules) -> Self {
        let accounts = Accounts::new(
            [("OTHER".to_owned(), "222222222222".to_owned())].into(),
            [HEALTH_CHECK.to_owned()].into(),
        );
        let caller = accounts.caller("AKIDTEST");
        let mut service = Service::new(accounts, rules);
        let zone = NewZone {
            id: Some(ZONE.to_owned()),
            name: "example.com".to_owned(),
            caller_reference: "test".to_owned(),
            ..NewZone::default()
        };
        service.create_zone(&caller, zone, 0).expect("the zone is new");
        Self {
            service,
            caller,
            now_ms: 0,
        }
    }

    pub(crate) fn change(&mut self, changes: &[RawChange]) -> Result<u64, ApiError> {
        let (_, version) = self.service.change(&self.caller, ZONE, None, changes, self.now_ms)?;
        Ok(version.number)
    }

    /// The batch is applied.
    #[track_caller]
    pub(crate) fn allows(&mut self, changes: &[RawChange]) {
        if let Err(error) = self.change(changes) {
            panic!("refused: {error}");
        }
    }

    /// The batch is refused with exactly these errors, and nothing has changed.
    #[track_caller]
    pub(crate) fn refuses(&mut self, changes: &[RawChange], errors: &[&str]) {
        self.refuses_as(changes, Code::InvalidChangeBatch, &format!("[{}]", errors.join(", ")));
    }

    /// The batch is refused with this code and text, and nothing has changed.
    #[track_caller]
    pub(crate) fn refuses_as(&mut self, changes: &[RawChange], code: Code, message: &str) {
        let before = self.sets();
        let version = self.version();
        let error = self.change(changes).expect_err("it was allowed");
        assert_eq!((error.code, error.message.as_str()), (code, message));
        assert_eq!(self.sets(), before, "a refused batch changed the zone");
        assert_eq!(self.version(), version, "a refused batch made a version");
    }

    pub(crate) fn version(&self) -> u64 {
        self.service.zone(ZONE).expect("the zone").version()
    }

    /// All record sets in list order.
    pub(crate) fn sets(&self) -> Vec<RawSet> {
        let zone = self.service.zone(ZONE).expect("the zone");
        zone.iter().map(|(_, set)| RawSet::from(&**set)).collect()
    }

    /// The one set of this name and type.
    pub(crate) fn set(&self, name: &str, rtype: &str) -> RawSet {
        let mut found = self.sets().into_iter().filter(|s| s.name == name && s.rtype == rtype);
        let set = found.next().expect("a set of this name and type");
        assert_eq!(found.next(), None);
        set
    }

    pub(crate) fn list(
        &self,
        name: Option<&str>,
        rtype: Option<&str>,
        id: Option<&str>,
        max: usize,
    ) -> Result<Page, ApiError> {
        let start = Start {
            name: name.map(str::to_owned),
            rtype: rtype.map(str::to_owned),
            identifier: id.map(str::to_owned),
        };
        self.service.list(&self.caller, ZONE, &start, max)
    }
}

/// How a batch is refused.
pub(crate) struct Refusal {
    code: Code,
    message: String,
}

/// `InvalidChangeBatch` with exactly these errors.
pub(crate) fn batch(errors: &[&str]) -> Refusal {
    Refusal {
        code: Code::InvalidChangeBatch,
        message: format!("[{}]", errors.join(", ")),
    }
}

/// `InvalidInput` with this text.
pub(crate) fn input(message: &str) -> Refusal {
    Refusal {
        code: Code::InvalidInput,
        message: message.to_owned(),
    }
}

/// One rule: what stands in the zone before, what is refused with which words, and the nearest thing that is allowed.
/// Where it is from is said above its test; the README's table is made from that.
#[track_caller]
pub(crate) fn rule(given: &[RawChange], refused: &[RawChange], refusal: &Refusal, allowed: &[RawChange]) {
    let mut world = World::new();
    if !given.is_empty() {
        world.allows(given);
    }
    world.refuses_as(refused, refusal.code, &refusal.message);
    world.allows(allowed);
}

/// One rule of another call than ChangeResourceRecordSets: what is refused with which words, and the nearest thing that
/// is allowed, each in a world of its own.
#[track_caller]
pub(crate) fn call_rule<A, B>(
    refused: impl FnOnce(&mut World) -> Result<A, ApiError>,
    code: Code,
    message: &str,
    allowed: impl FnOnce(&mut World) -> Result<B, ApiError>,
) {
    let mut world = World::new();
    match refused(&mut world) {
        Ok(_) => panic!("it was allowed"),
        Err(error) => assert_eq!((error.code, error.message.as_str()), (code, message)),
    }
    if let Err(error) = allowed(&mut World::new()) {
        panic!("refused: {error}");
    }
}

pub(crate) fn create(record_set: RawSet) -> RawChange {
    change("CREATE", record_set)
}

pub(crate) fn delete(record_set: RawSet) -> RawChange {
    change("DELETE", record_set)
}

pub(crate) fn upsert(record_set: RawSet) -> RawChange {
    change("UPSERT", record_set)
}

pub(crate) fn change(action: &str, record_set: RawSet) -> RawChange {
    RawChange {
        action: action.to_owned(),
        record_set,
    }
}

/// A simple set with TTL 60.
pub(crate) fn set(name: &str, rtype: &str, values: &[&str]) -> RawSet {
    RawSet {
        name: name.to_owned(),
        rtype: rtype.to_owned(),
        ttl: Some(60),
        values: Some(values.iter().map(|v| (*v).to_owned()).collect()),
        ..RawSet::default()
    }
}

/// A simple A set with TTL 60.
pub(crate) fn a(name: &str, value: &str) -> RawSet {
    set(name, "A", &[value])
}

pub(crate) fn alias(name: &str, rtype: &str, zone_id: &str, target: &str) -> RawSet {
    RawSet {
        name: name.to_owned(),
        rtype: rtype.to_owned(),
        alias_target: Some(RawAlias {
            hosted_zone_id: zone_id.to_owned(),
            dns_name: target.to_owned(),
            evaluate_target_health: Some(true),
        }),
        ..RawSet::default()
    }
}

/// More attributes for a set.
pub(crate) trait With {
    fn ttl(self, ttl: i64) -> Self;
    fn id(self, id: &str) -> Self;
    fn weight(self, id: &str, weight: i64) -> Self;
    fn region(self, id: &str, region: &str) -> Self;
    fn failover(self, id: &str, role: &str) -> Self;
    fn multivalue(self, id: &str) -> Self;
    fn country(self, id: &str, code: &str) -> Self;
    fn continent(self, id: &str, code: &str) -> Self;
    fn near(self, id: &str, site: RawGeoproximity) -> Self;
    fn network(self, id: &str, collection: &str, location: &str) -> Self;
    fn health_check(self, id: &str) -> Self;
}

impl With for RawSet {
    fn ttl(mut self, ttl: i64) -> Self {
        self.ttl = Some(ttl);
        self
    }

    fn id(mut self, id: &str) -> Self {
        self.set_identifier = Some(id.to_owned());
        self
    }

    fn weight(mut self, id: &str, weight: i64) -> Self {
        self.weight = Some(weight);
        self.id(id)
    }

    fn region(mut self, id: &str, region: &str) -> Self {
        self.region = Some(region.to_owned());
        self.id(id)
    }

    fn failover(mut self, id: &str, role: &str) -> Self {
        self.failover = Some(role.to_owned());
        self.id(id)
    }

    fn multivalue(mut self, id: &str) -> Self {
        self.multi_value_answer = Some(true);
        self.id(id)
    }

    fn country(mut self, id: &str, code: &str) -> Self {
        self.geo_location = Some(RawGeoLocation {
            country_code: Some(code.to_owned()),
            ..RawGeoLocation::default()
        });
        self.id(id)
    }

    fn continent(mut self, id: &str, code: &str) -> Self {
        self.geo_location = Some(RawGeoLocation {
            continent_code: Some(code.to_owned()),
            ..RawGeoLocation::default()
        });
        self.id(id)
    }

    fn near(mut self, id: &str, site: RawGeoproximity) -> Self {
        self.geo_proximity_location = Some(site);
        self.id(id)
    }

    fn network(mut self, id: &str, collection: &str, location: &str) -> Self {
        self.cidr_routing_config = Some(RawCidr {
            collection_id: collection.to_owned(),
            location_name: location.to_owned(),
        });
        self.id(id)
    }

    fn health_check(mut self, id: &str) -> Self {
        self.health_check_id = Some(id.to_owned());
        self
    }
}
