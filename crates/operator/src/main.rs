//! The program `truce`: reads the command line, starts what it names, tells how it ended.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tracing_subscriber::EnvFilter;
use truce_operator::args::{Cli, Command, LogFormat};
use truce_operator::config::Config;
use truce_operator::run;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => operate((*args).into()),
        Command::Crds => print_crds(),
        Command::Conditions => {
            print!("{}", truce_api::conditions_table());
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("truce: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print_crds() -> anyhow::Result<()> {
    print!("{}", truce_api::crds_yaml().context("write the definitions as YAML")?);
    Ok(())
}

fn operate(config: Config) -> anyhow::Result<()> {
    log_to_stderr(config.log_format);
    // Two libraries bring TLS; this is the one implementation of its primitives for both.
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("another cryptography provider is installed already"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    let ended = runtime.block_on(run::run(config));
    // What still runs now is of no use any more; a part that failed must not keep the process alive.
    runtime.shutdown_background();
    ended
}

/// What is logged unless `RUST_LOG` says otherwise. The Kubernetes client reports each failed request as an error of its
/// own, beside what is logged here with the object and the reason.
const LEVELS: &str = "info,kube_client=off,kube_runtime=off";

fn log_to_stderr(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LEVELS));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Text => log.init(),
    }
}
