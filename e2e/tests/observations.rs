//! What Truce's hand-over of a cluster name rests on: ten observations of a real ExternalDNS against the AWS double.
//!
//! The test plays the hub with the hub's credentials; Truce itself is absent. If one of these fails, the design is
//! wrong, or the double is.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use aws_sdk_route53::types::{ChangeAction, ResourceRecordSet, RrType};
use serde_json::{Value, json};
use truce_e2e::actor::{Actor, Route53};
use truce_e2e::emulator::ZONE_ID;
use truce_e2e::external_dns::Flags;
use truce_e2e::wait;
use truce_e2e::world::{MemberSpec, Plan, World};
use truce_e2e::zone;

const NAMESPACE: &str = "truce-system";
const SYNC: &str = "prod-east";
const UPSERT_ONLY: &str = "prod-west";
const ARN: &str = "arn:aws:iam::222222222222:role/external-dns";
const ELB: &str = "k8s-web-1.elb.us-west-2.amazonaws.com";
/// Route 53's zone of network load balancers in us-west-2.
const ELB_ZONE: &str = "Z18D5FSROUN65G";

/// The world, seen by the hub.
struct Hub {
    world: World,
    route53: Route53,
}

impl Hub {
    fn start() -> Result<Self> {
        let mut labelled = Flags::new(ARN, "sync");
        labelled.extra = vec![
            "--txt-prefix=k8s-txt-".to_owned(),
            "--label-filter=team=edge".to_owned(),
        ];
        let arn = MemberSpec {
            name: "arn".to_owned(),
            region: "eu-west-1".to_owned(),
            external_dns: Some(labelled),
        };
        let east = MemberSpec::new("east", "us-east-1", SYNC, "sync");
        let west = MemberSpec::new("west", "us-west-2", UPSERT_ONLY, "upsert-only");
        let plan = Plan {
            members: vec![east, west, arn],
            hub: false,
            insync: Duration::ZERO,
        };
        let world = World::start(&plan)?;
        for member in ["east", "west", "arn"] {
            world.namespace(member, NAMESPACE)?;
        }
        let route53 = world.route53(&Actor::new("hub", "us-east-1"))?;
        Ok(Self { world, route53 })
    }

    /// Sends one batch as the hub.
    fn batch(&self, deletes: &[&ResourceRecordSet], creates: &[&ResourceRecordSet]) -> Result<()> {
        let delete = deletes.iter().map(|set| (ChangeAction::Delete, (*set).clone()));
        let create = creates.iter().map(|set| (ChangeAction::Create, (*set).clone()));
        self.route53.change(ZONE_ID, delete.chain(create).collect())
    }

    /// The record sets whose name has `leaf` as its first label or as the end of it.
    fn zone(&self, leaf: &str) -> Result<Vec<String>> {
        let end = format!("{leaf}.example.com");
        let all = zone::lines(&self.route53.records(ZONE_ID)?);
        Ok(all
            .into_iter()
            .filter(|line| line.split(' ').next().is_some_and(|name| name.ends_with(&end)))
            .collect())
    }

    fn expect(&self, leaf: &str, want: &[&ResourceRecordSet]) -> Result<()> {
        let mut want: Vec<String> = want.iter().map(|set| zone::line(set)).collect();
        want.sort();
        let have = self.zone(leaf)?;
        ensure!(
            have == want,
            "the zone holds\n  {}\nbut should hold\n  {}",
            have.join("\n  "),
            want.join("\n  ")
        );
        Ok(())
    }

    fn becomes(&self, leaf: &str, want: &[&ResourceRecordSet]) -> Result<()> {
        wait::until("the member to write", Duration::from_secs(30), || {
            self.expect(leaf, want)
        })
    }

    /// All ChangeResourceRecordSets requests of a member, refused ones too.
    fn requests(&self, member: &str) -> Result<usize> {
        let actor = Actor::new(member, "").access_key;
        let journal = self.world.emulator.journal()?;
        Ok(journal
            .iter()
            .filter(|entry| entry.actor == actor && entry.changes_a_zone())
            .count())
    }

    /// Three syncs of the member in which it asks for no change.
    fn quiet(&mut self, member: &str) -> Result<()> {
        let before = self.requests(member)?;
        self.world.external_dns(member)?.wait_for_syncs(3)?;
        let after = self.requests(member)?;
        ensure!(before == after, "{member} sent {} change requests", after - before);
        Ok(())
    }

    /// Applies a DNSEndpoint and waits until a sync has observed it.
    fn endpoint(&self, member: &str, leaf: &str, endpoints: &Value) -> Result<()> {
        let object = json!({
            "apiVersion": "externaldns.k8s.io/v1alpha1",
            "kind": "DNSEndpoint",
            "metadata": {"name": leaf, "namespace": NAMESPACE, "labels": {"team": "edge"}},
            "spec": {"endpoints": endpoints},
        });
        let kubectl = self.world.kubectl(member)?;
        kubectl.apply(&object.to_string())?;
        wait::until("status.observedGeneration to follow", Duration::from_secs(30), || {
            let object = kubectl.get(&["dnsendpoint", leaf, "-n", NAMESPACE])?;
            let (seen, wanted) = (
                &object["status"]["observedGeneration"],
                &object["metadata"]["generation"],
            );
            ensure!(seen == wanted, "observed {seen}, generation {wanted}");
            Ok(())
        })
    }

