//! Health checks over HTTP: requests, calls and answers (the API reference of CreateHealthCheck and its siblings).
//!
//! Deliberately absent: the rules, which are in `core::health`.

use crate::core::error::ApiError;
use crate::core::health::{Alarm, CHECKER_REGIONS, HealthCheck, HealthCheckConfig, Kind, Update};
use crate::core::tags;

use super::requests::{NAMESPACE, boolean, integer, only, required, root};
use super::route53::{Context, max_items};
use super::xml::{Element, Writer};
use super::{Reply, answers};

/// Most health checks of a page.
const MAX_PAGE: usize = 1000;
/// Elements of a health check's settings that an update takes as well.
const SHARED: [&str; 15] = [
    "IPAddress",
    "Port",
    "ResourcePath",
    "FullyQualifiedDomainName",
    "SearchString",
    "FailureThreshold",
    "Inverted",
    "Disabled",
    "HealthThreshold",
    "ChildHealthChecks",
    "EnableSNI",
    "Regions",
    "AlarmIdentifier",
    "InsufficientDataHealthStatus",
    "HealthCheckSourceId",
];

/// CreateHealthCheck.
pub(crate) fn create(context: &mut Context<'_>) -> Result<Reply, ApiError> {
    let root = root(context.body, "CreateHealthCheckRequest")?;
    only(&root, &["CallerReference", "HealthCheckConfig"])?;
    let reference = required(&root, "CallerReference")?.text.clone();
    let config = config(required(&root, "HealthCheckConfig")?)?;
    let check = context.service.health.create(context.caller, &reference, config)?;
    Ok(Reply {
        status: 201,
        location: Some(format!(
            "https://route53.amazonaws.com/2013-04-01/healthcheck/{}",
            check.id
        )),
        body: one("CreateHealthCheckResponse", check),
    })
}

/// GetHealthCheck.
pub(crate) fn get(context: &Context<'_>, id: &str) -> Result<Reply, ApiError> {
    let check = context.service.health.get(context.caller, id)?;
    Ok(Reply::ok(one("GetHealthCheckResponse", check)))
}

/// UpdateHealthCheck.
pub(crate) fn update(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    let root = root(context.body, "UpdateHealthCheckRequest")?;
    let known: Vec<&str> = SHARED
        .into_iter()
        .chain(["HealthCheckVersion", "ResetElements"])
        .collect();
    only(&root, &known)?;
    let reset = root.child("ResetElements").map(|e| texts(e, "ResettableElementName"));
    let update = Update {
        version: integer(&root, "HealthCheckVersion")?.map(|v| u64::try_from(v).unwrap_or(0)),
        inverted: boolean(&root, "Inverted")?,
        disabled: boolean(&root, "Disabled")?,
        reset: reset.transpose()?.unwrap_or_default(),
        config: shared(&root)?,
    };
    let check = context.service.health.update(context.caller, id, &update)?;
    Ok(Reply::ok(one("UpdateHealthCheckResponse", check)))
}

/// DeleteHealthCheck.
pub(crate) fn delete(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.service.health.delete(context.caller, id)?;
    context.service.tags.forget(tags::Kind::HealthCheck, id);
    Ok(Reply::ok(Writer::document(
        "DeleteHealthCheckResponse",
        NAMESPACE,
        |_| {},
    )))
}

/// GetHealthCheckCount.
pub(crate) fn count(context: &Context<'_>) -> Reply {
    let count = context.service.health.of(context.caller).count();
    Reply::ok(Writer::document("GetHealthCheckCountResponse", NAMESPACE, |w| {
        w.leaf("HealthCheckCount", &count.to_string());
    }))
}

/// ListHealthChecks.
pub(crate) fn list(context: &Context<'_>) -> Result<Reply, ApiError> {
    let max = max_items(context.query, MAX_PAGE)?;
    let marker = context.query.get("marker").map(String::as_str);
    let mut checks = context
        .service
        .health
        .of(context.caller)
        .skip_while(|check| marker.is_some_and(|m| check.id.as_str() < m));
    let page: Vec<&HealthCheck> = checks.by_ref().take(max).collect();
    let next = checks.next().map(|check| check.id.as_str());
    Ok(Reply::ok(Writer::document(
        "ListHealthChecksResponse",
        NAMESPACE,
        |w| {
            w.nest("HealthChecks", |w| {
                for check in page {
                    element(w, check);
                }
            });
            w.leaf("Marker", marker.unwrap_or_default());
            w.leaf("IsTruncated", answers::truth(next.is_some()));
            w.maybe("NextMarker", next);
            w.leaf("MaxItems", &max.to_string());
        },
    )))
}

/// GetHealthCheckStatus, or GetHealthCheckLastFailureReason: every checker region says the same.
pub(crate) fn status(context: &Context<'_>, id: &str, last_failure: bool) -> Result<Reply, ApiError> {
    let check = context.service.health.get(context.caller, id)?;
    if check.config.kind == Kind::Calculated {
        return Err(ApiError::invalid_input(
            "Invalid parameter : The status of a calculated health check can't be got.",
        ));
    }
    let seen = check.seen.unwrap_or(true);
    let status = match (seen, last_failure) {
        (true, true) => None,
        (true, false) => Some("Success: HTTP Status Code 200, OK"),
        (false, _) => Some("Failure: The endpoint did not answer as it should."),
    };
    let regions: Vec<&str> = match check.config.regions.is_empty() {
        true => CHECKER_REGIONS.to_vec(),
        false => check.config.regions.iter().map(String::as_str).collect(),
    };
    let document = match last_failure {
        true => "GetHealthCheckLastFailureReasonResponse",
        false => "GetHealthCheckStatusResponse",
    };
    Ok(Reply::ok(Writer::document(document, NAMESPACE, |w| {
        w.nest("HealthCheckObservations", |w| {
            for (nth, region) in regions.iter().enumerate() {
                let Some(status) = status else { continue };
                w.nest("HealthCheckObservation", |w| {
                    w.leaf("Region", region);
                    // Made up: an address of RFC 5737 for each checker.
                    w.leaf("IPAddress", &format!("198.51.100.{}", nth + 1));
                    w.nest("StatusReport", |w| {
                        w.leaf("Status", status);
                        w.leaf("CheckedTime", &answers::iso(context.now_ms));
                    });
                });
            }
        });
    })))
}

