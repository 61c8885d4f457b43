//! What a cluster weighs for a hostname, and who drains it.
//!
//! Invariant: all who drain it are named, each with its reason, since ending one of them does not end the others.
//! A cluster weighs 0 when anybody drains it, else what the hostname says, else what its MemberCluster says.
//! Deliberately absent: when a drain is safe (`drained.rs`), whether it may happen (`last_serving.rs`).

use std::collections::BTreeMap;
use std::fmt;

use crate::time::{Mono, Now, Wall};
use crate::value::ids::ClusterName;
use crate::world::drains::Drain;
use crate::world::hostnames::HostnameSpec;

/// One who drains a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drainer {
    /// The hostname's `weights` say 0.
    HostnameWeight(ClusterName),
    /// The hostname's `drain` names it.
    HostnameDrain {
        /// The cluster.
        cluster: ClusterName,
        /// Why.
        reason: String,
    },
    /// The MemberCluster's own weight is 0.
    MemberWeight(ClusterName),
    /// A ClusterDrain names it.
    ClusterDrain {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
        /// Until when.
        expires_at: Option<Wall>,
    },
}

impl fmt::Display for Drainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostnameWeight(cluster) => write!(f, "weights.{cluster} is 0"),
            Self::HostnameDrain { cluster, reason } => write!(f, "drain.{cluster}: {reason}"),
            Self::MemberWeight(cluster) => write!(f, "the weight of MemberCluster {cluster} is 0"),
            Self::ClusterDrain {
                name,
                reason,
                expires_at: None,
            } => write!(f, "ClusterDrain {name}: {reason}"),
            Self::ClusterDrain {
                name,
                reason,
                expires_at: Some(end),
            } => write!(f, "ClusterDrain {name} until {end}: {reason}"),
        }
    }
}

/// What a cluster weighs for a hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weight {
    /// As asked for and as status shows it: 0 while anybody drains it.
    pub asked: u8,
    /// What it weighs once nobody drains it, 1 to 255: the hostname's weight above 0, else the MemberCluster's, else 1.
    pub undrained: u8,
    /// All who drain it, sorted; empty: nobody.
    pub drainers: Vec<Drainer>,
    /// When the next ClusterDrain of it stops counting.
    pub wake: Option<Mono>,
}

