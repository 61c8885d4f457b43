//! Cases: T09, T29 to T32, T40, T41 of docs/cases.md, and the fence of DESIGN.md, section 2.

use std::collections::BTreeSet;
use std::time::Duration;

use truce_api::Reason;
use truce_engine::effect::{Change, ZoneEffect};
use truce_engine::event::{Class, Success};
use truce_engine::plan::unit::{Part, Priority};
use truce_engine::time::Mono;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::owned::single_txt;
use truce_engine::value::ownership::FenceText;
use truce_engine::value::record::{RecordData, RecordType, Routing};
use truce_engine::zone::runtime::{Step, ZoneNews};

use crate::fake::{Fake, Refusal};
use crate::world::{AUDIT, World, hub, key, lost, now, set, shared, spec, throttled, weighted};

const MINUTE: Duration = Duration::from_secs(60);

fn fence_name() -> RecordName {
    RecordName::listed("_truce-hub-prod.example.com")
}

fn fence(fake: &Fake) -> Option<FenceText> {
    let sets = fake.at(&fence_name());
    FenceText::read(single_txt(sets.first()?)?, &hub())
}

fn text(term: u64, batch: u64) -> Option<FenceText> {
    Some(FenceText {
        instance: "uid".to_owned(),
        term,
        batch,
    })
}

/// Everything wanted is in the zone and in the model.
fn published(world: &World, fake: &Fake, host: &str) -> bool {
    world.wants[host]
        .iter()
        .all(|set| fake.sets.get(&set.key()) == Some(set))
}

fn model_is_zone(world: &World, fake: &Fake) {
    let model: Vec<_> = world
        .runtime
        .records()
        .iter()
        .flat_map(|(_, sets)| sets.to_vec())
        .collect();
    assert_eq!(model.len(), fake.sets.len());
    assert!(model.iter().all(|set| fake.sets.get(&set.key()) == Some(set)));
}

#[test]
fn a_new_hostname_is_one_batch_behind_the_fence_and_then_all_is_quiet() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    world.want("app", &[("east", 1), ("west", 1)]);
    world.run(&mut fake, 10 * MINUTE);
    assert_eq!(fake.submits.len(), 1);
    let names: Vec<_> = fake.submits[0].iter().map(|c| c.set().name.as_str()).collect();
    assert_eq!(names[0], "_truce-hub-prod.example.com");
    assert_eq!(fence(&fake), text(1, 1));
    assert!(published(&world, &fake, "app"));
    model_is_zone(&world, &fake);
    let change_id = "C1".to_owned();
    let insync = ZoneNews::Insync {
        hostnames: BTreeSet::from([key("app")]),
        change_id: change_id.clone(),
    };
    assert!(world.news.contains(&insync), "{:?}", world.news);
    let applied = ZoneNews::Applied {
        hostname: key("app"),
        part: Part::Shared,
        change_id,
    };
    assert!(world.news.contains(&applied));
    assert_eq!(world.runtime.last_change(&key("app")).unwrap().pending_since, None);
    assert_eq!(world.runtime.problem(), None);
}

#[test]
fn a_zone_that_nobody_wants_anything_of_is_not_written() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    world.run(&mut fake, 10 * MINUTE);
    assert!(world.runtime.ready());
    assert_eq!(fake.submits, Vec::<Vec<Change>>::new());
}

/// T09: 30 at once, one of them impossible.
#[test]
fn one_bad_name_does_not_stop_29_others() {
    for refusal in [Refusal::Named, Refusal::Silent, Refusal::Denied] {
        let (mut world, mut fake) = (World::new("uid"), Fake::new());
        for n in 1..=30 {
            world.want(&format!("h{n:02}"), &[("east", 1)]);
        }
        fake.protected.insert(shared("h17").name().clone());
        fake.refusal = refusal;
        let all = |world: &World, fake: &Fake| world.wants.keys().filter(|host| published(world, fake, host)).count();
        world.run(&mut fake, Duration::from_secs(20));
        assert_eq!(all(&world, &fake), 29, "{refusal:?}");
        let alone = |batch: &&Vec<Change>| batch.iter().any(|c| c.set().name == *shared("h17").name());
        let first_alone = fake.submits.iter().position(|b| alone(&b) && b.len() <= 4).unwrap();
        assert!(first_alone < 12, "{refusal:?}: alone in request {first_alone}");
        let refused = world.runtime.refusal(&key("h17"), &Part::Shared).unwrap();
        let reason = if refusal == Refusal::Denied {
            Reason::AccessDenied
        } else {
            Reason::ChangeRefused
        };
        assert_eq!(refused.problem.reason, reason);
        // It never rides with others again, and ever more rarely.
        let until_now = fake.submits.len();
        world.run(&mut fake, 60 * MINUTE);
        let later = &fake.submits[until_now..];
        assert!(later.iter().all(|batch| batch.len() <= 4), "{refusal:?}");
        assert!(later.len() <= 16, "{refusal:?}: {} tries in an hour", later.len());
        // Once it is possible it goes through, and its refusal is forgotten.
        fake.protected.clear();
        world.run(&mut fake, 80 * MINUTE);
        assert_eq!(all(&world, &fake), 30, "{refusal:?}");
        assert_eq!(world.runtime.refusal(&key("h17"), &Part::Shared), None);
    }
}

