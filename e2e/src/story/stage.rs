//! The stage of a story: runs a user's commands, shows them with their real output, and looks from outside.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hickory_proto::rr::RecordType;
use serde_json::Value;

use super::watcher::Watcher;
use crate::actor::{Actor, Route53};
use crate::dns::Resolver;
use crate::emulator::{Entry, ZONE_ID};
use crate::kubectl::Kubectl;
use crate::world::{HUB, World};
use crate::{wait, zone};

/// The member with policy sync.
pub const EAST: &str = "east";
/// The member with policy upsert-only.
pub const WEST: &str = "west";
/// The hub itself as a member.
pub const EAST2: &str = "east2";
/// Who the hub is to AWS, as `Actor::new` takes it.
pub const HUB_ACTOR: &str = HUB;

/// How long anything of the story may take but a drain.
const DEADLINE: Duration = Duration::from_secs(40);

/// Where a client is; the double's configuration maps these addresses to AWS regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Near {
    /// A client near us-east-1.
    East,
    /// A client near us-west-2.
    West,
}

impl Near {
    fn ip(self) -> IpAddr {
        match self {
            Self::East => Ipv4Addr::new(198, 18, 1, 1).into(),
            Self::West => Ipv4Addr::new(198, 18, 2, 1).into(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::East => "us-east-1",
            Self::West => "us-west-2",
        }
    }
}

/// A world with a story on it.
#[derive(Debug)]
pub struct Stage {
    /// The world.
    pub world: World,
    /// The zone before the operator was started.
    pub before: BTreeSet<String>,
    /// The resolver that never may miss an answer; runs from the first real answer to the deletion.
    pub watcher: Option<Watcher>,
    hub: Kubectl,
    viewer: Route53,
}

impl Stage {
    /// A stage on a world whose zone holds what it holds before anything happens.
    ///
    /// # Errors
    /// If the zone cannot be read.
    pub fn new(world: World) -> Result<Self> {
        let viewer = world.route53(&Actor::new("viewer", "us-east-1"))?;
        let before = zone::lines(&viewer.records(ZONE_ID)?);
        let hub = world.kubectl(HUB)?;
        Ok(Self {
            world,
            before,
            watcher: None,
            hub,
            viewer,
        })
    }

    /// Prints a step's heading.
    pub fn title(&self, number: usize, title: &str) {
        println!("\n=== {number}. {title}");
    }

    /// Prints a remark.
    pub fn say(&self, text: &str) {
        println!("# {text}");
    }

    /// Runs kubectl on a cluster as its user would, and shows command and output.
    ///
    /// # Errors
    /// If kubectl fails.
    pub fn kubectl(&self, cluster: &str, args: &[&str]) -> Result<String> {
        println!(
            "{cluster}$ kubectl {}",
            args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ")
        );
        let output = if cluster == HUB {
            self.hub.run(args)
        } else {
            self.world.kubectl(cluster)?.run(args)
        };
        match &output {
            Ok(text) => print!("{text}"),
            Err(error) => println!("{error:#}"),
        }
        output
    }

    /// Applies a file of `e2e/story` to the hub.
    ///
    /// # Errors
    /// If the API server refuses it.
    pub fn apply(&self, file: &str) -> Result<()> {
        let path = story_file(file);
        println!("{HUB}$ kubectl apply -f e2e/story/{file}");
        let said = self.hub.run(&["apply", "-f", &path])?;
        print!("{said}");
        Ok(())
    }

    /// Merge-patches an object of the hub.
    ///
    /// # Errors
    /// If the API server refuses it.
    pub fn patch(&self, object: &[&str], patch: &str) -> Result<()> {
        let mut args = vec!["patch"];
        args.extend_from_slice(object);
        args.extend_from_slice(&["--type=merge", "-p", patch]);
        self.kubectl(HUB, &args).map(drop)
    }

