//! CIDR collections over HTTP (the API reference of CreateCidrCollection and its siblings).
//!
//! Deliberately absent: the rules, which are in `core::cidr`, and pages; a list is always whole.

use crate::core::cidr::{BlockChange, Collection};
use crate::core::error::{ApiError, Code};

use super::Reply;
use super::requests::{NAMESPACE, integer, not_in_list, only, required, root};
use super::route53::Context;
use super::xml::{Element, Writer};

/// CreateCidrCollection.
pub(crate) fn create(context: &mut Context<'_>) -> Result<Reply, ApiError> {
    let root = root(context.body, "CreateCidrCollectionRequest")?;
    only(&root, &["Name", "CallerReference"])?;
    let name = &required(&root, "Name")?.text;
    let reference = &required(&root, "CallerReference")?.text;
    let collection = context.service.collections.create(context.caller, name, reference)?;
    Ok(Reply {
        status: 201,
        location: Some(format!(
            "https://route53.amazonaws.com/2013-04-01/cidrcollection/{}",
            collection.id
        )),
        body: Writer::document("CreateCidrCollectionResponse", NAMESPACE, |w| {
            w.nest("Collection", |w| summary(w, collection));
        }),
    })
}

fn summary(w: &mut Writer, collection: &Collection) {
    w.leaf("Arn", &collection.arn());
    w.leaf("Id", &collection.id);
    w.leaf("Name", &collection.name);
    w.leaf("Version", &collection.version.to_string());
}

/// ChangeCidrCollection.
pub(crate) fn change(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    let root = root(context.body, "ChangeCidrCollectionRequest")?;
    only(&root, &["CollectionVersion", "Changes"])?;
    let version = integer(&root, "CollectionVersion")?.map(|v| u64::try_from(v).unwrap_or(0));
    let changes = required(&root, "Changes")?
        .children
        .iter()
        .map(block_change)
        .collect::<Result<Vec<_>, _>>()?;
    context
        .service
        .collections
        .change(context.caller, id, version, &changes)?;
    Ok(Reply::ok(Writer::document(
        "ChangeCidrCollectionResponse",
        NAMESPACE,
        |w| {
            w.leaf("Id", id);
        },
    )))
}

fn block_change(element: &Element) -> Result<BlockChange, ApiError> {
    only(element, &["LocationName", "Action", "CidrList"])?;
    let put = match required(element, "Action")?.text.as_str() {
        "PUT" => true,
        "DELETE_IF_EXISTS" => false,
        other => return Err(not_in_list(other, "[PUT, DELETE_IF_EXISTS]")),
    };
    let networks = required(element, "CidrList")?;
    only(networks, &["Cidr"])?;
    Ok(BlockChange {
        location: required(element, "LocationName")?.text.clone(),
        put,
        networks: networks.children.iter().map(|c| c.text.clone()).collect(),
    })
}

/// DeleteCidrCollection.
pub(crate) fn delete(context: &mut Context<'_>, id: &str) -> Result<Reply, ApiError> {
    context.service.collections.delete(context.caller, id)?;
    Ok(Reply::ok(Writer::document(
        "DeleteCidrCollectionResponse",
        NAMESPACE,
        |_| {},
    )))
}

/// ListCidrCollections.
pub(crate) fn list(context: &Context<'_>) -> Reply {
    Reply::ok(Writer::document("ListCidrCollectionsResponse", NAMESPACE, |w| {
        w.nest("CidrCollections", |w| {
            for collection in context.service.collections.of(context.caller) {
                w.nest("member", |w| summary(w, collection));
            }
        });
    }))
}

/// ListCidrLocations.
pub(crate) fn locations(context: &Context<'_>, id: &str) -> Result<Reply, ApiError> {
    let collection = context.service.collections.get(context.caller, id)?;
    let mut names: Vec<&str> = collection.blocks().into_iter().map(|(name, _)| name).collect();
    names.dedup();
    Ok(Reply::ok(Writer::document(
        "ListCidrLocationsResponse",
        NAMESPACE,
        |w| {
            w.nest("CidrLocations", |w| {
                for name in names {
                    w.nest("member", |w| w.leaf("LocationName", name));
                }
            });
        },
    )))
}

/// ListCidrBlocks, of one location if one is named.
pub(crate) fn blocks(context: &Context<'_>, id: &str) -> Result<Reply, ApiError> {
    let collection = context.service.collections.get(context.caller, id)?;
    let wanted = context.query.get("location");
    if let Some(name) = wanted
        && !collection.has_location(name)
    {
        return Err(ApiError::new(
            Code::NoSuchCidrLocationException,
            format!("The CIDR location {name} doesn't exist."),
        ));
    }
    Ok(Reply::ok(Writer::document("ListCidrBlocksResponse", NAMESPACE, |w| {
        w.nest("CidrBlocks", |w| {
            for (name, network) in collection.blocks() {
                if wanted.is_none_or(|wanted| wanted == name) {
                    w.nest("member", |w| {
                        w.leaf("CidrBlock", &network.to_string());
                        w.leaf("LocationName", name);
                    });
                }
            }
        });
    })))
}
