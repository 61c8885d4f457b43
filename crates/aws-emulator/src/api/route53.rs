//! The Route 53 operations: request in, core call, answer out; each notes what the journal should say.

use std::collections::BTreeMap;

use crate::core::accounts::Caller;
use crate::core::error::{ApiError, Code};
use crate::core::list::{MAX_PAGE, Start};
use crate::core::names::Name;
use crate::core::record::RecordType;
use crate::core::service::Service;
use crate::core::zone::Zone;
use crate::emulator::Emulator;
use crate::journal::Draft;

use super::route::Route53;
use super::{Reply, answers, cidr, health, requests, testdns, zones};

/// Most zones of a page.
const MAX_ZONES: usize = 100;
/// Most resources of one tags request.
const MAX_TAGGED: usize = 10;

/// What every operation works with.
pub(crate) struct Context<'a> {
    pub(crate) emulator: &'a Emulator,
    pub(crate) draws: &'a mut u64,
    pub(crate) service: &'a mut Service,
    pub(crate) caller: &'a Caller,
    pub(crate) query: &'a BTreeMap<String, String>,
    pub(crate) body: &'a [u8],
    pub(crate) now_ms: u64,
    pub(crate) note: &'a mut Draft,
}

/// Runs one operation, if the caller's account is not too fast.
pub(crate) fn run(context: &mut Context<'_>, operation: &Route53) -> Result<Reply, ApiError> {
    let action = action(operation);
    context.note.action = action.to_owned();
    context
        .service
        .pace
        .request(&context.caller.account, action, context.now_ms)?;
    match operation {
        Route53::ChangeCidrCollection(id) => cidr::change(context, id),
        Route53::ChangeResourceRecordSets(id) => change(context, id),
        Route53::ChangeTagsForResource(kind, id) => zones::change_tags(context, kind, id),
        Route53::CreateCidrCollection => cidr::create(context),
        Route53::CreateHealthCheck => health::create(context),
        Route53::CreateHostedZone => create_zone(context),
        Route53::CreateResourceRecordSetProtections(id) => zones::change_protections(context, id, true),
        Route53::DeleteCidrCollection(id) => cidr::delete(context, id),
        Route53::DeleteHealthCheck(id) => health::delete(context, id),
        Route53::DeleteHostedZone(id) => zones::delete(context, id),
        Route53::DeleteResourceRecordSetProtections(id) => zones::change_protections(context, id, false),
        Route53::GetAccountLimit(kind) => zones::account_limit(context, kind),
        Route53::GetChange(id) => get_change(context, id),
        Route53::GetHealthCheck(id) => health::get(context, id),
        Route53::GetHealthCheckCount => Ok(health::count(context)),
        Route53::GetHealthCheckLastFailureReason(id) => health::status(context, id, true),
        Route53::GetHealthCheckStatus(id) => health::status(context, id, false),
        Route53::GetHostedZone(id) => get_zone(context, id),
        Route53::GetHostedZoneCount => Ok(zones::count(context)),
        Route53::GetHostedZoneLimit(id, kind) => zones::zone_limit(context, id, kind),
        Route53::ListCidrBlocks(id) => cidr::blocks(context, id),
        Route53::ListCidrCollections => Ok(cidr::list(context)),
        Route53::ListCidrLocations(id) => cidr::locations(context, id),
        Route53::ListHealthChecks => health::list(context),
        Route53::ListHostedZones => list_zones(context),
        Route53::ListHostedZonesByName => list_zones_by_name(context),
        Route53::ListResourceRecordSetProtections(id) => zones::list_protections(context, id),
        Route53::ListResourceRecordSets(id) => list(context, id),
        Route53::ListTagsForResource(kind, id) => zones::tags(context, kind, std::slice::from_ref(id), true),
        Route53::ListTagsForResources(kind) => tags_of_many(context, kind),
        Route53::TestDNSAnswer => testdns::run(context),
        Route53::UpdateHealthCheck(id) => health::update(context, id),
        Route53::UpdateHostedZoneComment(id) => zones::comment(context, id),
    }
}

