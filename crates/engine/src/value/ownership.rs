//! Texts in the zone that say whose a name is: Truce's claim, Truce's fence, ExternalDNS's ownership TXT.
//!
//! Invariant: what is written is read back as the same value. Deliberately absent: under which name an ownership TXT
//! stands, which depends on the member's version and flags (`rule/dialect.rs`).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::ids::{HostnameKey, HubId};

/// TTL of claims, of ownership TXTs (ExternalDNS provider/aws/aws.go: always 300) and of the fence record, in seconds.
pub const TXT_TTL: u32 = 300;

/// Truce's claim of a shared name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClaimText {
    /// The hub that holds it.
    pub hub: HubId,
    /// The object it holds it for.
    pub hostname: HostnameKey,
    /// Digests of the sets of simple routing that it covers: they carry no identifier, and whatever else somebody puts
    /// under the name is theirs.
    pub simple: BTreeSet<String>,
}

impl ClaimText {
    /// As a TXT value, quotes included.
    pub fn write(&self) -> String {
        let Self { hub, hostname, simple } = self;
        let simple: Vec<&str> = simple.iter().map(String::as_str).collect();
        let simple = match simple.is_empty() {
            true => String::new(),
            false => format!(",truce/simple={}", simple.join("+")),
        };
        format!("\"heritage=truce,truce/owner={hub},truce/resource=globalhostname/{hostname}{simple}\"")
    }

    /// From a TXT value; `None` if it is not a claim.
    pub fn read(value: &str) -> Option<Self> {
        let tokens = Tokens::of(value, "truce")?;
        let (namespace, name) = tokens
            .get("resource")?
            .strip_prefix("globalhostname/")?
            .split_once('/')?;
        let hub = HubId::parse(tokens.get("owner")?).ok()?;
        Some(Self {
            hub,
            hostname: HostnameKey::new(namespace, name),
            simple: tokens
                .get("simple")
                .map(|digests| digests.split('+').map(str::to_owned).collect())
                .unwrap_or_default(),
        })
    }
}

/// ExternalDNS's ownership of one record (endpoint/labels.go, version 0.22).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OwnershipText {
    /// `--txt-owner-id` of the writer.
    pub owner: String,
    /// The object it was made from, e.g. `crd/<namespace>/<name>`; optional when reading.
    pub resource: Option<String>,
    /// Whether it holds labels beyond these two, which rewriting would lose.
    pub other_labels: bool,
}

impl OwnershipText {
    /// Byte for byte what ExternalDNS writes for this owner and DNSEndpoint: heritage first, then the labels sorted.
    pub fn write(owner: &str, resource: &str) -> String {
        format!("\"heritage=external-dns,external-dns/owner={owner},external-dns/resource={resource}\"")
    }

    /// From a TXT value; `None` if ExternalDNS would take it for an ordinary TXT record.
    pub fn read(value: &str) -> Option<Self> {
        let tokens = Tokens::of(value, "external-dns")?;
        Some(Self {
            owner: tokens.get("owner").unwrap_or_default().to_owned(),
            resource: tokens.get("resource").map(str::to_owned),
            other_labels: tokens.0.iter().any(|(key, _)| *key != "owner" && *key != "resource"),
        })
    }
}

/// The hub's fence record (DESIGN.md, section 2): which process of which hub applied its batch last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FenceText {
    /// UID of the hub's kube-system namespace.
    pub instance: String,
    /// Leader term: raised by every process that starts to write.
    pub term: u64,
    /// Number of the batch within the term.
    pub batch: u64,
}

impl FenceText {
    /// As a TXT value, quotes included.
    pub fn write(&self, hub: &HubId) -> String {
        let Self { instance, term, batch } = self;
        format!("\"heritage=truce,truce/owner={hub},truce/instance={instance},truce/term={term},truce/batch={batch}\"")
    }

    /// From a TXT value; `None` if it is not the fence of `hub`.
    pub fn read(value: &str, hub: &HubId) -> Option<Self> {
        let tokens = Tokens::of(value, "truce")?;
        (tokens.get("owner")? == hub.as_str()).then_some(())?;
        Some(Self {
            instance: tokens.get("instance")?.to_owned(),
            term: tokens.get("term")?.parse().ok()?,
            batch: tokens.get("batch")?.parse().ok()?,
        })
    }
}

/// `key=value` pairs of one heritage, in any order, the heritage's prefix taken off.
struct Tokens<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Tokens<'a> {
    fn of(value: &'a str, heritage: &str) -> Option<Self> {
        let inner = value.trim_matches('"');
        let pairs: Vec<_> = inner.split(',').filter_map(|token| token.split_once('=')).collect();
        pairs
            .iter()
            .any(|(key, value)| *key == "heritage" && *value == heritage)
            .then_some(())?;
        let own = |(key, value): (&'a str, &'a str)| Some((key.strip_prefix(heritage)?.strip_prefix('/')?, value));
        Some(Self(pairs.into_iter().filter_map(own).collect()))
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ownership_txt_is_byte_for_byte_what_externaldns_writes() {
        let text = OwnershipText::write("ed-east", "crd/truce-system/truce-demo-0123456789abcdef");
        let expected = "\"heritage=external-dns,external-dns/owner=ed-east,\
                        external-dns/resource=crd/truce-system/truce-demo-0123456789abcdef\"";
        assert_eq!(text, expected);
    }

    #[test]
    fn ownership_is_read_in_any_order_and_with_arns() {
        let owner = "arn:aws:eks:us-east-1:222222222222:cluster/prod";
        let text = format!("\"external-dns/owner={owner},heritage=external-dns\"");
        let read = OwnershipText::read(&text).unwrap();
        assert_eq!(
            (read.owner.as_str(), read.resource, read.other_labels),
            (owner, None, false)
        );
        assert_eq!(OwnershipText::read("\"v=spf1 -all\""), None);
        assert_eq!(OwnershipText::read("\"heritage=truce,truce/owner=a\""), None);
    }

    #[test]
    fn claims_and_fences_read_back() {
        let hub = HubId::parse("prod").unwrap();
        let claim = ClaimText {
            hub: hub.clone(),
            hostname: HostnameKey::new("shop", "app"),
            simple: BTreeSet::new(),
        };
        let text = claim.write();
        assert_eq!(
            text,
            "\"heritage=truce,truce/owner=prod,truce/resource=globalhostname/shop/app\""
        );
        assert_eq!(ClaimText::read(&text), Some(claim.clone()));
        let simple = ["0123456789abcdef", "fedcba9876543210"].map(str::to_owned);
        let claim = ClaimText {
            simple: simple.into(),
            ..claim
        };
        assert!(
            claim
                .write()
                .ends_with(",truce/simple=0123456789abcdef+fedcba9876543210\"")
        );
        assert_eq!(ClaimText::read(&claim.write()), Some(claim));
        let fence = FenceText {
            instance: "0a-1b".to_owned(),
            term: 3,
            batch: 41,
        };
        assert_eq!(FenceText::read(&fence.write(&hub), &hub), Some(fence.clone()));
        assert_eq!(
            FenceText::read(&fence.write(&hub), &HubId::parse("other").unwrap()),
            None
        );
    }
}
