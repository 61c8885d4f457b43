//! Step 9: a forced policy over the same layout, and back to the one the layout gives.

use anyhow::{Result, ensure};

use super::APP;
use super::arrival::WEST_IP;
use super::nested::EAST2_IP;
use super::replaced::NEW_EAST_IP;
use super::stage::{Near, Stage};

const GHN: &[&str] = &["ghn", "app", "-n", "shop"];

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    let mark = stage.mark()?;
    stage.patch(GHN, r#"{"spec":{"routing":{"policy":"Weighted"}}}"#)?;
    stage.zone_has(&[
        "app.example.com A set=demo/east weight=100 ttl=5 203.0.113.11",
        "app.example.com A set=demo/west weight=100 ttl=5 203.0.113.20",
        "app.example.com A set=demo/east2 weight=100 ttl=5 203.0.113.30",
    ])?;
    stage.zone_lacks(&["app.example.com", "set=demo/@us-east-1"])?;
    one_request(stage, mark)?;
    stage.answers(Near::East, APP, &[NEW_EAST_IP, EAST2_IP, WEST_IP])?;
    stage.answers(Near::West, APP, &[NEW_EAST_IP, EAST2_IP, WEST_IP])?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "Weighted", "3/3"])?;
    let mark = stage.mark()?;
    stage.patch(GHN, r#"{"spec":{"routing":{"policy":"Auto"}}}"#)?;
    stage.zone_has(&["_truce-us-east-1.app.example.com A set=demo/east weight=100 ttl=5 203.0.113.11"])?;
    stage.answers(Near::West, APP, &[WEST_IP])?;
    one_request(stage, mark)?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "LatencyWeighted", "3/3"])
}

fn one_request(stage: &Stage, mark: usize) -> Result<()> {
    let writes = stage.writes_of(APP, mark)?;
    ensure!(writes.len() == 1, "the switch of policy took {} requests", writes.len());
    stage.say("the journal: the switch of policy was one request");
    stage.written_only_by("hub", APP, mark)
}
