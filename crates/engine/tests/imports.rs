//! What the engine may depend on: the direction of its imports, and the crates it is built with.

#![expect(clippy::unwrap_used, reason = "a test ends where the source cannot be read")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The rooms from left to right; those of one row may name each other (`lib.rs`).
const ROWS: [&[&str]; 9] = [
    &["value", "time", "reason", "event", "effect"],
    &["intake"],
    &["world"],
    &["rule"],
    &["plan"],
    &["pace"],
    &["zone"],
    &["drive"],
    &["lib"],
];

/// What `intake` may name of `world`: the types of facts, not what is done with them.
const NOT_FOR_INTAKE: [&str; 2] = ["world::apply", "world::dirty"];

fn row(room: &str) -> usize {
    ROWS.iter()
        .position(|rooms| rooms.contains(&room))
        .unwrap_or_else(|| panic!("room {room} has no place in the order: enter it here, in lib.rs and in DESIGN.md"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// Every path of this crate that a text names: `value::ids`, `world`, ...
fn named(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    code.join("\n").split("crate::").skip(1).flat_map(paths).collect()
}

/// The path that a text begins with, or the first ones of a group in braces.
fn paths(rest: &str) -> Vec<String> {
    let path = |text: &str| -> String {
        let part = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == ':';
        text.trim().chars().take_while(part).collect()
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![path(rest)];
    };
    let mut depth = 0_usize;
    let mut members = vec![String::new()];
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => members.push(String::new()),
            _ if depth == 0 => members.iter_mut().last().into_iter().for_each(|member| member.push(c)),
            _ => {}
        }
    }
    let paths = members.iter().map(|member| path(member));
    paths.filter(|path| !path.is_empty()).collect()
}

fn violations(room: &str, text: &str) -> Vec<String> {
    let allowed = |path: &String| {
        let other = path.split("::").next().unwrap_or_default();
        let types = room == "intake" && other == "world" && !NOT_FOR_INTAKE.iter().any(|no| path.starts_with(no));
        types || row(other) <= row(room)
    };
    named(text).into_iter().filter(|path| !allowed(path)).collect()
}

#[test]
fn modules_import_leftwards_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 50, "the engine's source was not found");
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap();
        let room = Path::new(first.as_os_str()).file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let found = violations(room, &text);
        wrong.extend(
            found
                .iter()
                .map(|path| format!("{} names crate::{path}", inside.display())),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_import_to_the_right_is_found() {
    assert_eq!(violations("rule", "use crate::plan::diff;"), ["plan::diff"]);
    assert_eq!(violations("value", "fn f(x: crate::world::World) {}"), ["world::World"]);
    assert_eq!(
        violations("intake", "use crate::world::apply::hub;"),
        ["world::apply::hub"]
    );
    assert!(violations("intake", "use crate::world::zones::{Claim, Limits};").is_empty());
    assert!(violations("zone", "use crate::{pace::budget::Budget};\n// crate::drive").is_empty());
    assert_eq!(
        violations("zone", "use crate::{pace::{budget, queue}, drive::zones};"),
        ["drive::zones"]
    );
}

/// The crates that the engine is built with, its dev-dependencies left out.
fn dependencies() -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let tree = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--locked", "--offline", "--package", "truce-engine"])
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    text.lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_engine_is_built_without_clients_and_runtimes() {
    let all = dependencies();
    assert!(all.contains("truce-api") && all.contains("jiff"), "{all:?}");
    let refused = |name: &&String| {
        let whole = [
            "tokio",
            "hyper",
            "kube",
            "kube-client",
            "kube-runtime",
            "reqwest",
            "rand",
        ];
        whole.contains(&name.as_str()) || name.starts_with("aws-") || name.starts_with("hyper-")
    };
    let wrong: Vec<_> = all.iter().filter(refused).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_engine_reads_no_clock_and_keeps_no_unordered_map() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let banned = [
        "HashMap",
        "HashSet",
        "Instant::now",
        "SystemTime",
        "Timestamp::now",
        "std::net::Tcp",
        "std::fs",
        "std::thread",
    ];
    let names = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let found = banned.iter().filter(|name| text.contains(**name));
        found
            .map(|name| format!("{} names {name}", file.display()))
            .collect::<Vec<_>>()
    };
    let wrong: Vec<_> = files.iter().flat_map(names).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
