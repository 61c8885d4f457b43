//! The operator killed at its n-th write, before or after the write took effect, and started again: the zone ends the
//! same. `TRUCE_E2E_KILLS=all` (`make kill-sweep`) tries every n of the short story, a number that many at random;
//! `TRUCE_E2E_KILL_AT=17,after` repeats one.

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use truce_e2e::proxy::Hold;
use truce_e2e::short_story::{Chapters, ShortStory};

/// Which (n, hold) to try, of a story of `writes` writes.
fn places(writes: usize) -> Result<Vec<(usize, Hold)>> {
    let all: Vec<_> = (1..=writes)
        .flat_map(|n| [(n, Hold::Before), (n, Hold::After)])
        .collect();
    if let Ok(one) = env::var("TRUCE_E2E_KILL_AT") {
        let (n, hold) = one
            .split_once(',')
            .context("TRUCE_E2E_KILL_AT is written like 17,after")?;
        let hold = match hold {
            "before" => Hold::Before,
            "after" => Hold::After,
            _ => bail!("TRUCE_E2E_KILL_AT ends in before or after"),
        };
        return Ok(vec![(n.parse()?, hold)]);
    }
    let asked = env::var("TRUCE_E2E_KILLS").unwrap_or_else(|_| "10".to_owned());
    if asked == "all" {
        return Ok(all);
    }
    let count: usize = asked.parse().context("TRUCE_E2E_KILLS is a number or all")?;
    // The draw need not be good, only fresh; it is printed, so that a failure can be repeated.
    let mut state = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() & u128::from(u64::MAX))? | 1;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % all.len() as u64)
    };
    (0..count).map(|_| Ok(all[draw()?])).collect()
}

fn same(wanted: &Chapters, found: &Chapters) -> Result<()> {
    for ((chapter, want), (_, have)) in wanted.iter().zip(found) {
        ensure!(
            want == have,
            "{chapter} ended in\n{have:#?}\nbut undisturbed in\n{want:#?}"
        );
    }
    Ok(())
}

fn sweep(story: &ShortStory) -> Result<()> {
    let wanted = story.play(None).context("the undisturbed run")?;
    let writes = story.writes();
    println!("the undisturbed story has {} writes", writes.len());
    let places = places(writes.len())?;
    println!("killing at {places:?}");
    let mut failed = Vec::new();
    for place in places {
        println!("{place:?}");
        let run = story.play(Some(place)).and_then(|found| same(&wanted, &found));
        if let Err(error) = run {
            failed.push(format!("{place:?}: {error:#}"));
            // What one run left behind would fail the next ones too.
            break;
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n\n"));
    Ok(())
}

#[test]
fn a_killed_operator_ends_in_the_same_zone() -> Result<()> {
    let mut story = ShortStory::start()?;
    let swept = sweep(&story);
    story.world.conclude(swept)
}
