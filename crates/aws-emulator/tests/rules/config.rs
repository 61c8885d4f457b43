//! The configuration file: what it accepts, and that a typo is an error that names it.

use truce_aws_emulator::config::parse;
use truce_aws_emulator::{Config, serve};

const FILE: &str = r#"
zones:
  - name: example.com
    id: ZEXAMPLE0001
    records:
      - {name: mail.example.com, type: A, ttl: 3600, values: ["203.0.113.99"]}
      - name: app.example.com
        type: A
        setIdentifier: east
        weight: 50
        aliasTarget: {hostedZoneID: Z35SXDOTRQ7X7K, dnsName: lb.us-east-1.elb.amazonaws.com, evaluateTargetHealth: true}
  - {name: example.org, account: "222222222222"}
accessKeys: {AKIDOTHER: "222222222222"}
regions: {203.0.113.0/24: eu-west-1}
loadBalancers: {lb.us-east-1.elb.amazonaws.com: [192.0.2.10]}
healthChecks: [hc-1]
"#;

async fn start_error(text: &str) -> String {
    let config = Config {
        file: parse(text).expect("YAML"),
        ..Config::default()
    };
    serve(config).await.err().expect("an error").to_string()
}

#[tokio::test]
async fn a_whole_file_is_served() {
    let config = Config {
        file: parse(FILE).expect("YAML"),
        ..Config::default()
    };
    let handle = serve(config).await.expect("served");
    let names: Vec<_> = handle
        .record_sets("ZEXAMPLE0001")
        .expect("the zone")
        .into_iter()
        .map(|s| format!("{} {}", s.name, s.rtype))
        .collect();
    assert_eq!(
        names,
        [
            "example.com. NS",
            "example.com. SOA",
            "app.example.com. A",
            "mail.example.com. A"
        ]
    );
}

#[test]
fn a_typo_is_an_error_that_names_it() {
    for (text, word) in [
        ("zone: []", "zone"),
        ("zones: [{name: example.com, record: []}]", "record"),
        ("zones: [{name: a.com, records: [{name: x, type: A, tll: 5}]}]", "tll"),
        ("loadBalancers: {x: [192.0.2.300]}", "192.0.2.300"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_served_is_an_error_that_says_what_to_write() {
    let cases = [
        (
            "regions: {nowhere: eu-west-1}",
            "'nowhere' is not a network; write one such as 203.0.113.0/24",
        ),
        ("regions: {203.0.113.0/24: eu-west-9}", "'eu-west-9' is not a region"),
        (
            "loadBalancers: {www.example.com: [192.0.2.1]}",
            "'www.example.com' is not a load balancer's name; write",
        ),
        (
            "zones: [{name: example.com, id: z1}]",
            "z1 is not a hosted zone id; write Z and",
        ),
        (
            "zones: [{name: a.com, id: Z1}, {name: b.com, id: Z1}]",
            "Z1 is used twice",
        ),
        (
            "zones: [{name: a.com, records: [{name: x.b.com, type: A, ttl: 5, values: [192.0.2.1]}]}]",
            "RRSet with DNS name x.b.com. is not permitted in zone a.com.",
        ),
    ];
    for (text, expected) in cases {
        let error = start_error(text).await;
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn the_file_in_the_readme_is_served() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```yaml\n").expect("a YAML block");
    let (text, _) = rest.split_once("```").expect("its end");
    let config = Config {
        file: parse(text).expect("YAML"),
        ..Config::default()
    };
    let handle = serve(config).await.expect("served");
    assert_eq!(handle.record_sets("ZEXAMPLE0001").map(|sets| sets.len()), Some(4));
}

#[test]
fn the_flags_in_the_readme_are_those_of_the_binary() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_truce-aws-emulator"))
        .arg("--help")
        .output()
        .expect("ran");
    let help = String::from_utf8(help.stdout).expect("text");
    let readme = include_str!("../../README.md");
    let flags = |text: &str| -> std::collections::BTreeSet<String> {
        text.split(|c: char| !c.is_ascii_lowercase() && c != '-')
            .filter(|word| word.starts_with("--") && word.len() > 2 && word.as_bytes()[2] != b'-')
            .map(str::to_owned)
            .collect()
    };
    let table: String = readme.lines().filter(|line| line.starts_with("| `--")).collect();
    let mut expected = flags(&help);
    expected.remove("--help");
    expected.remove("--version");
    assert_eq!(flags(&table), expected);
}
