//! A second operator under the same hub id, on another hub cluster: it changes nothing and says why.

use std::time::Duration;

use anyhow::{Result, ensure};
use truce_e2e::actor::Actor;
use truce_e2e::apiserver::User;
use truce_e2e::story::{self, EAST, Stage, WEST, story_file};
use truce_e2e::wait;
use truce_e2e::world::{HUB, Ingress, MemberSpec};

const CLONE: &str = "clone";

fn run(stage: &mut Stage) -> Result<()> {
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.10"]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&["203.0.113.20"]))?;
    stage.apply("hostname.yaml")?;
    stage.wait("condition=ClusterHostnamesReady", &["ghn/app", "-n", "shop"])?;

    // The clone holds the same objects, as a hub restored from a backup beside the old one would.
    let clone = stage.world.kubectl(CLONE)?;
    story::install_hub(&stage.world, CLONE)?;
    let hostname = std::fs::read_to_string(story_file("hostname.yaml"))?.replace("ttl: 5", "ttl: 7");
    clone.apply(&hostname)?;
    let before = stage.zone()?;
    let mut spec = stage.world.operator_spec()?;
    let server = stage.world.cluster(CLONE)?;
    spec.kubeconfig = server.kubeconfig_file(User::Truce, &server.url)?;
    spec.actor = Actor::new(CLONE, "us-east-1");
    spec.name = "truce-clone".to_owned();
    spec.extra = story::short_timings();
    let mut second = spec.start()?;
    let told = wait::until(
        "the clone to say that the hub id is in use",
        Duration::from_secs(60),
        || {
            second.check_running()?;
            let zone = clone.get(&["dz", "example-com"])?;
            let text = zone["status"]["conditions"].to_string();
            ensure!(text.contains("HubIdInUse"), "{text}");
            Ok(())
        },
    );
    told?;
    let journal = stage.world.emulator.writes()?;
    let key = Actor::new(CLONE, "").access_key;
    ensure!(
        !journal.iter().any(|entry| entry.actor == key),
        "the clone wrote to the zone"
    );
    let after = stage.zone()?;
    ensure!(
        before == after,
        "the zone changed: {:#?}",
        before.symmetric_difference(&after)
    );
    // The first hub goes on.
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.11"]))?;
    stage.zone_has(&["app.example.com A set=demo/east region=us-east-1 ttl=5 203.0.113.11"])?;
    stage.kubectl(HUB, &["get", "dz"]).map(drop)
}

#[test]
fn a_clone_of_the_hub_changes_nothing() -> Result<()> {
    let mut plan = story::world_plan();
    plan.members.push(MemberSpec {
        name: CLONE.to_owned(),
        region: "us-east-1".to_owned(),
        external_dns: None,
    });
    let mut stage = story::start_with(&plan)?;
    let result = run(&mut stage);
    stage.world.conclude(result)
}
