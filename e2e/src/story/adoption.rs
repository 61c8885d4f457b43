//! Step 3: the cluster names go over to the members' ExternalDNS, which find nothing left to do.

use anyhow::{Result, ensure};

use super::arrival::{EAST_IP, WEST_IP};
use super::stage::{EAST, Near, Stage, WEST};
use crate::actor::Actor;
use crate::world::HUB;

/// Syncs of each member in which it must not write.
const QUIET_SYNCS: u32 = 3;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.wait("condition=ClusterHostnamesReady", &["ghn/app", "-n", "shop"])?;
    stage.zone_has(&[
        "app-east.example.com A ttl=5 203.0.113.10",
        "app-west.example.com A ttl=5 203.0.113.20",
    ])?;
    for (cluster, owner, ip) in [(EAST, "prod-east", EAST_IP), (WEST, "prod-west", WEST_IP)] {
        stage.state("app", cluster, "Live")?;
        let adoption = stage.cluster_status("app", cluster)?["adoption"].clone();
        ensure!(adoption == "Adopted", "the adoption of {cluster} is {adoption}");
        let label = format!("app-{cluster}");
        stage.answers(Near::East, &format!("{label}.example.com"), &[ip])?;
        stage.owner(&label, owner)?;
        stage.kubectl(cluster, &["get", "dnsendpoints", "-n", "truce-system", "-o", "yaml"])?;
        let mark = stage.mark()?;
        stage.world.external_dns(cluster)?.wait_for_syncs(QUIET_SYNCS)?;
        let key = Actor::new(cluster, "").access_key;
        let journal = stage.world.emulator.journal()?;
        let asked = journal
            .iter()
            .skip(mark)
            .filter(|entry| entry.actor == key && entry.changes_a_zone())
            .count();
        ensure!(asked == 0, "{cluster} asked for {asked} changes after the hand-over");
        stage.say(&format!(
            "three syncs of the ExternalDNS of {cluster} since: it wrote nothing"
        ));
    }
    stage.kubectl(
        HUB,
        &["get", "ghn", "app", "-n", "shop", "-o", "jsonpath={.status.clusters}"],
    )?;
    println!();
    Ok(())
}
