//! The command line, each flag with a twin in the environment (`--hub-id`, `TRUCE_HUB_ID`).
//!
//! Invariant: what is wrong with a value is said by the flag's own parser. Deliberately absent: what the values mean
//! (`config.rs`).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use truce_engine::value::ids::HubId;

/// Makes many Kubernetes clusters answer for one hostname through Amazon Route 53.
#[derive(Debug, Parser)]
#[command(name = "truce", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator.
    Run(Box<Args>),
    /// Print the custom resource definitions, for `kubectl apply -f -`.
    Crds,
    /// Print all condition types and reasons, with their meaning and the way out.
    Conditions,
}

/// Flags of `truce run`.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Identifies this hub in every record it owns: 1 to 32 lower-case letters, digits and inner '-'. Never change it;
    /// a rebuilt hub with the same id finds everything again. It differs from every ExternalDNS owner id.
    #[arg(long, env = "TRUCE_HUB_ID", value_parser = hub_id)]
    pub hub_id: HubId,

    /// The operator's own namespace, where kubeconfig Secrets are read [default: the pod's, else truce-system].
    #[arg(long, env = "TRUCE_NAMESPACE")]
    pub namespace: Option<String>,

    /// Kubeconfig of the hub [default: the pod's service account, or what kubectl would use].
    #[arg(long, env = "TRUCE_KUBECONFIG")]
    pub kubeconfig: Option<PathBuf>,

    /// Where /livez, /readyz and /metrics are served.
    #[arg(long, env = "TRUCE_ADMIN_ADDRESS", default_value = "0.0.0.0:8080")]
    pub admin_address: SocketAddr,

    /// Upper bound of status writes per second, over all objects.
    #[arg(long, env = "TRUCE_STATUS_WRITES_PER_SECOND", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub status_writes_per_second: u32,

    /// How log lines are written.
    #[arg(long, env = "TRUCE_LOG_FORMAT", value_enum, default_value_t = LogFormat::Json)]
    pub log_format: LogFormat,

    /// Timings.
    #[command(flatten)]
    pub timings: TimingArgs,
}

/// How long things take before they are believed or done; durations such as 5s, 10m or 1h30m.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Timings")]
pub struct TimingArgs {
    /// How long a cluster's first address must hold [default: 5s].
    #[arg(long, env = "TRUCE_SETTLE", value_parser = duration)]
    pub settle: Option<Duration>,

    /// How long an address of another kind must hold before it replaces one [default: 30s].
    #[arg(long, env = "TRUCE_KIND_CHANGE_SETTLE", value_parser = duration)]
    pub kind_change_settle: Option<Duration>,

    /// Between the two complete reads that an absent address needs [default: 1m].
    #[arg(long, env = "TRUCE_ABSENCE_REREAD", value_parser = duration)]
    pub absence_reread: Option<Duration>,

    /// After those, how long an address may be gone before it is withdrawn [default: 10m].
    #[arg(long, env = "TRUCE_ABSENCE_GRACE", value_parser = duration)]
    pub absence_grace: Option<Duration>,

    /// When a pending adoption names its likely causes [default: 10m].
    #[arg(long, env = "TRUCE_ADOPTION_CAUSES", value_parser = duration)]
    pub adoption_causes: Option<Duration>,

    /// Added to twice the longest TTL before a cluster counts as Drained [default: 5m].
    #[arg(long, env = "TRUCE_DRAIN_GRACE", value_parser = duration)]
    pub drain_grace: Option<Duration>,

    /// How far back the longest TTL counts [default: 1h].
    #[arg(long, env = "TRUCE_TTL_MEMORY", value_parser = duration)]
    pub ttl_memory: Option<Duration>,

    /// When a member whose state is not fresh is reported [default: 5m].
    #[arg(long, env = "TRUCE_MEMBER_FRESH", value_parser = duration)]
    pub member_fresh: Option<Duration>,

    /// How long a change may be on its way before Programmed turns False [default: 1m].
    #[arg(long, env = "TRUCE_INSYNC_PATIENCE", value_parser = duration)]
    pub insync_patience: Option<Duration>,

    /// Between two looks at a change that is on its way [default: 500ms].
    #[arg(long, env = "TRUCE_INSYNC_POLL", value_parser = duration)]
    pub insync_poll: Option<Duration>,

    /// The time over which the guard counts withdrawals that nobody asked for [default: 10m].
    #[arg(long, env = "TRUCE_GUARD_WINDOW", value_parser = duration)]
    pub guard_window: Option<Duration>,

    /// Between two looks at a member's records while something is awaited of it [default: 2s].
    #[arg(long, env = "TRUCE_MEMBER_POLL", value_parser = duration)]
    pub member_poll: Option<Duration>,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

fn hub_id(text: &str) -> Result<HubId, String> {
    HubId::parse(text).map_err(|error| error.to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    truce_api::parse_duration(text)
        .ok_or_else(|| format!("{text:?} is not a duration; write numbers with units, such as 5s, 10m or 1h30m"))
}
