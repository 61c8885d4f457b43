//! The custom resource definitions on a real API server: the cases of `crates/api/tests/cases`, the samples, the
//! columns and the short spellings that users rely on.
//!
//! A case is one or more documents, applied in order to one object. The first line says what happens to the last one:
//! `# accepted`, or `# refused: <words of the message>`; those before it must be accepted. The operator is absent: only
//! what the API server itself does is looked at.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use truce_api::{
    ClusterDrainStatus, ClusterState, ClusterStatus, DNSZoneStatus, GlobalHostnameStatus, MemberClusterStatus, Policy,
};
use truce_e2e::apiserver::ApiServer;
use truce_e2e::etcd::Etcd;
use truce_e2e::kubectl::Kubectl;
use truce_e2e::pki::Authority;
use truce_e2e::tools::Tools;
use truce_e2e::wait;

/// An API server with the definitions installed. Fields are dropped in this order.
struct Server {
    kubectl: Kubectl,
    _server: ApiServer,
    _etcd: Etcd,
    _dir: TempDir,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn path(path: &str) -> String {
    repository().join(path).display().to_string()
}

impl Server {
    fn start() -> Result<Self> {
        let tools = Tools::get()?;
        let dir = tempfile::Builder::new()
            .prefix("truce-e2e-")
            .tempdir()
            .context("create the run's folder")?;
        let etcd = Etcd::start(&tools.etcd, dir.path(), &dir.path().join("logs"))?;
        let mut server = ApiServer::launch("hub", &tools, &etcd, &Authority::new()?, dir.path())?;
        server.ready()?;
        let kubectl = server.kubectl()?;
        kubectl.run(&["apply", "-f", &path("crds")])?;
        kubectl.run(&["wait", "--for=condition=Established", "crd", "--all"])?;
        let names = ["globalhostnames", "memberclusters", "clusterdrains", "dnszones"];
        for name in names {
            // Established is said a moment before the path is served.
            wait::until(&format!("{name} to be served"), Duration::from_secs(30), || {
                kubectl.run(&["get", name, "-A"]).map(drop)
            })?;
        }
        Ok(Self {
            kubectl,
            _server: server,
            _etcd: etcd,
            _dir: dir,
        })
    }

    fn status(&self, kind: &str, name: &str, status: &Value) -> Result<Value> {
        let patch = json!({ "status": status }).to_string();
        let args = [
            "patch",
            kind,
            name,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ];
        self.kubectl
            .run(&args)
            .with_context(|| format!("status of {kind} {name}"))?;
        Ok(self.kubectl.get(&[kind, name])?["status"].clone())
    }

