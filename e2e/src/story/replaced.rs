//! Step 4: an address of the same kind is replaced at once, each name by its own writer.

use anyhow::Result;

use super::APP;
use super::stage::{EAST, Near, Stage};
use crate::world::{HUB, Ingress};

pub(super) const NEW_EAST_IP: &str = "203.0.113.11";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    let mark = stage.mark()?;
    stage.say("east's cloud controller reports another address");
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&[NEW_EAST_IP]))?;
    stage.zone_has(&[
        "app.example.com A set=demo/east region=us-east-1 ttl=5 203.0.113.11",
        "app-east.example.com A ttl=5 203.0.113.11",
    ])?;
    stage.answers(Near::East, APP, &[NEW_EAST_IP])?;
    stage.answers(Near::East, "app-east.example.com", &[NEW_EAST_IP])?;
    stage.written_only_by("hub", APP, mark)?;
    stage.written_only_by(EAST, "app-east.example.com", mark)?;
    stage.owner("app-east", "prod-east")?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "Latency", "2/2"])?;
    stage
        .kubectl(
            HUB,
            &[
                "wait",
                "--for=condition=Programmed",
                "ghn/app",
                "-n",
                "shop",
                "--timeout=40s",
            ],
        )
        .map(drop)
}