    /// `kubectl wait` for a condition or JSON path of an object of the hub.
    ///
    /// # Errors
    /// If it does not become so in time.
    pub fn wait(&self, condition: &str, object: &[&str]) -> Result<()> {
        let condition = format!("--for={condition}");
        let mut args = vec!["wait", &condition];
        args.extend_from_slice(object);
        args.push("--timeout=40s");
        self.kubectl(HUB, &args).map(drop)
    }

    /// Shows `kubectl get ghn -A` and fails unless a row of it holds all `words`.
    ///
    /// # Errors
    /// If the table has no such row within the deadline.
    pub fn table(&self, args: &[&str], words: &[&str]) -> Result<()> {
        let row = |text: &str| {
            text.lines()
                .any(|line| words.iter().all(|word| line.split_whitespace().any(|w| w == *word)))
        };
        self.eventually("the table to show it", || {
            let text = self.hub.run(args)?;
            ensure!(
                row(&text),
                "kubectl {} shows no row with {words:?}:\n{text}",
                args.join(" ")
            );
            Ok(())
        })?;
        self.kubectl(HUB, args).map(drop)
    }

    /// What the hub says of one cluster of a hostname in its status.
    ///
    /// # Errors
    /// If it says nothing of it.
    pub fn cluster_status(&self, hostname: &str, cluster: &str) -> Result<Value> {
        let object = self.hub.get(&["ghn", hostname, "-n", "shop"])?;
        let list = object["status"]["clusters"].as_array().context("no status.clusters")?;
        list.iter()
            .find(|entry| entry["name"] == cluster)
            .cloned()
            .with_context(|| format!("{cluster} is not in status"))
    }

    /// Waits until the status gives a cluster of a hostname this state.
    ///
    /// # Errors
    /// If it does not.
    pub fn state(&self, hostname: &str, cluster: &str, state: &str) -> Result<()> {
        self.eventually(&format!("{cluster} to be {state}"), || {
            let status = self.cluster_status(hostname, cluster)?;
            ensure!(status["state"] == state, "{status}");
            Ok(())
        })
    }

    /// Asks the status of a condition: `(status, reason, message)`.
    ///
    /// # Errors
    /// If the object has no such condition.
    pub fn condition(&self, object: &[&str], kind: &str) -> Result<(String, String, String)> {
        let object = self.hub.get(object)?;
        let list = object["status"]["conditions"]
            .as_array()
            .context("no status.conditions")?;
        let found = list
            .iter()
            .find(|entry| entry["type"] == kind)
            .with_context(|| format!("no condition {kind}"))?;
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        Ok((text("status"), text("reason"), text("message")))
    }

    /// Waits with the story's deadline.
    ///
    /// # Errors
    /// The last failure of the probe.
    pub fn eventually<T>(&self, what: &str, probe: impl FnMut() -> Result<T>) -> Result<T> {
        wait::until(what, DEADLINE, probe)
    }

    /// The zone now, a line per record set.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn zone(&self) -> Result<BTreeSet<String>> {
        Ok(zone::lines(&self.viewer.records(ZONE_ID)?))
    }

    /// Waits until the zone holds each of these lines.
    ///
    /// # Errors
    /// If it does not.
    pub fn zone_has(&self, lines: &[&str]) -> Result<()> {
        self.eventually("the zone to hold what it should", || {
            let zone = self.zone()?;
            let missing: Vec<_> = lines.iter().filter(|line| !zone.contains(**line)).collect();
            ensure!(missing.is_empty(), "missing {missing:#?} in {zone:#?}");
            Ok(())
        })
    }

    /// Waits until no line of the zone holds all of these words.
    ///
    /// # Errors
    /// If one still does.
    pub fn zone_lacks(&self, words: &[&str]) -> Result<()> {
        self.eventually("the zone to lose what it should", || {
            let zone = self.zone()?;
            let found = zone
                .iter()
                .find(|line| words.iter().all(|word| line.split(' ').any(|part| part == *word)));
            ensure!(found.is_none(), "still there: {found:?}");
            Ok(())
        })
    }