/// T09: a foreign CNAME that came after the zone was read.
#[test]
fn a_foreign_record_that_came_after_the_read_costs_one_request() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    world.run(&mut fake, Duration::from_secs(5));
    let name = shared("h17").name().clone();
    let foreign = set(&name, RecordType::Cname, Routing::Simple, "x.example.net");
    fake.put(foreign.clone());
    for n in 1..=30 {
        world.want(&format!("h{n:02}"), &[("east", 1)]);
    }
    world.run(&mut fake, 10 * MINUTE);
    assert_eq!(
        fake.submits.len(),
        2,
        "all, then all but the one whose record was read again"
    );
    assert_eq!(fake.at(&name), [foreign]);
    assert_eq!(
        world.wants.keys().filter(|host| published(&world, &fake, host)).count(),
        29
    );
}

/// A hub that may write nothing says so after two requests and asks again once a minute.
#[test]
fn a_hub_that_may_not_write_is_not_the_hostnames_fault() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    fake.protected.insert(fence_name());
    fake.refusal = Refusal::Denied;
    for n in 1..=30 {
        world.want(&format!("h{n:02}"), &[("east", 1)]);
    }
    world.run(&mut fake, Duration::from_secs(30));
    assert_eq!(fake.submits.len(), 2);
    assert_eq!(world.runtime.problem().unwrap().reason, Reason::AccessDenied);
    assert_eq!(world.runtime.refusal(&key("h01"), &Part::Shared), None);
    world.run(&mut fake, 10 * MINUTE);
    assert!((8..=12).contains(&fake.submits.len()), "{}", fake.submits.len());
    fake.protected.clear();
    world.run(&mut fake, 12 * MINUTE);
    assert_eq!(
        world.wants.keys().filter(|host| published(&world, &fake, host)).count(),
        30
    );
    assert_eq!(world.runtime.problem(), None);
}

/// T29: idle, 900 sets: 3 pages per audit, nothing else, whatever the number of hostnames.
#[test]
fn an_idle_hour_is_twelve_audits() {
    for hosts in [20, 200] {
        let (mut world, mut fake) = (World::new("uid"), Fake::new());
        for n in 0..hosts {
            world.want(&format!("h{n}"), &[("east", 1), ("west", 1)]);
        }
        for n in 0..(899 - hosts * 3) {
            let name = RecordName::listed(&format!("filler{n}.example.com"));
            fake.put(set(&name, RecordType::A, Routing::Simple, "198.51.100.1"));
        }
        world.run(&mut fake, 10 * MINUTE);
        assert_eq!(fake.sets.len(), 900);
        let (lists, submits, checks) = (fake.lists, fake.submits.len(), fake.checks);
        world.run(&mut fake, 70 * MINUTE);
        assert!(
            (36..=40).contains(&(fake.lists - lists)),
            "{} lists",
            fake.lists - lists
        );
        assert_eq!((fake.submits.len(), fake.checks), (submits, checks));
    }
}

/// T29: throttled for a minute: no retry within a second, no word about it before it lasts, all done afterwards.
#[test]
fn throttling_is_answered_by_silence() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    world.run(&mut fake, Duration::from_secs(5));
    world.want("app", &[("east", 1)]);
    let mut calls: Vec<Mono> = Vec::new();
    while world.now < Mono(65_000) {
        match world.next() {
            Step::Do(_) => {
                calls.push(world.now);
                world.done(Err(throttled()));
                assert_eq!(world.runtime.problem().is_some(), calls.len() >= 5);
            }
            Step::Wait(until) => world.now = until.unwrap().min(Mono(65_000)),
        }
    }
    assert!(
        calls.windows(2).all(|pair| pair[1] - pair[0] >= Duration::from_secs(1)),
        "{calls:?}"
    );
    assert!(calls.len() <= 7, "{calls:?}");
    assert!(world.budget.percent() < 50);
    world.run(&mut fake, 3 * MINUTE);
    assert!(published(&world, &fake, "app"));
    assert_eq!(world.runtime.problem(), None);
}

