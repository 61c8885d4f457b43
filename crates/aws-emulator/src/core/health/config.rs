//! Settings of a health check: which of them each kind takes (the API reference of HealthCheckConfig).
//!
//! Invariant: what [`HealthCheckConfig::checked`] gave holds together. Texts with an issue beside them are Route 53's;
//! the others are own words in their manner. Deliberately absent: private endpoints (HealthCheckSource).

use std::net::IpAddr;

use crate::core::error::ApiError;
use crate::core::shape::{not_in_enumeration, out_of_range, too_long};

/// Regions that checkers stand in.
pub const CHECKER_REGIONS: [&str; 8] = [
    "ap-northeast-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "eu-west-1",
    "sa-east-1",
    "us-east-1",
    "us-west-1",
    "us-west-2",
];
/// Most children of a calculated check (route53.md 1.2).
const MAX_CHILDREN: usize = 255;
/// Longest path, name and search string, in characters.
const MAX_TEXT: usize = 255;

/// Kind of a health check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Status of a page.
    #[default]
    Http,
    /// The same over TLS.
    Https,
    /// A text on a page.
    HttpStrMatch,
    /// The same over TLS.
    HttpsStrMatch,
    /// A connection.
    Tcp,
    /// A number of other checks.
    Calculated,
    /// A CloudWatch alarm's metric.
    CloudwatchMetric,
    /// A routing control of ARC.
    RecoveryControl,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Http,
        Self::Https,
        Self::HttpStrMatch,
        Self::HttpsStrMatch,
        Self::Tcp,
        Self::Calculated,
        Self::CloudwatchMetric,
        Self::RecoveryControl,
    ];

    /// The name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Https => "HTTPS",
            Self::HttpStrMatch => "HTTP_STR_MATCH",
            Self::HttpsStrMatch => "HTTPS_STR_MATCH",
            Self::Tcp => "TCP",
            Self::Calculated => "CALCULATED",
            Self::CloudwatchMetric => "CLOUDWATCH_METRIC",
            Self::RecoveryControl => "RECOVERY_CONTROL",
        }
    }

    /// The kind with this name in the API.
    ///
    /// # Errors
    /// `InvalidInput`.
    pub fn from_api(text: &str) -> Result<Self, ApiError> {
        Self::ALL
            .into_iter()
            .find(|k| k.as_str() == text)
            .ok_or_else(|| not_in_enumeration(text, &format!("[{}]", Self::ALL.map(Self::as_str).join(", "))))
    }

    /// Whether checkers ask an endpoint.
    fn has_endpoint(self) -> bool {
        !matches!(self, Self::Calculated | Self::CloudwatchMetric | Self::RecoveryControl)
    }

    fn matches_text(self) -> bool {
        matches!(self, Self::HttpStrMatch | Self::HttpsStrMatch)
    }
}

/// The CloudWatch alarm of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Region.
    pub region: String,
    /// Name.
    pub name: String,
}

/// Settings of a health check, absent where they were not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HealthCheckConfig {
    /// Kind.
    pub kind: Kind,
    /// Address of the endpoint.
    pub ip_address: Option<String>,
    /// Port of the endpoint.
    pub port: Option<i64>,
    /// Path and query.
    pub resource_path: Option<String>,
    /// Name of the endpoint.
    pub domain_name: Option<String>,
    /// Text to find.
    pub search_string: Option<String>,
    /// Seconds between two requests of one checker.
    pub request_interval: Option<i64>,
    /// Checks in a row that change the state.
    pub failure_threshold: Option<i64>,
    /// Whether latency is measured.
    pub measure_latency: Option<bool>,
    /// Whether the state is flipped.
    pub inverted: bool,
    /// Whether checking is off.
    pub disabled: bool,
    /// How many children must be healthy.
    pub health_threshold: Option<u16>,
    /// Ids of the children.
    pub children: Vec<String>,
    /// Whether the name is sent in TLS.
    pub enable_sni: Option<bool>,
    /// Regions to check from; empty means all.
    pub regions: Vec<String>,
    /// Alarm.
    pub alarm: Option<Alarm>,
    /// State while the alarm has not enough data.
    pub insufficient_data: Option<String>,
    /// ARN of a routing control.
    pub routing_control_arn: Option<String>,
}

impl HealthCheckConfig {
    /// The same with the defaults of its kind, if it holds together.
    ///
    /// # Errors
    /// `InvalidInput`, the first thing that is wrong.
    pub fn checked(mut self) -> Result<Self, ApiError> {
        self.check_lengths()?;
        self.check_ranges()?;
        match self.kind {
            kind if kind.has_endpoint() => self.check_endpoint()?,
            Kind::Calculated => self.check_calculated()?,
            Kind::CloudwatchMetric => self.check_alarm()?,
            _ => self.check_routing_control()?,
        }
        self.fill();
        Ok(self)
    }

    fn fill(&mut self) {
        if self.kind.has_endpoint() {
            self.request_interval.get_or_insert(30);
            self.failure_threshold.get_or_insert(3);
            self.measure_latency.get_or_insert(false);
            let tls = matches!(self.kind, Kind::Https | Kind::HttpsStrMatch);
            self.enable_sni.get_or_insert(tls);
            self.port.get_or_insert(if tls { 443 } else { 80 });
        }
    }

