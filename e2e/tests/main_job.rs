//! The main job, end to end: the steps of `make demo`, each asserted from outside.

use anyhow::Result;
use truce_e2e::story;

#[test]
fn the_main_job() -> Result<()> {
    let mut stage = story::start()?;
    let played = story::play(&mut stage);
    stage.world.conclude(played)
}
