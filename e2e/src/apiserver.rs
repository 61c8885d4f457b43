//! A real kube-apiserver: the control plane of one cluster.
//!
//! No controller manager runs: nothing fills a Service's status (the harness does, as a cloud controller would), nothing
//! collects garbage, and a deleted namespace never ends. Who may do what is RBAC by the manifests that users apply.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::etcd::Etcd;
use crate::kubectl::Kubectl;
use crate::pki::Authority;
use crate::ports;
use crate::process::Process;
use crate::tools::Tools;

/// Who talks to an API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// The person at the keyboard (`system:masters`).
    Admin,
    /// The operator in its own cluster, as the ServiceAccount that `config/rbac/hub.yaml` binds.
    Truce,
    /// The operator in a member, as the ServiceAccount that `config/rbac/member.yaml` binds.
    Member,
    /// The cluster's ExternalDNS.
    ExternalDns,
}

impl User {
    const ALL: [Self; 4] = [Self::Admin, Self::Truce, Self::Member, Self::ExternalDns];

    fn token_line(self, token: &str) -> String {
        match self {
            Self::Admin => format!("{token},admin,admin,\"system:masters\""),
            Self::Truce => service_account(token, "truce-system", "truce"),
            Self::Member => service_account(token, "truce-system", "truce-hub"),
            Self::ExternalDns => service_account(token, "external-dns", "external-dns"),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Truce => "truce",
            Self::Member => "truce-hub",
            Self::ExternalDns => "external-dns",
        }
    }
}

/// Without a controller manager nobody issues ServiceAccount tokens; a static token with the account's user name and
/// groups is the same to RBAC.
fn service_account(token: &str, namespace: &str, name: &str) -> String {
    let user = format!("system:serviceaccount:{namespace}:{name}");
    format!("{token},{user},{user},\"system:serviceaccounts,system:serviceaccounts:{namespace}\"")
}

/// A running API server.
#[derive(Debug)]
pub struct ApiServer {
    /// The cluster's name; also its key prefix in etcd.
    pub name: String,
    /// Its address.
    pub url: String,
    dir: PathBuf,
    authority: String,
    nonce: String,
    kubectl: PathBuf,
    process: Process,
}

impl ApiServer {
    /// Starts one as `name`, without waiting for it.
    ///
    /// # Errors
    /// If its files cannot be written or it cannot be started.
    pub fn launch(name: &str, tools: &Tools, etcd: &Etcd, authority: &Authority, run: &Path) -> Result<Self> {
        Self::launch_asking(None, name, tools, etcd, authority, run)
    }

    /// The same; bearer tokens that it does not know are sent to the TokenReview server at this URL.
    ///
    /// # Errors
    /// As [`ApiServer::launch`].
    pub fn launch_asking(
        token_review: Option<&str>,
        name: &str,
        tools: &Tools,
        etcd: &Etcd,
        authority: &Authority,
        run: &Path,
    ) -> Result<Self> {
        let dir = run.join(name);
        fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
        let write = |file: &str, text: &str| -> Result<PathBuf> {
            let path = dir.join(file);
            fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
            Ok(path)
        };
        let nonce = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let port = ports::free()?;
        let serving = authority.serving()?;
        let tokens: Vec<String> = User::ALL
            .iter()
            .map(|user| user.token_line(&token_of(name, *user, &nonce)))
            .collect();
        let certificate = write("server.crt", &serving.certificate)?;
        let key = write("server.key", &serving.key)?;
        let public_key = write("server.pub", &serving.public_key)?;
        let tokens = write("tokens.csv", &tokens.join("\n"))?;
        let mut command = Command::new(&tools.kube_apiserver);
        command.args(["--etcd-servers", &etcd.url, "--etcd-prefix", &format!("/{name}")]);
        command.args(["--bind-address=127.0.0.1", "--secure-port", &port.to_string()]);
        command
            .arg("--cert-dir")
            .arg(&dir)
            .arg("--tls-cert-file")
            .arg(&certificate);
        command
            .arg("--tls-private-key-file")
            .arg(&key)
            .arg("--token-auth-file")
            .arg(&tokens);
        command
            .arg("--service-account-key-file")
            .arg(&public_key)
            .arg("--service-account-signing-key-file")
            .arg(&key);
        command.args([
            "--service-account-issuer=https://127.0.0.1",
            "--authorization-mode=RBAC",
        ]);
        command.args([
            "--disable-admission-plugins=ServiceAccount",
            "--service-cluster-ip-range=10.96.0.0/16",
        ]);
        if let Some(url) = token_review {
            let webhook = write("token-review.kubeconfig", &webhook_kubeconfig(url))?;
            command.arg("--authentication-token-webhook-config-file").arg(&webhook);
        }
        let process = Process::start(&format!("kube-apiserver-{name}"), command, &run.join("logs"))?;
        Ok(Self {
            name: name.to_owned(),
            url: format!("https://127.0.0.1:{port}"),
            dir,
            authority: authority.pem().to_owned(),
            nonce,
            kubectl: tools.kubectl.clone(),
            process,
        })
    }

