//! The counting proxy counts writes only, and holds the n-th before or after it took effect.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use truce_e2e::apiserver::{ApiServer, User};
use truce_e2e::etcd::Etcd;
use truce_e2e::kubectl::Kubectl;
use truce_e2e::pki::Authority;
use truce_e2e::proxy::{Hold, Proxy};
use truce_e2e::tools::Tools;

#[test]
fn the_nth_write_is_held() -> Result<()> {
    let tools = Tools::get()?;
    let run = tempfile::Builder::new().prefix("truce-e2e-").tempdir()?;
    let authority = Authority::new()?;
    let etcd = Etcd::start(&tools.etcd, run.path(), &run.path().join("logs"))?;
    let mut server = ApiServer::launch("proxied", &tools, &etcd, &authority, run.path())?;
    server.ready()?;
    let direct = server.kubectl()?;
    let proxy = Proxy::new(&authority)?;
    let config = server.kubeconfig_file(User::Admin, &proxy.door("api", &server.url)?)?;
    let through = Kubectl::new("proxied", &tools.kubectl, &config, &run.path().join("cache"));

    proxy.gate.arm(None);
    through.run(&["get", "namespaces"])?;
    through.run(&["auth", "can-i", "get", "pods"])?;
    ensure!(
        proxy.gate.writes().is_empty(),
        "reads were counted: {:?}",
        proxy.gate.writes()
    );
    through.run(&["create", "configmap", "first", "-n", "default"])?;
    ensure!(
        proxy.gate.writes() == ["api POST /api/v1/namespaces/default/configmaps"],
        "{:?}",
        proxy.gate.writes()
    );

    for (name, hold) in [("before", Hold::Before), ("after", Hold::After)] {
        proxy.gate.arm(Some((2, hold)));
        through.run(&[
            "annotate",
            "configmap",
            "first",
            "-n",
            "default",
            &format!("held-{name}=yes"),
        ])?;
        let mut held = Command::new(&tools.kubectl)
            .args(["create", "configmap", name, "-n", "default"])
            .env("KUBECONFIG", &config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        proxy
            .gate
            .wait_held(Duration::from_secs(20))
            .context("the second write was not held")?;
        ensure!(held.try_wait()?.is_none(), "kubectl got an answer");
        held.kill()?;
        held.wait()?;
        let there = direct.run(&["get", "configmap", name, "-n", "default"]).is_ok();
        ensure!(
            there == (hold == Hold::After),
            "held {name}, the object is there: {there}"
        );
    }
    Ok(())
}