fn config(element: &Element) -> Result<HealthCheckConfig, ApiError> {
    let own = [
        "Type",
        "RequestInterval",
        "MeasureLatency",
        "RoutingControlArn",
        "EndpointType",
    ];
    let known: Vec<&str> = SHARED.into_iter().chain(own).collect();
    only(element, &known)?;
    if element.text_of("EndpointType").is_some_and(|kind| kind != "PUBLIC")
        || element.child("HealthCheckSourceId").is_some()
    {
        return Err(ApiError::invalid_input(
            "truce-aws-emulator does not implement private health checks yet",
        ));
    }
    Ok(HealthCheckConfig {
        kind: Kind::from_api(&required(element, "Type")?.text)?,
        request_interval: integer(element, "RequestInterval")?,
        measure_latency: boolean(element, "MeasureLatency")?,
        inverted: boolean(element, "Inverted")?.unwrap_or(false),
        disabled: boolean(element, "Disabled")?.unwrap_or(false),
        routing_control_arn: element.text_of("RoutingControlArn").map(str::to_owned),
        ..shared(element)?
    })
}

/// The settings that creating and updating have in common.
fn shared(element: &Element) -> Result<HealthCheckConfig, ApiError> {
    let text = |name: &str| element.text_of(name).map(str::to_owned);
    let list = |name: &str, item: &str| element.child(name).map(|e| texts(e, item)).transpose();
    let alarm = element.child("AlarmIdentifier").map(|alarm| {
        only(alarm, &["Region", "Name"])?;
        Ok(Alarm {
            region: required(alarm, "Region")?.text.clone(),
            name: required(alarm, "Name")?.text.clone(),
        })
    });
    Ok(HealthCheckConfig {
        ip_address: text("IPAddress"),
        port: integer(element, "Port")?,
        resource_path: text("ResourcePath"),
        domain_name: text("FullyQualifiedDomainName"),
        search_string: text("SearchString"),
        failure_threshold: integer(element, "FailureThreshold")?,
        health_threshold: integer(element, "HealthThreshold")?.map(|n| u16::try_from(n).unwrap_or(u16::MAX)),
        children: list("ChildHealthChecks", "ChildHealthCheck")?.unwrap_or_default(),
        enable_sni: boolean(element, "EnableSNI")?,
        regions: list("Regions", "Region")?.unwrap_or_default(),
        alarm: alarm.transpose()?,
        insufficient_data: text("InsufficientDataHealthStatus"),
        ..HealthCheckConfig::default()
    })
}

/// Texts of all children, which must have this name.
fn texts(element: &Element, item: &str) -> Result<Vec<String>, ApiError> {
    only(element, &[item])?;
    Ok(element.children.iter().map(|c| c.text.clone()).collect())
}

fn one(document: &str, check: &HealthCheck) -> String {
    Writer::document(document, NAMESPACE, |w| element(w, check))
}

fn element(w: &mut Writer, check: &HealthCheck) {
    w.nest("HealthCheck", |w| {
        w.leaf("Id", &check.id);
        w.leaf("CallerReference", &check.caller_reference);
        w.nest("HealthCheckConfig", |w| config_element(w, &check.config));
        w.leaf("HealthCheckVersion", &check.version.to_string());
    });
}

fn config_element(w: &mut Writer, config: &HealthCheckConfig) {
    let number =
        |w: &mut Writer, name: &str, value: Option<i64>| w.maybe(name, value.map(|n| n.to_string()).as_deref());
    w.maybe("IPAddress", config.ip_address.as_deref());
    number(w, "Port", config.port);
    w.leaf("Type", config.kind.as_str());
    w.maybe("ResourcePath", config.resource_path.as_deref());
    w.maybe("FullyQualifiedDomainName", config.domain_name.as_deref());
    w.maybe("SearchString", config.search_string.as_deref());
    number(w, "RequestInterval", config.request_interval);
    number(w, "FailureThreshold", config.failure_threshold);
    w.maybe("MeasureLatency", config.measure_latency.map(answers::truth));
    w.leaf("Inverted", answers::truth(config.inverted));
    w.leaf("Disabled", answers::truth(config.disabled));
    number(w, "HealthThreshold", config.health_threshold.map(i64::from));
    list_element(w, "ChildHealthChecks", "ChildHealthCheck", &config.children);
    w.maybe("EnableSNI", config.enable_sni.map(answers::truth));
    list_element(w, "Regions", "Region", &config.regions);
    if let Some(alarm) = &config.alarm {
        w.nest("AlarmIdentifier", |w| {
            w.leaf("Region", &alarm.region);
            w.leaf("Name", &alarm.name);
        });
    }
    w.maybe("InsufficientDataHealthStatus", config.insufficient_data.as_deref());
    w.maybe("RoutingControlArn", config.routing_control_arn.as_deref());
}

fn list_element(w: &mut Writer, name: &str, item: &str, texts: &[String]) {
    if !texts.is_empty() {
        w.nest(name, |w| {
            for text in texts {
                w.leaf(item, text);
            }
        });
    }
}
