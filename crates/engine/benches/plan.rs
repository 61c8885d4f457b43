//! First half of `make bench`: the time to replan one event and to plan everything, and the memory of a world.
//!
//! A world is a number of hostnames over 10 clusters in 10 regions, each hostname with a Service of its own in every
//! cluster, 300 hostnames a zone. Members have no ExternalDNS: the hub writes all names, so that nothing has to be
//! modelled but a zone. The memory is measured in a process of its own that reads the zones page by page from files,
//! as the operator reads them from Route 53. Arguments are other sizes to measure: `-- 600`.

#![expect(clippy::unwrap_used, reason = "a benchmark ends where its world breaks")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use truce_engine::effect::{Change, Effect, EffectId, HubEffect, MemberEffect, ZoneEffect};
use truce_engine::event::{
    Cursor, Event, HubEvent, HubObject, MemberEvent, MemberKind, MemberObject, Outcome, ServiceSeen, Success,
};
use truce_engine::time::{Mono, Now, Timings, Wall};
use truce_engine::value::ids::{ClusterName, HubId};
use truce_engine::value::record::{RecordSet, SetKey};
use truce_engine::{Config, Engine};

const REGIONS: [&str; 10] = [
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
    "eu-west-1",
    "eu-central-1",
    "ap-south-1",
    "ap-northeast-1",
    "ap-southeast-2",
    "sa-east-1",
];
/// 31 record sets each (10 of the shared name, its claim, and a cluster name with its TXT per cluster), so that a zone
/// stays below its default limit of 9,500.
const HOSTNAMES_PER_ZONE: usize = 300;
const SETS_PER_HOSTNAME: usize = 3 * REGIONS.len() + 1;
/// Route 53's page.
const PAGE: usize = 300;
/// Environment variable that makes this process the one whose memory is measured.
const MEASURE: &str = "TRUCE_BENCH_ZONES";

const EVENT_GOAL: Duration = Duration::from_millis(1);
const PLAN_GOAL: Duration = Duration::from_secs(1);
const MEMORY_GOAL_MIB: u64 = 300;

/// Where record sets live.
enum Zones {
    /// In this process, by hosted zone id.
    Here(BTreeMap<String, BTreeMap<SetKey, RecordSet>>),
    /// In a file per hosted zone, a line per record set, in order.
    Files(PathBuf),
}

impl Zones {
    /// A page from the given place on, and the first set of the next page.
    fn page(&self, id: &str, from: usize) -> (Vec<RecordSet>, Option<RecordSet>) {
        match self {
            Self::Here(zones) => {
                let mut rest = zones[id].values().skip(from);
                (rest.by_ref().take(PAGE).cloned().collect(), rest.next().cloned())
            }
            Self::Files(folder) => {
                let lines = BufReader::new(File::open(folder.join(id)).unwrap()).lines();
                let mut rest = lines
                    .skip(from)
                    .map(|line| serde_json::from_str(&line.unwrap()).unwrap());
                (rest.by_ref().take(PAGE).collect(), rest.next())
            }
        }
    }

    fn change(&mut self, id: &str, changes: &[Change]) {
        let Self::Here(zones) = self else {
            panic!("a world at rest wants to change {changes:?}")
        };
        let zone = zones.get_mut(id).unwrap();
        for change in changes {
            match change {
                Change::Delete(set) => assert!(zone.remove(&set.get().key()).as_ref() == Some(set.get()), "not there"),
                Change::Create(set) => assert!(zone.insert(set.key(), set.clone()).is_none(), "already there"),
            }
        }
    }
}

/// The engine and what answers it.
struct World {
    engine: Engine,
    now: Now,
    hostnames: usize,
    zones: Zones,
    sessions: BTreeMap<String, EffectId>,
    /// Where in its zone a cursor points to.
    cursors: BTreeMap<String, usize>,
    changes: usize,
}

fn zone_of(hostname: usize) -> usize {
    hostname / HOSTNAMES_PER_ZONE
}

fn zone_id(zone: usize) -> String {
    format!("ZBENCH{zone:04}")
}

