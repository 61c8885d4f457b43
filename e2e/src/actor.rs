//! Who writes to AWS: an access key per actor, so that the double's journal tells them apart, and a blocking Route 53
//! client for tests that play the hub or a stranger.

use std::process::Command;

use anyhow::{Context, Result};
use aws_sdk_route53::Client;
use aws_sdk_route53::config::{BehaviorVersion, Credentials, Region, retry::RetryConfig};
use aws_sdk_route53::error::DisplayErrorContext;
use aws_sdk_route53::types::{Change, ChangeAction, ChangeBatch, ResourceRecordSet};
use tokio::runtime::Runtime;

/// An identity in the double's only account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Its AWS access key id, as the journal shows it.
    pub access_key: String,
    /// The region its SDK is configured for.
    pub region: String,
}

impl Actor {
    /// The identity of `name`, such as `HUB` or `EAST`, in `region`.
    #[must_use]
    pub fn new(name: &str, region: &str) -> Self {
        // An access key id is AKIA and 16 characters; padded it looks like one everywhere.
        Self {
            access_key: format!("AKIA{:0<16}", name.to_uppercase()),
            region: region.to_owned(),
        }
    }

    /// Gives `command` this identity and the double's address, as AWS SDKs of every language read them.
    pub fn configure(&self, command: &mut Command, endpoint: &str) {
        command
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("AWS_REGION", &self.region);
        command
            .env("AWS_ACCESS_KEY_ID", &self.access_key)
            .env("AWS_SECRET_ACCESS_KEY", "not-a-secret");
        // Whatever the machine is configured for must not reach a child.
        for name in [
            "AWS_PROFILE",
            "AWS_SESSION_TOKEN",
            "AWS_ROLE_ARN",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
        ] {
            command.env_remove(name);
        }
        command
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
        command.env("AWS_EC2_METADATA_DISABLED", "true");
    }

    /// A client with this identity.
    ///
    /// # Errors
    /// If no runtime can be started.
    pub fn client(&self, endpoint: &str) -> Result<Route53> {
        let config = aws_sdk_route53::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(self.region.clone()))
            .endpoint_url(endpoint)
            .credentials_provider(Credentials::new(&self.access_key, "not-a-secret", None, None, "e2e"))
            .retry_config(RetryConfig::disabled())
            .build();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("start tokio")?;
        Ok(Route53 {
            runtime,
            client: Client::from_conf(config),
        })
    }
}

/// A blocking Route 53 client of one actor.
#[derive(Debug)]
pub struct Route53 {
    runtime: Runtime,
    client: Client,
}

impl Route53 {
    /// Sends one ChangeResourceRecordSets request.
    ///
    /// # Errors
    /// Route 53's refusal.
    pub fn change(&self, zone: &str, changes: Vec<(ChangeAction, ResourceRecordSet)>) -> Result<()> {
        let mut batch = ChangeBatch::builder();
        for (action, set) in changes {
            let change = Change::builder().action(action).resource_record_set(set).build();
            batch = batch.changes(change.context("a change has an action and a record set")?);
        }
        let batch = batch.build().context("a batch has changes")?;
        let call = self
            .client
            .change_resource_record_sets()
            .hosted_zone_id(zone)
            .change_batch(batch)
            .send();
        match self.runtime.block_on(call) {
            Ok(_) => Ok(()),
            Err(error) => anyhow::bail!("{}", DisplayErrorContext(error)),
        }
    }

    /// Every record set of a zone.
    ///
    /// # Errors
    /// Route 53's refusal.
    pub fn records(&self, zone: &str) -> Result<Vec<ResourceRecordSet>> {
        self.runtime.block_on(async {
            let mut all = Vec::new();
            let mut call = self.client.list_resource_record_sets().hosted_zone_id(zone);
            loop {
                let page = call
                    .send()
                    .await
                    .map_err(|error| anyhow::anyhow!("{}", DisplayErrorContext(error)))?;
                let more = page.is_truncated();
                let (name, kind, set) = (
                    page.next_record_name,
                    page.next_record_type,
                    page.next_record_identifier,
                );
                all.extend(page.resource_record_sets);
                if !more {
                    return Ok(all);
                }
                call = self
                    .client
                    .list_resource_record_sets()
                    .hosted_zone_id(zone)
                    .set_start_record_name(name)
                    .set_start_record_type(kind)
                    .set_start_record_identifier(set);
            }
        })
    }
}
