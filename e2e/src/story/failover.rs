//! Step 10: a standby cluster makes the layout Failover; it serves nobody while another can.

use anyhow::{Result, ensure};

use super::APP;
use super::arrival::WEST_IP;
use super::nested::EAST2_IP;
use super::replaced::NEW_EAST_IP;
use super::stage::{Near, Stage};
use crate::world::HUB;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    let mark = stage.mark()?;
    stage.patch(&["mcl", "west"], r#"{"spec":{"standby":true}}"#)?;
    stage.eventually("PRIMARY and SECONDARY to stand in the zone", || {
        let zone = stage.zone()?;
        let role = |role: &str| {
            zone.iter()
                .any(|line| line.starts_with("app.example.com A ") && line.contains(role))
        };
        ensure!(role("failover=PRIMARY") && role("failover=SECONDARY"), "{zone:#?}");
        Ok(())
    })?;
    let writes = stage.writes_of(APP, mark)?;
    ensure!(writes.len() == 1, "the switch of policy took {} requests", writes.len());
    stage.answers(Near::West, APP, &[NEW_EAST_IP, EAST2_IP])?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "Failover"])?;
    stage.show_zone()?;
    stage.kubectl(HUB, &["describe", "ghn", "app", "-n", "shop"])?;
    stage.patch(&["mcl", "west"], r#"{"spec":{"standby":false}}"#)?;
    stage.answers(Near::West, APP, &[WEST_IP])?;
    stage.zone_lacks(&["failover=SECONDARY"])?;
    stage.table(
        &["get", "ghn", "-A"],
        &["app.example.com", "LatencyWeighted", "3/3", "Serving"],
    )
}
