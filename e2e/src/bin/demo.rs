//! `make demo`: the main job on real control planes, step by step; ends with 0 only if every step showed what it must.

use std::path::PathBuf;
use std::time::Instant;
use std::{fs, process, thread};

use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};
use truce_e2e::apiserver::User;
use truce_e2e::emulator::ZONE_ID;
use truce_e2e::story::{self, EAST, Stage, WEST};
use truce_e2e::world::HUB;

fn main() -> Result<()> {
    let begun = Instant::now();
    println!("# starting etcd, three API servers, two ExternalDNS, the AWS double and Truce");
    let mut stage = story::start()?;
    println!(
        "# up after {} s; logs: {}",
        begun.elapsed().as_secs(),
        stage.world.logs().display()
    );
    leave_nothing_on_interrupt(stage.world.dir().to_owned())?;
    let played = story::play(&mut stage);
    if std::env::var("KEEP").is_ok_and(|value| !value.is_empty() && value != "0") {
        if let Err(error) = &played {
            println!("# failed: {error:#}");
        }
        keep(&stage)?;
    }
    stage.world.conclude(played)?;
    println!(
        "\n# every step showed what it must, after {} s",
        begun.elapsed().as_secs()
    );
    Ok(())
}

/// On Ctrl-C or SIGTERM the run's folder goes; the processes end with this one anyway.
fn leave_nothing_on_interrupt(folder: PathBuf) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start tokio")?;
    let (mut interrupt, mut terminate) = runtime
        .block_on(async {
            Ok::<_, std::io::Error>((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
        })
        .context("listen for signals")?;
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
        });
        // What cannot be removed now lies in the system's folder for temporary files.
        drop(fs::remove_dir_all(folder));
        process::exit(130);
    });
    Ok(())
}

/// Leaves everything up until Ctrl-C and says how to play with it.
fn keep(stage: &Stage) -> Result<()> {
    println!("\n# everything stays up until Ctrl-C; in another terminal:");
    for cluster in [HUB, EAST, WEST] {
        let server = stage.world.cluster(cluster)?;
        let file = server.kubeconfig_file(User::Admin, &server.url)?;
        println!("export {}={}", cluster.to_uppercase(), file.display());
    }
    println!("alias kubectl={}", stage.world.tools.kubectl.display());
    println!(
        "export AWS_ENDPOINT_URL={} AWS_REGION=us-east-1",
        stage.world.emulator.aws
    );
    println!("export AWS_ACCESS_KEY_ID=AKIAPLAYER0000000000 AWS_SECRET_ACCESS_KEY=not-a-secret");
    let dns = stage.world.emulator.dns;
    println!("# the story's files are in e2e/story; begin with:");
    println!(
        "kubectl --kubeconfig $HUB apply -f e2e/story/dns-zone.yaml -f e2e/story/members.yaml -f e2e/story/hostname.yaml"
    );
    println!("kubectl --kubeconfig $HUB get ghn,mcl,dz -A");
    println!("aws route53 list-resource-record-sets --hosted-zone-id {ZONE_ID}");
    println!(
        "dig @{} -p {} app.example.com +subnet=198.18.1.0/24   # 198.18.2.0/24: near us-west-2",
        dns.ip(),
        dns.port()
    );
    loop {
        std::thread::park();
    }
}
