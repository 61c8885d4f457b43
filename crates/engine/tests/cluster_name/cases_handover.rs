//! Named cases of a name that is wanted, one situation each, asked from the outside.

use truce_api::{Adoption, Reason};
use truce_engine::value::ids::HubId;
use truce_engine::value::record::RecordType;
use truce_engine::world::members::Affix;

use crate::common::{OBJECT, adopted, foreign, release, rounds, txt};
use crate::world::{NAME, World, ip, load_balancer, spec};
use crate::zone::Actor;

#[test]
fn from_placeholder_to_adopted_without_a_write_of_the_member() {
    let mut world = World::new(Some(spec(true, "")));
    rounds(&mut world, 10);
    assert_eq!(world.lines(), [txt("a", "demo"), format!("{NAME} A 60 192.0.2.1")]);
    assert!(world.api.objects.is_empty(), "no DNSEndpoint before an address");
    assert_eq!(world.last.adoption, Some(Adoption::Hub));
    world.address = Some(ip("203.0.113.10"));
    world.until("offered", |world| world.last.adoption == Some(Adoption::Offered));
    world.until("adopted", World::adopted);
    assert_eq!(
        world.lines(),
        [txt("a", "ed-east"), format!("{NAME} A 60 203.0.113.10")]
    );
    world.quiet();
    // T05: what it reads is what it wants, so it never writes.
    assert!(world.zone.sent.iter().all(|(actor, _)| *actor != Actor::Member));
}

#[test]
fn an_address_change_is_the_members_to_write() {
    let mut world = adopted(true, ip("203.0.113.10"));
    let hub = |world: &World| world.zone.sent.iter().filter(|(actor, _)| *actor == Actor::Hub).count();
    let before = hub(&world);
    world.address = Some(ip("203.0.113.11"));
    world.until("written", |world| {
        world.lines()[1].ends_with("203.0.113.11") && world.last.wake.is_none()
    });
    world.quiet();
    assert_eq!(hub(&world), before, "not by the hub");
    assert!(world.zone.sent.contains(&(Actor::Member, true)));
    assert!(world.adopted() && world.last.problems.is_empty());
}

/// Facts of ExternalDNS, 8: what an alias of either family looks like, and its TXTs.
#[test]
fn a_dual_stack_load_balancer_is_two_aliases_with_a_txt_each() {
    let mut world = adopted(true, load_balancer("web-1.us-east-1.elb.amazonaws.com", true));
    let alias = "ALIAS dualstack.web-1.us-east-1.elb.amazonaws.com Z35SXDOTRQ7X7K";
    let mut want = vec![
        txt("a", "ed-east"),
        txt("aaaa", "ed-east"),
        format!("{NAME} A {alias}"),
        format!("{NAME} AAAA {alias}"),
    ];
    want.sort();
    let mut have = world.lines();
    have.sort();
    assert_eq!(have, want);
    // T14: no family is left behind.
    release(&mut world);
    assert_eq!(world.lines(), Vec::<String>::new());
}

/// T03: the TXT is what the member regenerates, so its DELETE is accepted the first time.
/// T04: a leftover TXT of another owner.
#[test]
fn a_foreign_txt_is_named_and_replaced_only_when_confirmed() {
    let mut world = World::new(Some(spec(true, "")));
    world.address = Some(ip("203.0.113.10"));
    world.running = false;
    let old = "\"heritage=external-dns,external-dns/owner=ed-old,external-dns/resource=ingress/web/app\"";
    foreign(&mut world, &format!("a-{NAME}"), RecordType::Txt, 300, old);
    let before = world.lines();
    rounds(&mut world, 5);
    assert_eq!(world.lines(), before);
    assert!(world.api.writes.is_empty());
    assert_eq!(world.last.adoption, None);
    let message = world.problem(Reason::RecordConflict).unwrap().message.clone();
    assert!(
        message.contains("a-app-east.example.com TXT") && message.contains("owner \"ed-old\""),
        "{message}"
    );

    let hash = message.rsplit_once("confirm=").unwrap().1.to_owned();
    world.confirm = Some("0000000000000000".to_owned());
    rounds(&mut world, 5);
    assert_eq!(world.lines(), before, "another hash confirms nothing");
    foreign(&mut world, &format!("a-{NAME}"), RecordType::Txt, 60, old);
    world.confirm = Some(hash);
    rounds(&mut world, 5);
    assert!(
        world.problem(Reason::RecordConflict).is_some(),
        "what was agreed to has changed"
    );
    let message = &world.problem(Reason::RecordConflict).unwrap().message;
    world.confirm = Some(message.rsplit_once("confirm=").unwrap().1.to_owned());
    world.running = true;
    world.until("adopted", World::adopted);
    assert_eq!(
        world.lines(),
        [txt("a", "ed-east"), format!("{NAME} A 60 203.0.113.10")]
    );
    world.quiet();
}

