//! Any order of what hub, zone and member do, with the hub killed anywhere: no address is lost, nobody fights, and it
//! ends adopted and quiet; a release then ends with the zone as it was.

use proptest::prelude::*;

use crate::world::{World, ip, load_balancer, spec};

/// One thing that happens.
#[derive(Debug, Clone)]
enum Happens {
    Hub,
    ZoneLands,
    MemberLands,
    Watch,
    Read,
    Informer,
    ListZone,
    ListSources,
    Apply,
    Tick(u64),
    Restart(bool),
    Reachable(bool),
    Address(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => Just(Happens::Hub),
        6 => Just(Happens::ZoneLands),
        6 => Just(Happens::MemberLands),
        6 => Just(Happens::Watch),
        3 => Just(Happens::Read),
        4 => Just(Happens::Informer),
        4 => Just(Happens::ListZone),
        4 => Just(Happens::ListSources),
        4 => Just(Happens::Apply),
        3 => (1_u64..4_000).prop_map(Happens::Tick),
        1 => any::<bool>().prop_map(Happens::Restart),
        1 => any::<bool>().prop_map(Happens::Reachable),
        1 => (0_usize..7).prop_map(Happens::Address),
    ]
}

fn address(which: usize) -> truce_engine::value::address::Address {
    match which {
        0 => ip("203.0.113.10"),
        1 => ip("203.0.113.11 203.0.113.12"),
        2 => ip("203.0.113.10 2001:db8::10"),
        3 => ip("2001:db8::10"),
        4 => load_balancer("k8s-web-1.elb.us-west-2.amazonaws.com", false),
        5 => load_balancer("web-1.us-east-1.elb.amazonaws.com", true),
        _ => load_balancer("lb.example.net", false),
    }
}

fn happen(world: &mut World, what: &Happens) {
    match what {
        Happens::Hub => world.hub(),
        Happens::ZoneLands => world.zone_lands(),
        Happens::MemberLands => world.member_lands(),
        Happens::Watch => world.watch(),
        Happens::Read => world.read(),
        Happens::Informer => world.member.informed(&world.api),
        Happens::ListZone => world.member.list_zone(&world.zone),
        Happens::ListSources => world.member.list_sources(&mut world.api),
        Happens::Apply => world.member_applies(),
        Happens::Tick(by) => world.now += by,
        Happens::Restart(arrived) => world.restart(*arrived),
        Happens::Reachable(reachable) => world.reachable = *reachable,
        Happens::Address(which) => world.address = Some(address(*which)),
    }
}

fn settle(world: &mut World) {
    world.reachable = true;
    world.now = world.now.next_multiple_of(250);
    let settled = |world: &World| {
        let last = &world.last;
        let asks = last.endpoint.is_some() || !last.changes.is_empty() || !last.reads.is_empty();
        world.adopted() && !asks && last.wake.is_none() && last.problems.is_empty()
    };
    // A run of the member that began earlier ends first; what it still sends may be refused.
    for _ in 0..8 {
        world.round();
    }
    world.until("adopted, as wanted, nothing awaited", settled);
    // What the member wrote for an address that was gone again before the hub looked comes to light in an audit.
    world.audit();
    world.until("the same after an audit", settled);
    world.quiet();
    assert!(world.adopted() && world.last.problems.is_empty(), "{:?}", world.last);
}

/// How many interleavings: a few hundred, or as many as `PROPTEST_CASES` says.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_name_is_handed_over_and_released(
        sync in any::<bool>(),
        prefix in prop_oneof![Just(""), Just("k8s-txt-")],
        before in prop::collection::vec(happens(), 0..120),
        during in prop::collection::vec(happens(), 0..120),
        release in prop::collection::vec(happens(), 0..120),
        last in 0_usize..7,
        informer_lag in prop::sample::select(vec![250_u64, 500, 1_500, 3_000]),
        released_midway in any::<bool>(),
    ) {
        let mut world = World::new(Some(spec(sync, prefix)));
        world.informer_lag = informer_lag;
        for what in &before {
            happen(&mut world, what);
        }
        if !released_midway {
            world.address.get_or_insert_with(|| address(0));
            settle(&mut world);
        }
        for what in &during {
            happen(&mut world, what);
        }
        if !released_midway {
            world.address = Some(address(last));
            settle(&mut world);
        }

        world.releasing = true;
        world.held = world.name.take();
        for what in &release {
            happen(&mut world, what);
        }
        world.reachable = true;
        world.now = world.now.next_multiple_of(250);
        world.until("released", |world| world.last.gone);
        prop_assert_eq!(world.lines(), Vec::<String>::new());
        prop_assert!(world.api.objects.is_empty(), "{:?}", world.api.objects);
        world.quiet();
    }
}