/// The operation's name in the API.
pub(super) fn action(operation: &Route53) -> &'static str {
    match operation {
        Route53::ChangeCidrCollection(_) => "ChangeCidrCollection",
        Route53::ChangeResourceRecordSets(_) => "ChangeResourceRecordSets",
        Route53::ChangeTagsForResource(..) => "ChangeTagsForResource",
        Route53::CreateCidrCollection => "CreateCidrCollection",
        Route53::CreateHealthCheck => "CreateHealthCheck",
        Route53::CreateHostedZone => "CreateHostedZone",
        Route53::CreateResourceRecordSetProtections(_) => "CreateResourceRecordSetProtections",
        Route53::DeleteCidrCollection(_) => "DeleteCidrCollection",
        Route53::DeleteHealthCheck(_) => "DeleteHealthCheck",
        Route53::DeleteHostedZone(_) => "DeleteHostedZone",
        Route53::DeleteResourceRecordSetProtections(_) => "DeleteResourceRecordSetProtections",
        Route53::GetAccountLimit(_) => "GetAccountLimit",
        Route53::GetChange(_) => "GetChange",
        Route53::GetHealthCheck(_) => "GetHealthCheck",
        Route53::GetHealthCheckCount => "GetHealthCheckCount",
        Route53::GetHealthCheckLastFailureReason(_) => "GetHealthCheckLastFailureReason",
        Route53::GetHealthCheckStatus(_) => "GetHealthCheckStatus",
        Route53::GetHostedZone(_) => "GetHostedZone",
        Route53::GetHostedZoneCount => "GetHostedZoneCount",
        Route53::GetHostedZoneLimit(..) => "GetHostedZoneLimit",
        Route53::ListCidrBlocks(_) => "ListCidrBlocks",
        Route53::ListCidrCollections => "ListCidrCollections",
        Route53::ListCidrLocations(_) => "ListCidrLocations",
        Route53::ListHealthChecks => "ListHealthChecks",
        Route53::ListHostedZones => "ListHostedZones",
        Route53::ListHostedZonesByName => "ListHostedZonesByName",
        Route53::ListResourceRecordSetProtections(_) => "ListResourceRecordSetProtections",
        Route53::ListResourceRecordSets(_) => "ListResourceRecordSets",
        Route53::ListTagsForResource(..) => "ListTagsForResource",
        Route53::ListTagsForResources(_) => "ListTagsForResources",
        Route53::TestDNSAnswer => "TestDNSAnswer",
        Route53::UpdateHealthCheck(_) => "UpdateHealthCheck",
        Route53::UpdateHostedZoneComment(_) => "UpdateHostedZoneComment",
    }
}

fn get_change(context: &Context<'_>, id: &str) -> Result<Reply, ApiError> {
    let change = context.service.change_info(context.caller, id)?;
    Ok(Reply::ok(answers::change_info(
        "GetChangeResponse",
        change,
        context.now_ms,
    )))
}

fn get_zone(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    let zone = context.service.zone_of(context.caller, id)?;
    Ok(Reply::ok(answers::get_hosted_zone(zone)))
}

fn tags_of_many(context: &Context<'_>, kind: &str) -> Result<Reply, ApiError> {
    let ids = requests::tags_for_resources(context.body)?;
    if ids.is_empty() || ids.len() > MAX_TAGGED {
        return Err(ApiError::invalid_input(format!(
            "ResourceIds must have 1 to {MAX_TAGGED} members."
        )));
    }
    zones::tags(context, kind, &ids, false)
}

fn change(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    context.service.zone_of(context.caller, id)?;
    let (comment, changes) = requests::change_batch(context.body)?;
    context.note.changes.clone_from(&changes);
    let (change, version) = context
        .service
        .change(context.caller, id, comment.as_deref(), &changes, context.now_ms)?;
    context.note.change_id = Some(change.id.clone());
    context.note.version = Some(version.number);
    Ok(Reply::ok(answers::change_info(
        "ChangeResourceRecordSetsResponse",
        &change,
        context.now_ms,
    )))
}

