//! The binary: flags to configuration, one line of JSON when ready, until SIGINT or SIGTERM.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use truce_aws_emulator::config::{self, ZoneConfig};
use truce_aws_emulator::{Config, serve};

/// A strict double of Route 53 and STS, with DNS answers.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Args {
    /// Address of the API; port 0 chooses a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Address of DNS, UDP and TCP on one port; port 0 chooses a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    dns: SocketAddr,
    /// Milliseconds from a change to INSYNC
    #[arg(long, default_value_t = 0)]
    insync_ms: u64,
    /// Hosted zone to begin with, NAME or NAME=ID; repeatable
    #[arg(long, value_name = "NAME[=ID]")]
    zone: Vec<String>,
    /// YAML file with zones, records, access keys, regions, load balancers
    #[arg(long)]
    config: Option<PathBuf>,
    /// File to append one JSON line per request to
    #[arg(long)]
    journal: Option<PathBuf>,
    /// AWS region of DNS clients that no network of the configuration covers
    #[arg(long, default_value = "us-east-1")]
    dns_default_region: String,
    /// Seed of the choices among weighted record sets
    #[arg(long, default_value_t = 1)]
    dns_seed: u64,
    /// Most record sets of a zone
    #[arg(long, default_value_t = 10_000)]
    max_record_sets: usize,
    /// Let a batch delete what an alias of the zone still names
    #[arg(long)]
    allow_deleting_targets: bool,
    /// Throttle requests as AWS does: 10 a second and 50 at once, by account and by action
    #[arg(long)]
    throttle: bool,
    /// Most single record changes of an account each second, twice as many at once
    #[arg(long)]
    changes_per_second: Option<u64>,
    /// Milliseconds for which a change keeps its zone busy
    #[arg(long, default_value_t = 0)]
    busy_ms: u64,
}

impl Args {
    fn into_config(self) -> anyhow::Result<Config> {
        let Self {
            listen,
            dns,
            insync_ms,
            zone,
            config,
            journal,
            dns_default_region,
            dns_seed,
            max_record_sets,
            allow_deleting_targets,
            throttle,
            changes_per_second,
            busy_ms,
        } = self;
        let mut file = match config {
            Some(path) => {
                let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
                config::parse(&text).with_context(|| format!("in {}", path.display()))?
            }
            None => config::File::default(),
        };
        file.zones.extend(zone.iter().map(|text| zone_of(text)));
        Ok(Config {
            listen,
            dns,
            insync_ms,
            dns_default_region,
            dns_seed,
            max_sets_per_zone: max_record_sets,
            refuse_deleting_targets: !allow_deleting_targets,
            throttle,
            changes_per_second,
            busy_ms,
            journal,
            file,
        })
    }
}

fn zone_of(text: &str) -> ZoneConfig {
    let (name, id) = match text.split_once('=') {
        Some((name, id)) => (name, Some(id.to_owned())),
        None => (text, None),
    };
    ZoneConfig {
        name: name.to_owned(),
        id,
        ..ZoneConfig::default()
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .init();
    let config = Args::parse().into_config()?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut handle = serve(config).await?;
    let ready = serde_json::json!({
        "aws": handle.aws().to_string(),
        "dns": handle.dns().to_string(),
    });
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{ready}")?;
    stdout.flush()?;
    tokio::select! {
        ended = handle.wait() => ended.context("a server ended"),
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}
