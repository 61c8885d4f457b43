//! The calls on hosted zones beside those on their records: delete, count, comment, limits, tags, protections.
//!
//! Deliberately absent: the rules, which are in `core::zones`, `core::tags` and `core::protections`.

use crate::core::error::{ApiError, Code};
use crate::core::names::Name;
use crate::core::protections::RawProtection;
use crate::core::tags::Kind;
use crate::core::zones::Limit;

use super::requests::{NAMESPACE, only, required, root};
use super::route53::{Context, max_items};
use super::xml::{Element, Writer};
use super::{Reply, answers};

/// Most protections of a page.
const MAX_PAGE: usize = 300;

/// DeleteHostedZone.
pub(crate) fn delete(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    let change = context.service.delete_zone(context.caller, id, context.now_ms)?;
    context.note.change_id = Some(change.id.clone());
    Ok(Reply::ok(answers::change_info(
        "DeleteHostedZoneResponse",
        &change,
        context.now_ms,
    )))
}

/// GetHostedZoneCount.
pub(crate) fn count(context: &Context<'_>) -> Reply {
    let count = context.service.zone_count(context.caller);
    Reply::ok(Writer::document("GetHostedZoneCountResponse", NAMESPACE, |w| {
        w.leaf("HostedZoneCount", &count.to_string());
    }))
}

/// UpdateHostedZoneComment.
pub(crate) fn comment(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    let root = root(context.body, "UpdateHostedZoneCommentRequest")?;
    only(&root, &["Comment"])?;
    let comment = root.text_of("Comment");
    let zone = context.service.set_zone_comment(context.caller, id, comment)?;
    Ok(Reply::ok(answers::update_comment(zone)))
}

/// GetAccountLimit.
pub(crate) fn account_limit(context: &Context<'_>, kind: &str) -> Result<Reply, ApiError> {
    let limit = context.service.account_limit(context.caller, kind)?;
    Ok(Reply::ok(limit_document("GetAccountLimitResponse", &limit)))
}

/// GetHostedZoneLimit.
pub(crate) fn zone_limit(context: &mut Context<'_>, id: &str, kind: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    let limit = context.service.zone_limit(context.caller, id, kind)?;
    Ok(Reply::ok(limit_document("GetHostedZoneLimitResponse", &limit)))
}

fn limit_document(document: &str, limit: &Limit) -> String {
    Writer::document(document, NAMESPACE, |w| {
        w.nest("Limit", |w| {
            w.leaf("Type", &limit.kind);
            w.leaf("Value", &limit.value.to_string());
        });
        w.leaf("Count", &limit.count.to_string());
    })
}

/// Whether something that can have tags exists.
fn tagged_exists(context: &Context<'_>, kind: Kind, id: &str) -> Result<(), ApiError> {
    match kind {
        Kind::HealthCheck => context.service.health.get(context.caller, id).map(|_| ()),
        Kind::HostedZone => context.service.zone_of(context.caller, id).map(|_| ()),
    }
}

/// ListTagsForResource, or ListTagsForResources.
pub(crate) fn tags(context: &Context<'_>, kind: &str, ids: &[String], single: bool) -> Result<Reply, ApiError> {
    let kind = Kind::from_api(kind)?;
    for id in ids {
        tagged_exists(context, kind, id)?;
    }
    let set = |w: &mut Writer, id: &str| {
        w.nest("ResourceTagSet", |w| {
            w.leaf("ResourceType", kind.as_str());
            w.leaf("ResourceId", id);
            w.nest("Tags", |w| {
                for (key, value) in context.service.tags.of(kind, id).into_iter().flatten() {
                    w.nest("Tag", |w| {
                        w.leaf("Key", key);
                        w.leaf("Value", value);
                    });
                }
            });
        });
    };
    let document = match single {
        true => Writer::document("ListTagsForResourceResponse", NAMESPACE, |w| {
            ids.iter().for_each(|id| set(w, id));
        }),
        false => Writer::document("ListTagsForResourcesResponse", NAMESPACE, |w| {
            w.nest("ResourceTagSets", |w| ids.iter().for_each(|id| set(w, id)));
        }),
    };
    Ok(Reply::ok(document))
}

