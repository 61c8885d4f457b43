//! Step 7: the last live, undrained cluster keeps its set, whoever asks it to go.

use anyhow::{Result, ensure};

use super::APP;
use super::arrival::WEST_IP;
use super::replaced::NEW_EAST_IP;
use super::stage::{Near, Stage};
use crate::world::HUB;

const GHN: &[&str] = &["ghn", "app", "-n", "shop"];
const WEST_SET: &str = "app.example.com A set=demo/west region=us-west-2 ttl=5 203.0.113.20";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.say("east is drained, then all of west");
    stage.patch(GHN, r#"{"spec":{"weights":{"east":0}}}"#)?;
    stage.zone_lacks(&["app.example.com", "set=demo/east"])?;
    stage.patch(&["mcl", "west"], r#"{"spec":{"weight":0}}"#)?;
    stage.state("app", "west", "LastServing")?;
    stage.eventually("west's MemberCluster to say why it is not drained", || {
        let (status, reason, _) = stage.condition(&["mcl", "west"], "Drained")?;
        ensure!(
            (status.as_str(), reason.as_str()) == ("False", "LastServing"),
            "Drained is {status}, {reason}"
        );
        Ok(())
    })?;
    stage.zone_has(&[WEST_SET])?;
    stage.answers(Near::East, APP, &[WEST_IP])?;
    stage.kubectl(HUB, &["describe", "mcl", "west"])?;
    stage.patch(&["mcl", "west"], r#"{"spec":{"weight":100}}"#)?;
    stage.state("app", "west", "Live")?;

    stage.say("west is taken off the list while east is still drained");
    stage.patch(GHN, r#"{"spec":{"clusters":[{"name":"east"}]}}"#)?;
    stage.state("app", "west", "LastServing")?;
    stage.zone_has(&[WEST_SET])?;
    stage.answers(Near::East, APP, &[WEST_IP])?;
    stage.kubectl(HUB, &["describe", "ghn", "app", "-n", "shop"])?;

    stage.say("the original file is applied again, and east comes back");
    stage.apply("hostname.yaml")?;
    stage.patch(GHN, r#"{"spec":{"weights":{"east":null}}}"#)?;
    stage.zone_has(&[
        WEST_SET,
        "app.example.com A set=demo/east region=us-east-1 ttl=5 203.0.113.11",
    ])?;
    stage.answers(Near::East, APP, &[NEW_EAST_IP])?;
    stage.answers(Near::West, APP, &[WEST_IP])?;
    stage.wait("condition=Ready", &["ghn/app", "-n", "shop"])
}