    fn delete_endpoint(&self, member: &str, leaf: &str) -> Result<()> {
        self.world
            .kubectl(member)?
            .run(&["delete", "dnsendpoint", leaf, "-n", NAMESPACE])
            .map(drop)
    }

    fn logged(&mut self, member: &str, words: &[&str]) -> Result<()> {
        let log = self.world.external_dns(member)?.log()?;
        let found = log.lines().any(|line| words.iter().all(|word| line.contains(word)));
        ensure!(found, "the ExternalDNS of {member} did not log a line with {words:?}");
        Ok(())
    }

    /// Placeholder, observed DNSEndpoint, hand-over: the state after observation 3.
    fn handed_over(&self, member: &str, owner: &str, leaf: &str, ip: &str) -> Result<[ResourceRecordSet; 2]> {
        let [old_a, old_txt] = [address(leaf, "192.0.2.1")?, claim(leaf, "demo")?];
        self.batch(&[], &[&old_a, &old_txt])?;
        self.endpoint(member, leaf, &json!([a(leaf, ip)]))?;
        let live = [address(leaf, ip)?, claim(leaf, owner)?];
        self.batch(&[&old_a, &old_txt], &[&live[0], &live[1]])?;
        Ok(live)
    }
}

fn name(leaf: &str) -> String {
    format!("{leaf}.example.com")
}

fn address(leaf: &str, ip: &str) -> Result<ResourceRecordSet> {
    zone::simple(&name(leaf), RrType::A, 60, &[ip])
}

/// The ownership TXT of an A record as ExternalDNS 0.22 without affixes names it.
fn claim(leaf: &str, owner: &str) -> Result<ResourceRecordSet> {
    txt(&format!("a-{leaf}"), leaf, owner)
}

fn txt(label: &str, endpoint: &str, owner: &str) -> Result<ResourceRecordSet> {
    zone::simple(
        &name(label),
        RrType::Txt,
        300,
        &[&zone::ownership(owner, NAMESPACE, endpoint)],
    )
}

fn a(leaf: &str, ip: &str) -> Value {
    json!({"dnsName": name(leaf), "recordType": "A", "recordTTL": 60, "targets": [ip]})
}

fn elb(leaf: &str, kind: &str) -> Value {
    let alias = json!([{"name": "alias", "value": "true"}]);
    json!({"dnsName": name(leaf), "recordType": kind, "targets": [ELB], "providerSpecific": alias})
}

/// 1 to 5, on one name: the way of a cluster name under policy sync.
fn from_placeholder_to_loss(hub: &mut Hub) -> Result<()> {
    let leaf = "app-east";
    let [old_a, old_txt] = [address(leaf, "192.0.2.1")?, claim(leaf, "demo")?];
    hub.batch(&[], &[&old_a, &old_txt])?;
    hub.quiet("east").context("1: a foreign owner is left alone")?;
    hub.expect(leaf, &[&old_a, &old_txt]).context("1")?;
    hub.logged("east", &["Skipping endpoint", "owner id does not match"])
        .context("1")?;

    hub.endpoint("east", leaf, &json!([a(leaf, "203.0.113.99")]))
        .context("2: observed after a sync")?;
    hub.quiet("east")
        .context("2: an observed DNSEndpoint writes nothing over a foreign owner")?;
    hub.endpoint("east", leaf, &json!([a(leaf, "203.0.113.10")]))
        .context("2")?;
    hub.quiet("east").context("2: whatever its targets")?;
    hub.expect(leaf, &[&old_a, &old_txt]).context("2")?;

    let [live, txt] = [address(leaf, "203.0.113.10")?, claim(leaf, SYNC)?];
    hub.batch(&[&old_a, &old_txt], &[&live, &txt])?;
    hub.quiet("east")
        .context("3: what the hub handed over is what the member wants")?;
    hub.expect(leaf, &[&live, &txt]).context("3")?;
    hub.logged("east", &["All records are already up to date"])
        .context("3")?;

    let moved = address(leaf, "203.0.113.11")?;
    hub.endpoint("east", leaf, &json!([a(leaf, "203.0.113.11")]))
        .context("4")?;
    hub.becomes(leaf, &[&moved, &txt])
        .context("4: the member writes a new target and keeps the TXT")?;
    hub.quiet("east").context("4")?;

    hub.delete_endpoint("east", leaf)?;
    hub.becomes(leaf, &[])
        .context("5: policy sync deletes what it owns once the DNSEndpoint is gone")
}

/// 6: why a DNSEndpoint is never written before the name is in the zone.
fn name_not_in_the_zone(hub: &mut Hub) -> Result<()> {
    let leaf = "new-west";
    let endpoint = json!([{"dnsName": name(leaf), "recordType": "CNAME", "targets": [ELB]}]);
    hub.endpoint("west", leaf, &endpoint)?;
    let want = [
        zone::alias(&name(leaf), RrType::A, ELB, ELB_ZONE)?,
        zone::alias(&name(leaf), RrType::Aaaa, ELB, ELB_ZONE)?,
        txt("a-new-west", leaf, UPSERT_ONLY)?,
        txt("aaaa-new-west", leaf, UPSERT_ONLY)?,
    ];
    hub.becomes(leaf, &want.iter().collect::<Vec<_>>())
}