fn service(hostname: usize, cluster: usize, round: usize) -> ServiceSeen {
    let ip = format!(
        "{}.{}.{}.{}",
        20 + cluster,
        hostname / 250 % 250,
        hostname % 250,
        round % 250
    );
    ServiceSeen {
        namespace: "shop".to_owned(),
        name: format!("lb-{hostname}"),
        load_balancer: true,
        dual_stack: false,
        internal: false,
        ips: vec![ip.parse().unwrap()],
        hostnames: Vec::new(),
    }
}

impl World {
    fn new(hostnames: usize, zones: Zones) -> Self {
        let config = Config {
            hub: HubId::parse("bench").unwrap(),
            namespace: "truce-system".to_owned(),
            timings: Timings::default(),
            status_writes_per_second: 1_000_000,
        };
        let now = Now {
            mono: Mono(1_000),
            wall: Wall::from_second(1_800_000_000).unwrap(),
        };
        let (sessions, cursors) = (BTreeMap::new(), BTreeMap::new());
        let mut world = Self {
            engine: Engine::new(config),
            now,
            hostnames,
            zones,
            sessions,
            cursors,
            changes: 0,
        };
        world.tell(Event::Hub(HubEvent::Identity {
            uid: "hub-uid".to_owned(),
        }));
        for zone in 0..hostnames.div_ceil(HOSTNAMES_PER_ZONE) {
            let limits = json!({"requestsPerSecond": 1000, "changesPerSecond": 100_000});
            let spec = json!({"domain": format!("z{zone}.example.com"), "hostedZoneID": zone_id(zone),
                "accountID": "111111111111", "limits": limits,
                "claims": [{"namespaces": ["shop"], "hostnames": [format!("*.z{zone}.example.com")]}]});
            world.object("DNSZone", "", &format!("z{zone}"), &spec);
        }
        for (cluster, region) in REGIONS.iter().enumerate() {
            let spec = json!({"region": region, "access": {"kubeconfig": {"secretRef": {"name": "x"}}}});
            world.object("MemberCluster", "", &format!("c{cluster}"), &spec);
        }
        let clusters: Vec<Value> = (0..REGIONS.len())
            .map(|cluster| json!({"name": format!("c{cluster}")}))
            .collect();
        for hostname in 0..hostnames {
            let name = format!("h{hostname}.z{}.example.com", zone_of(hostname));
            let source = json!({"service": {"name": format!("lb-{hostname}")}});
            let spec = json!({"hostname": name, "source": source, "clusters": clusters});
            world.object("GlobalHostname", "shop", &format!("h{hostname}"), &spec);
        }
        world.tell(Event::Hub(HubEvent::Synced));
        world
    }

    fn tell(&mut self, event: Event) {
        self.engine.handle(event, self.now);
    }