/// T08 and T14: a record without ownership, of the same family or of another, in the way of a name.
#[test]
fn a_foreign_record_stops_the_name_before_anything_is_written() {
    for (record_type, value) in [
        (RecordType::A, "203.0.113.50"),
        (RecordType::Aaaa, "2001:db8::5"),
        (RecordType::Cname, "old.example.net"),
        (RecordType::Ns, "ns1.example.net"),
    ] {
        let mut world = World::new(Some(spec(true, "")));
        world.address = Some(ip("203.0.113.10"));
        foreign(&mut world, NAME, record_type, 300, value);
        let before = world.lines();
        world.hub();
        world.hub();
        assert!(world.last.changes.is_empty() && world.last.endpoint.is_none());
        assert_eq!(world.lines(), before);
        let message = &world.problem(Reason::RecordConflict).unwrap().message;
        assert!(message.contains(&format!("{NAME} {record_type} {value}")), "{message}");
        assert!(message.contains("kubectl annotate ghn app -n shop"), "{message}");
    }
}

/// T05, variant: the ExternalDNS does not run.
#[test]
fn a_member_that_does_not_read_is_reported_and_then_explained() {
    let mut world = World::new(Some(spec(true, "")));
    world.running = false;
    world.address = Some(ip("203.0.113.10"));
    rounds(&mut world, 8);
    assert_eq!(world.last.adoption, Some(Adoption::Offered));
    assert!(world.last.problems.is_empty(), "not before three intervals");
    rounds(&mut world, 5);
    let short = world.problem(Reason::AdoptionPending).unwrap().message.clone();
    rounds(&mut world, 20);
    let long = world.problem(Reason::AdoptionPending).unwrap().message.clone();
    assert!(
        !short.contains("--source=crd") && long.contains("--source=crd"),
        "{long}"
    );
    // The hub writes the name until then, also a new address.
    world.address = Some(ip("203.0.113.11"));
    rounds(&mut world, 2);
    assert_eq!(world.lines(), [txt("a", "demo"), format!("{NAME} A 60 203.0.113.11")]);
    world.running = true;
    world.until("adopted", World::adopted);
    world.quiet();
}

/// A member that drops what it reads (`--exclude-target-net`) deletes the name under policy sync; the hub says so and
/// does not fight it.
#[test]
fn a_member_that_drops_what_it_reads_is_not_fought() {
    let mut world = World::new(Some(spec(true, "")));
    world.member.filters = true;
    world.releasing = true; // it loses the name, as it must
    world.address = Some(ip("203.0.113.10"));
    rounds(&mut world, 60);
    world.audit();
    rounds(&mut world, 60);
    assert_eq!(world.last.adoption, Some(Adoption::NotPublishing));
    let message = &world.problem(Reason::MemberNotPublishing).unwrap().message;
    assert!(message.contains("--exclude-target-net"), "{message}");
    let (batches, writes) = (world.zone.sent.len(), world.api.writes.len());
    rounds(&mut world, 120);
    assert_eq!((world.zone.sent.len(), world.api.writes.len()), (batches, writes));
    world.member.filters = false;
    world.until("adopted again", |world| {
        world.adopted() && world.last.problems.is_empty()
    });
    assert_eq!(
        world.lines(),
        [txt("a", "ed-east"), format!("{NAME} A 60 203.0.113.10")]
    );
}

/// T10.
#[test]
fn a_label_too_long_for_its_txt_is_refused_before_any_call() {
    let label = |length: usize| format!("{}.example.com", "l".repeat(length));
    let mut world = World::new(Some(spec(true, "own-")));
    world.address = Some(ip("203.0.113.10"));
    world.name = Some(label(55));
    world.hub();
    assert!(world.last.changes.is_empty() && world.last.endpoint.is_none());
    let message = &world.problem(Reason::LabelTooLong).unwrap().message;
    assert!(message.contains("at most 54"), "{message}");
    world.name = Some(label(54));
    world.hub();
    assert!(world.last.problems.is_empty() && !world.last.changes.is_empty());
}

