//! Which operation a request asks for, and who asks.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, Method, Uri, header};

use super::eks::Eks;
use super::elbv2;

/// How errors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Route 53.
    RestXml,
    /// EKS.
    RestJson,
    /// STS.
    Query,
    /// Elastic Load Balancing: the query protocol in another namespace.
    LoadBalancingQuery,
}

/// A Route 53 operation with what its path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route53 {
    /// Collection id.
    ChangeCidrCollection(String),
    /// Zone id.
    ChangeResourceRecordSets(String),
    /// Resource type and id.
    ChangeTagsForResource(String, String),
    /// Nothing in the path.
    CreateCidrCollection,
    /// Nothing in the path.
    CreateHealthCheck,
    /// Nothing in the path.
    CreateHostedZone,
    /// Zone id.
    CreateResourceRecordSetProtections(String),
    /// Collection id.
    DeleteCidrCollection(String),
    /// Health check id.
    DeleteHealthCheck(String),
    /// Zone id.
    DeleteHostedZone(String),
    /// Zone id.
    DeleteResourceRecordSetProtections(String),
    /// Kind of limit.
    GetAccountLimit(String),
    /// Change id.
    GetChange(String),
    /// Health check id.
    GetHealthCheck(String),
    /// Nothing in the path.
    GetHealthCheckCount,
    /// Health check id.
    GetHealthCheckLastFailureReason(String),
    /// Health check id.
    GetHealthCheckStatus(String),
    /// Zone id.
    GetHostedZone(String),
    /// Nothing in the path.
    GetHostedZoneCount,
    /// Zone id and kind of limit.
    GetHostedZoneLimit(String, String),
    /// Collection id.
    ListCidrBlocks(String),
    /// Nothing in the path.
    ListCidrCollections,
    /// Collection id.
    ListCidrLocations(String),
    /// Nothing in the path.
    ListHealthChecks,
    /// Nothing in the path.
    ListHostedZones,
    /// Nothing in the path.
    ListHostedZonesByName,
    /// Zone id.
    ListResourceRecordSetProtections(String),
    /// Zone id.
    ListResourceRecordSets(String),
    /// Resource type and id.
    ListTagsForResource(String, String),
    /// Resource type.
    ListTagsForResources(String),
    /// Nothing in the path.
    TestDNSAnswer,
    /// Health check id.
    UpdateHealthCheck(String),
    /// Zone id.
    UpdateHostedZoneComment(String),
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Route 53.
    Route53(Route53),
    /// STS, by action; the action need not exist.
    Sts(String),
    /// Elastic Load Balancing, by action; the action need not exist.
    LoadBalancing(String),
    /// EKS.
    Eks(Eks),
    /// Nothing that is known.
    Unknown,
}

/// A request, taken apart.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) access_key: Option<String>,
    region: Option<String>,
    pub(crate) operation: Operation,
    pub(crate) protocol: Protocol,
}

impl Call {
    pub(crate) fn new(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Self {
        let path = uri.path().to_owned();
        let mut query = pairs(uri.query().unwrap_or_default().as_bytes());
        if path == "/" && method == Method::POST {
            query.extend(pairs(body));
        }
        let credential = credential(headers, &query);
        let scope = |n: usize| Some(credential.as_deref()?.split('/').nth(n)?.to_owned());
        let access_key = scope(0).filter(|key| !key.is_empty());
        let region = scope(2);
        let operation = if path == "/" {
            let version = query.get("Version").map(String::as_str);
            match query.get("Action") {
                Some(action) if version == Some(elbv2::VERSION) => Operation::LoadBalancing(action.clone()),
                Some(action) => Operation::Sts(action.clone()),
                None => Operation::Unknown,
            }
        } else if path.starts_with("/clusters") {
            Eks::parse(method, &path).map_or(Operation::Unknown, Operation::Eks)
        } else {
            route53(method, &path).map_or(Operation::Unknown, Operation::Route53)
        };
        let protocol = match operation {
            Operation::Sts(_) => Protocol::Query,
            Operation::LoadBalancing(_) => Protocol::LoadBalancingQuery,
            Operation::Eks(_) => Protocol::RestJson,
            Operation::Unknown if path.starts_with("/clusters") => Protocol::RestJson,
            Operation::Route53(_) | Operation::Unknown => Protocol::RestXml,
        };
        Self {
            method: method.to_string(),
            path,
            query,
            access_key,
            region,
            operation,
            protocol,
        }
    }

    /// Region of the credential scope.
    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or("us-east-1")
    }

    /// What the journal calls it before it runs: also of a call that is refused at the gate.
    pub(crate) fn name(&self) -> String {
        match &self.operation {
            Operation::Sts(action) | Operation::LoadBalancing(action) => action.clone(),
            Operation::Eks(operation) => operation.name().to_owned(),
            Operation::Route53(_) | Operation::Unknown => format!("{} {}", self.method, self.path),
        }
    }
}

fn pairs(text: &[u8]) -> BTreeMap<String, String> {
    form_urlencoded::parse(text)
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect()
}

