//! Step 6: a ClusterDrain takes a whole cluster out, `kubectl wait` right after it says when nobody can be sent there.

use anyhow::{Result, ensure};

use super::APP;
use super::arrival::WEST_IP;
use super::replaced::NEW_EAST_IP;
use super::stage::{Near, Stage};
use crate::world::HUB;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.apply("cluster-drain.yaml")?;
    stage.wait("condition=Drained", &["cdrain/west-upgrade"])?;
    let zone = stage.zone()?;
    ensure!(
        !zone.iter().any(|line| line.contains("set=demo/west")),
        "Drained, but west is in {zone:#?}"
    );
    stage.answers(Near::West, APP, &[NEW_EAST_IP])?;
    stage.wait("condition=Drained", &["mcl/west"])?;
    stage.table(&["get", "cdrain"], &["west-upgrade", "west", "True"])?;
    stage.kubectl(HUB, &["get", "mcl"])?;
    stage.kubectl(HUB, &["describe", "cdrain", "west-upgrade"])?;
    stage.kubectl(HUB, &["delete", "cdrain", "west-upgrade"])?;
    stage.zone_has(&["app.example.com A set=demo/west region=us-west-2 ttl=5 203.0.113.20"])?;
    stage.answers(Near::West, APP, &[WEST_IP])?;
    stage.eventually("west's MemberCluster to say that nobody drains it", || {
        let (status, reason, _) = stage.condition(&["mcl", "west"], "Drained")?;
        ensure!(
            (status.as_str(), reason.as_str()) == ("False", "NotDraining"),
            "Drained is {status}, {reason}"
        );
        Ok(())
    })
}
