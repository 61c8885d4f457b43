//! E1, E2, E3, E16 and what a key is (route53.md 1.3, 1.4, 10.5).

use crate::support::*;

#[test]
fn e1_create_of_what_exists() {
    let mut world = World::new();
    world.allows(&[
        create(a("app.example.com", "192.0.2.1")),
        create(a("w.example.com", "192.0.2.1").weight("east", 1)),
    ]);
    world.refuses(
        &[create(a("app.example.com", "192.0.2.2"))],
        &["Tried to create resource record set [name='app.example.com.', type='A'] but it already exists"],
    );
    world.refuses(
        &[create(a("w.example.com", "192.0.2.1").weight("east", 1))],
        &[
            "Tried to create resource record set [name='w.example.com.', type='A', set-identifier='east'] but it already exists",
        ],
    );
    world.allows(&[
        create(set("app.example.com", "AAAA", &["2001:db8::1"])),
        create(a("w.example.com", "192.0.2.1").weight("west", 1)),
    ]);
}

#[test]
fn e2_delete_of_what_is_not_there() {
    let mut world = World::new();
    world.refuses(
        &[delete(a("app.example.com", "192.0.2.1"))],
        &["Tried to delete resource record set [name='app.example.com.', type='A'] but it was not found"],
    );
    world.allows(&[create(a("w.example.com", "192.0.2.1").weight("east", 1))]);
    world.refuses(
        &[delete(a("w.example.com", "192.0.2.1").weight("west", 1))],
        &[
            "Tried to delete resource record set [name='w.example.com.', type='A', set-identifier='west'] but it was not found",
        ],
    );
    // A DELETE without the identifier names another key.
    world.refuses(
        &[delete(a("w.example.com", "192.0.2.1"))],
        &["Tried to delete resource record set [name='w.example.com.', type='A'] but it was not found"],
    );
    world.allows(&[delete(a("w.example.com", "192.0.2.1").weight("east", 1))]);
}

#[test]
fn e3_delete_must_repeat_every_field() {
    let mut world = World::new();
    let two = set("app.example.com", "A", &["192.0.2.1", "192.0.2.2"]);
    let weighted = a("w.example.com", "192.0.2.1")
        .weight("east", 5)
        .health_check(HEALTH_CHECK);
    let mine = alias(
        "al.example.com",
        "A",
        "Z35SXDOTRQ7X7K",
        "lb.us-east-1.elb.amazonaws.com",
    );
    world.allows(&[create(two.clone()), create(weighted.clone()), create(mine.clone())]);
    let mut no_health = mine.clone();
    if let Some(target) = &mut no_health.alias_target {
        target.evaluate_target_health = Some(false);
    }
    let mut no_check = weighted.clone();
    no_check.health_check_id = None;
    let wrong = [
        two.clone().ttl(61),
        set("app.example.com", "A", &["192.0.2.1"]),
        set("app.example.com", "A", &["192.0.2.1", "192.0.2.3"]),
        weighted.clone().weight("east", 6),
        no_check,
        a("w.example.com", "192.0.2.1")
            .region("east", "us-east-1")
            .health_check(HEALTH_CHECK),
        no_health,
        alias(
            "al.example.com",
            "A",
            "Z35SXDOTRQ7X7K",
            "other.us-east-1.elb.amazonaws.com",
        ),
        a("al.example.com", "192.0.2.1"),
    ];
    for set in wrong {
        let id = set
            .set_identifier
            .as_ref()
            .map_or(String::new(), |id| format!(", set-identifier='{id}'"));
        let text = format!(
            "Tried to delete resource record set [name='{}.', type='A'{id}] but the values provided do not match the current values",
            set.name
        );
        world.refuses(&[delete(set)], &[&text]);
    }
    // The order of values, case and final dot do not matter.
    world.allows(&[
        delete(set("APP.example.com.", "A", &["192.0.2.2", "192.0.2.1"])),
        delete(weighted),
        delete(alias(
            "al.example.com",
            "A",
            "Z35SXDOTRQ7X7K",
            "LB.us-east-1.elb.amazonaws.com.",
        )),
    ]);
    assert_eq!(world.sets().len(), 2, "only NS and SOA are left");
}

#[test]
fn e3_a_txt_differs_by_a_byte() {
    let mut world = World::new();
    world.allows(&[create(set("t.example.com", "TXT", &["\"heritage=x,owner=a\""]))]);
    world.refuses(
        &[delete(set("t.example.com", "TXT", &["\"heritage=x, owner=a\""]))],
        &[
            "Tried to delete resource record set [name='t.example.com.', type='TXT'] but the values provided do not match the current values",
        ],
    );
    world.allows(&[delete(set("t.example.com", "TXT", &["\"heritage=x,owner=a\""]))]);
}

#[test]
fn e16_one_key_changed_twice() {
    let mut world = World::new();
    let old = a("app.example.com", "192.0.2.1");
    let new = a("app.example.com", "192.0.2.2");
    world.allows(&[create(old.clone())]);
    let text = "The request contains an invalid set of changes for a resource record set 'A app.example.com.'";
    for changes in [
        [create(new.clone()), delete(old.clone())],
        [upsert(new.clone()), upsert(new.clone())],
        [delete(old.clone()), delete(old.clone())],
        [delete(old.clone()), upsert(new.clone())],
        [create(new.clone()), create(new.clone())],
        // The same key in another spelling.
        [delete(old.clone()), delete(a("APP.example.com.", "192.0.2.1"))],
    ] {
        world.refuses(&changes, &[text]);
    }
    world.refuses(
        &[delete(old.clone()), create(new.clone()), delete(new.clone())],
        &[text],
    );
    world.allows(&[delete(old), create(new.clone())]);
    assert_eq!(world.set("app.example.com.", "A").values, new.values);
}

#[test]
fn delete_and_create_is_a_compare_and_swap() {
    let mut world = World::new();
    world.allows(&[create(a("app.example.com", "192.0.2.9"))]);
    world.refuses(
        &[delete(a("app.example.com", "192.0.2.1")), create(a("app.example.com", "192.0.2.2"))],
        &[
            "Tried to delete resource record set [name='app.example.com.', type='A'] but the values provided do not match the current values",
            "Tried to create resource record set [name='app.example.com.', type='A'] but it already exists",
        ],
    );
    world.allows(&[
        delete(a("app.example.com", "192.0.2.9")),
        create(a("app.example.com", "192.0.2.2")),
    ]);
}

#[test]
fn upsert_overwrites_blindly() {
    let mut world = World::new();
    world.allows(&[upsert(a("app.example.com", "192.0.2.1"))]);
    world.allows(&[upsert(a("app.example.com", "192.0.2.2").ttl(5))]);
    assert_eq!(world.set("app.example.com.", "A").ttl, Some(5));
}
