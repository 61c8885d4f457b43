//! Before an operation runs: who signed the request, and may they do this.
//!
//! Invariant: with accounts configured, no operation is reached without a verified signature and an allowing policy,
//! but for the two that AWS exempts: AssumeRoleWithWebIdentity (unsigned) and GetCallerIdentity (needs no policy).

use axum::http::request::Parts;

use crate::core::error::{ApiError, Code};
use crate::core::names::Name;
use crate::core::service::Service as Core;
use crate::identity::Identity;
use crate::identity::condition::Context;
use crate::identity::directory::global_context;
use crate::identity::evaluate::Access;
use crate::identity::principal::{Kind, Principal};
use crate::identity::service::Service;
use crate::identity::signature::{self, SignedRequest};
use crate::journal::Draft;

use super::route::{Call, Operation, Protocol};
use super::{requests, route53};

/// What a signature covers of a request.
pub(crate) fn signed<'a>(parts: &'a Parts, body: &'a [u8]) -> SignedRequest<'a> {
    let headers = parts.headers.iter();
    SignedRequest {
        method: parts.method.as_str(),
        target: parts.uri.path_and_query().map_or("/", |target| target.as_str()),
        headers: headers
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect(),
        body,
    }
}

/// The service that a call is meant for.
fn service(call: &Call) -> Service {
    match call.operation {
        Operation::Eks(_) => Service::Eks,
        Operation::LoadBalancing(_) => Service::ElasticLoadBalancing,
        Operation::Route53(_) => Service::Route53,
        Operation::Sts(_) => Service::Sts,
        Operation::Unknown if call.protocol == Protocol::RestJson => Service::Eks,
        Operation::Unknown => Service::Route53,
    }
}

/// The principal behind a call and the region it is signed for.
pub(crate) fn authenticate(
    identity: &Identity,
    core: &Core,
    call: &Call,
    request: &SignedRequest<'_>,
    now_ms: u64,
    note: &mut Draft,
) -> Result<Principal, ApiError> {
    let missing = || {
        ApiError::new(
            Code::MissingAuthenticationToken,
            "Request is missing Authentication Token",
        )
    };
    if !identity.is_strict() {
        let Some(access_key) = &call.access_key else {
            return Err(missing());
        };
        note.access_key.clone_from(access_key);
        return Ok(Principal::unverified(core.accounts.caller(access_key)));
    }
    let presented = signature::present(request)?.ok_or_else(missing)?;
    note.access_key.clone_from(&presented.access_key);
    identity.authenticate(&presented, request, service(call), now_ms)
}

/// Whether the principal's policies allow a call.
pub(crate) fn authorize(identity: &Identity, principal: &Principal, call: &Call, body: &[u8]) -> Result<(), ApiError> {
    if principal.kind == Kind::Unverified {
        return Ok(());
    }
    let mut context = global_context(principal, call.region());
    let (action, resources) = match &call.operation {
        Operation::Route53(operation) => {
            let name = route53::action(operation);
            if name == "ChangeResourceRecordSets" {
                add_changes(&mut context, body);
            }
            (format!("route53:{name}"), route53_resources(&call.path, body))
        }
        Operation::Eks(operation) => {
            let resource = operation.resource(&principal.account, call.region());
            (format!("eks:{}", operation.name()), vec![resource])
        }
        Operation::LoadBalancing(action) => (format!("elasticloadbalancing:{action}"), vec!["*".to_owned()]),
        // STS decides by itself: GetCallerIdentity is always allowed, roles have trust policies.
        Operation::Sts(_) | Operation::Unknown => return Ok(()),
    };
    for resource in &resources {
        let access = Access {
            action: &action,
            resource,
            context: &context,
        };
        identity.authorize(principal, &access)?;
    }
    Ok(())
}

/// ARNs by the path, as the Service Authorization Reference has them; `*` where an operation has no resource.
fn route53_resources(path: &str, body: &[u8]) -> Vec<String> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').skip(1).collect();
    match segments.as_slice() {
        ["tags", kind] => {
            let ids = requests::tags_for_resources(body).unwrap_or_default();
            ids.iter().map(|id| format!("arn:aws:route53:::{kind}/{id}")).collect()
        }
        ["hostedzonelimit", id, ..] => vec![format!("arn:aws:route53:::hostedzone/{id}")],
        [
            kind @ ("hostedzone" | "change" | "healthcheck" | "cidrcollection"),
            id,
            ..,
        ]
        | ["tags", kind, id] => {
            vec![format!("arn:aws:route53:::{kind}/{id}")]
        }
        _ => vec!["*".to_owned()],
    }
}

/// The condition keys of ChangeResourceRecordSets: each has one value per change of the batch. Names are "normalized":
/// lower case, without the final dot, everything but a-z 0-9 - _ . as `\ooo` (Route 53 Developer Guide, "Using IAM
/// policy conditions for fine-grained access control"). A body that cannot be read has none; its error comes later.
fn add_changes(context: &mut Context, body: &[u8]) {
    let Ok((_, changes)) = requests::change_batch(body) else {
        return;
    };
    let mut add =
        |key: &str, values: Vec<String>| context.insert(format!("route53:changeresourcerecordsets{key}"), values);
    let sets = changes.iter().map(|c| &c.record_set);
    add(
        "normalizedrecordnames",
        sets.clone().map(|s| normalized(&s.name)).collect(),
    );
    add("recordtypes", sets.map(|s| s.rtype.clone()).collect());
    add("actions", changes.iter().map(|c| c.action.clone()).collect());
}

fn normalized(name: &str) -> String {
    match Name::parse(name) {
        Ok(name) => name.as_str().trim_end_matches('.').to_owned(),
        Err(_) => name.to_lowercase(),
    }
}