/// The credential scope of a SigV4 signature, in the header or in the query, whether or not it verifies.
fn credential(headers: &HeaderMap, query: &BTreeMap<String, String>) -> Option<String> {
    let in_header = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once("Credential="))
        .and_then(|(_, rest)| rest.split([',', ' ']).next());
    in_header
        .or(query.get("X-Amz-Credential").map(String::as_str))
        .map(str::to_owned)
}

fn route53(method: &Method, path: &str) -> Option<Route53> {
    let rest = path.strip_prefix("/2013-04-01/")?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let segments: Vec<&str> = rest.split('/').collect();
    match segments.as_slice() {
        ["hostedzone", ..] | ["hostedzonesbyname" | "hostedzonecount"] | ["hostedzonelimit", ..] => {
            zone_call(method, &segments)
        }
        ["healthcheck", ..] | ["healthcheckcount"] => health_call(method, &segments),
        ["cidrcollection", ..] => cidr_call(method, &segments),
        _ => other_call(method, &segments),
    }
}

fn zone_call(method: &Method, segments: &[&str]) -> Option<Route53> {
    let own = |text: &&str| (*text).to_owned();
    Some(match (method.as_str(), segments) {
        ("GET", ["hostedzone"]) => Route53::ListHostedZones,
        ("POST", ["hostedzone"]) => Route53::CreateHostedZone,
        ("GET", ["hostedzonesbyname"]) => Route53::ListHostedZonesByName,
        ("GET", ["hostedzonecount"]) => Route53::GetHostedZoneCount,
        ("GET", ["hostedzonelimit", id, kind]) => Route53::GetHostedZoneLimit(own(id), own(kind)),
        ("GET", ["hostedzone", id]) => Route53::GetHostedZone(own(id)),
        ("POST", ["hostedzone", id]) => Route53::UpdateHostedZoneComment(own(id)),
        ("DELETE", ["hostedzone", id]) => Route53::DeleteHostedZone(own(id)),
        ("POST", ["hostedzone", id, "rrset"]) => Route53::ChangeResourceRecordSets(own(id)),
        ("GET", ["hostedzone", id, "rrset"]) => Route53::ListResourceRecordSets(own(id)),
        ("GET", ["hostedzone", id, "rrsetprotection"]) => Route53::ListResourceRecordSetProtections(own(id)),
        ("POST", ["hostedzone", id, "rrsetprotection"]) => Route53::CreateResourceRecordSetProtections(own(id)),
        ("POST", ["hostedzone", id, "rrsetprotection", "delete"]) => {
            Route53::DeleteResourceRecordSetProtections(own(id))
        }
        _ => return None,
    })
}

fn health_call(method: &Method, segments: &[&str]) -> Option<Route53> {
    let own = |text: &&str| (*text).to_owned();
    Some(match (method.as_str(), segments) {
        ("GET", ["healthcheck"]) => Route53::ListHealthChecks,
        ("POST", ["healthcheck"]) => Route53::CreateHealthCheck,
        ("GET", ["healthcheckcount"]) => Route53::GetHealthCheckCount,
        ("GET", ["healthcheck", id]) => Route53::GetHealthCheck(own(id)),
        ("POST", ["healthcheck", id]) => Route53::UpdateHealthCheck(own(id)),
        ("DELETE", ["healthcheck", id]) => Route53::DeleteHealthCheck(own(id)),
        ("GET", ["healthcheck", id, "status"]) => Route53::GetHealthCheckStatus(own(id)),
        ("GET", ["healthcheck", id, "lastfailurereason"]) => Route53::GetHealthCheckLastFailureReason(own(id)),
        _ => return None,
    })
}

fn cidr_call(method: &Method, segments: &[&str]) -> Option<Route53> {
    let own = |text: &&str| (*text).to_owned();
    Some(match (method.as_str(), segments) {
        ("GET", ["cidrcollection"]) => Route53::ListCidrCollections,
        ("POST", ["cidrcollection"]) => Route53::CreateCidrCollection,
        ("GET", ["cidrcollection", id]) => Route53::ListCidrLocations(own(id)),
        ("POST", ["cidrcollection", id]) => Route53::ChangeCidrCollection(own(id)),
        ("DELETE", ["cidrcollection", id]) => Route53::DeleteCidrCollection(own(id)),
        ("GET", ["cidrcollection", id, "cidrblocks"]) => Route53::ListCidrBlocks(own(id)),
        _ => return None,
    })
}

fn other_call(method: &Method, segments: &[&str]) -> Option<Route53> {
    let own = |text: &&str| (*text).to_owned();
    Some(match (method.as_str(), segments) {
        ("GET", ["accountlimit", kind]) => Route53::GetAccountLimit(own(kind)),
        ("GET", ["change", id]) => Route53::GetChange(own(id)),
        ("GET", ["testdnsanswer"]) => Route53::TestDNSAnswer,
        ("POST", ["tags", kind]) => Route53::ListTagsForResources(own(kind)),
        ("GET", ["tags", kind, id]) => Route53::ListTagsForResource(own(kind), own(id)),
        ("POST", ["tags", kind, id]) => Route53::ChangeTagsForResource(own(kind), own(id)),
        _ => return None,
    })
}
