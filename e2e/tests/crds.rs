//! The cases of `crates/api/tests/cases` against a real API server: what it refuses, with which words, and what it takes.
//!
//! A case is one or more documents, applied in order to one object. The first line says what happens to the last one:
//! `# accepted`, or `# refused: <words of the message>`; those before it must be accepted.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use truce_e2e::apiserver::ApiServer;
use truce_e2e::etcd::Etcd;
use truce_e2e::kubectl::Kubectl;
use truce_e2e::pki::Authority;
use truce_e2e::tools::Tools;

fn check(kubectl: &Kubectl, text: &str) -> Result<()> {
    let (verdict, _) = text.split_once('\n').context("a case has a first line")?;
    let documents: Vec<&str> = text.split("\n---\n").collect();
    let (last, first) = documents.split_last().context("a case has a document")?;
    for document in first {
        kubectl.apply(document).context("a document before the last")?;
    }
    // A dry run goes through the same validation, and leaves nothing to clean up.
    let answer = kubectl.run_with(&["apply", "--dry-run=server", "-f", "-"], last);
    if let Some(document) = first.first() {
        kubectl.run_with(&["delete", "-f", "-"], document)?;
    }
    match (verdict.strip_prefix("# refused: "), answer) {
        (None, Ok(_)) if verdict == "# accepted" => Ok(()),
        (None, Err(error)) if verdict == "# accepted" => Err(error.context("should have been accepted")),
        (None, _) => bail!("the first line is neither `# accepted` nor `# refused: words`: {verdict}"),
        (Some(words), Ok(_)) => bail!("was accepted, but should have been refused with: {words}"),
        (Some(words), Err(error)) => {
            let said = format!("{error:#}");
            ensure!(
                said.contains(words),
                "refused, but not with the words\n  {words}\nbut with\n  {said}"
            );
            Ok(())
        }
    }
}

#[test]
fn the_api_server_takes_and_refuses_what_the_cases_say() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tools = Tools::get()?;
    let run = tempfile::Builder::new().prefix("truce-e2e-").tempdir()?;
    let etcd = Etcd::start(&tools.etcd, run.path(), &run.path().join("logs"))?;
    let mut server = ApiServer::launch("crds", &tools, &etcd, &Authority::new()?, run.path())?;
    server.ready()?;
    let kubectl = server.kubectl()?;
    kubectl.run(&["apply", "--server-side", "-f", &root.join("crds").display().to_string()])?;
    kubectl.run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"])?;

    let mut files: Vec<PathBuf> = fs::read_dir(root.join("crates/api/tests/cases"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    ensure!(!files.is_empty(), "no cases");
    let mut failed = Vec::new();
    for file in &files {
        if let Err(error) = check(&kubectl, &fs::read_to_string(file)?) {
            failed.push(format!("{}: {error:#}", file.file_name().unwrap_or_default().display()));
        }
    }
    println!("{} cases, {} failed", files.len(), failed.len());
    ensure!(failed.is_empty(), "{}", failed.join("\n\n"));
    Ok(())
}
