//! The regions that Route 53's latency routing knows, and the nearest one for those it lacks.
//!
//! Source: the enum ResourceRecordSetRegion of the Route 53 API (botocore 1.44.8 service model). Invariant: a `Region`
//! is always one that Route 53 takes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Regions of Route 53's latency routing, sorted.
const KNOWN: &[&str] = &[
    "af-south-1",
    "ap-east-1",
    "ap-east-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-6",
    "ap-southeast-7",
    "ca-central-1",
    "ca-west-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-central-2",
    "eu-north-1",
    "eu-south-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eusc-de-east-1",
    "il-central-1",
    "me-central-1",
    "me-south-1",
    "mx-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "us-west-1",
    "us-west-2",
];

/// AWS partitions' regions that latency routing lacks, each with the region nearest to it.
const NEAREST: &[(&str, &str)] = &[
    ("us-iso-east-1", "us-east-1"),
    ("us-iso-west-1", "us-west-2"),
    ("us-isob-east-1", "us-east-2"),
    ("eu-isoe-west-1", "eu-west-2"),
    ("us-isob-west-1", "us-west-2"),
    ("us-isof-east-1", "us-east-2"),
    ("us-isof-south-1", "us-east-1"),
];

/// A region that latency records may name: its place among the known ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(u8);

impl Region {
    /// The region itself, or the nearest for one that Route 53 lacks; `None` for a text that is no AWS region.
    pub fn resolve(text: &str) -> Option<Self> {
        Self::known(text).or_else(|| {
            let (_, nearest) = NEAREST.iter().find(|(lacking, _)| *lacking == text)?;
            Self::known(nearest)
        })
    }

    /// The region of that exact name, if Route 53 has it.
    pub fn known(text: &str) -> Option<Self> {
        let at = KNOWN.binary_search(&text).ok()?;
        u8::try_from(at).ok().map(Self)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        KNOWN[usize::from(self.0)]
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Region {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::known(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no region of Route 53")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nearest_region_is_one_that_route_53_takes() {
        assert_eq!(KNOWN.len(), 39);
        assert!(KNOWN.is_sorted(), "regions are looked up by their order");
        for (lacking, nearest) in NEAREST {
            assert!(Region::known(lacking).is_none());
            assert_eq!(Region::resolve(lacking).map(Region::as_str), Some(*nearest));
        }
        assert_eq!(Region::resolve("mars-1"), None);
    }
}
