//! A whole world: one etcd, an API server per cluster, the AWS double, an ExternalDNS per member and the operator.
//!
//! Invariant: whatever a test needs of the outside is a method here or a kubectl command; nothing reaches into a
//! process. When a run fails its folder with all logs stays, and its path is in the error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use tempfile::TempDir;

use crate::actor::{Actor, Route53};
use crate::apiserver::{ApiServer, User};
use crate::binaries::Binaries;
use crate::dns::Resolver;
use crate::emulator::Emulator;
use crate::etcd::Etcd;
use crate::external_dns::{ExternalDns, Flags};
use crate::kubectl::Kubectl;
use crate::operator::{Operator, Running};
use crate::pki::Authority;
use crate::tools::Tools;

/// The hub's name among the clusters.
pub const HUB: &str = "hub";

/// The hub id of the stories.
pub const HUB_ID: &str = "demo";

/// Where a load balancer answers, as a cloud controller reports it.
#[derive(Debug, Clone, Copy)]
pub enum Ingress<'a> {
    /// IP addresses of either family.
    Ips(&'a [&'a str]),
    /// A name.
    Name(&'a str),
    /// Nothing yet, or no more.
    Nothing,
}

/// One member to start.
#[derive(Debug, Clone)]
pub struct MemberSpec {
    /// Its name.
    pub name: String,
    /// Its AWS region.
    pub region: String,
    /// Its ExternalDNS, if it has one.
    pub external_dns: Option<Flags>,
}

impl MemberSpec {
    /// A member with an ExternalDNS under that owner id and policy.
    #[must_use]
    pub fn new(name: &str, region: &str, owner: &str, policy: &str) -> Self {
        let external_dns = Some(Flags::new(owner, policy));
        Self {
            name: name.to_owned(),
            region: region.to_owned(),
            external_dns,
        }
    }
}

/// What a world consists of.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The clusters besides the hub.
    pub members: Vec<MemberSpec>,
    /// Whether there is a hub cluster.
    pub hub: bool,
    /// When a change becomes INSYNC.
    pub insync: Duration,
}

/// Everything that runs. Fields are dropped in this order: writers before what they write to.
#[derive(Debug)]
pub struct World {
    operator: Option<Running>,
    external_dns: BTreeMap<String, ExternalDns>,
    clusters: BTreeMap<String, ApiServer>,
    /// The AWS double.
    pub emulator: Emulator,
    /// The authority that all servers' certificates are from.
    pub authority: Authority,
    etcd: Etcd,
    /// The programs that run here.
    pub tools: Tools,
    /// Our programs.
    pub binaries: Binaries,
    dir: TempDir,
}

impl World {
    /// Starts the control planes, the double and the members' ExternalDNS; the operator comes later.
    ///
    /// # Errors
    /// If anything does not start.
    pub fn start(plan: &Plan) -> Result<Self> {
        let tools = Tools::get()?;
        let binaries = Binaries::get()?;
        let mut dir = tempfile::Builder::new()
            .prefix("truce-e2e-")
            .tempdir()
            .context("create the run's folder")?;
        dir.disable_cleanup(std::env::var_os("TRUCE_E2E_KEEP_LOGS").is_some());
        let run = dir.path();
        let authority = Authority::new()?;
        let etcd = Etcd::start(&tools.etcd, run, &run.join("logs"))?;
        let emulator = Emulator::start(&binaries.aws_emulator, plan.insync, run)?;
        let mut clusters = BTreeMap::new();
        let hub = plan.hub.then(|| HUB.to_owned());
        for name in hub
            .into_iter()
            .chain(plan.members.iter().map(|member| member.name.clone()))
        {
            let server = ApiServer::launch(&name, &tools, &etcd, &authority, run)?;
            clusters.insert(name, server);
        }
        let external_dns = BTreeMap::new();
        let mut world = Self {
            operator: None,
            external_dns,
            clusters,
            emulator,
            authority,
            etcd,
            tools,
            binaries,
            dir,
        };
        let ready = world.finish_start(plan);
        world.conclude(ready).map(|()| world)
    }

    fn finish_start(&mut self, plan: &Plan) -> Result<()> {
        for server in self.clusters.values_mut() {
            server.ready()?;
        }
        for member in &plan.members {
            let Some(flags) = &member.external_dns else {
                continue;
            };
            ExternalDns::install(&self.kubectl(&member.name)?)?;
            self.start_external_dns(&member.name, &member.region, flags)?;
        }
        Ok(())
    }

