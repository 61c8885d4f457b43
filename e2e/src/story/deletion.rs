//! Step 12: deletion leaves the zone as it was but for the hub's fence record, which goes with the DNSZone.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use super::stage::{EAST, HUB_ACTOR, Stage, WEST};
use super::{APP, versions};
use crate::actor::Actor;
use crate::world::HUB;

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    let asked = stage.watcher.take().context("a resolver asks since step 2")?.finish()?;
    stage.say(&format!(
        "a resolver asked {asked} times since step 2: always a real answer, never 192.0.2.1"
    ));
    let versions = versions::always_answering(&stage.world.emulator)?;
    stage.say(&format!(
        "so it is in each of the {versions} versions of the zone since then"
    ));
    stage.kubectl(HUB, &["delete", "ghn", "app", "api", "-n", "shop", "--timeout=60s"])?;
    let left: BTreeSet<String> = stage.zone()?.difference(&stage.before).cloned().collect();
    ensure!(
        left.len() == 1
            && left
                .iter()
                .all(|line| line.starts_with("_truce-hub-demo.example.com TXT ")),
        "left in the zone: {left:#?}"
    );
    stage.say("left of it in the zone: the hub's fence record");
    stage.show_zone()?;
    for member in [EAST, WEST] {
        let text = stage.kubectl(member, &["get", "dnsendpoints", "-A", "-o", "name"])?;
        ensure!(text.trim().is_empty(), "left in {member}: {text}");
    }
    stage.kubectl(HUB, &["delete", "dz", "example-com", "--timeout=60s"])?;
    let after = stage.zone()?;
    ensure!(
        after == stage.before,
        "the zone is not as it was: {:#?}",
        after.symmetric_difference(&stage.before)
    );
    stage.say("the zone is what it was before, record by record");
    stage.kubectl(HUB, &["delete", "mcl", "--all", "--timeout=60s"])?;
    one_writer_each(stage)
}

/// Over the whole story: the shared name and what is under it are the hub's; a member wrote nothing but its own names.
fn one_writer_each(stage: &Stage) -> Result<()> {
    let [hub, east, west] = [HUB_ACTOR, EAST, WEST].map(|name| Actor::new(name, "").access_key);
    for entry in stage.world.emulator.writes()? {
        for change in &entry.changes {
            let label = change.name.split('.').next().unwrap_or_default();
            let shared =
                change.name == APP || change.name.ends_with(&format!(".{APP}")) || change.name == "api.example.com";
            let allowed = if entry.actor == east {
                !shared && label.ends_with("-east")
            } else if entry.actor == west {
                !shared && label.ends_with("-west")
            } else {
                entry.actor == hub || !(shared || label.starts_with("_truce"))
            };
            ensure!(allowed, "{} changed {}: {:?}", entry.actor, change.name, entry.raw);
        }
    }
    stage.say("the journal of the whole story: the shared names were written by the hub only, members wrote their own names only");
    Ok(())
}
