//! What code and tests cite: every case stands in `docs/cases.md`, and every case there has a test that cites it.

#![expect(clippy::unwrap_used, reason = "a test ends where the sources cannot be read")]

use std::collections::BTreeSet;
use std::path::Path;

/// Case numbers in a text: a `T` and two digits that stand alone.
fn cases(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 3 && word.starts_with('T') && word[1..].chars().all(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

fn cited(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cited(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") && !path.ends_with(file!()) {
            let source = std::fs::read_to_string(&path).unwrap();
            let comments = source
                .lines()
                .filter_map(|line| line.split_once("//").map(|(_, comment)| comment));
            found.extend(comments.flat_map(cases));
        }
    }
}

#[test]
fn every_case_is_listed_and_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeSet::new();
    for folder in ["crates/api", "crates/engine", "crates/operator", "e2e"] {
        cited(&root.join(folder), &mut found);
    }
    let page = std::fs::read_to_string(root.join("docs/cases.md")).unwrap();
    let listed: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| T")?.split_once(' '))
        .map(|(number, _)| format!("T{number}"))
        .collect();
    assert_eq!(
        found, listed,
        "cited in comments (left), listed in docs/cases.md (right)"
    );
}