/// T31: a change of all hostnames stays within the limits, and pairs stay together.
#[test]
fn a_change_of_400_hostnames_stays_within_the_limits() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    for n in 0..400 {
        let host = format!("h{n}");
        world.want(&host, &[("east", 1), ("west", 1)]);
        let mut sets = world.wants[&host].clone();
        let wide = |set: &truce_engine::value::record::RecordSet| {
            let mut set = set.clone();
            if set.record_type == RecordType::A {
                set.data = RecordData::values(60, (1..=8).map(|n| format!("203.0.113.{n}")));
            }
            set
        };
        sets = sets.iter().map(wide).collect();
        world.wants.insert(host, sets);
    }
    world.run(&mut fake, 10 * MINUTE);
    for batch in &fake.submits {
        let elements: usize = batch.iter().map(|c| c.set().elements()).sum();
        let characters: usize = batch.iter().map(|c| c.set().characters()).sum();
        assert!(
            elements <= 1000 && characters <= 32_000,
            "{elements} elements, {characters} characters"
        );
        let names: BTreeSet<_> = batch.iter().map(|c| c.set().name.clone()).collect();
        for n in 0..400 {
            let shared = shared(&format!("h{n}"));
            assert_eq!(
                names.contains(shared.name()),
                names.contains(shared.claim()),
                "a pair was split"
            );
        }
    }
    assert!(world.wants.keys().all(|host| published(&world, &fake, host)));
    // 6,800 elements at 1,000 a request, and no request refused.
    assert_eq!(fake.submits.len(), fake.accepted);
    assert!(fake.submits.len() <= 9, "{}", fake.submits.len());
}

/// A change that alone passes a limit is told, not sent; deletions always pass a full zone.
#[test]
fn limits_refuse_before_any_call() {
    let mut spec = spec();
    spec.limits.record_sets = 4;
    let (mut world, mut fake) = (World::with("uid", spec), Fake::new());
    world.want("a", &[("east", 1), ("west", 1)]);
    world.run(&mut fake, MINUTE);
    assert!(published(&world, &fake, "a"), "three and the fence are four");
    world.want("b", &[("east", 1)]);
    world.run(&mut fake, 2 * MINUTE);
    let refusal = world.runtime.refusal(&key("b"), &Part::Shared).unwrap();
    assert_eq!(refusal.problem.reason, Reason::ZoneFull);
    let refused = ZoneNews::Refused {
        hostname: key("b"),
        part: Part::Shared,
    };
    assert_eq!(world.news.iter().filter(|news| **news == refused).count(), 1);
    world.want("a", &[]);
    world.run(&mut fake, 3 * MINUTE);
    assert!(published(&world, &fake, "b"), "room again");
    assert_eq!(world.runtime.refusal(&key("b"), &Part::Shared), None);
    let mut large = world.wants["b"].clone();
    let values = (0..1001).map(|n| format!("203.0.{}.{}", n / 250, n % 250));
    large = large
        .into_iter()
        .map(|mut set| {
            if set.record_type == RecordType::A {
                set.data = RecordData::values(60, values.clone());
            }
            set
        })
        .collect();
    world.wants.insert("b".to_owned(), large);
    let submits = fake.submits.len();
    world.run(&mut fake, 4 * MINUTE);
    let refusal = world.runtime.refusal(&key("b"), &Part::Shared).unwrap();
    assert_eq!(
        (refusal.problem.reason, refusal.class),
        (Reason::ChangeRefused, Class::Permanent)
    );
    assert_eq!(fake.submits.len(), submits);
}

