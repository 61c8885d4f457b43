//! A zone's contents as one line per record set: easy to print, to compare and to assert.
//!
//! Invariant: two record sets that differ in anything Route 53 keeps give different lines.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use aws_sdk_route53::types::{AliasTarget, ResourceRecord, ResourceRecordSet, RrType};

/// A record set as `NAME TYPE [set=ID] [weight=N|region=R|failover=F] (ttl=N VALUES | ALIAS TARGET zone=Z eth=B)`.
#[must_use]
pub fn line(set: &ResourceRecordSet) -> String {
    let mut line = format!("{} {}", set.name.trim_end_matches('.'), set.r#type.as_str());
    let mut add = |text: String| {
        // Writing to a String cannot fail.
        let _ = write!(line, " {text}");
    };
    if let Some(id) = &set.set_identifier {
        add(format!("set={id}"));
    }
    if let Some(weight) = set.weight {
        add(format!("weight={weight}"));
    }
    if let Some(region) = &set.region {
        add(format!("region={}", region.as_str()));
    }
    if let Some(failover) = &set.failover {
        add(format!("failover={}", failover.as_str()));
    }
    if let Some(check) = &set.health_check_id {
        add(format!("check={check}"));
    }
    if let Some(alias) = &set.alias_target {
        let target = alias.dns_name.trim_end_matches('.');
        add(format!(
            "ALIAS {target} zone={} eth={}",
            alias.hosted_zone_id, alias.evaluate_target_health
        ));
    }
    if let Some(ttl) = set.ttl {
        add(format!("ttl={ttl}"));
    }
    let mut values: Vec<&str> = set
        .resource_records()
        .iter()
        .map(|record| record.value.as_str())
        .collect();
    values.sort_unstable();
    if !values.is_empty() {
        add(values.join(" "));
    }
    line
}

/// All record sets as lines, in order.
#[must_use]
pub fn lines(sets: &[ResourceRecordSet]) -> BTreeSet<String> {
    sets.iter().map(line).collect()
}

/// A simple record set with values.
///
/// # Errors
/// If a value is missing.
pub fn simple(name: &str, kind: RrType, ttl: i64, values: &[&str]) -> Result<ResourceRecordSet> {
    let mut set = ResourceRecordSet::builder().name(name).r#type(kind).ttl(ttl);
    for value in values {
        set = set.resource_records(
            ResourceRecord::builder()
                .value(*value)
                .build()
                .context("a record has a value")?,
        );
    }
    set.build().context("a record set has a name and a type")
}

/// A simple alias set.
///
/// # Errors
/// If a part of it is missing.
pub fn alias(name: &str, kind: RrType, target: &str, target_zone: &str) -> Result<ResourceRecordSet> {
    let alias = AliasTarget::builder()
        .dns_name(target)
        .hosted_zone_id(target_zone)
        .evaluate_target_health(true)
        .build();
    ResourceRecordSet::builder()
        .name(name)
        .r#type(kind)
        .alias_target(alias.context("an alias has a target")?)
        .build()
        .context("a record set has a name and a type")
}

/// ExternalDNS's ownership text as version 0.22 writes it, quotes included.
#[must_use]
pub fn ownership(owner: &str, namespace: &str, endpoint: &str) -> String {
    format!("\"heritage=external-dns,external-dns/owner={owner},external-dns/resource=crd/{namespace}/{endpoint}\"")
}