    /// Shows the record sets of the story: what is new in the zone since the start.
    ///
    /// # Errors
    /// If the zone cannot be read.
    pub fn show_zone(&self) -> Result<()> {
        println!("# what Truce and the members added to the zone:");
        for line in self.zone()?.difference(&self.before) {
            println!("    {line}");
        }
        Ok(())
    }

    /// A resolver for a client near a region.
    #[must_use]
    pub fn client(&self, near: Near) -> Resolver {
        self.world.resolver().from_client(near.ip())
    }

    /// Waits until a client near a region gets exactly these addresses for `name`, over as many questions as it takes to
    /// see all of them, and shows the answer.
    ///
    /// # Errors
    /// If other addresses are answered.
    pub fn answers(&self, near: Near, name: &str, addresses: &[&str]) -> Result<()> {
        let want: BTreeSet<String> = addresses.iter().map(|&ip| ip.to_owned()).collect();
        let client = self.client(near);
        self.eventually(&format!("{name} to answer {addresses:?} near {}", near.word()), || {
            let mut seen = BTreeSet::new();
            // Weighted sets are answered one at a time; 64 questions miss one of three equal ones once in 10^11.
            for _ in 0..if want.len() > 1 { 64 } else { 8 } {
                seen.extend(client.a(name)?);
            }
            ensure!(seen == want, "answered {seen:?}");
            Ok(())
        })?;
        println!(
            "$ dig +short {name} A   (a client near {})\n{}",
            near.word(),
            addresses.join("\n")
        );
        Ok(())
    }

    /// Shows and returns the ownership text of a cluster name.
    ///
    /// # Errors
    /// If DNS does not answer.
    pub fn owner(&self, label: &str, owner: &str) -> Result<()> {
        let name = format!("a-{label}.example.com");
        let text = self.eventually(&format!("{name} to name {owner}"), || {
            let text: Vec<String> = self.world.resolver().ask(&name, RecordType::TXT)?.into_iter().collect();
            let text = text.join(" ");
            ensure!(
                text.contains(&format!("external-dns/owner={owner},")),
                "it says {text:?}"
            );
            Ok(text)
        })?;
        println!("$ dig +short {name} TXT\n{text}");
        Ok(())
    }

    /// The place in the journal where the next entries will be.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn mark(&self) -> Result<usize> {
        Ok(self.world.emulator.journal()?.len())
    }

    /// The accepted changes since a mark that touch a record set of `name`.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn writes_of(&self, name: &str, since: usize) -> Result<Vec<Entry>> {
        let journal = self.world.emulator.journal()?;
        Ok(journal
            .into_iter()
            .skip(since)
            .filter(|entry| entry.wrote() && entry.touches(name))
            .collect())
    }

    /// Fails unless every accepted change of `name` since the mark was made by `actor`, and there was one.
    ///
    /// # Errors
    /// If not.
    pub fn written_only_by(&self, actor: &str, name: &str, since: usize) -> Result<()> {
        let key = Actor::new(actor, "").access_key;
        let writes = self.eventually(&format!("{actor} to write {name}"), || {
            let writes = self.writes_of(name, since)?;
            ensure!(!writes.is_empty(), "nobody wrote {name}");
            Ok(writes)
        })?;
        let others: Vec<_> = writes
            .iter()
            .filter(|entry| entry.actor != key)
            .map(|entry| &entry.raw)
            .collect();
        ensure!(
            others.is_empty(),
            "{name} was written by others than {actor}: {others:?}"
        );
        println!(
            "# the journal: {name} was written by {key}, in {} request(s)",
            writes.len()
        );
        Ok(())
    }
}

/// The path of a file of `e2e/story`.
#[must_use]
pub fn story_file(file: &str) -> String {
    format!("{}/story/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.:,@%+".contains(c);
    if arg.chars().all(plain) {
        arg.to_owned()
    } else {
        format!("'{arg}'")
    }
}
