//! ARNs of users, roles and sessions.

/// An ARN, taken apart at its first five colons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arn<'a> {
    /// Partition, `aws`.
    pub partition: &'a str,
    /// Service.
    pub service: &'a str,
    /// Region, empty for IAM.
    pub region: &'a str,
    /// Account id.
    pub account: &'a str,
    /// What follows.
    pub resource: &'a str,
}

impl<'a> Arn<'a> {
    /// Takes a text apart; `None` if it is no ARN.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(6, ':');
        let mut next = || parts.next();
        let [
            Some("arn"),
            Some(partition),
            Some(service),
            Some(region),
            Some(account),
            Some(resource),
        ] = [next(), next(), next(), next(), next(), next()]
        else {
            return None;
        };
        (!partition.is_empty() && !service.is_empty() && !resource.is_empty()).then_some(Self {
            partition,
            service,
            region,
            account,
            resource,
        })
    }

    /// Whether this is the ARN of an IAM role: `arn:aws:iam::ACCOUNT:role/PATH/NAME`.
    #[must_use]
    pub fn is_role(&self) -> bool {
        self.service == "iam"
            && self.region.is_empty()
            && is_account(self.account)
            && self.resource.starts_with("role/")
    }
}

/// Whether this is an account id: twelve digits.
#[must_use]
pub fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit())
}

/// ARN of a user or a role; the path begins and ends with `/`.
#[must_use]
pub fn iam(account: &str, kind: &str, path: &str, name: &str) -> String {
    format!("arn:aws:iam::{account}:{kind}{path}{name}")
}

/// ARN of a role's session: without the role's path.
#[must_use]
pub fn session(account: &str, role: &str, session: &str) -> String {
    format!("arn:aws:sts::{account}:assumed-role/{role}/{session}")
}
