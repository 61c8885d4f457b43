//! Two minutes without any input after everything has converged: nobody writes, and the hub reads for its audit only.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use truce_e2e::actor::Actor;
use truce_e2e::story::{self, EAST, HUB_ACTOR, Stage, WEST};
use truce_e2e::wait;
use truce_e2e::world::{HUB, Ingress};

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(120);

/// How long a restarted operator has for reading everything, and for writing what it should not.
const AFTER_RESTART: Duration = Duration::from_secs(20);

/// Writes that a cluster's API server has served so far, by resource and verb, from its own metrics. The lease of the API
/// server itself is left out: it renews that every ten seconds.
fn kubernetes_writes(stage: &Stage, cluster: &str) -> Result<BTreeMap<String, u64>> {
    let text = stage.world.kubectl(cluster)?.run(&["get", "--raw", "/metrics"])?;
    let mut writes = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("apiserver_request_total{")) {
        let label = |name: &str| {
            line.split(&format!("{name}=\""))
                .nth(1)
                .and_then(|rest| rest.split('"').next())
        };
        let (verb, resource) = (label("verb").unwrap_or_default(), label("resource").unwrap_or_default());
        if resource == "leases" || !matches!(verb, "POST" | "PUT" | "PATCH" | "APPLY" | "DELETE" | "DELETECOLLECTION") {
            continue;
        }
        let count: f64 = line.rsplit(' ').next().context("a metric has a value")?.parse()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a counter")]
        let count = count as u64;
        *writes
            .entry(format!(
                "{cluster}: {verb} {resource}/{}",
                label("subresource").unwrap_or_default()
            ))
            .or_default() += count;
    }
    Ok(writes)
}

/// The writes of all clusters so far.
fn writes(stage: &Stage) -> Result<BTreeMap<String, u64>> {
    let all = [HUB, EAST, WEST]
        .iter()
        .map(|cluster| kubernetes_writes(stage, cluster));
    Ok(all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn no_more_writes(stage: &Stage, before: &BTreeMap<String, u64>, when: &str) -> Result<()> {
    let after = writes(stage)?;
    let more: Vec<_> = after
        .iter()
        .filter(|(what, count)| before.get(*what) != Some(*count))
        .collect();
    ensure!(more.is_empty(), "writes {when}: {more:?}, before: {before:?}");
    Ok(())
}

/// A restart at rest: nothing is news to an operator that finds the world as it left it.
fn restart(stage: &mut Stage) -> Result<()> {
    let before = writes(stage)?;
    let changes = stage.world.emulator.writes()?.len();
    let mut spec = stage.world.operator_spec()?;
    spec.extra = story::short_timings();
    stage.world.operator()?.terminate()?;
    stage.world.start_operator(&spec)?;
    wait::holds("the restarted operator runs", AFTER_RESTART, || {
        stage.world.check_running()
    })?;
    no_more_writes(stage, &before, "after a restart at rest")?;
    let more = stage.world.emulator.writes()?.len() - changes;
    ensure!(more == 0, "{more} changes of the zone after a restart at rest");
    Ok(())
}

fn run(stage: &mut Stage) -> Result<()> {
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.10"]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&["203.0.113.20"]))?;
    stage.apply("hostname.yaml")?;
    stage.wait("condition=ClusterHostnamesReady", &["ghn/app", "-n", "shop"])?;
    stage.wait("condition=Programmed", &["ghn/app", "-n", "shop"])?;
    for member in [EAST, WEST] {
        stage.world.external_dns(member)?.wait_for_syncs(3)?;
    }
    let before = writes(stage)?;
    let mark = stage.mark()?;
    wait::holds("everything runs", IDLE, || stage.world.check_running())?;
    let journal = stage.world.emulator.journal()?;
    let since: Vec<_> = journal.iter().skip(mark).collect();
    let changes: Vec<_> = since
        .iter()
        .filter(|entry| entry.changes_a_zone())
        .map(|entry| &entry.raw)
        .collect();
    ensure!(changes.is_empty(), "changes in two idle minutes: {changes:?}");
    no_more_writes(stage, &before, "in two idle minutes")?;
    let hub = Actor::new(HUB_ACTOR, "").access_key;
    let mut reads: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in since.iter().filter(|entry| entry.actor == hub) {
        *reads.entry(&entry.operation).or_default() += 1;
    }
    println!("the hub's reads of AWS in two idle minutes: {reads:?}");
    let audit = reads
        .iter()
        .all(|(operation, count)| *operation == "ListResourceRecordSets" && *count <= 2);
    ensure!(
        audit,
        "the audit of a zone of one page reads it once in five minutes, but the hub called {reads:?}"
    );
    restart(stage)
}

#[test]
fn an_idle_world_is_quiet() -> Result<()> {
    let mut stage = story::start()?;
    let result = run(&mut stage);
    stage.world.conclude(result)
}
