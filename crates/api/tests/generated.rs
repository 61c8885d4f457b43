//! What is committed under `crds/` and `docs/` is what the types say. `UPDATE_CRDS=1` rewrites it.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::{collections::BTreeSet, fs, path::PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn same(path: PathBuf, wanted: &str) {
    if std::env::var_os("UPDATE_CRDS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is out of date: run make generate", path.display());
}

#[test]
fn committed_crds_are_the_types() {
    let files = truce_api::crd_files().unwrap();
    for (name, text) in &files {
        same(root().join("crds").join(name), text);
    }
    let wanted: BTreeSet<_> = files.into_iter().map(|(name, _)| name).collect();
    let found: BTreeSet<_> = fs::read_dir(root().join("crds"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, wanted, "crds/ holds exactly the definitions");
}

#[test]
fn committed_conditions_are_the_enums() {
    same(root().join("docs/conditions.md"), &truce_api::conditions_table());
}