impl Weight {
    /// Who drains it and why, in one line; `None` if nobody does.
    pub fn words(&self) -> Option<String> {
        let all: Vec<_> = self.drainers.iter().map(ToString::to_string).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// What `cluster` weighs for the hostname. `member` is the weight of its MemberCluster, if there is a valid one.
pub fn weight(
    cluster: &ClusterName,
    spec: &HostnameSpec,
    member: Option<u8>,
    drains: &BTreeMap<String, Drain>,
    now: Now,
) -> Weight {
    let own = spec.weights.get(cluster).copied();
    let live: Vec<_> = drains
        .iter()
        .filter(|(_, drain)| drain.cluster.as_ref() == Some(cluster) && is_live(drain, now.wall))
        .collect();
    let mut drainers = Vec::new();
    if own == Some(0) {
        drainers.push(Drainer::HostnameWeight(cluster.clone()));
    }
    if let Some(reason) = spec.drains.get(cluster) {
        drainers.push(Drainer::HostnameDrain {
            cluster: cluster.clone(),
            reason: reason.clone(),
        });
    }
    if member == Some(0) {
        drainers.push(Drainer::MemberWeight(cluster.clone()));
    }
    drainers.extend(live.iter().map(|(name, drain)| Drainer::ClusterDrain {
        name: (*name).clone(),
        reason: drain.reason.clone(),
        expires_at: drain.expires_at,
    }));
    let above_zero = |weight: &u8| *weight > 0;
    let undrained = own.filter(above_zero).or(member.filter(above_zero)).unwrap_or(1);
    Weight {
        asked: if drainers.is_empty() { undrained } else { 0 },
        undrained,
        drainers,
        wake: live
            .iter()
            .filter_map(|(_, drain)| drain.expires_at)
            .min()
            .map(|end| now.mono_at(end)),
    }
}

/// Whether a ClusterDrain counts. In whole milliseconds, as `Now::mono_at` has them: at its wake it has expired.
pub fn is_live(drain: &Drain, now: Wall) -> bool {
    let over = |end: Wall| end.as_millisecond() <= now.as_millisecond();
    !drain.deleting && !drain.expires_at.is_some_and(over)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::intake;

    fn east() -> ClusterName {
        ClusterName::parse("east").unwrap()
    }

    fn now() -> Now {
        Now {
            mono: Mono(1_000),
            wall: "2026-12-01T05:59:00Z".parse().unwrap(),
        }
    }

    fn spec(weights: Value, drain: Value) -> HostnameSpec {
        let object = json!({
            "apiVersion": "dns.truce.dev/v1alpha1", "kind": "GlobalHostname",
            "metadata": {"name": "app", "namespace": "shop"},
            "spec": {"hostname": "app.example.com", "source": {"service": {"name": "gateway"}},
                     "clusterSelector": {}, "weights": weights, "drain": drain},
        });
        let read = intake::hostname::hostname(&serde_json::from_value(object).unwrap());
        std::sync::Arc::unwrap_or_clone(read.spec.unwrap())
    }

    fn drains(all: &[(&str, &str, Option<&str>)]) -> BTreeMap<String, Drain> {
        let read = all.iter().map(|(name, cluster, end)| {
            let object = json!({
                "apiVersion": "dns.truce.dev/v1alpha1", "kind": "ClusterDrain", "metadata": {"name": name},
                "spec": {"cluster": cluster, "reason": "CHG-123", "expiresAt": end},
            });
            let drain = intake::drain::drain(&serde_json::from_value(object).unwrap());
            ((*name).to_owned(), drain)
        });
        read.collect()
    }

    fn weigh(weights: Value, drain: Value, member: u8, all: &[(&str, &str, Option<&str>)]) -> Weight {
        weight(&east(), &spec(weights, drain), Some(member), &drains(all), now())
    }

    #[test]
    fn the_hostnames_weight_then_the_members() {
        let found = weigh(json!({"east": 7, "west": 0}), json!({}), 100, &[]);
        assert_eq!((found.asked, found.undrained, found.words()), (7, 7, None));
        assert_eq!(weigh(json!({}), json!({}), 100, &[]).asked, 100);
    }

    #[test]
    fn each_of_the_four_drains_alone() {
        let hostname = weigh(json!({"east": 0}), json!({}), 100, &[]);
        assert_eq!(hostname.words().unwrap(), "weights.east is 0");
        let reason = weigh(json!({"east": 7}), json!({"east": "kernel upgrade"}), 100, &[]);
        assert_eq!(reason.words().unwrap(), "drain.east: kernel upgrade");
        // A weight of the hostname does not lift the drain of the whole cluster.
        let member = weigh(json!({"east": 7}), json!({}), 0, &[]);
        assert_eq!(member.words().unwrap(), "the weight of MemberCluster east is 0");
        let wish = weigh(json!({"east": 7}), json!({}), 100, &[("upgrade", "east", None)]);
        assert_eq!(wish.words().unwrap(), "ClusterDrain upgrade: CHG-123");
        for (found, undrained) in [(hostname, 100), (reason, 7), (member, 7), (wish, 7)] {
            assert_eq!((found.asked, found.undrained), (0, undrained));
        }
    }

    #[test]
    fn all_who_drain_are_named() {
        let found = weigh(
            json!({"east": 0}),
            json!({"east": "why"}),
            0,
            &[("a", "east", None), ("b", "east", None), ("c", "west", None)],
        );
        assert_eq!(found.undrained, 1);
        assert_eq!(
            found.words().unwrap(),
            "weights.east is 0; drain.east: why; the weight of MemberCluster east is 0; ClusterDrain a: CHG-123; \
             ClusterDrain b: CHG-123"
        );
    }

    #[test]
    fn an_expired_or_deleted_cluster_drain_does_not_count() {
        let end = Some("2026-12-01T06:00:00Z");
        let past = Some("2026-12-01T05:59:00Z");
        let found = weigh(json!({}), json!({}), 100, &[("a", "east", end), ("b", "east", past)]);
        assert_eq!(
            found.words().unwrap(),
            "ClusterDrain a until 2026-12-01T06:00:00Z: CHG-123"
        );
        assert_eq!(found.wake, Some(Mono(61_000)));
        let mut deleted = drains(&[("a", "east", None)]);
        deleted.values_mut().for_each(|drain| drain.deleting = true);
        let found = weight(&east(), &spec(json!({}), json!({})), Some(100), &deleted, now());
        assert_eq!((found.asked, found.wake), (100, None));
    }

    #[test]
    fn a_drain_has_expired_when_its_wake_comes() {
        let mut all = drains(&[("a", "east", Some("2026-12-01T06:00:00Z"))]);
        all.values_mut().for_each(|drain| {
            drain.expires_at = Some("2026-12-01T06:00:00.0009Z".parse().unwrap());
        });
        let found = weight(&east(), &spec(json!({}), json!({})), Some(100), &all, now());
        let later = found.wake.unwrap();
        let then = Now {
            mono: later,
            wall: now().wall + (later - now().mono),
        };
        assert_eq!(then.mono - now().mono, Duration::from_secs(60));
        assert_eq!(
            weight(&east(), &spec(json!({}), json!({})), Some(100), &all, then).asked,
            100
        );
    }
}
