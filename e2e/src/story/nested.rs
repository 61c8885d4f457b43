//! Step 8: a cluster in a region that another one is in already turns Latency into LatencyWeighted, in one batch.

use anyhow::{Result, ensure};

use super::APP;
use super::arrival::WEST_IP;
use super::replaced::NEW_EAST_IP;
use super::stage::{Near, Stage};
use crate::world::{HUB, Ingress};

pub(super) const EAST2_IP: &str = "203.0.113.30";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.say("the hub itself becomes a member; its Service has an address already");
    stage
        .world
        .load_balancer(HUB, "shop", "gateway", Ingress::Ips(&[EAST2_IP]))?;
    stage.apply("member-east2.yaml")?;
    stage.wait("condition=Ready", &["mcl/east2"])?;
    let mark = stage.mark()?;
    stage.apply("hostname-three.yaml")?;
    stage.zone_has(&[
        "_truce-us-east-1.app.example.com A set=demo/east weight=100 ttl=5 203.0.113.11",
        "_truce-us-east-1.app.example.com A set=demo/east2 weight=100 ttl=5 203.0.113.30",
    ])?;
    stage.answers(Near::East, APP, &[NEW_EAST_IP, EAST2_IP])?;
    stage.answers(Near::West, APP, &[WEST_IP])?;
    switched_in_one_batch(stage, mark)?;
    stage.answers(Near::East, "app-east2.example.com", &[EAST2_IP])?;
    stage.written_only_by("hub", "app-east2.example.com", mark)?;
    stage.written_only_by("hub", APP, mark)?;
    stage.show_zone()?;
    stage.table(
        &["get", "ghn", "-A"],
        &["app.example.com", "LatencyWeighted", "3/3", "Serving"],
    )?;
    stage.kubectl(
        HUB,
        &[
            "get",
            "ghn",
            "app",
            "-n",
            "shop",
            "-o",
            "jsonpath={.status.policyReason}",
        ],
    )?;
    println!();
    stage.wait("condition=ClusterHostnamesReady", &["ghn/app", "-n", "shop"])
}

/// The request that deletes east's old set also creates what stands in its place.
fn switched_in_one_batch(stage: &Stage, mark: usize) -> Result<()> {
    let writes = stage.writes_of(APP, mark)?;
    let switch: Vec<_> = writes
        .iter()
        .filter(|entry| entry.did("DELETE", APP, "demo/east"))
        .collect();
    ensure!(
        switch.len() == 1,
        "the old set of east was deleted by {} requests",
        switch.len()
    );
    let created = switch[0].did("CREATE", APP, "demo/@us-east-1") || switch[0].did("UPSERT", APP, "demo/@us-east-1");
    ensure!(
        created,
        "the switch did not create the region's set: {:?}",
        switch[0].changes
    );
    stage.say("the journal: the switch of policy was one request");
    Ok(())
}
