//! Elastic Load Balancing version 2 over the query protocol: DescribeLoadBalancers.

use std::collections::BTreeMap;

use crate::balancers::{Balancer, Balancers};
use crate::core::elb::Kind;
use crate::core::error::{ApiError, Code};
use crate::identity::principal::Principal;

use super::Reply;
use super::answers::iso_seconds;
use super::xml::Writer;

/// Namespace of its documents.
pub(crate) const NAMESPACE: &str = "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/";
/// Version that requests name.
pub(crate) const VERSION: &str = "2015-12-01";
/// Milliseconds since the epoch at which every load balancer was created.
const CREATED_AT_MS: u64 = 1_735_689_600_000;
/// Most load balancers of a page.
const MAX_PAGE: usize = 400;

/// Runs one action.
pub(crate) fn run(
    balancers: &Balancers,
    action: &str,
    fields: &BTreeMap<String, String>,
    principal: &Principal,
    region: &str,
    request_id: &str,
) -> Result<Reply, ApiError> {
    if action != "DescribeLoadBalancers" {
        return Err(ApiError::new(
            Code::InvalidAction,
            format!("Could not find operation {action} for version {VERSION}"),
        ));
    }
    let own: Vec<&Balancer> = balancers.of(&principal.account, region).collect();
    let chosen = choose(own, fields)?;
    let size = page_size(fields)?;
    let start = match fields.get("Marker") {
        Some(marker) => chosen
            .iter()
            .position(|b| b.arn == *marker)
            .ok_or_else(|| validation(format!("'{marker}' is not a valid marker")))?,
        None => 0,
    };
    let page: Vec<&Balancer> = chosen.iter().skip(start).take(size).copied().collect();
    let next = chosen.get(start + page.len()).map(|b| b.arn.as_str());
    Ok(Reply::ok(Writer::document(
        "DescribeLoadBalancersResponse",
        NAMESPACE,
        |w| {
            w.nest("DescribeLoadBalancersResult", |w| {
                w.nest("LoadBalancers", |w| {
                    for balancer in &page {
                        w.nest("member", |w| member(w, balancer));
                    }
                });
                w.maybe("NextMarker", next);
            });
            w.nest("ResponseMetadata", |w| w.leaf("RequestId", request_id));
        },
    )))
}

fn validation(message: String) -> ApiError {
    ApiError::new(Code::ValidationError, message)
}

fn list(fields: &BTreeMap<String, String>, name: &str) -> Vec<String> {
    let prefix = format!("{name}.member.");
    let members = fields.iter().filter(|(key, _)| key.starts_with(&prefix));
    members.map(|(_, value)| value.clone()).collect()
}

/// Those that the request names, or all (texts: hashicorp/terraform-provider-aws#10669, aws/aws-cli#3673).
fn choose<'b>(own: Vec<&'b Balancer>, fields: &BTreeMap<String, String>) -> Result<Vec<&'b Balancer>, ApiError> {
    let (arns, names) = (list(fields, "LoadBalancerArns"), list(fields, "Names"));
    if !arns.is_empty() && !names.is_empty() {
        let message = "Load balancer names and load balancer ARNs cannot be specified at the same time";
        return Err(validation(message.to_owned()));
    }
    if let Some(bad) = arns.iter().find(|arn| !is_arn(arn)) {
        return Err(validation(format!("'{bad}' is not a valid load balancer ARN")));
    }
    let missing: Vec<&str> = names
        .iter()
        .filter(|name| !own.iter().any(|b| b.name == **name))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        return Err(ApiError::new(
            Code::LoadBalancerNotFound,
            format!("Load balancers '[{}]' not found", missing.join(", ")),
        ));
    }
    if arns.iter().any(|arn| !own.iter().any(|b| b.arn == *arn)) {
        return Err(ApiError::new(
            Code::LoadBalancerNotFound,
            "One or more load balancers not found",
        ));
    }
    let all = arns.is_empty() && names.is_empty();
    let wanted = |b: &&Balancer| all || arns.contains(&b.arn) || names.contains(&b.name);
    Ok(own.into_iter().filter(wanted).collect())
}

fn is_arn(text: &str) -> bool {
    text.starts_with("arn:aws:elasticloadbalancing:") && text.contains(":loadbalancer/")
}

fn page_size(fields: &BTreeMap<String, String>) -> Result<usize, ApiError> {
    let Some(text) = fields.get("PageSize") else {
        return Ok(MAX_PAGE);
    };
    match text.parse() {
        Ok(size) if (1..=MAX_PAGE).contains(&size) => Ok(size),
        Ok(_) | Err(_) => Err(validation(format!(
            "1 validation error detected: Value '{text}' at 'pageSize' failed to satisfy constraint: Member must have value between 1 and {MAX_PAGE}"
        ))),
    }
}

fn member(w: &mut Writer, balancer: &Balancer) {
    w.leaf("LoadBalancerArn", &balancer.arn);
    w.leaf("DNSName", &balancer.dns_name);
    w.leaf("CanonicalHostedZoneId", &balancer.zone_id);
    w.leaf("CreatedTime", &iso_seconds(CREATED_AT_MS));
    w.leaf("LoadBalancerName", &balancer.name);
    w.leaf(
        "Scheme",
        if balancer.internal {
            "internal"
        } else {
            "internet-facing"
        },
    );
    w.leaf("VpcId", "vpc-0123456789abcdef0");
    w.nest("State", |w| w.leaf("Code", "active"));
    w.leaf(
        "Type",
        match balancer.kind {
            Kind::Application => "application",
            Kind::Network => "network",
        },
    );
    w.nest("AvailabilityZones", |w| {
        for (letter, subnet) in [("a", "subnet-0123456789abcdef0"), ("b", "subnet-0123456789abcdef1")] {
            w.nest("member", |w| {
                w.leaf("ZoneName", &format!("{}{letter}", balancer.region));
                w.leaf("SubnetId", subnet);
            });
        }
    });
    w.leaf("IpAddressType", if balancer.dualstack { "dualstack" } else { "ipv4" });
}
