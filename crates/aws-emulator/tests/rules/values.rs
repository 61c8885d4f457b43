//! E21 for values, duplicates, single values (route53.md 1.7, 10.4).

use crate::support::*;

#[track_caller]
fn bad(rtype: &str, value: &str, what: &str) {
    let text = format!("Invalid Resource Record: 'FATAL problem: {what} encountered with '{value}''");
    World::new().refuses(&[create(set("x.example.com", rtype, &[value]))], &[&text]);
}

#[track_caller]
fn good(rtype: &str, values: &[&str]) {
    World::new().allows(&[create(set("x.example.com", rtype, values))]);
}

#[test]
fn e21_a() {
    for value in ["192.0.2", "192.0.2.256", "192.0.2.01", "2001:db8::1", "", " 192.0.2.1"] {
        bad(
            "A",
            value,
            "ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)",
        );
    }
    good("A", &["192.0.2.1", "0.0.0.0"]);
}

#[test]
fn e21_aaaa() {
    for value in ["192.0.2.1", "2001:db8::g", "fe80::1%eth0"] {
        bad(
            "AAAA",
            value,
            "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)",
        );
    }
    good("AAAA", &["2001:db8::1", "::ffff:192.0.2.1"]);
}

#[test]
fn e21_cname_and_ns() {
    for rtype in ["CNAME", "NS"] {
        bad(rtype, "a..example.org", "DomainLabelEmpty (Domain label is empty)");
        bad(
            rtype,
            "a b",
            "UnsupportedCharacter (Value contains unsupported characters)",
        );
        good(rtype, &["x.example.org"]);
    }
}

#[test]
fn e21_txt() {
    let long = format!("\"{}\"", "x".repeat(256));
    bad(
        "TXT",
        "x",
        "InvalidCharacterString (Value should be enclosed in quotation marks)",
    );
    bad(
        "TXT",
        "\"x",
        "InvalidCharacterString (Value should be enclosed in quotation marks)",
    );
    bad(
        "TXT",
        "\"x\" y",
        "InvalidCharacterString (Value should be enclosed in quotation marks)",
    );
    bad("TXT", &long, "CharacterStringTooLong (Value is too long)");
    let fits = format!("\"{}\" \"{}\"", "x".repeat(255), "y".repeat(255));
    good("TXT", &[&fits, "\"\"", "\"a \\\"quoted\\\" \\\\ \\101\""]);
}

#[test]
fn e21_soa() {
    let mut world = World::new();
    let value = "ns.example.org. admin.example.org. 1 2 3 4";
    let text = format!(
        "Invalid Resource Record: 'FATAL problem: SOARRDATAIllegalFormat (Value is not a valid SOA record) encountered with '{value}''"
    );
    world.refuses(&[upsert(set("example.com", "SOA", &[value]))], &[&text]);
    world.allows(&[upsert(set("example.com", "SOA", &[&format!("{value} 5")]))]);
}

#[test]
fn no_value_twice() {
    let mut world = World::new();
    world.refuses(
        &[create(set("x.example.com", "A", &["192.0.2.1", "192.0.2.1"]))],
        &["Duplicate Resource Record: '192.0.2.1'"],
    );
    world.refuses(
        &[create(set("x.example.com", "AAAA", &["2001:db8::1", "2001:DB8:0::1"]))],
        &["Duplicate Resource Record: '2001:DB8:0::1'"],
    );
    world.allows(&[create(set("x.example.com", "A", &["192.0.2.1", "192.0.2.2"]))]);
}

#[test]
fn a_cname_has_one_value() {
    let mut world = World::new();
    world.refuses(
        &[create(set(
            "x.example.com",
            "CNAME",
            &["a.example.org", "b.example.org"],
        ))],
        &["RRSet of type CNAME with DNS name x.example.com. must contain exactly one ResourceRecord."],
    );
    world.allows(&[create(set("x.example.com", "NS", &["a.example.org", "b.example.org"]))]);
}

#[test]
fn e19_four_hundred_values() {
    let mut world = World::new();
    let values: Vec<String> = (0..401).map(|n| format!("198.18.{}.{}", n / 256, n % 256)).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    world.refuses(
        &[create(set("x.example.com", "A", &values))],
        &["Cannot have more than 400 records in a RRSet."],
    );
    world.allows(&[create(set("x.example.com", "A", &values[..400]))]);
}
