//! A kubeconfig from a Secret, as a client configuration.
//!
//! Invariant: nothing is run, no file is read and no server is trusted unseen because of what a Secret says: server,
//! certificate authority and token or client certificate stand in it, inline. Messages never quote its contents, which
//! are secrets. The parts are taken apart without `..`, so that a field added by a later kube is looked at.

use kube::Config;
use kube::config::{AuthInfo, Cluster, KubeConfigOptions, Kubeconfig, KubeconfigError};

/// Why a kubeconfig is refused; the message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Not UTF-8, not YAML, or another document.
    #[error(
        "it is not a kubeconfig; write one with clusters, users, contexts and current-context, as kubectl reads it"
    )]
    NotOne,
    /// No context chosen, or what it names is missing.
    #[error("{0}")]
    Context(String),
    /// It would run a program, read a file, or go another way than said.
    #[error("it must not have {field}; {instead}")]
    Field {
        /// As it stands in the file.
        field: &'static str,
        /// What to write.
        instead: &'static str,
    },
    /// Something needed is not there.
    #[error("it lacks {field}; {write}")]
    Missing {
        /// As it stands in a kubeconfig.
        field: &'static str,
        /// What to write.
        write: &'static str,
    },
    /// Certificates or keys that are none.
    #[error("{0}; write the base64 of PEM")]
    Unreadable(&'static str),
}

const INLINE_CA: &str = "write certificate-authority-data with the base64 of the CA's PEM";
const INLINE_USER: &str = "write a token, or client-certificate-data and client-key-data with the base64 of their PEM";

/// Reads one.
///
/// # Errors
/// If it cannot or may not be used.
pub async fn config(data: &[u8]) -> Result<Config, Refused> {
    let text = std::str::from_utf8(data).map_err(|_| Refused::NotOne)?;
    let file = Kubeconfig::from_yaml(text).map_err(|_| Refused::NotOne)?;
    let (cluster, user) = chosen(&file)?;
    check_cluster(cluster)?;
    check_user(user)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .map_err(|error| unreadable(&error))?;
    // kube takes a proxy from the environment, which is meant for AWS; a member is reached as its kubeconfig says.
    config.proxy_url = None;
    Ok(config)
}

/// The cluster and the user of the current context.
fn chosen(file: &Kubeconfig) -> Result<(&Cluster, &AuthInfo), Refused> {
    if file.clusters.is_empty() && file.contexts.is_empty() {
        return Err(Refused::NotOne);
    }
    let name = file.current_context.as_deref().filter(|name| !name.is_empty());
    let name = name.ok_or(Refused::Missing {
        field: "current-context",
        write: "write the name of one of its contexts",
    })?;
    let missing = |what: &str, name: &str| {
        Refused::Context(format!(
            "it has no {what} {name:?}, which its current-context leads to; write it"
        ))
    };
    let context = file.contexts.iter().find(|context| context.name == name);
    let context = context.and_then(|context| context.context.as_ref());
    let context = context.ok_or_else(|| missing("context", name))?;
    let cluster = file.clusters.iter().find(|cluster| cluster.name == context.cluster);
    let cluster = cluster.and_then(|cluster| cluster.cluster.as_ref());
    let cluster = cluster.ok_or_else(|| missing("cluster", &context.cluster))?;
    let user_name = context.user.as_deref().unwrap_or_default();
    let user = file.auth_infos.iter().find(|user| user.name == user_name);
    let user = user.and_then(|user| user.auth_info.as_ref());
    let user = user.ok_or_else(|| missing("user", user_name))?;
    Ok((cluster, user))
}

fn check_cluster(cluster: &Cluster) -> Result<(), Refused> {
    let Cluster {
        server,
        insecure_skip_tls_verify,
        certificate_authority,
        certificate_authority_data,
        proxy_url,
        disable_compression: _,
        tls_server_name: _,
        extensions: _,
        other: _,
    } = cluster;
    refuse(certificate_authority.is_some(), "certificate-authority", INLINE_CA)?;
    refuse(
        *insecure_skip_tls_verify == Some(true),
        "insecure-skip-tls-verify",
        INLINE_CA,
    )?;
    refuse(
        proxy_url.is_some(),
        "proxy-url",
        "the hub must reach the member's API server itself",
    )?;
    let https = server.as_ref().is_some_and(|server| server.starts_with("https://"));
    need(https, "a server with https://", "write server: https://host:port")?;
    let authority = certificate_authority_data.as_ref().is_some_and(|data| !data.is_empty());
    need(authority, "certificate-authority-data", INLINE_CA)
}

fn check_user(user: &AuthInfo) -> Result<(), Refused> {
    let AuthInfo {
        username,
        password,
        token,
        token_file,
        client_certificate,
        client_certificate_data,
        client_key,
        client_key_data,
        impersonate,
        impersonate_uid,
        impersonate_groups,
        impersonate_user_extra,
        extensions: _,
        auth_provider,
        exec,
        other: _,
    } = user;
    refuse(exec.is_some(), "exec: Truce runs no programs", INLINE_USER)?;
    refuse(
        auth_provider.is_some(),
        "auth-provider: Truce runs no programs",
        INLINE_USER,
    )?;
    let paths = [
        (token_file.is_some(), "tokenFile: Truce reads no files"),
        (client_certificate.is_some(), "client-certificate: Truce reads no files"),
        (client_key.is_some(), "client-key: Truce reads no files"),
        (username.is_some() || password.is_some(), "username or password"),
    ];
    for (present, field) in paths {
        refuse(present, field, INLINE_USER)?;
    }
    let acts_as = impersonate.is_some()
        || impersonate_uid.is_some()
        || impersonate_groups.is_some()
        || impersonate_user_extra.is_some();
    refuse(
        acts_as,
        "as",
        "give the user itself the rights of config/rbac/member.yaml",
    )?;
    let certificate = client_certificate_data.is_some() && client_key_data.is_some();
    need(token.is_some() || certificate, "credentials", INLINE_USER)
}

fn refuse(present: bool, field: &'static str, instead: &'static str) -> Result<(), Refused> {
    if present {
        Err(Refused::Field { field, instead })
    } else {
        Ok(())
    }
}

fn need(present: bool, field: &'static str, write: &'static str) -> Result<(), Refused> {
    if present {
        Ok(())
    } else {
        Err(Refused::Missing { field, write })
    }
}

/// What kube says may quote the file, so only what it is about is told.
fn unreadable(error: &KubeconfigError) -> Refused {
    Refused::Unreadable(match error {
        KubeconfigError::ParseClusterUrl(_) => "its server is not a URL",
        KubeconfigError::LoadCertificateAuthority(_) | KubeconfigError::ParseCertificates(_) => {
            "its certificate-authority-data cannot be read"
        }
        KubeconfigError::LoadClientCertificate(_) => "its client-certificate-data cannot be read",
        KubeconfigError::LoadClientKey(_) => "its client-key-data cannot be read",
        _ => "it cannot be read",
    })
}
