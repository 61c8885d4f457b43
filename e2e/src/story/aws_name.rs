//! Step 11: a load balancer that AWS gives a name becomes an ALIAS, under both names.

use anyhow::{Result, ensure};

use super::stage::{EAST, Near, Stage};
use crate::world::Ingress;

/// A network load balancer's name.
const ELB: &str = "k8s-shop-api-0123456789.elb.us-east-1.amazonaws.com";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.world.load_balancer(EAST, "shop", "api", Ingress::Name(ELB))?;
    stage.kubectl(EAST, &["get", "service", "-n", "shop", "api"])?;
    stage.apply("hostname-api.yaml")?;
    stage.wait("condition=Ready", &["ghn/api", "-n", "shop"])?;
    stage.wait("condition=ClusterHostnamesReady", &["ghn/api", "-n", "shop"])?;
    // Route 53's zone of network load balancers in us-east-1.
    let alias = format!("ALIAS {ELB} zone=Z26RNL4JYFTOTI eth=true");
    stage.zone_has(&[
        &format!("api.example.com A set=demo/east region=us-east-1 {alias}"),
        &format!("api-east.example.com A {alias}"),
    ])?;
    let address = stage.eventually("the load balancer's own name to answer", || {
        let address = stage.client(Near::East).a(ELB)?;
        ensure!(!address.is_empty(), "no answer");
        Ok(address)
    })?;
    let address: Vec<&str> = address.iter().map(String::as_str).collect();
    stage.answers(Near::East, "api.example.com", &address)?;
    stage.answers(Near::East, "api-east.example.com", &address)?;
    stage.owner("api-east", "prod-east")?;
    stage.table(&["get", "ghn", "-A"], &["api.example.com", "1/1", "Serving"])
}
