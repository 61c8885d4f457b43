//! What a re-apply of the original files, client-side and server-side, leaves of a drain that was asked for by a command.
//!
//! The commands are those of the documentation, run by a shell with kubectl in its PATH (`readme.rs` runs them all).

use anyhow::{Result, ensure};
use truce_e2e::shell;
use truce_e2e::story::{self, APP, EAST, Near, Stage, WEST, story_file};
use truce_e2e::world::Ingress;

/// The ways in which the files of Git come back.
const REAPPLIES: [&str; 2] = ["kubectl apply -f", "kubectl apply --server-side -f"];

fn shell(stage: &Stage, line: &str) -> Result<String> {
    shell::run(&stage.world, stage.world.dir(), line)
}

fn reapply(stage: &Stage, how: &str) -> Result<()> {
    for file in ["hostname.yaml", "members.yaml", "dns-zone.yaml"] {
        shell(stage, &format!("{how} {}", story_file(file)))?;
    }
    Ok(())
}

/// A hostname drained on one cluster, the files re-applied, and back.
fn drain_a_hostname(stage: &Stage, how: &str) -> Result<()> {
    shell(
        stage,
        r#"kubectl patch ghn app -n shop --type=merge -p '{"spec":{"weights":{"west":0}}}'"#,
    )?;
    stage.zone_lacks(&["app.example.com", "set=demo/west"])?;
    reapply(stage, how)?;
    stage.state("app", WEST, "Drained")?;
    stage.answers(Near::West, APP, &["203.0.113.10"])?;
    shell(
        stage,
        r#"kubectl patch ghn app -n shop --type=merge -p '{"spec":{"weights":{"west":null}}}'"#,
    )?;
    shell(
        stage,
        "kubectl wait --for=condition=Ready ghn/app -n shop --timeout=40s",
    )?;
    stage.answers(Near::West, APP, &["203.0.113.20"])
}

/// A whole cluster drained, the files re-applied, and back.
fn drain_a_cluster(stage: &Stage, how: &str) -> Result<()> {
    shell(
        stage,
        r#"kubectl patch mcl east --type=merge -p '{"spec":{"weight":0}}'"#,
    )?;
    reapply(stage, how)?;
    shell(stage, "kubectl wait --for=condition=Drained mcl/east --timeout=40s")?;
    let zone = stage.zone()?;
    ensure!(
        !zone.iter().any(|line| line.contains("set=demo/east")),
        "Drained, but in the zone: {zone:#?}"
    );
    stage.answers(Near::East, APP, &["203.0.113.20"])?;
    shell(
        stage,
        r#"kubectl patch mcl east --type=merge -p '{"spec":{"weight":100}}'"#,
    )?;
    stage.answers(Near::East, APP, &["203.0.113.10"])
}

fn run(stage: &mut Stage) -> Result<()> {
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.10"]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&["203.0.113.20"]))?;
    stage.apply("hostname.yaml")?;
    shell(
        stage,
        "kubectl wait --for=condition=Ready ghn/app -n shop --timeout=40s",
    )?;
    for how in REAPPLIES {
        println!("# re-applied in between: {how}");
        drain_a_hostname(stage, how)?;
        drain_a_cluster(stage, how)?;
    }
    let table = shell(stage, "kubectl get ghn -A")?;
    ensure!(table.contains("HOSTNAME") && table.contains(APP), "{table}");
    let table = shell(stage, "kubectl get mcl")?;
    ensure!(table.contains("REACHABLE") && table.contains("us-west-2"), "{table}");
    let text = shell(stage, "kubectl describe ghn app -n shop")?;
    ensure!(text.contains("Cluster Hostname"), "{text}");
    Ok(())
}

#[test]
fn drains_survive_a_reapply() -> Result<()> {
    let mut stage = story::start()?;
    let result = run(&mut stage);
    stage.world.conclude(result)
}