    fn weights(&self) -> Result<Value> {
        Ok(self.kubectl.get(&["ghn", "app", "-n", "shop"])?["spec"]["weights"].clone())
    }
}

fn check_case(kubectl: &Kubectl, text: &str) -> Result<()> {
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
fn api_server_says_what_the_cases_say() -> Result<()> {
    let server = Server::start()?;
    let mut cases: Vec<PathBuf> = fs::read_dir(repository().join("crates/api/tests/cases"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    cases.sort();
    ensure!(!cases.is_empty(), "there are cases");
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_name().unwrap_or_default().display().to_string();
        if let Err(error) = check_case(&server.kubectl, &fs::read_to_string(case)?) {
            wrong.push(format!("{name}: {error:#}"));
        }
    }
    ensure!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    Ok(())
}

/// The header of `kubectl get`, one space between the words.
fn header(table: &str) -> String {
    let first = table.lines().next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn users_see_and_edit_what_the_documentation_says() -> Result<()> {
    let server = Server::start()?;
    let kubectl = &server.kubectl;
    kubectl.run(&["create", "namespace", "shop"])?;
    kubectl.run(&["apply", "-f", &path("config/samples")])?;

    let columns = [
        ("ghn", "NAME HOSTNAME POLICY READY STATUS AGE"),
        ("mcl", "NAME REGION WEIGHT REACHABLE EXTERNALDNS HOSTNAMES AGE"),
        ("cdrain", "NAME CLUSTER DRAINED PROGRESS SAFE EXPIRES AGE"),
        ("dz", "NAME DOMAIN ZONEID ACCESSIBLE OWNED AGE"),
    ];
    for (kind, want) in columns {
        let table = kubectl.run(&["get", kind, "-n", "shop"])?;
        ensure!(header(&table) == want, "columns of {kind}: {table}");
    }
    let wide = kubectl.run(&["get", "ghn", "-n", "shop", "-o", "wide"])?;
    ensure!(
        header(&wide) == "NAME HOSTNAME POLICY READY STATUS AGE ZONE TTL REASON",
        "{wide}"
    );
    let all = kubectl.run(&["get", "truce", "-A", "-o", "name"])?;
    ensure!(all.lines().count() == 5, "the category has every sample: {all}");
    let by_name = [
        "get",
        "ghn",
        "-A",
        "-o",
        "name",
        "--field-selector",
        "spec.hostname=app.example.com",
    ];
    ensure!(
        kubectl.run(&by_name)?.lines().count() == 1,
        "hostnames are found by hostname"
    );

    for (kind, name, condition) in [
        ("ghn", "app", "Ready"),
        ("mcl", "east", "Ready"),
        ("cdrain", "east-upgrade", "Drained"),
    ] {
        let unseen = &kubectl.get(&[kind, name, "-n", "shop"])?["status"]["conditions"][0];
        ensure!(
            unseen["type"] == condition && unseen["status"] == "Unknown" && unseen["reason"] == "Pending",
            "nobody has seen {kind} {name} yet: {unseen}"
        );
    }
    edits_survive_a_re_apply(&server)
}

/// Weights that are not in the file survive every kind of apply of it; null gives one back.
fn edits_survive_a_re_apply(server: &Server) -> Result<()> {
    let kubectl = &server.kubectl;
    let patch = |kind: &str, namespace: &str, name: &str, text: &str| {
        kubectl.run(&["patch", kind, name, "-n", namespace, "--type=merge", "-p", text])
    };
    patch("ghn", "shop", "app", r#"{"spec":{"weights":{"west":0}}}"#)?;
    let file = path("config/samples/globalhostname.yaml");
    for apply in [
        vec!["apply", "-f", &file],
        vec!["apply", "--server-side", "--force-conflicts", "-f", &file],
    ] {
        kubectl.run(&apply)?;
        ensure!(server.weights()? == json!({"west": 0}), "the weight survives {apply:?}");
    }
    patch("ghn", "shop", "app", r#"{"spec":{"weights":{"west":null}}}"#)?;
    ensure!(server.weights()?.get("west").is_none(), "null gives the weight back");
    patch("mcl", "", "east", r#"{"spec":{"weight":0}}"#)?;
    patch("mcl", "", "east", r#"{"spec":{"weight":null}}"#)?;
    ensure!(
        kubectl.get(&["mcl", "east"])?["spec"]["weight"] == 100,
        "null gives the default back"
    );
    Ok(())
}

#[test]
fn statuses_fit_the_schema_and_leave_nothing_behind() -> Result<()> {
    let server = Server::start()?;
    let kubectl = &server.kubectl;
    kubectl.run(&["create", "namespace", "shop"])?;
    kubectl.run(&["apply", "-f", &path("config/samples")])?;
    kubectl.run(&["config", "set-context", "--current", "--namespace=shop"])?;

    let full = GlobalHostnameStatus {
        observed_generation: Some(1),
        policy: Some(Policy::Latency),
        ready: Some("1/1".to_owned()),
        clusters: vec![ClusterStatus {
            name: "east".to_owned(),
            state: Some(ClusterState::Live),
            weight: Some(100),
            addresses: vec!["203.0.113.1".to_owned()],
            ..ClusterStatus::default()
        }],
        ..GlobalHostnameStatus::default()
    };
    let stored = server.status("ghn", "app", &serde_json::to_value(&full)?)?;
    ensure!(
        stored["clusters"][0]["state"] == "Live" && stored["policy"] == "Latency",
        "stored: {stored}"
    );
    let emptied = [
        ("ghn", "app", serde_json::to_value(GlobalHostnameStatus::default())?),
        ("mcl", "east", serde_json::to_value(MemberClusterStatus::default())?),
        (
            "cdrain",
            "east-upgrade",
            serde_json::to_value(ClusterDrainStatus::default())?,
        ),
        ("dz", "example-com", serde_json::to_value(DNSZoneStatus::default())?),
    ];
    for (kind, name, status) in emptied {
        let stored = server.status(kind, name, &status)?;
        let left: Vec<_> = stored
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| *value != &json!([]))
            .collect();
        ensure!(
            left.is_empty(),
            "an empty status leaves nothing of the old one in {kind}: {stored}"
        );
    }
    Ok(())
}
