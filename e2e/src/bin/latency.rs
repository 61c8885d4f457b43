//! Part of `make bench`: the time from another load-balancer address in a member to the new DNS answer.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use truce_e2e::story::{self, APP, EAST, Near, Stage, WEST};
use truce_e2e::world::Ingress;

/// Changes that are measured.
const CHANGES: u8 = 50;
/// The goal for the median, above the double's INSYNC time.
const MEDIAN: Duration = Duration::from_secs(1);
/// The goal for the 99th percentile, above the double's INSYNC time.
const WORST: Duration = Duration::from_secs(3);
/// How long one change may take before the measurement gives up.
const DEADLINE: Duration = Duration::from_secs(30);

fn main() -> Result<()> {
    let mut stage = story::start()?;
    let measured = measure(&mut stage);
    stage.world.conclude(measured)
}

fn measure(stage: &mut Stage) -> Result<()> {
    stage
        .world
        .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&["203.0.113.100"]))?;
    stage
        .world
        .load_balancer(WEST, "shop", "gateway", Ingress::Ips(&["203.0.113.20"]))?;
    stage.apply("hostname.yaml")?;
    stage.wait("condition=ClusterHostnamesReady", &["ghn/app", "-n", "shop"])?;
    let client = stage.client(Near::East);
    let mut times = Vec::new();
    for change in 1..=CHANGES {
        let address = format!("203.0.113.{}", 100 + change);
        // kubectl's own time is part of it: when exactly the API server took the change is not seen from outside.
        let begun = Instant::now();
        stage
            .world
            .load_balancer(EAST, "shop", "gateway", Ingress::Ips(&[&address]))?;
        while !client.a(APP)?.contains(&address) {
            ensure!(
                begun.elapsed() < DEADLINE,
                "no answer with {address} after {DEADLINE:?}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        times.push(begun.elapsed());
    }
    times.sort();
    let insync = story::world_plan().insync;
    let above = |share: usize| times[(times.len() * share).div_ceil(100) - 1].saturating_sub(insync);
    let (median, worst) = (above(50), above(99));
    println!(
        "Service status to DNS answer, {CHANGES} changes, above INSYNC ({insync:?}): median {median:?} (goal {MEDIAN:?}), \
         99th percentile {worst:?} (goal {WORST:?})"
    );
    ensure!(median <= MEDIAN && worst <= WORST, "slower than the goal");
    Ok(())
}