    fn check_lengths(&self) -> Result<(), ApiError> {
        for (text, kind) in [
            (&self.resource_path, "ResourcePath"),
            (&self.domain_name, "FullyQualifiedDomainName"),
            (&self.search_string, "SearchString"),
            (&self.routing_control_arn, "RoutingControlArn"),
        ] {
            if let Some(text) = text
                && text.chars().count() > MAX_TEXT
            {
                return Err(too_long(text, MAX_TEXT, kind));
            }
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), ApiError> {
        if let Some(port) = self.port
            && !(1..=65_535).contains(&port)
        {
            return Err(out_of_range(port, 1, 65_535, "Port"));
        }
        if let Some(threshold) = self.failure_threshold
            && !(1..=10).contains(&threshold)
        {
            return Err(out_of_range(threshold, 1, 10, "FailureThreshold"));
        }
        if self
            .request_interval
            .is_some_and(|interval| interval != 10 && interval != 30)
        {
            return Err(bad("The request interval must be 10 or 30 seconds."));
        }
        if let Some(other) = self.regions.iter().find(|r| !CHECKER_REGIONS.contains(&r.as_str())) {
            return Err(not_in_enumeration(other, &format!("[{}]", CHECKER_REGIONS.join(", "))));
        }
        if !self.regions.is_empty() && self.regions.len() < 3 {
            return Err(bad("At least three regions must be specified."));
        }
        Ok(())
    }

    fn check_endpoint(&self) -> Result<(), ApiError> {
        // aws-sdk-php issue 1528.
        if self.alarm.is_some() {
            return Err(bad("Basic health checks must not have an metric region specified."));
        }
        if !self.children.is_empty() || self.health_threshold.is_some() {
            return Err(bad("Basic health checks must not have child health checks specified."));
        }
        if self.routing_control_arn.is_some() {
            return Err(bad("Basic health checks must not have a routing control specified."));
        }
        if self.ip_address.is_none() && self.domain_name.is_none() {
            return Err(bad(
                "Basic health checks must have an IP address or a fully qualified domain name specified.",
            ));
        }
        // aws-sdk-php issue 1527.
        if self.kind == Kind::Tcp && self.ip_address.is_some() && self.domain_name.is_some() {
            return Err(ApiError::invalid_input(
                "TCP health checks that have IP address must not have a fully qualified domain name specified.",
            ));
        }
        if self.kind == Kind::Tcp && self.port.is_none() {
            return Err(bad("TCP health checks must have a port specified."));
        }
        if self.kind == Kind::Tcp && self.resource_path.is_some() {
            return Err(bad("TCP health checks must not have a resource path specified."));
        }
        let has_text = self.search_string.as_ref().is_some_and(|t| !t.is_empty());
        if self.kind.matches_text() != has_text {
            return Err(bad(
                "A search string must be specified for HTTP_STR_MATCH and HTTPS_STR_MATCH health checks, and for no others.",
            ));
        }
        match &self.ip_address {
            Some(text) => check_address(text),
            None => Ok(()),
        }
    }

    fn check_calculated(&self) -> Result<(), ApiError> {
        self.no_endpoint("Calculated")?;
        if self.children.len() > MAX_CHILDREN {
            return Err(bad(
                "Calculated health checks must not have more than 255 child health checks.",
            ));
        }
        match self.health_threshold {
            Some(threshold) if threshold <= 256 => Ok(()),
            Some(threshold) => Err(out_of_range(i64::from(threshold), 0, 256, "HealthThreshold")),
            None => Err(bad("Calculated health checks must have a health threshold specified.")),
        }
    }

    fn check_alarm(&self) -> Result<(), ApiError> {
        self.no_endpoint("Metric")?;
        if self.alarm.is_none() {
            return Err(bad("Metric health checks must have an alarm identifier specified."));
        }
        match self.insufficient_data.as_deref() {
            None | Some("Healthy" | "Unhealthy" | "LastKnownStatus") => Ok(()),
            Some(other) => Err(not_in_enumeration(other, "[Healthy, Unhealthy, LastKnownStatus]")),
        }
    }

    fn check_routing_control(&self) -> Result<(), ApiError> {
        self.no_endpoint("Recovery control")?;
        if self.routing_control_arn.as_deref().unwrap_or_default().is_empty() {
            return Err(bad(
                "Recovery control health checks must have a routing control specified.",
            ));
        }
        if self.request_interval.is_some() || self.failure_threshold.is_some() || self.measure_latency.is_some() {
            return Err(bad(
                "Recovery control health checks must not have a request interval, a failure threshold or latency measurement specified.",
            ));
        }
        Ok(())
    }

    fn no_endpoint(&self, word: &str) -> Result<(), ApiError> {
        let given = self.ip_address.is_some()
            || self.port.is_some()
            || self.domain_name.is_some()
            || self.resource_path.is_some()
            || self.search_string.is_some();
        if given {
            return Err(bad(&format!(
                "{word} health checks must not have an endpoint specified."
            )));
        }
        if self.kind != Kind::Calculated && (!self.children.is_empty() || self.health_threshold.is_some()) {
            return Err(bad(&format!(
                "{word} health checks must not have child health checks specified."
            )));
        }
        Ok(())
    }
}

/// An address that checkers on the internet can reach ("Values that you specify" of the guide).
fn check_address(text: &str) -> Result<(), ApiError> {
    let reachable = match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            let [a, b, ..] = ip.octets();
            let shared = a == 100 && (64..128).contains(&b);
            !(ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_multicast() || shared || a == 0)
        }
        Ok(IpAddr::V6(ip)) => {
            !(ip.is_loopback()
                || ip.is_multicast()
                || ip.is_unspecified()
                || ip.is_unique_local()
                || ip.is_unicast_link_local())
        }
        Err(_) => return Err(bad(&format!("{text} is not an IP address."))),
    };
    match reachable {
        true => Ok(()),
        false => Err(bad(&format!(
            "The IP address {text} is in a local, private, nonroutable or multicast range."
        ))),
    }
}

fn bad(why: &str) -> ApiError {
    ApiError::invalid_input(format!("Invalid parameter : {why}"))
}
