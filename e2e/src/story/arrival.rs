//! Step 2: the load balancers get their addresses. From the first real answer on a resolver asks all the time.

use anyhow::Result;

use super::APP;
use super::stage::{EAST, Near, Stage, WEST};
use super::watcher::Watcher;
use crate::world::{HUB, Ingress};

pub(super) const EAST_IP: &str = "203.0.113.10";
pub(super) const WEST_IP: &str = "203.0.113.20";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    let mark = stage.mark()?;
    stage.say("the cloud controllers of east and west report the load balancers' addresses");
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&[EAST_IP]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&[WEST_IP]))?;
    stage.kubectl(EAST, &["get", "service", "-n", "shop", "gateway"])?;
    stage.wait("condition=Ready", &["ghn/app", "-n", "shop"])?;
    stage.zone_has(&[
        "app.example.com A set=demo/east region=us-east-1 ttl=5 203.0.113.10",
        "app.example.com A set=demo/west region=us-west-2 ttl=5 203.0.113.20",
    ])?;
    stage.zone_lacks(&["app.example.com", "192.0.2.1"])?;
    stage.answers(Near::East, APP, &[EAST_IP])?;
    stage.answers(Near::West, APP, &[WEST_IP])?;
    stage.watcher = Some(Watcher::start(
        APP,
        vec![stage.client(Near::East), stage.client(Near::West)],
    ));
    stage.written_only_by("hub", APP, mark)?;
    stage.table(&["get", "ghn", "-A"], &["app.example.com", "Latency", "2/2", "Serving"])?;
    stage.kubectl(HUB, &["get", "mcl"]).map(drop)
}