/// ChangeTagsForResource.
pub(crate) fn change_tags(context: &mut Context<'_>, kind: &str, id: &str) -> Result<Reply, ApiError> {
    let kind = Kind::from_api(kind)?;
    let root = root(context.body, "ChangeTagsForResourceRequest")?;
    only(&root, &["AddTags", "RemoveTagKeys"])?;
    let add = root.child("AddTags").map(|tags| {
        only(tags, &["Tag"])?;
        tags.children.iter().map(tag).collect::<Result<Vec<_>, _>>()
    });
    let add = add.transpose()?.unwrap_or_default();
    let remove: Vec<String> = root
        .child("RemoveTagKeys")
        .map(|keys| {
            only(keys, &["Key"])?;
            Ok(keys.children.iter().map(|k| k.text.clone()).collect())
        })
        .transpose()?
        .unwrap_or_default();
    tagged_exists(context, kind, id)?;
    context.service.tags.change(kind, id, &add, &remove)?;
    Ok(Reply::ok(Writer::document(
        "ChangeTagsForResourceResponse",
        NAMESPACE,
        |_| {},
    )))
}

fn tag(element: &Element) -> Result<(String, String), ApiError> {
    only(element, &["Key", "Value"])?;
    let text = |name: &str| element.text_of(name).unwrap_or_default().to_owned();
    Ok((text("Key"), text("Value")))
}

/// CreateResourceRecordSetProtections, or DeleteResourceRecordSetProtections.
pub(crate) fn change_protections(context: &mut Context<'_>, id: &str, create: bool) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    context.service.zone_of(context.caller, id)?;
    let name = match create {
        true => "CreateResourceRecordSetProtections",
        false => "DeleteResourceRecordSetProtections",
    };
    let root = root(context.body, &format!("{name}Request"))?;
    only(&root, &["Protections"])?;
    let entries: Vec<RawProtection> = required(&root, "Protections")?
        .children
        .iter()
        .map(protection)
        .collect::<Result<_, _>>()?;
    let now_ms = context.now_ms;
    match create {
        true => context.service.protect(context.caller, id, &entries, now_ms)?,
        false => context.service.unprotect(context.caller, id, &entries, now_ms)?,
    }
    Ok(Reply::ok(Writer::document(
        &format!("{name}Response"),
        NAMESPACE,
        |_| {},
    )))
}

fn protection(element: &Element) -> Result<RawProtection, ApiError> {
    only(element, &["RecordName", "RecordType", "Comment"])?;
    Ok(RawProtection {
        name: required(element, "RecordName")?.text.clone(),
        rtype: required(element, "RecordType")?.text.clone(),
        comment: element.text_of("Comment").map(str::to_owned),
    })
}

/// ListResourceRecordSetProtections; a token is `TYPE/NAME` of the first entry of the next page.
pub(crate) fn list_protections(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.note.zone = Some(id.to_owned());
    let zone = context.service.zone_of(context.caller, id)?;
    let max = max_items(context.query, MAX_PAGE)?;
    let parameter = |name: &str| context.query.get(name).map(String::as_str);
    let start = match parameter("nexttoken") {
        Some(token) => {
            let parts = token
                .split_once('/')
                .and_then(|(t, n)| Some((Name::parse(n).ok()?.order(), t)));
            parts.ok_or_else(|| ApiError::new(Code::InvalidPaginationToken, "The value of NextToken is not valid."))?
        }
        None => match parameter("name") {
            Some(name) => {
                let name = Name::parse(name).map_err(|e| ApiError::invalid_input(e.to_string()))?;
                (name.order(), parameter("type").unwrap_or_default())
            }
            None => (String::new(), ""),
        },
    };
    let mut rest = zone
        .protections
        .iter()
        .skip_while(|(name, rtype, _)| (name.order().as_str(), rtype.as_str()) < (start.0.as_str(), start.1));
    let page: Vec<_> = rest.by_ref().take(max).collect();
    let next = rest.next().map(|(name, rtype, _)| format!("{rtype}/{name}"));
    Ok(Reply::ok(Writer::document(
        "ListResourceRecordSetProtectionsResponse",
        NAMESPACE,
        |w| {
            w.nest("ResourceRecordSetProtections", |w| {
                for (name, rtype, comment) in &page {
                    w.nest("ResourceRecordSetProtection", |w| {
                        w.leaf("RecordName", name.as_str());
                        w.leaf("RecordType", rtype.as_str());
                        w.maybe("Comment", *comment);
                    });
                }
            });
            w.maybe("NextToken", next.as_deref());
        },
    )))
}