    /// Waits until it serves.
    ///
    /// # Errors
    /// If it does not get ready within a minute.
    pub fn ready(&mut self) -> Result<()> {
        let kubectl = self.kubectl()?;
        self.process.ready(Duration::from_secs(60), || {
            kubectl.run(&["get", "--raw", "/readyz"])?;
            // The range of cluster IPs and the default namespace are made a moment after /readyz.
            kubectl.run(&["get", "namespace", "default"]).map(drop)
        })
    }

    /// A kubeconfig for `user` with everything inline, at `url` (its own address, or a proxy's before it).
    #[must_use]
    pub fn kubeconfig(&self, user: User, url: &str) -> String {
        let (name, who) = (&self.name, user.word());
        let authority = BASE64_STANDARD.encode(&self.authority);
        let token = token_of(name, user, &self.nonce);
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {name}\n\
             clusters:\n- name: {name}\n  cluster:\n    server: {url}\n    certificate-authority-data: {authority}\n\
             users:\n- name: {who}\n  user:\n    token: {token}\n\
             contexts:\n- name: {name}\n  context:\n    cluster: {name}\n    user: {who}\n"
        )
    }

    /// Writes such a kubeconfig into the cluster's folder and returns its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn kubeconfig_file(&self, user: User, url: &str) -> Result<PathBuf> {
        // One file per address: a kubeconfig through a proxy lies beside the direct one.
        let port = url.rsplit(':').next().unwrap_or_default();
        let path = self.dir.join(format!("{}-{port}.kubeconfig", user.word()));
        fs::write(&path, self.kubeconfig(user, url)).with_context(|| format!("write {}", path.display()))?;
        Ok(path)
    }

    /// kubectl as the admin of this cluster.
    ///
    /// # Errors
    /// If the kubeconfig cannot be written.
    pub fn kubectl(&self) -> Result<Kubectl> {
        let config = self.kubeconfig_file(User::Admin, &self.url)?;
        Ok(Kubectl::new(
            &self.name,
            &self.kubectl,
            &config,
            &self.dir.join("kubectl-cache"),
        ))
    }

    /// Stops the process for a while (SIGSTOP): the API server hangs, connections stay open.
    pub fn freeze(&self) {
        self.process.signal("STOP");
    }

    /// Ends a freeze.
    pub fn thaw(&self) {
        self.process.signal("CONT");
    }
}

fn webhook_kubeconfig(url: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: webhook\n\
         clusters:\n- name: webhook\n  cluster:\n    server: {url}\n\
         users:\n- name: api-server\n\
         contexts:\n- name: webhook\n  context:\n    cluster: webhook\n    user: api-server\n"
    )
}

fn token_of(server: &str, user: User, nonce: &str) -> String {
    format!("{server}-{}-{}", user.word(), nonce.trim_start_matches('.'))
}
