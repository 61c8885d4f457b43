//! The binary: ready line, journal file, errors of its configuration.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::*;

const BINARY: &str = env!("CARGO_BIN_EXE_truce-aws-emulator");

#[tokio::test]
async fn it_prints_its_addresses_and_writes_its_journal() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal.jsonl");
    let mut child = Command::new(BINARY)
        .args([
            "--zone",
            "example.com=ZEXAMPLE0001",
            "--zone",
            "example.org",
            "--insync-ms",
            "5",
            "--journal",
        ])
        .arg(&journal)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
    stdout.read_line(&mut line).expect("a line");
    let ready: Value = serde_json::from_str(&line).expect("JSON");
    let address = ready["aws"].as_str().expect("aws").to_owned();
    assert!(ready["dns"].as_str().is_some_and(|dns| dns.starts_with("127.0.0.1:")));

    let client = route53(&format!("http://{address}"), "AKIDTEST");
    let zones = client.list_hosted_zones().send().await.expect("listed").hosted_zones;
    assert_eq!(zones.len(), 2);
    assert!(
        zones
            .iter()
            .any(|z| z.id == "/hostedzone/ZEXAMPLE0001" && z.name == "example.com.")
    );
    child.kill().expect("ended");
    child.wait().expect("ended");

    let text = std::fs::read_to_string(&journal).expect("a journal");
    let entry: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (entry["seq"].as_u64(), entry["action"].as_str()),
        (Some(1), Some("ListHostedZones"))
    );
}

#[test]
fn a_typo_in_the_configuration_ends_it_with_a_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("config.yaml");
    std::fs::write(&config, "zone: []").expect("written");
    let output = Command::new(BINARY).arg("--config").arg(&config).output().expect("ran");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("config.yaml") && error.contains("`zone`"), "{error}");
}

#[test]
fn a_bad_flag_ends_it_with_a_reason() {
    for (arguments, expected) in [
        (
            ["--zone", "example.com=z1"],
            "z1 is not a hosted zone id; write Z and 1 to 31 of A-Z and 0-9",
        ),
        (["--dns-default-region", "nowhere"], "'nowhere' is not a region"),
    ] {
        let output = Command::new(BINARY).args(arguments).output().expect("ran");
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(expected), "{error}");
    }
}
