//! STS over the query protocol: GetCallerIdentity, AssumeRole, AssumeRoleWithWebIdentity.

use std::collections::BTreeMap;

use crate::core::error::{ApiError, Code};
use crate::identity::Identity;
use crate::identity::assume::Assumed;
use crate::identity::principal::Principal;

use super::Reply;
use super::answers::iso_seconds;
use super::xml::Writer;

/// Namespace of STS's documents.
pub(crate) const NAMESPACE: &str = "https://sts.amazonaws.com/doc/2011-06-15/";

/// What an action works with.
pub(crate) struct Context<'a> {
    pub(crate) identity: &'a mut Identity,
    pub(crate) fields: &'a BTreeMap<String, String>,
    pub(crate) region: &'a str,
    pub(crate) now_ms: u64,
    pub(crate) request_id: String,
}

/// The one action that nobody signs.
pub(crate) const UNSIGNED: &str = "AssumeRoleWithWebIdentity";

/// Runs the unsigned action.
pub(crate) fn run_unsigned(context: Context<'_>) -> Result<Reply, ApiError> {
    let (fields, region) = (context.fields, context.region);
    let web = context
        .identity
        .assume_role_with_web_identity(fields, region, context.now_ms)?;
    Ok(Reply::ok(response(UNSIGNED, &context.request_id, |w| {
        credentials(w, &web.assumed);
        w.leaf("SubjectFromWebIdentityToken", &web.subject);
        w.leaf("Audience", &web.audience);
        w.leaf("Provider", &web.provider);
    })))
}

/// Runs one action of a principal.
pub(crate) fn run(context: Context<'_>, action: &str, principal: &Principal) -> Result<Reply, ApiError> {
    match action {
        "GetCallerIdentity" => Ok(Reply::ok(caller_identity(principal, &context.request_id))),
        "AssumeRole" => {
            let (fields, region) = (context.fields, context.region);
            let assumed = context
                .identity
                .assume_role(principal, fields, region, context.now_ms)?;
            Ok(Reply::ok(response("AssumeRole", &context.request_id, |w| {
                credentials(w, &assumed);
            })))
        }
        other => Err(ApiError::new(
            Code::InvalidAction,
            format!("Could not find operation {other} for version 2011-06-15"),
        )),
    }
}

fn response(action: &str, request_id: &str, result: impl FnOnce(&mut Writer)) -> String {
    Writer::document(&format!("{action}Response"), NAMESPACE, |w| {
        w.nest(&format!("{action}Result"), result);
        w.nest("ResponseMetadata", |w| w.leaf("RequestId", request_id));
    })
}

fn caller_identity(principal: &Principal, request_id: &str) -> String {
    response("GetCallerIdentity", request_id, |w| {
        w.leaf("Arn", &principal.arn);
        w.leaf("UserId", &principal.user_id);
        w.leaf("Account", &principal.account);
    })
}

fn credentials(w: &mut Writer, assumed: &Assumed) {
    w.nest("AssumedRoleUser", |w| {
        w.leaf("AssumedRoleId", &assumed.id);
        w.leaf("Arn", &assumed.arn);
    });
    w.nest("Credentials", |w| {
        w.leaf("AccessKeyId", &assumed.session.access_key);
        w.leaf("SecretAccessKey", &assumed.session.secret);
        w.leaf("SessionToken", &assumed.session.token);
        w.leaf("Expiration", &iso_seconds(assumed.session.expires_at_ms));
    });
    let percent = assumed.packed_policy_size.map(|percent| percent.to_string());
    w.maybe("PackedPolicySize", percent.as_deref());
}
