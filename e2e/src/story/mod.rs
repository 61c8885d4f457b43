//! The main job, step by step: what `make demo` shows and what the suite asserts.
//!
//! One file per step. Each does what a user would do, with the YAML of `e2e/story` and kubectl; shows what a user would
//! see; and asserts from outside: zone contents, the double's journal, DNS answers and the printed tables. Invariant: a
//! step leaves the world as the next one expects it, and the last one leaves the zone as it was before the first.

mod adoption;
mod arrival;
mod aws_name;
mod cluster_drain;
mod deletion;
mod failover;
mod forced;
mod last_serving;
mod nested;
mod placeholder;
mod replaced;
mod setup;
mod stage;
mod versions;
mod watcher;
mod weight_zero;

use anyhow::{Context, Result};

pub use setup::{install, install_hub, install_members, member_secrets, short_timings, start, start_with, world_plan};
pub use stage::{EAST, EAST2, HUB_ACTOR, Near, Stage, WEST, story_file};
pub use watcher::Watcher;

/// The shared name of the story.
pub const APP: &str = "app.example.com";

/// One step of the story.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// What it shows, in one sentence.
    pub title: &'static str,
    /// Does, shows and asserts it.
    pub run: fn(&mut Stage) -> Result<()>,
}

/// The steps in their order.
pub const STEPS: [Step; 12] = [
    Step {
        title: "The name is declared: placeholders stand under the shared and the cluster names",
        run: placeholder::run,
    },
    Step {
        title: "Both load balancers arrive: the name answers by latency",
        run: arrival::run,
    },
    Step {
        title: "The members' ExternalDNS adopt the cluster names",
        run: adoption::run,
    },
    Step {
        title: "East's load balancer is replaced: hub and east's ExternalDNS each move their own name",
        run: replaced::run,
    },
    Step {
        title: "East is drained by weight 0, and comes back",
        run: weight_zero::run,
    },
    Step {
        title: "A ClusterDrain takes everything off west, and gives it back",
        run: cluster_drain::run,
    },
    Step {
        title: "The last serving cluster does not go, by drain or by deselection",
        run: last_serving::run,
    },
    Step {
        title: "A third cluster in east's region: latency between regions, weighted inside",
        run: nested::run,
    },
    Step {
        title: "Weighted is forced over the same layout",
        run: forced::run,
    },
    Step {
        title: "West becomes a standby: failover, and back",
        run: failover::run,
    },
    Step {
        title: "A second name, on an AWS load balancer's name",
        run: aws_name::run,
    },
    Step {
        title: "Everything is deleted: the zone is as it was",
        run: deletion::run,
    },
];

/// Plays the whole story.
///
/// # Errors
/// The first step that did not show what it must.
pub fn play(stage: &mut Stage) -> Result<()> {
    for (number, step) in (1..).zip(STEPS) {
        stage.title(number, step.title);
        (step.run)(stage).with_context(|| format!("step {number}: {}", step.title))?;
        stage.world.check_running()?;
    }
    Ok(())
}