/// A lost answer, before and after Route 53 took the batch.
#[test]
fn a_lost_answer_is_looked_up_in_the_fence() {
    for taken in [false, true] {
        let (mut world, mut fake) = (World::new("uid"), Fake::new());
        world.run(&mut fake, Duration::from_secs(5));
        world.want("app", &[("east", 1)]);
        let Step::Do(ZoneEffect::Submit { changes, .. }) = world.next() else {
            panic!("a batch is due");
        };
        if taken {
            fake.apply(&changes).unwrap();
        }
        world.done(Err(lost()));
        let Step::Do(ZoneEffect::ReadName { name, .. }) = world.next() else {
            panic!("the fence is read first");
        };
        assert_eq!(name, fence_name());
        world.done(Ok(Success::Name { sets: fake.at(&name) }));
        let applied = world.news.iter().any(|news| matches!(news, ZoneNews::Applied { .. }));
        assert_eq!(applied, taken);
        world.run(&mut fake, 3 * MINUTE);
        assert_eq!(fake.accepted, 1, "once, not twice");
        assert!(published(&world, &fake, "app"));
        model_is_zone(&world, &fake);
        let insync = world.news.iter().any(|news| matches!(news, ZoneNews::Insync { .. }));
        assert!(insync, "also where the change's id is not known");
        assert_eq!(fake.submits.len(), usize::from(!taken));
    }
}

/// T40, T41: what an old process computed before a newer one wrote is refused by Route 53, and it stops.
#[test]
fn an_old_process_writes_nothing_after_a_newer_one() {
    let (mut old, mut fake) = (World::new("uid"), Fake::new());
    old.want("app", &[("east", 50)]);
    old.run(&mut fake, MINUTE);
    old.want("app", &[("east", 100)]);
    let Step::Do(ZoneEffect::Submit { changes: late, .. }) = old.next() else {
        panic!("a batch is due");
    };
    let mut new = World::new("uid");
    new.want("app", &[("east", 0), ("west", 1)]);
    new.run(&mut fake, MINUTE);
    assert_eq!(fence(&fake), text(2, 1));
    let refused = fake.apply(&late).unwrap_err();
    assert_eq!(refused.class, Class::Conflict);
    old.done(Err(refused));
    old.run(&mut fake, 20 * MINUTE);
    assert!(old.runtime.superseded());
    assert_eq!(fake.accepted, 2);
    assert!(published(&new, &fake, "app"));
    assert_eq!(old.next(), Step::Wait(None));
}

#[test]
fn a_cloned_hub_writes_nothing_until_a_person_confirms_just_that() {
    let (mut first, mut fake) = (World::new("uid"), Fake::new());
    first.want("app", &[("east", 1)]);
    first.run(&mut fake, MINUTE);
    let before = fake.sets.clone();
    let mut clone = World::new("clone");
    clone.want("app", &[("east", 7)]);
    clone.run(&mut fake, 20 * MINUTE);
    assert_eq!(fake.sets, before);
    assert!(!clone.runtime.ready());
    let problem = clone.runtime.problem().unwrap();
    assert_eq!(problem.reason, Reason::HubIdInUse);
    let hash = problem.message.rsplit('=').next().unwrap().to_owned();
    assert!(!clone.runtime.confirm("0000000000"));
    assert!(clone.runtime.confirm(&hash));
    clone.run(&mut fake, 21 * MINUTE);
    assert!(published(&clone, &fake, "app"));
    assert_eq!(fence(&fake).unwrap().instance, "clone");
    // Now the first one is the clone, and stops by itself.
    let accepted = fake.accepted;
    first.want("app", &[("east", 9)]);
    first.run(&mut fake, 30 * MINUTE);
    assert_eq!(fake.accepted, accepted);
    assert_eq!(first.runtime.problem().unwrap().reason, Reason::HubIdInUse);
}

#[test]
fn two_processes_that_start_at_once_end_as_one() {
    let (mut one, mut two, mut fake) = (World::new("uid"), World::new("uid"), Fake::new());
    for world in [&mut one, &mut two] {
        world.run(&mut fake, Duration::from_secs(5));
        world.want("app", &[("east", 1)]);
    }
    one.run(&mut fake, MINUTE);
    two.want("app", &[("east", 2)]);
    two.run(&mut fake, MINUTE);
    one.run(&mut fake, 10 * MINUTE);
    assert!(one.runtime.superseded());
    assert!(!two.runtime.superseded());
    assert!(published(&two, &fake, "app"));
}

#[test]
fn the_fence_goes_last_when_the_zone_is_released() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    let bystander = set(
        &RecordName::listed("www.example.com"),
        RecordType::A,
        Routing::Simple,
        "198.51.100.1",
    );
    fake.put(bystander.clone());
    world.want("app", &[("east", 1)]);
    world.run(&mut fake, MINUTE);
    world.want("app", &[]);
    world.runtime.release_fence();
    assert!(!world.runtime.fence_gone());
    world.run(&mut fake, 2 * MINUTE);
    assert!(world.runtime.fence_gone());
    assert_eq!(fake.sets.values().collect::<Vec<_>>(), [&bystander]);
    let last = fake.submits.last().unwrap();
    assert_eq!((last.len(), &last[0].set().name), (1, &fence_name()));
    let submits = fake.submits.len();
    world.run(&mut fake, 10 * MINUTE);
    assert_eq!(fake.submits.len(), submits);
}