/// T21 and T22: the member is gone for good.
/// The placeholder proves that no DNSEndpoint was ever offered.
/// Nobody ever read the DNSEndpoint: three intervals are waited for, not for ever.
#[test]
fn without_an_externaldns_the_hub_writes() {
    let mut world = World::new(None);
    world.running = false;
    rounds(&mut world, 2);
    world.address = Some(ip("203.0.113.10"));
    rounds(&mut world, 2);
    let txt = format!(
        "a-{NAME} TXT 300 \"heritage=external-dns,external-dns/owner=demo,\
         external-dns/resource=globalhostname/shop/app\""
    );
    assert_eq!(world.lines(), [txt, format!("{NAME} A 60 203.0.113.10")]);
    assert_eq!(world.last.adoption, Some(Adoption::Hub));
    world.address = Some(load_balancer("lb.example.net", false));
    rounds(&mut world, 2);
    assert!(
        world.lines().contains(&format!("{NAME} CNAME 60 lb.example.net")),
        "{:?}",
        world.lines()
    );
    world.quiet();
    release(&mut world);
    assert_eq!(world.lines(), Vec::<String>::new());
    assert!(world.api.writes.is_empty());
}

/// What upsert-only cannot do itself; the oracle looks that the name always answers.
#[test]
fn paused_reports_and_writes_nothing() {
    let mut world = World::new(Some(spec(true, "")));
    world.paused = true;
    world.address = Some(ip("203.0.113.10"));
    rounds(&mut world, 5);
    assert_eq!(world.lines(), Vec::<String>::new());
    assert!(world.api.writes.is_empty());
}

#[test]
fn a_dnsendpoint_of_another_hub_is_never_written() {
    let mut world = World::new(Some(spec(true, "")));
    world.address = Some(ip("203.0.113.10"));
    world.until("offered", |world| !world.api.objects.is_empty());
    let hub = HubId::parse("other").unwrap().to_string();
    let object = world.api.objects.get_mut(OBJECT).unwrap();
    object.labels.insert("dns.truce.dev/hub-id".to_owned(), hub);
    let writes = world.api.writes.len();
    world.running = false;
    world.address = Some(ip("203.0.113.11"));
    rounds(&mut world, 5);
    assert_eq!(world.api.writes.len(), writes);
    let message = &world.problem(Reason::RecordConflict).unwrap().message;
    assert!(message.contains(OBJECT) && message.contains("another hub"), "{message}");
}

/// Observation 9: an ARN as owner id and a prefix; label values cannot hold an ARN.
#[test]
fn an_arn_is_an_owner_id() {
    const ARN: &str = "arn:aws:iam::222222222222:role/external-dns";
    let mut told = spec(true, "k8s-txt-");
    told.owner_id = ARN.to_owned();
    let mut world = World::new(Some(told));
    world.member.owner = ARN.to_owned();
    world.address = Some(ip("203.0.113.30"));
    world.until("adopted", World::adopted);
    let txt = txt("k8s-txt-a", ARN);
    assert_eq!(world.lines(), [format!("{NAME} A 60 203.0.113.30"), txt]);
    let label = &world.api.objects[OBJECT].labels["dns.truce.dev/owner-id"];
    assert!(
        label.len() == 16 && label.bytes().all(|b| b.is_ascii_hexdigit()),
        "{label}"
    );
    world.quiet();
    assert!(world.zone.sent.iter().all(|(actor, _)| *actor != Actor::Member));
}

/// The MemberCluster says sync, the member runs with upsert-only: it is said, not guessed.
/// A member that gets an ExternalDNS with a prefix: what the hub wrote under plain names moves along.
#[test]
fn a_prefix_that_comes_later_moves_the_txt() {
    let mut world = World::new(Some(spec(true, "")));
    world.address = Some(ip("203.0.113.10"));
    world.running = false;
    rounds(&mut world, 2);
    assert_eq!(world.lines()[0], txt("a", "demo"));
    world.spec.as_mut().unwrap().dialect.affix = Affix::Prefix("k8s-txt-".into());
    world.member.prefix = "k8s-txt-".to_owned();
    world.running = true;
    world.until("adopted", World::adopted);
    assert_eq!(
        world.lines(),
        [format!("{NAME} A 60 203.0.113.10"), txt("k8s-txt-a", "ed-east")]
    );
    world.quiet();
}
