//! Every kubectl line of the README, run as written and in order, on a fresh hub; and once more after a client-side and
//! after a server-side re-apply of the files it began with.
//!
//! The harness does what the README leaves to the reader: it edits the samples, makes the Secrets, and runs the operator
//! when the Deployment has been applied.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use truce_e2e::shell;
use truce_e2e::story::{self, EAST, Stage, WEST};
use truce_e2e::world::{HUB, Ingress, World};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What a reader writes into the samples: their zone, and what their ExternalDNS run with.
const EDITS: [(&str, &str, &str); 4] = [
    ("dnszone.yaml", "Z0123456789ABCDEFGHIJ", "ZEXAMPLE0001"),
    (
        "memberclusters.yaml",
        "ownerID: prod-east\n      policy: upsert-only",
        "ownerID: prod-east\n      interval: 1s\n      policy: sync",
    ),
    (
        "memberclusters.yaml",
        "ownerID: prod-west",
        "ownerID: prod-west\n      interval: 1s",
    ),
    (
        "globalhostname.yaml",
        "hostname: app.example.com",
        "hostname: app.example.com\n  ttl: 5",
    ),
];

/// What the zone must show after a line that holds these words: whether this cluster's set is in it.
const EFFECTS: [(&str, &str, bool); 6] = [
    (r#"{"weights":{"west":0}}"#, WEST, false),
    (r#"{"weights":{"west":null}}"#, WEST, true),
    ("condition=Drained mcl/east", EAST, false),
    (
        r#"patch mcl east --type=merge -p '{"spec":{"weight":100}}'"#,
        EAST,
        true,
    ),
    ("condition=Drained cdrain/east-upgrade", EAST, false),
    ("delete cdrain east-upgrade", EAST, true),
];

/// A copy of what a clone holds, with the samples edited.
fn checkout(world: &World) -> Result<PathBuf> {
    let folder = world.dir().join("checkout");
    fs::create_dir_all(&folder)?;
    let copied = Command::new("cp")
        .args(["-r", "config", "crds"])
        .arg(&folder)
        .current_dir(ROOT)
        .status()?;
    ensure!(copied.success(), "cp: {copied}");
    for (file, from, to) in EDITS {
        let path = folder.join("config/samples").join(file);
        let text = fs::read_to_string(&path)?;
        ensure!(text.contains(from), "{file} has no {from:?} to edit");
        fs::write(&path, text.replacen(from, to, 1))?;
    }
    Ok(folder)
}

fn line(stage: &mut Stage, folder: &Path, line: &str) -> Result<()> {
    let out = shell::run(&stage.world, folder, line)?;
    if line.ends_with("config/manager/deployment.yaml") {
        let mut spec = stage.world.operator_spec()?;
        spec.extra = story::short_timings();
        stage.world.start_operator(&spec)?;
    }
    if line == "kubectl get ghn -A" {
        ensure!(out.contains("STATUS") && out.contains("app.example.com"), "{out}");
    }
    for (words, cluster, stands) in EFFECTS {
        if line.contains(words) {
            let set = format!("set=demo/{cluster}");
            stage.eventually(&format!("{set} to stand: {stands}"), || {
                let zone = stage.zone()?;
                let found = zone
                    .iter()
                    .any(|line| line.starts_with("app.example.com A ") && line.contains(&set));
                ensure!(found == stands, "{zone:#?}");
                Ok(())
            })?;
        }
    }
    Ok(())
}

fn run(stage: &mut Stage) -> Result<()> {
    story::install_members(&stage.world)?;
    story::member_secrets(&stage.world, HUB)?;
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.10"]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&["203.0.113.20"]))?;
    let folder = checkout(&stage.world)?;
    let readme = fs::read_to_string(format!("{ROOT}/README.md"))?;
    let lines = shell::kubectl_lines(&readme);
    for (words, ..) in EFFECTS {
        ensure!(
            lines.iter().any(|line| line.contains(words)),
            "the README has no line with {words}"
        );
    }
    for text in &lines {
        line(stage, &folder, text)?;
    }
    let begins = lines
        .iter()
        .position(|line| line.contains("config/samples/globalhostname.yaml"))
        .unwrap_or_default();
    for how in ["kubectl apply -f", "kubectl apply --server-side -f"] {
        for file in ["dnszone.yaml", "memberclusters.yaml", "globalhostname.yaml"] {
            line(stage, &folder, &format!("{how} config/samples/{file}"))?;
        }
        for text in &lines[begins + 1..] {
            line(stage, &folder, text)?;
        }
    }
    Ok(())
}

#[test]
fn the_readme_runs_as_written() -> Result<()> {
    let world = World::start(&story::world_plan())?;
    let mut stage = Stage::new(world)?;
    let result = run(&mut stage);
    stage.world.conclude(result)
}
