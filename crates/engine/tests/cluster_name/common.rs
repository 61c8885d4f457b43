//! What the cases share: expected lines, a world that is adopted, steps.

use truce_engine::value::address::Address;
use truce_engine::value::record::{RecordData, RecordType};

use crate::member::simple;
use crate::world::{NAME, World, spec};

pub(crate) const OBJECT: &str = "truce-demo-87bf3caf70ce3a93";

/// The ownership TXT as ExternalDNS 0.22 and the hub spell it, as a line of `World::lines`.
pub(crate) fn txt(kind: &str, owner: &str) -> String {
    format!(
        "{kind}-{NAME} TXT 300 \"heritage=external-dns,external-dns/owner={owner},\
         external-dns/resource=crd/truce-system/{OBJECT}\""
    )
}

pub(crate) fn adopted(sync: bool, address: Address) -> World {
    let mut world = World::new(Some(spec(sync, "")));
    world.address = Some(address);
    world.until("adopted", World::adopted);
    world.quiet();
    world
}

pub(crate) fn release(world: &mut World) {
    world.releasing = true;
    world.held = world.name.take();
    world.until("released", |world| world.last.gone);
    assert!(world.api.objects.is_empty());
    world.quiet();
}

pub(crate) fn foreign(world: &mut World, name: &str, record_type: RecordType, ttl: u32, value: &str) {
    world.somebody(simple(name, record_type, RecordData::values(ttl, [value])));
    world.audit();
}

pub(crate) fn rounds(world: &mut World, seconds: u64) {
    for _ in 0..seconds * 4 {
        world.round();
    }
}
