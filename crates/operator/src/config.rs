//! Flags turned into the settings of each part, with what they default to.
//!
//! Invariant: made once, at start; nothing reads a flag later. `Args` are taken apart without `..`, so that a new flag
//! cannot be forgotten.

use std::net::SocketAddr;
use std::path::PathBuf;

use truce_engine::time::Timings;
use truce_engine::value::ids::HubId;

use crate::args::{Args, LogFormat, TimingArgs};

/// Where a pod finds the namespace it runs in (Kubernetes, "Accessing the API from within a Pod").
const POD_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
const DEFAULT_NAMESPACE: &str = "truce-system";

/// The settings of a running operator.
#[derive(Debug, Clone)]
pub struct Config {
    /// Identifies the hub in every record it owns.
    pub hub_id: HubId,
    /// The operator's own namespace on the hub.
    pub namespace: String,
    /// The hub's kubeconfig; `None`: the environment tells.
    pub kubeconfig: Option<PathBuf>,
    /// Where `/livez`, `/readyz` and `/metrics` are served.
    pub admin_address: SocketAddr,
    /// Status writes per second over all objects.
    pub status_writes_per_second: u32,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// How long things take before they are believed or done.
    pub timings: Timings,
}

impl From<Args> for Config {
    fn from(args: Args) -> Self {
        let Args {
            hub_id,
            namespace,
            kubeconfig,
            admin_address,
            status_writes_per_second,
            log_format,
            timings,
        } = args;
        Self {
            hub_id,
            namespace: namespace.unwrap_or_else(own_namespace),
            kubeconfig,
            admin_address,
            status_writes_per_second,
            log_format,
            timings: timings.into(),
        }
    }
}

impl From<TimingArgs> for Timings {
    fn from(args: TimingArgs) -> Self {
        let TimingArgs {
            settle,
            kind_change_settle,
            absence_reread,
            absence_grace,
            adoption_causes,
            drain_grace,
            ttl_memory,
            member_fresh,
            insync_patience,
            insync_poll,
            guard_window,
            member_poll,
        } = args;
        let default = Self::default();
        Self {
            settle: settle.unwrap_or(default.settle),
            kind_change_settle: kind_change_settle.unwrap_or(default.kind_change_settle),
            absence_reread: absence_reread.unwrap_or(default.absence_reread),
            absence_grace: absence_grace.unwrap_or(default.absence_grace),
            adoption_intervals: default.adoption_intervals,
            adoption_causes: adoption_causes.unwrap_or(default.adoption_causes),
            drain_grace: drain_grace.unwrap_or(default.drain_grace),
            ttl_memory: ttl_memory.unwrap_or(default.ttl_memory),
            member_fresh: member_fresh.unwrap_or(default.member_fresh),
            insync_patience: insync_patience.unwrap_or(default.insync_patience),
            insync_poll: insync_poll.unwrap_or(default.insync_poll),
            guard_window: guard_window.unwrap_or(default.guard_window),
            member_poll: member_poll.unwrap_or(default.member_poll),
        }
    }
}

fn own_namespace() -> String {
    std::fs::read_to_string(POD_NAMESPACE)
        .map(|text| text.trim().to_owned())
        .ok()
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn run(flags: &[&str]) -> Result<Config, String> {
        let cli = Cli::try_parse_from([&["truce", "run"], flags].concat()).map_err(|error| error.to_string())?;
        match cli.command {
            Command::Run(args) => Ok((*args).into()),
            Command::Crds | Command::Conditions => Err("another command".to_owned()),
        }
    }

    #[test]
    fn timings_default_to_the_table_and_flags_shorten_them() {
        let config = run(&["--hub-id", "prod"]).unwrap();
        assert_eq!(config.timings, Timings::default());
        assert_eq!(config.status_writes_per_second, 20);
        assert_eq!(config.admin_address.port(), 8080);
        let config = run(&["--hub-id", "prod", "--settle", "250ms", "--drain-grace", "1m30s"]).unwrap();
        assert_eq!(config.timings.settle, Duration::from_millis(250));
        assert_eq!(config.timings.drain_grace, Duration::from_secs(90));
        assert_eq!(config.timings.absence_grace, Duration::from_secs(600));
    }

    #[test]
    fn a_bad_flag_says_what_to_write() {
        let cases: [(&[&str], &str); 4] = [
            (&[], "--hub-id <HUB_ID>"),
            (&["--hub-id", "Prod"], "1 to 32 lower-case letters"),
            (&["--hub-id", "prod", "--settle", "5"], "such as 5s, 10m or 1h30m"),
            (&["--hub-id", "prod", "--status-writes-per-second", "0"], "1..=1000"),
        ];
        for (flags, says) in cases {
            let error = run(flags).unwrap_err();
            assert!(error.contains(says), "{flags:?}: {error}");
        }
    }
}
