//! Before the story: clusters with their Services, the zone with somebody else's records, Truce installed and running.

use std::time::Duration;

use anyhow::{Context, Result};
use aws_sdk_route53::types::{ChangeAction, RrType};

use super::stage::{EAST, Stage, WEST, story_file};
use crate::actor::Actor;
use crate::apiserver::User;
use crate::emulator::ZONE_ID;
use crate::world::{HUB, MemberSpec, Plan, World};
use crate::zone;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The clusters of the story.
#[must_use]
pub fn world_plan() -> Plan {
    let members = vec![
        MemberSpec::new(EAST, "us-east-1", "prod-east", "sync"),
        MemberSpec::new(WEST, "us-west-2", "prod-west", "upsert-only"),
    ];
    Plan {
        members,
        hub: true,
        insync: Duration::from_millis(200),
    }
}

/// Starts the world of the story, installs Truce as its README says, and starts the operator with short timings.
///
/// # Errors
/// If any of it fails.
pub fn start() -> Result<Stage> {
    start_with(&world_plan())
}

/// The same on another world, which has to have the clusters of the story.
///
/// # Errors
/// If any of it fails.
pub fn start_with(plan: &Plan) -> Result<Stage> {
    let world = World::start(plan)?;
    let mut stage = Stage::new(world)?;
    let ready = bystanders(&stage.world).and_then(|()| prepare(&mut stage));
    stage.world.conclude(ready)?;
    Ok(stage)
}

/// Records that are none of Truce's business.
fn bystanders(world: &World) -> Result<()> {
    let stranger = world.route53(&Actor::new("stranger", "us-east-1"))?;
    let records = [
        zone::simple("www.example.com", RrType::A, 300, &["198.51.100.7"])?,
        zone::simple("example.com", RrType::Txt, 3600, &["\"v=spf1 -all\""])?,
        zone::simple("old.example.com", RrType::Cname, 60, &["www.example.com"])?,
    ];
    stranger.change(
        ZONE_ID,
        records.into_iter().map(|set| (ChangeAction::Create, set)).collect(),
    )
}

fn prepare(stage: &mut Stage) -> Result<()> {
    stage.before = stage.zone()?;
    install(&stage.world)?;
    let mut spec = stage.world.operator_spec()?;
    spec.extra = short_timings();
    stage.world.start_operator(&spec)
}

/// Timings that make a story short; what they mean does not change.
#[must_use]
pub fn short_timings() -> Vec<String> {
    [
        "--settle=1s",
        "--kind-change-settle=2s",
        "--drain-grace=2s",
        "--insync-poll=100ms",
        "--member-poll=500ms",
        "--insync-patience=3s",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Installs Truce, its members' permissions and everybody's Services, and declares zone and members.
///
/// # Errors
/// If an API server refuses any of it.
pub fn install(world: &World) -> Result<()> {
    install_members(world)?;
    install_hub(world, HUB)
}

/// What the clusters run before there is a hub: Services, and the permissions of the hub in its members.
///
/// # Errors
/// If an API server refuses any of it.
pub fn install_members(world: &World) -> Result<()> {
    for cluster in [HUB, EAST, WEST] {
        world.namespace(cluster, "truce-system")?;
        world.namespace(cluster, "shop")?;
        let kubectl = world.kubectl(cluster)?;
        kubectl.run(&["apply", "-f", &story_file("service.yaml")])?;
        // The hub is a member too.
        let role = if cluster == HUB { "hub-as-member" } else { "member" };
        kubectl
            .run(&["apply", "-f", &format!("{ROOT}/config/rbac/{role}.yaml")])
            .context("a member's permissions")?;
    }
    Ok(())
}

/// Makes a cluster a hub: CRDs, permissions, the Secrets of the members, and the objects for zone and members.
///
/// # Errors
/// If its API server refuses any of it.
pub fn install_hub(world: &World, cluster: &str) -> Result<()> {
    let hub = world.kubectl(cluster)?;
    world.namespace(cluster, "truce-system")?;
    world.namespace(cluster, "shop")?;
    hub.run(&["apply", "--server-side", "-f", &format!("{ROOT}/crds")])?;
    hub.run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"])?;
    hub.run(&["apply", "-f", &format!("{ROOT}/config/rbac/hub.yaml")])
        .context("the hub's permissions")?;
    member_secrets(world, cluster)?;
    for file in ["dns-zone.yaml", "members.yaml"] {
        hub.run(&["apply", "-f", &story_file(file)])?;
    }
    Ok(())
}

/// Puts the kubeconfigs of the members into Secrets of a hub.
///
/// # Errors
/// If its API server refuses them.
pub fn member_secrets(world: &World, cluster: &str) -> Result<()> {
    for member in [EAST, WEST] {
        let server = world.cluster(member)?;
        let file = format!(
            "--from-file=value={}",
            server.kubeconfig_file(User::Member, &server.url)?.display()
        );
        world
            .kubectl(cluster)?
            .run(&["create", "secret", "generic", member, "-n", "truce-system", &file])?;
    }
    Ok(())
}
