//! Step 5: one hostname drained on one cluster by a patch, and undrained.

use anyhow::{Result, ensure};

use super::APP;
use super::arrival::WEST_IP;
use super::replaced::NEW_EAST_IP;
use super::stage::{Near, Stage};
use crate::world::HUB;

const GHN: &[&str] = &["ghn", "app", "-n", "shop"];
const EAST_SET: &str = "app.example.com A set=demo/east region=us-east-1 ttl=5 203.0.113.11";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    let mark = stage.mark()?;
    stage.patch(GHN, r#"{"spec":{"weights":{"east":0}}}"#)?;
    stage.zone_lacks(&["app.example.com", "set=demo/east"])?;
    stage.answers(Near::East, APP, &[WEST_IP])?;
    stage.eventually("the status to show when the drain is safe", || {
        let status = stage.cluster_status("app", "east")?;
        ensure!(status["drain"]["safeAt"].is_string(), "{status}");
        Ok(())
    })?;
    stage.state("app", "east", "Drained")?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "Latency", "1/2"])?;
    stage.kubectl(HUB, &["describe", "ghn", "app", "-n", "shop"])?;
    stage.say("a drain never touches the URL of the cluster itself");
    stage.answers(Near::East, "app-east.example.com", &[NEW_EAST_IP])?;
    stage.patch(GHN, r#"{"spec":{"weights":{"east":null}}}"#)?;
    stage.zone_has(&[EAST_SET])?;
    stage.answers(Near::East, APP, &[NEW_EAST_IP])?;
    stage.state("app", "east", "Live")?;
    stage.wait("condition=Ready", &["ghn/app", "-n", "shop"])?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "2/2", "Serving"])?;
    stage.written_only_by("hub", APP, mark)?;
    let touched = stage.writes_of("app-east.example.com", mark)?;
    ensure!(touched.is_empty(), "a drain changed the cluster name: {touched:?}");
    Ok(())
}
