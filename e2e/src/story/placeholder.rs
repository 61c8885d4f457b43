//! Step 1: a hostname without any address yet. Names exist before load balancers do.

use anyhow::{Result, ensure};

use super::APP;
use super::stage::{Near, Stage};
use super::watcher::PLACEHOLDER;
use crate::world::HUB;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.kubectl(HUB, &["get", "dz,mcl"])?;
    stage.wait("condition=Ready", &["dz/example-com"])?;
    stage.wait("condition=Reachable", &["mcl/east", "mcl/west"])?;
    let mark = stage.mark()?;
    stage.apply("hostname.yaml")?;
    let text =
        "_truce.app.example.com TXT ttl=300 \"heritage=truce,truce/owner=demo,truce/resource=globalhostname/shop/app\"";
    stage.zone_has(&[
        text,
        "app.example.com A ttl=5 192.0.2.1",
        "app-east.example.com A ttl=5 192.0.2.1",
        "app-west.example.com A ttl=5 192.0.2.1",
    ])?;
    stage.written_only_by("hub", APP, mark)?;
    stage.show_zone()?;
    for label in ["app-east", "app-west"] {
        stage.answers(Near::East, &format!("{label}.example.com"), &[PLACEHOLDER])?;
        stage.owner(label, "demo")?;
    }
    stage.answers(Near::East, APP, &[PLACEHOLDER])?;
    stage.state("app", "east", "Placeholder")?;
    stage.table(
        &["get", "ghn", "-A"],
        &["shop", "app", "app.example.com", "0/2", "PlaceholderOnly"],
    )?;
    let (ready, reason, _) = stage.condition(&["ghn", "app", "-n", "shop"], "Ready")?;
    ensure!(
        (ready.as_str(), reason.as_str()) == ("False", "PlaceholderOnly"),
        "Ready is {ready}, {reason}"
    );
    stage.kubectl(HUB, &["describe", "ghn", "app", "-n", "shop"]).map(drop)
}
