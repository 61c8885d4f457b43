//! STS: GetCallerIdentity over the query protocol.

use crate::core::accounts::Caller;
use crate::core::error::{ApiError, Code};

use super::Reply;
use super::xml::Writer;

/// Namespace of STS's documents.
pub(crate) const NAMESPACE: &str = "https://sts.amazonaws.com/doc/2011-06-15/";

/// Runs one action.
pub(crate) fn run(action: &str, caller: &Caller, request_id: &str) -> Result<Reply, ApiError> {
    match action {
        "GetCallerIdentity" => Ok(Reply::ok(caller_identity(caller, request_id))),
        other => Err(ApiError::new(
            Code::InvalidAction,
            format!("Could not find operation {other} for version 2011-06-15"),
        )),
    }
}

fn caller_identity(caller: &Caller, request_id: &str) -> String {
    Writer::document("GetCallerIdentityResponse", NAMESPACE, |w| {
        w.nest("GetCallerIdentityResult", |w| {
            w.leaf("Arn", &caller.arn());
            w.leaf("UserId", &caller.access_key);
            w.leaf("Account", &caller.account);
        });
        w.nest("ResponseMetadata", |w| w.leaf("RequestId", request_id));
    })
}
