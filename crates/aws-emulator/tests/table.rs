//! The README's table of rules is made from the tests of `tests/rules` and `tests/identity`: a row for each file with
//! what is said at its beginning, then one per test with its name and the source in the comment above it, if it has one
//! of its own.
//!
//! `UPDATE_README=1 cargo test -p truce-aws-emulator --test table` rewrites it.

#![expect(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- rules: made by tests/table.rs -->\n";
const END: &str = "<!-- rules: end -->";
/// Files without rules of AWS in them.
const NO_RULES: [&str; 4] = ["config.rs", "garbage.rs", "main.rs", "support.rs"];

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(manifest().join("tests").join(folder)).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| !NO_RULES.iter().any(|name| path.ends_with(name)));
    files.sort();
    files
}

/// Rows of one file.
fn rows(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a file");
    let head = text.lines().map_while(|line| line.strip_prefix("//!"));
    let of_file = words(head.take_while(|line| !line.trim().is_empty()));
    let (mut comment, mut is_test, mut rows) = (Vec::new(), false, vec![format!("| **{of_file}** | |")]);
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("///") {
            comment.push(words);
        } else if line == "#[test]" || line.starts_with("#[tokio::test") {
            is_test = true;
        } else {
            let name = line
                .trim_start_matches("async ")
                .strip_prefix("fn ")
                .and_then(|rest| rest.split('(').next());
            if let (true, Some(name)) = (is_test, name) {
                let source = words(comment.drain(..));
                rows.push(format!("| {} | {source} |", title(name)));
            }
            comment.clear();
            is_test = false;
        }
    }
    rows
}

fn words<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    text.replace('|', "\\|")
}

/// The test's name as words; an id at its beginning in capitals.
fn title(name: &str) -> String {
    let mut words: Vec<String> = name.split('_').map(str::to_owned).collect();
    for word in &mut words {
        let is_id = word.len() > 1 && word.starts_with(['e', 'i']) && word[1..].bytes().all(|b| b.is_ascii_digit());
        if !is_id {
            break;
        }
        *word = word.to_uppercase();
    }
    words.join(" ")
}

#[test]
fn the_readme_has_every_rule() {
    let mut table = String::from("| rule | source of its own |\n| --- | --- |\n");
    for path in ["rules", "identity"].iter().flat_map(|folder| files(folder)) {
        for row in rows(&path) {
            table.push_str(&row);
            table.push('\n');
        }
    }
    assert!(table.lines().count() > 100, "the tests were not found:\n{table}");
    let path = manifest().join("README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let (before, rest) = readme.split_once(BEGIN).expect("the beginning of the table");
    let (present, after) = rest.split_once(END).expect("the end of the table");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).expect("written");
        return;
    }
    assert_eq!(
        present, table,
        "the README's table is not that of the tests; UPDATE_README=1 cargo test -p truce-aws-emulator --test table rewrites it"
    );
}