/// 7: a load balancer with a name becomes an ALIAS in the hand-over; AAAA is a second endpoint.
fn load_balancer_name(hub: &mut Hub) -> Result<()> {
    let leaf = "app-west";
    let [old_a, old_txt] = [address(leaf, "192.0.2.1")?, claim(leaf, "demo")?];
    hub.batch(&[], &[&old_a, &old_txt])?;
    hub.endpoint("west", leaf, &json!([elb(leaf, "A")]))?;
    let [live, owned] = [
        zone::alias(&name(leaf), RrType::A, ELB, ELB_ZONE)?,
        claim(leaf, UPSERT_ONLY)?,
    ];
    hub.batch(&[&old_a, &old_txt], &[&live, &owned])?;
    hub.quiet("west")
        .context("the alias is left alone from the first sync on")?;
    hub.expect(leaf, &[&live, &owned])?;
    hub.endpoint("west", leaf, &json!([elb(leaf, "A"), elb(leaf, "AAAA")]))?;
    let six = zone::alias(&name(leaf), RrType::Aaaa, ELB, ELB_ZONE)?;
    let six_txt = txt("aaaa-app-west", leaf, UPSERT_ONLY)?;
    hub.becomes(leaf, &[&live, &owned, &six, &six_txt])?;
    hub.quiet("west")
}

/// 8: with the TXT back in the hub's name the member lets go, and the record outlives the DNSEndpoint.
fn release_through_the_owner(hub: &mut Hub) -> Result<()> {
    let leaf = "back-east";
    let [live, txt] = hub.handed_over("east", SYNC, leaf, "203.0.113.20")?;
    hub.quiet("east")?;
    let back = claim(leaf, "demo")?;
    hub.batch(&[&txt], &[&back])?;
    hub.quiet("east").context("the DNSEndpoint still stands")?;
    hub.delete_endpoint("east", leaf)?;
    hub.quiet("east").context("the DNSEndpoint is gone")?;
    hub.expect(leaf, &[&live, &back])
}

/// 9: an ARN as owner id, a TXT prefix and a label filter.
fn arn_prefix_and_label(hub: &mut Hub) -> Result<()> {
    let leaf = "app-arn";
    let label = "k8s-txt-a-app-arn";
    let [old_a, old_txt] = [address(leaf, "192.0.2.1")?, txt(label, leaf, "demo")?];
    hub.batch(&[], &[&old_a, &old_txt])?;
    hub.endpoint("arn", leaf, &json!([a(leaf, "203.0.113.30")]))?;
    let [live, owned] = [address(leaf, "203.0.113.30")?, txt(label, leaf, ARN)?];
    hub.batch(&[&old_a, &old_txt], &[&live, &owned])?;
    hub.quiet("arn")?;
    hub.expect(leaf, &[&live, &owned])?;
    let moved = address(leaf, "203.0.113.31")?;
    hub.endpoint("arn", leaf, &json!([a(leaf, "203.0.113.31")]))?;
    hub.becomes(leaf, &[&moved, &owned]).context("it is the owner")
}

/// 10: an emptied DNSEndpoint is observed; policy sync then deletes, upsert-only leaves everything.
fn emptied(hub: &mut Hub) -> Result<()> {
    let [_, _] = hub.handed_over("east", SYNC, "empty-east", "203.0.113.40")?;
    let [live, txt] = hub.handed_over("west", UPSERT_ONLY, "empty-west", "203.0.113.41")?;
    hub.quiet("east")?;
    hub.quiet("west")?;
    hub.endpoint("east", "empty-east", &json!([]))?;
    hub.endpoint("west", "empty-west", &json!([]))?;
    hub.becomes("empty-east", &[]).context("policy sync")?;
    hub.quiet("west").context("upsert-only")?;
    hub.expect("empty-west", &[&live, &txt]).context("upsert-only")
}

/// One observation (or several that need each other), with its numbers.
type Observation = (&'static str, fn(&mut Hub) -> Result<()>);

#[test]
fn ten_observations() -> Result<()> {
    let all: [Observation; 6] = [
        ("1 to 5", from_placeholder_to_loss),
        ("6", name_not_in_the_zone),
        ("7", load_balancer_name),
        ("8", release_through_the_owner),
        ("9", arn_prefix_and_label),
        ("10", emptied),
    ];
    let mut hub = Hub::start()?;
    let mut failed = Vec::new();
    for (number, observe) in all {
        match observe(&mut hub) {
            Ok(()) => println!("observation {number}: as expected"),
            Err(error) => failed.push(format!("observation {number}: {error:#}")),
        }
    }
    let result = if failed.is_empty() {
        Ok(())
    } else {
        Err(anyhow::anyhow!(failed.join("\n\n")))
    };
    hub.world.conclude(result)
}
