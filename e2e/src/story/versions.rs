//! Every version of the zone, not only those that a resolver happened to see.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::APP;
use super::watcher::PLACEHOLDER;
use crate::emulator::Emulator;

/// Checks that from the first live set on each version so far holds a set of the shared name, none of them the
/// placeholder, and not with all weights 0. Returns how many versions that were.
///
/// # Errors
/// The first version in which that is not so.
pub(super) fn always_answering(emulator: &Emulator) -> Result<usize> {
    let mut sets: Vec<Value> = Vec::new();
    let mut live = 0;
    for version in emulator.versions()? {
        let side = |key: &str| -> Result<Vec<Value>> {
            let all = version[key]
                .as_array()
                .with_context(|| format!("no {key} in a version"))?;
            let ours = |set: &&Value| {
                set["name"]
                    .as_str()
                    .is_some_and(|name| name.trim_end_matches('.') == APP)
                    && set["type"] == "A"
            };
            Ok(all.iter().filter(ours).cloned().collect())
        };
        let removed = side("removed")?;
        sets.retain(|set| !removed.contains(set));
        sets.extend(side("added")?);
        let placeholder = sets.iter().any(|set| set["values"] == serde_json::json!([PLACEHOLDER]));
        if live == 0 && (sets.is_empty() || placeholder) {
            continue;
        }
        live += 1;
        let number = &version["version"];
        ensure!(!sets.is_empty(), "version {number} of the zone has no {APP}");
        ensure!(
            !placeholder,
            "version {number} of the zone has {PLACEHOLDER} after a live set: {sets:?}"
        );
        let zero = sets.iter().all(|set| set["weight"] == 0);
        ensure!(!zero, "version {number} of the zone has only weights 0: {sets:?}");
    }
    ensure!(live > 0, "{APP} never was live");
    Ok(live)
}
