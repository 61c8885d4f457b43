//! Whose credentials these are.
//!
//! Invariant: credentials come from the AWS SDK's own chain (environment, web identity, pod identity, instance) and are
//! never logged. Deliberately absent: roles of other accounts, which come with `DNSZone.access`.

use std::time::Duration;

use aws_config::meta::region::RegionProviderChain;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, ConfigLoader, SdkConfig};

/// Of one attempt; below the deadline that the executor sets, so that the SDK's own words are shown.
const ATTEMPT: Duration = Duration::from_secs(15);
const CONNECT: Duration = Duration::from_secs(5);

/// The SDK's configuration from the environment, which may name another endpoint (`AWS_ENDPOINT_URL`).
pub async fn environment() -> SdkConfig {
    load(aws_config::defaults(BehaviorVersion::latest())).await
}

/// The same from any source, with retries and timeouts as the operator needs them.
pub async fn load(from: ConfigLoader) -> SdkConfig {
    // Route 53 is one service for all regions; its SDK wants one named all the same.
    let region = RegionProviderChain::default_provider().or_else("us-east-1");
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT)
        .operation_attempt_timeout(ATTEMPT)
        .build();
    from.region(region)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .load()
        .await
}