    /// (Re)starts a member's ExternalDNS with these flags.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start_external_dns(&mut self, cluster: &str, region: &str, flags: &Flags) -> Result<()> {
        self.external_dns.remove(cluster);
        let (server, actor) = (self.cluster(cluster)?, Actor::new(cluster, region));
        let aws = &self.emulator.aws;
        let started = ExternalDns::start(&self.tools.external_dns, server, &actor, aws, flags, &self.logs())?;
        self.external_dns.insert(cluster.to_owned(), started);
        Ok(())
    }

    /// The folder of this run.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The folder of all logs.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.dir.path().join("logs")
    }

    /// Passes a result on; a failure keeps the folder with the logs and names it.
    ///
    /// # Errors
    /// The given one.
    pub fn conclude<T>(&mut self, result: Result<T>) -> Result<T> {
        result
            .inspect_err(|_| self.dir.disable_cleanup(true))
            .with_context(|| format!("logs: {}", self.logs().display()))
    }

    /// A cluster's API server.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn cluster(&self, name: &str) -> Result<&ApiServer> {
        self.clusters
            .get(name)
            .with_context(|| format!("no cluster {name} in this world"))
    }

    /// kubectl for a cluster.
    ///
    /// # Errors
    /// If there is no such cluster.
    pub fn kubectl(&self, cluster: &str) -> Result<Kubectl> {
        self.cluster(cluster)?.kubectl()
    }

    /// A member's ExternalDNS.
    ///
    /// # Errors
    /// If there is none.
    pub fn external_dns(&mut self, cluster: &str) -> Result<&mut ExternalDns> {
        self.external_dns
            .get_mut(cluster)
            .with_context(|| format!("no ExternalDNS in {cluster}"))
    }

    /// A resolver of the double's DNS server.
    #[must_use]
    pub fn resolver(&self) -> Resolver {
        Resolver::new(self.emulator.dns)
    }

    /// A Route 53 client with an actor's credentials.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn route53(&self, actor: &Actor) -> Result<Route53> {
        actor.client(&self.emulator.aws)
    }

    /// How the hub's operator is run.
    ///
    /// # Errors
    /// If there is no hub.
    pub fn operator_spec(&self) -> Result<Operator> {
        let hub = self.cluster(HUB)?;
        Ok(Operator {
            executable: self.binaries.truce.clone(),
            hub_id: HUB_ID.to_owned(),
            kubeconfig: hub.kubeconfig_file(User::Truce, &hub.url)?,
            actor: Actor::new(HUB, "us-east-1"),
            endpoint: self.emulator.aws.clone(),
            extra: Vec::new(),
            logs: self.logs(),
            name: "truce".to_owned(),
        })
    }

    /// Starts the operator, in place of one that runs.
    ///
    /// # Errors
    /// If it does not get ready.
    pub fn start_operator(&mut self, spec: &Operator) -> Result<()> {
        self.operator = None;
        let mut running = spec.start()?;
        running.ready()?;
        self.operator = Some(running);
        Ok(())
    }

    /// The running operator.
    ///
    /// # Errors
    /// If none was started.
    pub fn operator(&mut self) -> Result<&mut Running> {
        self.operator.as_mut().context("no operator was started")
    }

    /// Creates a namespace, if it is not there.
    ///
    /// # Errors
    /// If the cluster refuses it.
    pub fn namespace(&self, cluster: &str, name: &str) -> Result<()> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.kubectl(cluster)?.apply(&namespace.to_string()).map(drop)
    }

    /// Sets what the load balancer of a Service answers at, as a cloud controller would.
    ///
    /// # Errors
    /// If there is no such Service.
    pub fn load_balancer(&self, cluster: &str, namespace: &str, service: &str, at: Ingress<'_>) -> Result<()> {
        let list = match at {
            Ingress::Ips(ips) => ips.iter().map(|ip| json!({"ip": ip})).collect(),
            Ingress::Name(name) => vec![json!({"hostname": name})],
            Ingress::Nothing => Vec::new(),
        };
        let patch = json!({"status": {"loadBalancer": {"ingress": list}}}).to_string();
        let args = [
            "patch",
            "service",
            service,
            "-n",
            namespace,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ];
        self.kubectl(cluster)?.run(&args).map(drop)
    }

    /// Fails if anything that should run has ended.
    ///
    /// # Errors
    /// With the end of its log.
    pub fn check_running(&mut self) -> Result<()> {
        self.etcd.check_running()?;
        self.emulator.check_running()?;
        self.operator.as_mut().map_or(Ok(()), Running::check_running)
    }
}
