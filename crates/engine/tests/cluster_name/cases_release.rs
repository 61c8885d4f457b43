//! Named cases of a name that goes, or goes through the hub, one situation each.

use truce_api::Reason;
use truce_engine::world::members::ExternalDnsPolicy;

use crate::common::{OBJECT, adopted, release, rounds, txt};
use crate::world::{NAME, World, ip, load_balancer, spec};
use crate::zone::Actor;

#[test]
fn under_policy_sync_the_member_deletes_its_own() {
    let mut world = adopted(true, ip("203.0.113.10"));
    release(&mut world);
    assert_eq!(world.lines(), Vec::<String>::new());
    assert_eq!(
        world
            .zone
            .sent
            .iter()
            .filter(|(actor, _)| *actor == Actor::Member)
            .collect::<Vec<_>>(),
        [&(Actor::Member, true)]
    );
}

#[test]
fn under_upsert_only_the_hub_deletes_after_the_fence() {
    let mut world = adopted(false, ip("203.0.113.10"));
    release(&mut world);
    assert_eq!(world.lines(), Vec::<String>::new());
    assert!(world.zone.sent.iter().all(|(actor, _)| *actor != Actor::Member));
    let fence = |write: &&String| write.contains("fence.truce.invalid");
    assert_eq!(
        world.api.writes.iter().filter(fence).count(),
        2,
        "{:?}",
        world.api.writes
    );
    assert!(
        world
            .api
            .writes
            .iter()
            .any(|w| w.contains("DeleteEndpoint") && w.contains("-fence"))
    );
}

#[test]
fn an_unreachable_member_blocks_its_release_until_it_is_given_up() {
    let mut world = adopted(true, ip("203.0.113.10"));
    let before = world.lines();
    world.reachable = false;
    world.running = false;
    world.restart(false);
    world.releasing = true;
    world.held = world.name.take();
    rounds(&mut world, 60);
    assert!(!world.last.gone);
    assert_eq!(
        world.lines(),
        before,
        "the hub does not delete what the member would write again"
    );
    let message = &world.problem(Reason::ReleaseBlocked).unwrap().message;
    for part in ["ed-east", "app-east.example.com", OBJECT, "dns.truce.dev/abandon=east"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    world.abandoned = true;
    world.until("given up", |world| world.last.gone);
    assert!(
        world
            .last
            .left
            .iter()
            .any(|left| left.contains("kubectl patch dnsendpoint"))
    );
    assert_eq!(world.lines(), before);
}

#[test]
fn giving_up_a_member_that_answers_takes_the_finalizers_off() {
    let mut world = adopted(false, ip("203.0.113.10"));
    world.running = false;
    world.releasing = true;
    world.abandoned = true;
    world.held = world.name.take();
    world.until("given up", |world| world.last.gone);
    assert!(world.api.objects.is_empty());
}

#[test]
fn a_member_that_was_never_reached_does_not_block() {
    let mut world = World::new(Some(spec(true, "")));
    world.reachable = false;
    world.hub();
    world.zone_lands();
    assert_eq!(world.lines().len(), 2);
    world.releasing = true;
    world.held = world.name.take();
    world.until("released", |world| world.last.gone);
    assert_eq!(world.lines(), Vec::<String>::new());
}

#[test]
fn an_externaldns_that_never_ran_does_not_block() {
    let mut world = World::new(Some(spec(true, "")));
    world.running = false;
    world.address = Some(ip("203.0.113.10"));
    rounds(&mut world, 5);
    assert_eq!(world.api.objects.len(), 1);
    release(&mut world);
    assert_eq!(world.lines(), Vec::<String>::new());
}

#[test]
fn a_dnsendpoint_that_somebody_deletes_is_made_anew() {
    for sync in [true, false] {
        let mut world = adopted(sync, ip("203.0.113.10"));
        // Under policy sync the member deletes the name in between; upsert-only keeps it (the oracle looks).
        world.releasing = sync;
        let uid = world.api.objects[OBJECT].uid.clone();
        world.api.delete(OBJECT, None);
        world.until("reported", |world| world.problem(Reason::DNSEndpointDeleted).is_some());
        world.until("adopted again", |world| {
            let anew = world.api.objects.get(OBJECT).is_some_and(|object| object.uid != uid);
            anew && world.adopted() && world.last.problems.is_empty() && world.last.endpoint.is_none()
        });
        assert_eq!(
            world.lines(),
            [txt("a", "ed-east"), format!("{NAME} A 60 203.0.113.10")]
        );
        world.quiet();
    }
}

#[test]
fn under_upsert_only_a_change_of_kind_goes_through_the_hub() {
    let mut world = adopted(false, ip("203.0.113.10 2001:db8::10"));
    for (address, kinds) in [
        (load_balancer("lb.example.net", false), vec!["cname"]),
        (ip("203.0.113.10 2001:db8::10"), vec!["a", "aaaa"]),
        (ip("2001:db8::10"), vec!["aaaa"]),
        (
            load_balancer("web-1.us-east-1.elb.amazonaws.com", true),
            vec!["a", "aaaa"],
        ),
        (load_balancer("web-1.us-east-1.elb.amazonaws.com", false), vec!["a"]),
    ] {
        world.address = Some(address);
        world.until("adopted with these types", |world| {
            let txts: Vec<_> = world
                .lines()
                .into_iter()
                .filter(|line| line.contains("owner=ed-east"))
                .collect();
            let mut have: Vec<_> = txts.iter().map(|line| line.split_once('-').unwrap().0).collect();
            have.sort_unstable();
            have == kinds && world.adopted() && world.last.wake.is_none() && world.last.endpoint.is_none()
        });
        world.quiet();
        assert_eq!(world.api.objects.len(), 1, "the fence is gone");
    }
}

#[test]
fn a_new_template_releases_the_old_name_first() {
    for sync in [true, false] {
        let mut world = adopted(sync, ip("203.0.113.10"));
        world.releasing = true;
        world.name = Some("app-at-east.example.com".to_owned());
        // Not told which name it held: the DNSEndpoint says so, as after a restart.
        world.restart(false);
        world.until("adopted under the new name", |world| {
            world.adopted() && world.last.wake.is_none() && world.last.endpoint.is_none()
        });
        assert!(world.zone.at(NAME).is_empty());
        assert!(
            world.lines()[0].starts_with("a-app-at-east.example.com TXT 300"),
            "{:?}",
            world.lines()
        );
        assert_eq!(world.lines().len(), 2);
        world.quiet();
    }
}

#[test]
fn a_member_that_does_not_delete_is_reported() {
    let mut world = adopted(true, ip("203.0.113.10"));
    world.member.sync = false;
    world.releasing = true;
    world.held = world.name.take();
    rounds(&mut world, 30);
    assert!(!world.last.gone);
    assert_eq!(world.lines().len(), 2);
    let message = &world.problem(Reason::ReleaseBlocked).unwrap().message;
    assert!(message.contains("policy: upsert-only"), "{message}");
    world.spec.as_mut().unwrap().policy = ExternalDnsPolicy::UpsertOnly;
    world.until("released", |world| world.last.gone);
    assert_eq!(world.lines(), Vec::<String>::new());
}
