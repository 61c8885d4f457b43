//! EKS over REST and JSON: DescribeCluster, ListAccessEntries, DescribeAccessEntry.

use axum::http::Method;
use serde_json::{Value, json};

use crate::core::error::{ApiError, Code};
use crate::identity::cluster::{AccessEntry, ClusterConfig, Clusters};
use crate::identity::principal::Principal;

use super::Reply;

/// Seconds since the epoch at which every cluster was created.
const CREATED_AT: u64 = 1_735_689_600;

/// An operation with what its path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Eks {
    /// Cluster name.
    DescribeCluster(String),
    /// Cluster name.
    ListAccessEntries(String),
    /// Cluster name and principal ARN.
    DescribeAccessEntry(String, String),
}

impl Eks {
    /// The operation of a path that begins with `/clusters/`.
    pub(crate) fn parse(method: &Method, path: &str) -> Option<Self> {
        let rest = path.strip_prefix("/clusters/")?;
        let segments: Vec<String> = rest.split('/').map(unescaped).collect();
        if method != Method::GET {
            return None;
        }
        match segments.as_slice() {
            [name] => Some(Self::DescribeCluster(name.clone())),
            [name, entries] if entries == "access-entries" => Some(Self::ListAccessEntries(name.clone())),
            [name, entries, arn] if entries == "access-entries" => {
                Some(Self::DescribeAccessEntry(name.clone(), arn.clone()))
            }
            _ => None,
        }
    }

    /// Name of the operation.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::DescribeCluster(_) => "DescribeCluster",
            Self::ListAccessEntries(_) => "ListAccessEntries",
            Self::DescribeAccessEntry(..) => "DescribeAccessEntry",
        }
    }

    /// ARN that a policy must allow (Service Authorization Reference, EKS).
    pub(crate) fn resource(&self, account: &str, region: &str) -> String {
        match self {
            Self::DescribeCluster(name) | Self::ListAccessEntries(name) => {
                format!("arn:aws:eks:{region}:{account}:cluster/{name}")
            }
            Self::DescribeAccessEntry(name, principal) => {
                let mut parts = principal.splitn(6, ':').skip(4);
                let owner = parts.next().unwrap_or_default();
                let path = parts.next().unwrap_or_default();
                format!(
                    "arn:aws:eks:{region}:{account}:access-entry/{name}/{}/{owner}/{}",
                    kind(path),
                    last(path)
                )
            }
        }
    }
}

fn kind(resource: &str) -> &str {
    resource.split('/').next().unwrap_or_default()
}

fn last(resource: &str) -> &str {
    resource.rsplit('/').next().unwrap_or_default()
}

fn unescaped(segment: &str) -> String {
    // A path has no `+` for a space; everything else is decoded as in a query.
    let kept = segment.replace('+', "%2B");
    form_urlencoded::parse(kept.as_bytes())
        .next()
        .map_or_else(String::new, |(key, _)| key.into_owned())
}

/// Runs one operation.
pub(crate) fn run(
    clusters: &Clusters,
    operation: &Eks,
    principal: &Principal,
    region: &str,
) -> Result<Reply, ApiError> {
    let cluster = |name: &str| {
        clusters
            .get(&principal.account, region, name)
            .ok_or_else(|| not_found(format!("No cluster found for name: {name}.")))
    };
    let body = match operation {
        Eks::DescribeCluster(name) => describe(cluster(name)?),
        Eks::ListAccessEntries(name) => {
            let entries = cluster(name)?.access_entries.iter();
            json!({ "accessEntries": entries.map(|e| e.principal_arn.as_str()).collect::<Vec<_>>() })
        }
        Eks::DescribeAccessEntry(name, arn) => {
            let cluster = cluster(name)?;
            let entry = cluster.access_entries.iter().find(|e| e.principal_arn == *arn);
            let entry = entry.ok_or_else(|| {
                not_found(format!(
                    "The specified principalArn could not be found. You can view your available access entries with 'aws eks list-access-entries --cluster-name {name}'."
                ))
            })?;
            access_entry(cluster, entry)
        }
    };
    Ok(Reply::ok(body.to_string()))
}

fn not_found(message: String) -> ApiError {
    ApiError::new(Code::ResourceNotFoundException, message)
}

fn describe(cluster: &ClusterConfig) -> Value {
    let ClusterConfig {
        name,
        account,
        region,
        endpoint,
        certificate_authority: _,
        version,
        authentication_mode,
        access_entries: _,
    } = cluster;
    json!({ "cluster": {
        "name": name,
        "arn": cluster.arn(),
        "createdAt": CREATED_AT,
        "version": version,
        "endpoint": endpoint,
        "roleArn": format!("arn:aws:iam::{account}:role/eks-cluster"),
        "resourcesVpcConfig": {
            "subnetIds": [], "securityGroupIds": [], "endpointPublicAccess": true, "endpointPrivateAccess": false,
            "publicAccessCidrs": ["0.0.0.0/0"],
        },
        "kubernetesNetworkConfig": { "serviceIpv4Cidr": "10.96.0.0/16", "ipFamily": "ipv4" },
        "identity": { "oidc": { "issuer": format!("https://oidc.eks.{region}.amazonaws.com/id/{}", name.to_uppercase()) } },
        "status": "ACTIVE",
        "certificateAuthority": { "data": cluster.authority() },
        "platformVersion": "eks.1",
        "tags": {},
        "accessConfig": { "authenticationMode": authentication_mode.as_str() },
    } })
}

fn access_entry(cluster: &ClusterConfig, entry: &AccessEntry) -> Value {
    json!({ "accessEntry": {
        "clusterName": cluster.name,
        "principalArn": entry.principal_arn,
        "kubernetesGroups": entry.groups,
        "username": entry.username(),
        "type": "STANDARD",
        "createdAt": CREATED_AT,
        "modifiedAt": CREATED_AT,
        "tags": {},
    } })
}