fn create_zone(context: &mut Context<'_>) -> Result<Reply, ApiError> {
    let new = requests::create_hosted_zone(context.body)?;
    let now_ms = context.now_ms;
    let (zone, change) = context.service.create_zone(context.caller, new, now_ms)?;
    context.note.zone = Some(zone.id.clone());
    context.note.change_id = Some(change.id.clone());
    Ok(Reply {
        status: 201,
        body: answers::create_hosted_zone(zone, &change, now_ms),
        location: Some(format!(
            "https://route53.amazonaws.com/2013-04-01/hostedzone/{}",
            zone.id
        )),
    })
}

fn list(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    let parameter = |name: &str| context.query.get(name).cloned();
    let start = Start {
        name: parameter("name"),
        rtype: parameter("type"),
        identifier: parameter("identifier"),
    };
    if let Some(rtype) = &start.rtype
        && RecordType::from_api(rtype).is_none()
    {
        return Err(ApiError::invalid_input(format!(
            "Value '{rtype}' at 'type' failed to satisfy constraint: Member must satisfy enum value set: [{}]",
            RecordType::ALL.map(RecordType::as_str).join(", ")
        )));
    }
    let max = max_items(context.query, MAX_PAGE)?;
    let page = context.service.list(context.caller, id, &start, max)?;
    Ok(Reply::ok(answers::list_record_sets(&page, max)))
}

/// The page size that the query asks for, at most `limit`.
pub(super) fn max_items(query: &BTreeMap<String, String>, limit: usize) -> Result<usize, ApiError> {
    let Some(text) = query.get("maxitems").or(query.get("maxresults")) else {
        return Ok(limit);
    };
    match text.parse::<usize>() {
        Ok(max) if max > 0 => Ok(max.min(limit)),
        Ok(_) | Err(_) => Err(ApiError::invalid_input(format!(
            "Value '{text}' at 'maxItems' failed to satisfy constraint: Member must be a number of 1 or more"
        ))),
    }
}

fn list_zones(context: &mut Context<'_>) -> Result<Reply, ApiError> {
    let max = max_items(context.query, MAX_ZONES)?;
    let marker = context.query.get("marker").map(String::as_str);
    let delegation_set = context
        .query
        .get("delegationsetid")
        .map(|set| set.trim_start_matches("/delegationset/"));
    let private_only = context.query.get("hostedzonetype").map(String::as_str) == Some("PrivateHostedZone");
    let mut zones = Vec::new();
    let mut next = None;
    let own = context
        .service
        .zones()
        .filter(|z| z.account == context.caller.account)
        .filter(|z| z.private || !private_only)
        .filter(|z| delegation_set.is_none_or(|set| z.delegation_set.as_deref() == Some(set)))
        .filter(|z| marker.is_none_or(|m| z.id.as_str() >= m));
    for zone in own {
        if zones.len() == max {
            next = Some(zone.id.as_str());
            break;
        }
        zones.push(zone);
    }
    Ok(Reply::ok(answers::list_hosted_zones(&zones, marker, next, max)))
}

/// Starts at the name in reversed order and goes on past it (route53.md 4).
fn list_zones_by_name(context: &mut Context<'_>) -> Result<Reply, ApiError> {
    let max = max_items(context.query, MAX_ZONES)?;
    let name = context.query.get("dnsname").map(String::as_str);
    let id = context.query.get("hostedzoneid").map(String::as_str);
    if id.is_some() && name.is_none() {
        return Err(ApiError::invalid_input(
            "The parameter hostedzoneid requires the parameter dnsname.",
        ));
    }
    let start = match name {
        Some(name) => Name::parse(name)
            .map_err(|e| ApiError::new(Code::InvalidDomainName, e.to_string()))?
            .order(),
        None => String::new(),
    };
    let start = (start, id.unwrap_or_default().trim_start_matches("/hostedzone/"));
    let place = |zone: &Zone| (zone.name.order(), zone.id.clone());
    let mut own: Vec<&Zone> = context
        .service
        .zones()
        .filter(|z| z.account == context.caller.account)
        .filter(|z| {
            let (order, zone_id) = place(z);
            (order.as_str(), zone_id.as_str()) >= (start.0.as_str(), start.1)
        })
        .collect();
    own.sort_by_cached_key(|z| place(z));
    let next = own.get(max).copied();
    own.truncate(max);
    Ok(Reply::ok(answers::list_hosted_zones_by_name(
        &own,
        (name, id),
        next,
        max,
    )))
}
