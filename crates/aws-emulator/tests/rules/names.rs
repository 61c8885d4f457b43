//! E21 for names, and how names are stored (route53.md 4, 10.3).

use truce_aws_emulator::core::names::Name;

use crate::support::*;

#[test]
fn e21_names_that_are_none() {
    let mut world = World::new();
    let long_label = format!("{}.example.com", "x".repeat(64));
    let long_name = format!("{}example.com", "abcdefg.".repeat(31));
    let cases = [
        ("", "DomainNameEmpty (Domain name is empty)"),
        ("..", "DomainLabelEmpty (Domain label is empty)"),
        ("a..example.com", "DomainLabelEmpty (Domain label is empty)"),
        (".example.com", "DomainLabelEmpty (Domain label is empty)"),
        (&long_label, "DomainLabelTooLong (Domain label is too long)"),
        (&long_name, "DomainNameTooLong (Domain name is too long)"),
        (
            "a b.example.com",
            "UnsupportedCharacter (Value contains unsupported characters)",
        ),
        (
            "ä.example.com",
            "UnsupportedCharacter (Value contains unsupported characters)",
        ),
        (
            "a\\9.example.com",
            "UnsupportedCharacter (Value contains unsupported characters)",
        ),
    ];
    for (name, what) in cases {
        let text = format!("FATAL problem: {what} encountered with '{name}'");
        world.refuses(&[create(a(name, "192.0.2.1"))], &[&text]);
    }
    world.allows(&[
        create(a(&format!("{}.example.com", "x".repeat(63)), "192.0.2.1")),
        create(a(&format!("{}aaa.example.com", "abcdefg.".repeat(29)), "192.0.2.1")),
        create(a("a\\040b.example.com", "192.0.2.1")),
    ]);
}

#[test]
fn names_have_one_spelling() {
    let cases = [
        ("App.Example.COM", "app.example.com."),
        ("app.example.com.", "app.example.com."),
        ("*.example.com", "\\052.example.com."),
        ("\\052.example.com", "\\052.example.com."),
        ("a-*.example.com", "a-\\052.example.com."),
        ("_truce-x.example.com", "_truce-x.example.com."),
        ("\\101pp.example.com", "app.example.com."),
        ("a@b.example.com", "a\\100b.example.com."),
        ("a\\056b.example.com", "a\\056b.example.com."),
    ];
    for (input, stored) in cases {
        assert_eq!(Name::parse(input).expect(input).as_str(), stored);
    }
}

#[test]
fn an_escaped_dot_is_no_label_border() {
    let mut world = World::new();
    world.refuses(
        &[create(a("a\\056example.com", "192.0.2.1"))],
        &["RRSet with DNS name a\\056example.com. is not permitted in zone example.com."],
    );
}

#[test]
fn only_a_whole_leftmost_star_is_a_wildcard() {
    for (name, wildcard) in [
        ("*.example.com", true),
        ("a-*.example.com", false),
        ("a.*.example.com", false),
    ] {
        assert_eq!(Name::parse(name).expect(name).is_wildcard(), wildcard, "{name}");
    }
}

#[test]
fn the_order_key_gives_the_name_back() {
    for name in ["app.example.com", "*.a.example.com", "a\\056b.example.com"] {
        let name = Name::parse(name).expect(name);
        assert_eq!(Name::from_order(&name.order()), name);
    }
}
