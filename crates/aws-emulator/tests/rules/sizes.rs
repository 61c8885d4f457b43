//! E17, E18, E19: sizes of a request and of a zone (route53.md 1.2, 10.2).

use truce_aws_emulator::core::change::Rules;
use truce_aws_emulator::core::shape::RawSet;

use crate::support::*;

fn many(n: usize) -> Vec<RawSet> {
    (0..n).map(|i| a(&format!("n{i}.example.com"), "192.0.2.1")).collect()
}

#[test]
fn e17_a_thousand_elements() {
    let text = "Number of records limit of 1000 exceeded.";
    let mut world = World::new();
    world.refuses(&many(1001).into_iter().map(create).collect::<Vec<_>>(), &[text]);
    world.allows(&many(1000).into_iter().map(create).collect::<Vec<_>>());
    // An UPSERT counts twice.
    world.refuses(&many(501).into_iter().map(upsert).collect::<Vec<_>>(), &[text]);
    world.allows(&many(500).into_iter().map(upsert).collect::<Vec<_>>());
}

#[test]
fn e17_values_count_and_an_alias_counts_one() {
    let values: Vec<String> = (0..400).map(|n| format!("198.18.{}.{}", n / 256, n % 256)).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let wide = |i: usize| create(set(&format!("w{i}.example.com"), "A", &values));
    let mut changes = vec![wide(1), wide(2)];
    changes.extend(many(200).into_iter().map(create));
    let mut world = World::new();
    world.allows(&changes);
    let mut world = World::new();
    changes.push(create(alias("al.example.com", "A", ZONE, "n1.example.com")));
    world.refuses(&changes, &["Number of records limit of 1000 exceeded."]);
}

#[test]
fn e18_32000_characters() {
    let text = "RDATA character limit of 32000 exceeded.";
    // 4 strings of 200 characters and 3 spaces: 811 characters with the quotes.
    let value = vec![format!("\"{}\"", "x".repeat(200)); 4].join(" ");
    assert_eq!(value.len(), 811);
    let sets: Vec<RawSet> = (0..40)
        .map(|i| set(&format!("t{i}.example.com"), "TXT", &[&value]))
        .collect();
    let mut world = World::new();
    world.refuses(&sets.iter().cloned().map(create).collect::<Vec<_>>(), &[text]);
    world.allows(&sets[..39].iter().cloned().map(create).collect::<Vec<_>>());
    world.refuses(&sets[..20].iter().cloned().map(upsert).collect::<Vec<_>>(), &[text]);
    world.allows(&sets[..19].iter().cloned().map(upsert).collect::<Vec<_>>());
}

#[test]
fn e19_record_sets_of_a_zone() {
    let mut world = World::with_rules(Rules {
        max_sets_per_zone: 5,
        ..Rules::default()
    });
    world.allows(&many(3).into_iter().map(create).collect::<Vec<_>>());
    world.refuses(
        &[create(a("more.example.com", "192.0.2.1"))],
        &["Exceeded limit MAX_RRSETS_BY_ZONE for zone: ZEXAMPLE0001"],
    );
    // Only the end of the batch counts.
    world.allows(&[
        create(a("more.example.com", "192.0.2.1")),
        delete(a("n0.example.com", "192.0.2.1")),
    ]);
}
