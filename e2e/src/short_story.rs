//! The short story in which the operator is killed: one hostname from placeholder over adoption and drain to deletion.
//!
//! Invariant: whatever write the operator dies at, each chapter ends in the same zone as in the undisturbed run, and no
//! DNSEndpoint is lost, doubled or orphaned. Control planes, double and members stay up between runs.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::actor::{Actor, Route53};
use crate::apiserver::User;
use crate::emulator::ZONE_ID;
use crate::operator::{Operator, Running};
use crate::proxy::{Hold, Proxy};
use crate::story::{self, EAST, WEST, story_file};
use crate::world::{HUB, Ingress, World};
use crate::{wait, zone};

/// How long a chapter may take, a restart included.
const DEADLINE: Duration = Duration::from_secs(60);

/// The world with the proxy before everything that the operator writes to.
#[derive(Debug)]
pub struct ShortStory {
    /// The world.
    pub world: World,
    proxy: Proxy,
    operator: Operator,
    viewer: Route53,
    before: BTreeSet<String>,
}

/// What the zone holds at the end of each chapter, the fence left out: it counts batches, and a restart adds some.
pub type Chapters = Vec<(&'static str, BTreeSet<String>)>;

impl ShortStory {
    /// Starts the world; the operator is started by each run.
    ///
    /// # Errors
    /// If anything does not start.
    pub fn start() -> Result<Self> {
        let mut world = World::start(&story::world_plan())?;
        let prepared = Self::prepare(&world);
        let (proxy, operator, viewer, before) = world.conclude(prepared)?;
        Ok(Self {
            world,
            proxy,
            operator,
            viewer,
            before,
        })
    }

    fn prepare(world: &World) -> Result<(Proxy, Operator, Route53, BTreeSet<String>)> {
        story::install(world)?;
        let viewer = world.route53(&Actor::new("viewer", "us-east-1"))?;
        let before = zone::lines(&viewer.records(ZONE_ID)?);
        let proxy = Proxy::new(&world.authority)?;
        let hub = world.kubectl(HUB)?;
        for member in [EAST, WEST] {
            let server = world.cluster(member)?;
            let door = proxy.door(member, &server.url)?;
            let file = format!(
                "--from-file=value={}",
                server.kubeconfig_file(User::Member, &door)?.display()
            );
            let secret = [
                "create",
                "secret",
                "generic",
                member,
                "-n",
                "truce-system",
                &file,
                "--dry-run=client",
                "-o",
                "yaml",
            ];
            hub.apply(&hub.run(&secret)?)?;
        }
        let server = world.cluster(HUB)?;
        let mut operator = world.operator_spec()?;
        operator.kubeconfig = server.kubeconfig_file(User::Truce, &proxy.door(HUB, &server.url)?)?;
        operator.endpoint = proxy.door("aws", &world.emulator.aws)?;
        operator.extra = story::short_timings();
        operator.extra.retain(|flag| !flag.starts_with("--drain-grace"));
        operator.extra.push("--drain-grace=0s".to_owned());
        Ok((proxy, operator, viewer, before))
    }

    /// Plays the story once, killing the operator at the write that `at` names, and returns what each chapter ended in.
    ///
    /// # Errors
    /// If a chapter does not end, or something is left over.
    pub fn play(&self, at: Option<(usize, Hold)>) -> Result<Chapters> {
        // So many stories within ten minutes withdraw more than the zone's guard lets go unasked.
        let forget = r#"{"status":{"withdrawn":null}}"#;
        self.hub(&[
            "patch",
            "dz",
            "example-com",
            "--subresource=status",
            "--type=merge",
            "-p",
            forget,
        ])?;
        self.proxy.gate.arm(at);
        let mut life = Life {
            story: self,
            running: self.operator.start()?,
            killed: None,
        };
        let mut chapters = Chapters::new();
        for (name, begin, done) in CHAPTERS {
            begin(self).with_context(|| name.to_owned())?;
            life.until(name, || done(self))?;
            chapters.push((name, self.zone()?));
        }
        if at.is_some() && life.killed.is_none() {
            println!("  the story had fewer writes this time");
        }
        self.proxy.gate.disarm();
        life.running.terminate()?;
        Ok(chapters)
    }

    /// The writes of the last run, in order.
    #[must_use]
    pub fn writes(&self) -> Vec<String> {
        self.proxy.gate.writes()
    }

    fn zone(&self) -> Result<BTreeSet<String>> {
        let mut lines = zone::lines(&self.viewer.records(ZONE_ID)?);
        lines.retain(|line| !line.starts_with("_truce-hub-") && !self.before.contains(line));
        Ok(lines)
    }

    fn hub(&self, args: &[&str]) -> Result<String> {
        self.world.kubectl(HUB)?.run(args)
    }

    fn addresses(&self, east: Ingress<'_>, west: Ingress<'_>) -> Result<()> {
        self.world.load_balancer(EAST, "shop", "gateway", east)?;
        self.world.load_balancer(WEST, "shop", "gateway", west)
    }

    fn endpoints(&self, member: &str) -> Result<usize> {
        let list = self
            .world
            .kubectl(member)?
            .run(&["get", "dnsendpoints", "-A", "-o", "name"])?;
        Ok(list.lines().count())
    }
}

/// A chapter: its name, what the user does, and when it is over.
type Chapter = (
    &'static str,
    fn(&ShortStory) -> Result<()>,
    fn(&ShortStory) -> Result<()>,
);

const CHAPTERS: [Chapter; 4] = [
    ("placeholder", declare, placeholders_stand),
    ("adoption", give_addresses, adopted),
    ("drain", drain_east, east_drained),
    ("deletion", delete, clean),
];

fn declare(story: &ShortStory) -> Result<()> {
    story.addresses(Ingress::Nothing, Ingress::Nothing)?;
    story
        .hub(&["apply", "-f", &story_file("hostname-short.yaml")])
        .map(drop)
}

fn placeholders_stand(story: &ShortStory) -> Result<()> {
    let zone = story.zone()?;
    let placeholders = zone.iter().filter(|line| line.ends_with(" A ttl=1 192.0.2.1")).count();
    // Three addresses, two ownership TXTs and the claim.
    ensure!(placeholders == 3 && zone.len() == 6, "{zone:#?}");
    Ok(())
}

fn give_addresses(story: &ShortStory) -> Result<()> {
    story.addresses(Ingress::Ips(&["203.0.113.10"]), Ingress::Ips(&["203.0.113.20"]))
}

fn adopted(story: &ShortStory) -> Result<()> {
    condition(story, "Ready")?;
    condition(story, "ClusterHostnamesReady")?;
    for member in [EAST, WEST] {
        let count = story.endpoints(member)?;
        ensure!(count == 1, "{count} DNSEndpoints in {member}");
    }
    Ok(())
}

fn drain_east(story: &ShortStory) -> Result<()> {
    let patch = r#"{"spec":{"weights":{"east":0}}}"#;
    story
        .hub(&["patch", "ghn", "app", "-n", "shop", "--type=merge", "-p", patch])
        .map(drop)
}

fn east_drained(story: &ShortStory) -> Result<()> {
    let path = r#"-o=jsonpath={.status.clusters[?(@.name=="east")].state}"#;
    let state = story.hub(&["get", "ghn", "app", "-n", "shop", path])?;
    ensure!(state == "Drained", "east is {state:?}");
    let zone = story.zone()?;
    ensure!(!zone.iter().any(|line| line.contains("set=demo/east")), "{zone:#?}");
    Ok(())
}

fn delete(story: &ShortStory) -> Result<()> {
    story
        .hub(&["delete", "ghn", "app", "-n", "shop", "--wait=false"])
        .map(drop)
}

fn clean(story: &ShortStory) -> Result<()> {
    let left = story.hub(&["get", "ghn", "-A", "-o", "name"])?;
    ensure!(left.is_empty(), "still there: {left}");
    let zone = story.zone()?;
    ensure!(zone.is_empty(), "left in the zone: {zone:#?}");
    for member in [EAST, WEST] {
        let count = story.endpoints(member)?;
        ensure!(count == 0, "{count} DNSEndpoints left in {member}");
    }
    Ok(())
}

/// That a condition is True for the generation that stands now.
fn condition(story: &ShortStory, kind: &str) -> Result<()> {
    let object = story.world.kubectl(HUB)?.get(&["ghn", "app", "-n", "shop"])?;
    let list = object["status"]["conditions"]
        .as_array()
        .context("no status.conditions")?;
    let found = list
        .iter()
        .find(|entry| entry["type"] == kind)
        .with_context(|| format!("no condition {kind}"))?;
    let current = found["observedGeneration"] == object["metadata"]["generation"];
    ensure!(current && found["status"] == "True", "{found}");
    Ok(())
}

/// The operator of one run, killed once at the held write and started again.
struct Life<'a> {
    story: &'a ShortStory,
    running: Running,
    killed: Option<String>,
}

impl Life<'_> {
    /// Waits for the end of a chapter; kills the operator meanwhile when the proxy holds its write.
    fn until(&mut self, chapter: &str, done: impl Fn() -> Result<()>) -> Result<()> {
        let what = format!("the end of {chapter}");
        let ended = wait::until(&what, DEADLINE, || {
            if self.killed.is_none()
                && let Some(write) = self.story.proxy.gate.wait_held(Duration::ZERO)
            {
                self.running.kill();
                self.story.proxy.gate.disarm();
                println!("  killed in {chapter} at {write}");
                self.running = self.story.operator.start()?;
                self.killed = Some(write);
            }
            self.running.check_running()?;
            done()
        });
        ended.with_context(|| {
            let status = self
                .story
                .hub(&["get", "ghn", "app", "-n", "shop", "-o=jsonpath={.status}"]);
            let log = self.running.log_tail(20);
            format!(
                "killed at {:?}; its status: {}; the end of its log:\n{log}",
                self.killed,
                status.unwrap_or_default()
            )
        })
    }
}
