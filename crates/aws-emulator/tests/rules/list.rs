//! ListResourceRecordSets: order, pages, cursor (route53.md 4).

use truce_aws_emulator::core::error::Code;

use crate::support::*;

fn names(page: &truce_aws_emulator::core::list::Page) -> Vec<String> {
    page.sets.iter().map(|s| format!("{} {}", s.name, s.rtype)).collect()
}

#[test]
fn labels_reversed_with_hyphen_before_dot_then_type() {
    let mut world = World::new();
    let added = ["b", "a.b", "b-c", "a-b", "*.b", "_x.b", "0", "z"];
    let changes: Vec<_> = added
        .iter()
        .map(|n| create(a(&format!("{n}.example.com"), "192.0.2.1")))
        .collect();
    world.allows(&changes);
    world.allows(&[
        create(set("b.example.com", "TXT", &["\"x\""])),
        create(set("b.example.com", "AAAA", &["2001:db8::1"])),
    ]);
    let page = world.list(None, None, None, 300).expect("a page");
    let expected = [
        "example.com. NS",
        "example.com. SOA",
        "0.example.com. A",
        "a-b.example.com. A",
        "b-c.example.com. A",
        "b.example.com. A",
        "b.example.com. AAAA",
        "b.example.com. TXT",
        "\\052.b.example.com. A",
        "_x.b.example.com. A",
        "a.b.example.com. A",
        "z.example.com. A",
    ];
    assert_eq!(names(&page), expected);
    assert_eq!(page.next, None);
}

#[test]
fn at_most_300_a_page() {
    let mut world = World::new();
    let changes: Vec<_> = (0..400)
        .map(|n| create(a(&format!("n{n:03}.example.com"), "192.0.2.1")))
        .collect();
    world.allows(&changes);
    let page = world.list(None, None, None, 5000).expect("a page");
    assert_eq!(page.sets.len(), 300);
    let next = page.next.expect("more");
    assert_eq!(next.name().as_str(), "n298.example.com.");
}

#[test]
fn the_cursor_needs_all_three_parts() {
    let mut world = World::new();
    let member = |id: &str| create(a("app.example.com", "192.0.2.1").weight(id, 1));
    world.allows(&[member("a"), member("b"), member("c")]);
    let page = world.list(Some("app.example.com"), Some("A"), None, 2).expect("a page");
    let next = page.next.expect("more");
    assert_eq!(
        (next.name().as_str(), next.rtype.as_str(), next.set_id.as_deref()),
        ("app.example.com.", "A", Some("c"))
    );
    let rest = world
        .list(Some("app.example.com"), Some("A"), Some("c"), 2)
        .expect("a page");
    assert_eq!(rest.sets.len(), 1);
    // Without the identifier the group begins again.
    let again = world.list(Some("app.example.com"), Some("A"), None, 2).expect("a page");
    assert_eq!(again.sets, page.sets);
}

#[test]
fn a_start_need_not_exist() {
    let mut world = World::new();
    world.allows(&[
        create(a("b.example.com", "192.0.2.1")),
        create(set("b.example.com", "TXT", &["\"x\""])),
        create(a("x.b.example.com", "192.0.2.1")),
    ]);
    let first = |name: &str, rtype: Option<&str>| names(&world.list(Some(name), rtype, None, 1).expect("a page"));
    assert_eq!(first("a.example.com", None), ["b.example.com. A"]);
    assert_eq!(first("B.EXAMPLE.COM", Some("AAAA")), ["b.example.com. TXT"]);
    // Types that are not kept here have their place in the order too.
    assert_eq!(first("b.example.com", Some("MX")), ["b.example.com. TXT"]);
    assert_eq!(first("b.example.com", Some("ZZZ")), ["x.b.example.com. A"]);
    assert!(first("z.example.com", None).is_empty());
}

#[test]
fn a_type_needs_a_name_and_an_identifier_a_type() {
    let world = World::new();
    for (name, rtype, id) in [(None, Some("A"), None), (Some("x.example.com"), None, Some("i"))] {
        let error = world.list(name, rtype, id, 10).expect_err("half a cursor");
        assert_eq!(error.code, Code::InvalidInput);
    }
    world
        .list(Some("x.example.com"), Some("A"), Some("i"), 10)
        .expect("a whole cursor");
}

#[test]
fn a_list_shows_what_is_still_pending() {
    let mut world = World::new();
    world.service.insync_ms = 60_000;
    world.allows(&[create(a("app.example.com", "192.0.2.1"))]);
    let page = world.list(Some("app.example.com"), None, None, 1).expect("a page");
    assert_eq!(names(&page), ["app.example.com. A"]);
}