    fn object(&mut self, kind: &str, namespace: &str, name: &str, spec: &Value) {
        let value = json!({"apiVersion": "dns.truce.dev/v1alpha1", "kind": kind, "spec": spec, "status": null,
            "metadata": {"name": name, "namespace": namespace, "uid": format!("uid-{kind}-{name}"), "generation": 1,
                "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["dns.truce.dev/owned"]}});
        let object = match kind {
            "GlobalHostname" => HubObject::GlobalHostname(serde_json::from_value(value).unwrap()),
            "MemberCluster" => HubObject::MemberCluster(serde_json::from_value(value).unwrap()),
            _ => HubObject::DnsZone(serde_json::from_value(value).unwrap()),
        };
        self.tell(Event::Hub(HubEvent::Applied(Box::new(object))));
    }

    fn done(&mut self, id: EffectId, outcome: Outcome) {
        self.tell(Event::Done(id, outcome));
    }

    fn execute(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::Hub(HubEffect::EmitEvent(_)) => {}
            Effect::Hub(_) => self.done(id, Ok(Success::Done)),
            Effect::Member(cluster, effect) => self.member(id, &cluster, effect),
            Effect::Zone(_, effect) => {
                let outcome = self.zone(effect);
                self.done(id, Ok(outcome));
            }
        }
    }

    fn member(&mut self, id: EffectId, cluster: &ClusterName, effect: MemberEffect) {
        let number: usize = cluster.as_str().trim_start_matches('c').parse().unwrap();
        match effect {
            MemberEffect::Open(_) => {
                self.sessions.insert(cluster.as_str().to_owned(), id);
                let (cluster_uid, server_version) = (format!("uid-of-{cluster}"), "v1.37.2".to_owned());
                self.done(
                    id,
                    Ok(Success::Opened {
                        cluster_uid,
                        server_version,
                    }),
                );
            }
            MemberEffect::Watch(watch) => {
                let all = if watch.kind == MemberKind::Service {
                    self.hostnames
                } else {
                    0
                };
                let objects = (0..all)
                    .map(|hostname| MemberObject::Service(service(hostname, number, 0)))
                    .collect();
                self.done(id, Ok(Success::Done));
                let session = self.sessions[cluster.as_str()];
                let event = MemberEvent::Listed { watch, objects };
                self.tell(Event::Member {
                    cluster: cluster.clone(),
                    session,
                    event,
                });
            }
            other => {
                drop(other);
                self.done(id, Ok(Success::Done));
            }
        }
    }

    fn zone(&mut self, effect: ZoneEffect) -> Success {
        match effect {
            ZoneEffect::Verify { hosted_zone } => {
                let number: usize = hosted_zone.as_str().trim_start_matches("ZBENCH").parse().unwrap();
                Success::Zone {
                    account: "111111111111".to_owned(),
                    name: format!("z{number}.example.com."),
                    private: false,
                    record_sets: 0,
                }
            }
            ZoneEffect::ReadPage { hosted_zone, start } => {
                let from = start.map_or(0, |cursor| self.cursors[&format!("{hosted_zone} {cursor:?}")]);
                let (sets, first) = self.zones.page(hosted_zone.as_str(), from);
                let next = first.map(|set| Cursor {
                    name: format!("{}.", set.name),
                    record_type: set.record_type.to_string(),
                    set_identifier: set.routing.id().map(|id| id.as_str().to_owned()),
                });
                if let Some(cursor) = &next {
                    self.cursors.insert(format!("{hosted_zone} {cursor:?}"), from + PAGE);
                }
                Success::Page { sets, next }
            }
            ZoneEffect::ReadName { hosted_zone, name } => {
                let sets = match &self.zones {
                    Zones::Here(zones) => zones[hosted_zone.as_str()]
                        .values()
                        .filter(|set| set.name == name)
                        .cloned()
                        .collect(),
                    Zones::Files(_) => panic!("a world at rest reads the name {name}"),
                };
                Success::Name { sets }
            }
            ZoneEffect::Submit { hosted_zone, changes } => {
                self.zones.change(hosted_zone.as_str(), &changes);
                self.changes += 1;
                Success::Submitted {
                    change_id: format!("C{}", self.changes),
                    at: self.now.wall,
                }
            }
            ZoneEffect::CheckChange { .. } => Success::Change { insync: true },
        }
    }

    /// Runs until there is nothing to do before `until`; time passes only when there is nothing to do now.
    fn run(&mut self, until: Mono) {
        loop {
            let (effects, wake) = self.engine.poll(self.now);
            if effects.is_empty() {
                match wake {
                    Some(at) if at <= self.now.mono => {}
                    Some(at) if at <= until => {
                        let millis = i64::try_from(at.0 - self.now.mono.0).unwrap();
                        let wall = Wall::from_millisecond(self.now.wall.as_millisecond() + millis).unwrap();
                        self.now = Now { mono: at, wall };
                    }
                    _ => return,
                }
            }
            for (id, effect) in effects {
                self.execute(id, effect);
            }
        }
    }

    fn a_while(&mut self) {
        self.run(self.now.mono + Duration::from_secs(60));
    }

    /// The time that the engine needs from one Service's new address to its effects.
    fn one_event(&mut self, round: usize) -> Duration {
        let hostname = round * 97 % self.hostnames;
        let cluster = round % REGIONS.len();
        let name = ClusterName::parse(&format!("c{cluster}")).unwrap();
        let session = self.sessions[name.as_str()];
        let event = MemberEvent::Applied(MemberObject::Service(service(hostname, cluster, round + 1)));
        let event = Event::Member {
            cluster: name,
            session,
            event,
        };
        let begun = cpu_time();
        self.engine.handle(event, self.now);
        let (effects, _) = self.engine.poll(self.now);
        let took = cpu_time() - begun;
        assert!(
            effects.iter().any(|(_, effect)| matches!(effect, Effect::Zone(..))),
            "no change was planned"
        );
        for (id, effect) in effects {
            self.execute(id, effect);
        }
        self.a_while();
        took
    }

    /// The time that the engine needs to plan every hostname anew.
    fn full_plan(&mut self) -> Duration {
        self.engine.mark_all();
        let begun = cpu_time();
        let (effects, _) = self.engine.poll(self.now);
        let took = cpu_time() - begun;
        for (id, effect) in effects {
            self.execute(id, effect);
        }
        self.a_while();
        took
    }
}

/// The time that this thread has run on a core: the engine has one thread, and the figures shall not depend on what
/// else the machine does.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// A world that has come to rest.
fn converged(hostnames: usize) -> World {
    let zones = (0..hostnames.div_ceil(HOSTNAMES_PER_ZONE))
        .map(|zone| (zone_id(zone), BTreeMap::new()))
        .collect();
    let mut world = World::new(hostnames, Zones::Here(zones));
    world.a_while();
    let Zones::Here(zones) = &world.zones else {
        unreachable!()
    };
    let sets: usize = zones.values().map(BTreeMap::len).sum();
    let wanted = hostnames * SETS_PER_HOSTNAME + zones.len();
    assert_eq!(sets, wanted, "record sets, the fences among them");
    world
}

fn resident_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// The process whose memory is measured: a restart into a world at rest.
fn measured(folder: &Path) {
    let hostnames: usize = fs::read_to_string(folder.join("hostnames")).unwrap().parse().unwrap();
    let mut world = World::new(hostnames, Zones::Files(folder.to_owned()));
    world.a_while();
    println!("{}", resident_mib());
}

fn memory(world: &World) -> u64 {
    let folder = std::env::temp_dir().join(format!("truce-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let Zones::Here(zones) = &world.zones else {
        unreachable!()
    };
    for (id, sets) in zones {
        let lines: Vec<String> = sets.values().map(|set| serde_json::to_string(set).unwrap()).collect();
        fs::write(folder.join(id), lines.join("\n")).unwrap();
    }
    fs::write(folder.join("hostnames"), world.hostnames.to_string()).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .env(MEASURE, &folder)
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Prints one figure. A goal that is missed is said, and fails nothing: figures depend on the machine.
fn figure(what: &str, value: &str, goal: &str, met: bool) {
    println!(
        "  {what:<32} {value:>12}   goal {goal:<10} {}",
        if met { "met" } else { "MISSED" }
    );
}

/// Prints the figures of one world and returns the time of a full plan.
fn bench(hostnames: usize) -> Duration {
    let begun = Instant::now();
    let mut world = converged(hostnames);
    println!(
        "{hostnames} hostnames over {} clusters (brought up in {:.1?})",
        REGIONS.len(),
        begun.elapsed()
    );
    let mib = memory(&world);
    let mut events: Vec<Duration> = (0..100).map(|round| world.one_event(round)).collect();
    events.sort();
    let full = (0..3).map(|_| world.full_plan()).min().unwrap();
    let (median, worst) = (events[49], events[98]);
    figure(
        "one event replanned, median",
        &format!("{median:.1?}"),
        "1 ms",
        median <= EVENT_GOAL,
    );
    println!("  one event replanned, 99th percentile {worst:.1?}");
    figure("full plan", &format!("{full:.1?}"), "1 s", full <= PLAN_GOAL);
    figure(
        "resident memory",
        &format!("{mib} MiB"),
        "300 MiB",
        mib <= MEMORY_GOAL_MIB,
    );
    full
}

fn main() {
    if let Some(folder) = std::env::var_os(MEASURE) {
        return measured(Path::new(&folder));
    }
    let sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    if !sizes.is_empty() {
        for size in sizes {
            bench(size);
        }
        return;
    }
    let (small, large) = (bench(1_000), bench(10_000));
    let growth = large.as_secs_f64() / small.as_secs_f64();
    // A little above ten, for a world that no longer fits into the processor's caches.
    figure(
        "full plan, ten times the world",
        &format!("{growth:.1} x"),
        "10 x",
        growth <= 12.0,
    );
}