#[test]
fn the_wrong_zone_is_named_and_never_read() {
    let wrong = |change: &dyn Fn(&mut Fake), reason: Reason| {
        let (mut world, mut fake) = (World::new("uid"), Fake::new());
        change(&mut fake);
        world.want("app", &[("east", 1)]);
        world.run(&mut fake, MINUTE / 2);
        assert_eq!(world.runtime.problem().unwrap().reason, reason);
        assert_eq!((fake.lists, fake.submits.len()), (0, 0));
        assert!(world.runtime.fence_gone(), "nothing of ours can be in it");
        fake.account = "111111111111".to_owned();
        fake.private = false;
        world.run(&mut fake, 3 * MINUTE);
        assert!(published(&world, &fake, "app"), "repaired");
    };
    wrong(&|fake| fake.account = "222222222222".to_owned(), Reason::WrongAccount);
    wrong(&|fake| fake.private = true, Reason::PrivateZone);
}

/// T32 end to end: a group across a page edge, three audits, a foreign deletion found by the fourth.
#[test]
fn audits_across_page_edges_find_what_changed_and_nothing_else() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    fake.page = 2;
    world.want("app", &[("east", 1), ("west", 1), ("north", 1)]);
    world.run(&mut fake, MINUTE);
    world.news.clear();
    world.run(&mut fake, MINUTE + 3 * AUDIT);
    assert_eq!((fake.submits.len(), &world.news[..]), (1, &[][..]));
    let gone = weighted("app", "west", 1);
    fake.sets.remove(&gone.key());
    world.run(&mut fake, MINUTE + 5 * AUDIT);
    assert!(published(&world, &fake, "app"), "repaired");
    // T41: the whole name emptied by hand, claim left; then the claim too.
    for with_claim in [false, true] {
        fake.sets
            .retain(|(name, ..), _| *name != *shared("app").name() && !(with_claim && *name == *shared("app").claim()));
        let end = world.now + 2 * AUDIT;
        world.run(&mut fake, end - Mono(0));
        assert!(published(&world, &fake, "app"), "repaired");
    }
}

#[test]
fn a_drain_goes_before_what_waits() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    world.run(&mut fake, Duration::from_secs(5));
    world.priority = Priority::Onboarding;
    for n in 0..1000 {
        world.want(&format!("h{n:04}"), &[("east", 1), ("west", 1)]);
    }
    world.run_until(&mut fake, Mono(600_000), |_, effect| {
        matches!(effect, ZoneEffect::Submit { .. })
    });
    world.want("zz", &[("east", 0), ("west", 1)]);
    world.replan();
    let mut drain = world.plan("zz");
    drain[0].priority = Priority::Drain;
    world.runtime.set_units(&key("zz"), drain);
    world.wants.remove("zz");
    let accepted = fake.submits.len();
    world.run_until(&mut fake, Mono(600_000), |_, effect| {
        matches!(effect, ZoneEffect::Submit { .. })
    });
    let batch = &fake.submits[accepted];
    assert!(batch.iter().any(|change| change.set().name == *shared("zz").name()));
}

#[test]
fn a_wanted_name_is_read_not_before_its_time() {
    let (mut world, mut fake) = (World::new("uid"), Fake::new());
    world.run(&mut fake, Duration::from_secs(5));
    let name = shared("member").name().clone();
    let theirs = set(&name, RecordType::A, Routing::Simple, "203.0.113.9");
    fake.put(theirs.clone());
    world.runtime.want_read(name.clone(), Mono(9000));
    let lists = fake.lists;
    world.run(&mut fake, Duration::from_millis(8999));
    assert_eq!(fake.lists, lists);
    world.run(&mut fake, Duration::from_secs(10));
    assert_eq!(fake.lists, lists + 1);
    assert_eq!(world.runtime.records().at(&name), [theirs]);
    assert!(world.news.contains(&ZoneNews::Changed(name)));
}

#[test]
fn an_outcome_without_a_call_is_ignored() {
    let mut world = World::new("uid");
    assert_eq!(world.runtime.done(Ok(Success::Done), now(Mono(0))), []);
}
