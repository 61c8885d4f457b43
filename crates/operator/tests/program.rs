//! The program as it is called.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn truce(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_truce"))
        .args(args)
        .env_remove("TRUCE_HUB_ID")
        .output()
        .unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = truce(args);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_prints_the_definitions_and_the_conditions() {
    assert_eq!(printed(&["crds"]), truce_api::crds_yaml().unwrap());
    assert_eq!(printed(&["conditions"]), truce_api::conditions_table());
}

#[test]
fn without_a_hub_id_it_says_which_flag_to_write() {
    let output = truce(&["run"]);
    assert_eq!(output.status.code(), Some(2));
    let says = String::from_utf8(output.stderr).unwrap();
    assert!(says.contains("--hub-id"), "{says}");
}

#[test]
fn a_kubeconfig_that_is_not_there_ends_it_with_its_path() {
    let output = truce(&["run", "--hub-id", "prod", "--kubeconfig", "/nowhere/kubeconfig"]);
    assert_eq!(output.status.code(), Some(1));
    let says = String::from_utf8(output.stderr).unwrap();
    assert!(says.contains("/nowhere/kubeconfig"), "{says}");
}
