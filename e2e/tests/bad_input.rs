//! Bad input that only the running operator can see: a condition with the reason and the way out, no record of anyone
//! touched, and other hostnames go on.
//!
//! A case of `e2e/story/bad-input` is what a user applies; its first line names the object and the reason expected.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use truce_e2e::kubectl::Kubectl;
use truce_e2e::story::{self, APP, EAST, Near, Stage, WEST, story_file};
use truce_e2e::world::{HUB, Ingress};

/// What the case makes, by its kind's short name, and the reason that a condition of it must give.
fn expectation(text: &str) -> Result<(&str, &str)> {
    let first = text.lines().next().unwrap_or_default();
    let words = first
        .strip_prefix("# expect: ")
        .context("the first line is `# expect: kind/name Reason`")?;
    words
        .split_once(' ')
        .context("the first line names an object and a reason")
}

/// An object's conditions, one a line.
fn conditions(object: &Value) -> Vec<String> {
    let list = object["status"]["conditions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let text = |condition: &Value, key: &str| condition[key].as_str().unwrap_or_default().to_owned();
    let line = |condition: &Value| {
        let [kind, status, reason, message] = ["type", "status", "reason", "message"].map(|key| text(condition, key));
        format!("{kind}={status} {reason}: {message}")
    };
    list.iter().map(line).collect()
}

/// Applies a case, waits for its condition, and takes it away again, which must not need any help.
fn check(stage: &Stage, hub: &Kubectl, text: &str) -> Result<()> {
    let (object, reason) = expectation(text)?;
    hub.apply(text)?;
    let namespace = if text.contains("namespace: shop\n  name: ") {
        "shop"
    } else {
        "bad"
    };
    let told = stage.eventually(&format!("{object} to say {reason}"), || {
        let found = conditions(&hub.get(&[object, "-n", namespace])?);
        let told = found.iter().find(|line| line.contains(&format!("=False {reason}: ")));
        let told = told.with_context(|| format!("its conditions: {found:#?}"))?;
        ensure!(!told.ends_with(": "), "the condition has no message: {told}");
        println!("{object}: {told}");
        Ok(())
    });
    told.and(hub.run_with(&["delete", "--timeout=30s", "-f", "-"], text).map(drop))
}

fn run(stage: &mut Stage) -> Result<()> {
    let hub = stage.world.kubectl(HUB)?;
    stage.world.namespace(HUB, "bad")?;
    let claim = r#"[{"op":"add","path":"/spec/claims/-","value":{"namespaces":["bad"],"hostnames":["*.example.com"],"sourceNamespaces":["shop"]}}]"#;
    hub.run(&["patch", "dz", "example-com", "--type=json", "-p", claim])?;
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.10"]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&["203.0.113.20"]))?;
    stage.apply("hostname.yaml")?;
    stage.wait("condition=ClusterHostnamesReady", &["ghn/app", "-n", "shop"])?;
    let before = stage.zone()?;

    let mut files: Vec<PathBuf> = fs::read_dir(story_file("bad-input"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    let mut failed = Vec::new();
    for file in &files {
        if let Err(error) = check(stage, &hub, &fs::read_to_string(file)?) {
            failed.push(format!("{}: {error:#}", file.file_name().unwrap_or_default().display()));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n\n"));
    ensure!(
        !PathBuf::from("/tmp/truce-e2e-must-not-exist").exists(),
        "a kubeconfig ran a program"
    );

    let fence = |line: &String| !line.starts_with("_truce-hub-");
    let [old, new] = [before, stage.zone()?].map(|zone| zone.into_iter().filter(fence).collect::<Vec<_>>());
    ensure!(old == new, "bad input changed the zone: from {old:#?} to {new:#?}");
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.12"]))?;
    stage.answers(Near::East, APP, &["203.0.113.12"])?;
    stage.answers(Near::East, "app-east.example.com", &["203.0.113.12"])
}

#[test]
fn bad_input_is_told_and_touches_nothing() -> Result<()> {
    let mut stage = story::start()?;
    let result = run(&mut stage);
    stage.world.conclude(result)
}
