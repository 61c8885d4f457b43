//! What address a Service publishes, if a public zone may answer with it.
//!
//! Its IPs, if one of them can be used, since an IP needs no other name to resolve; else the first of its names in the
//! order of the text, so that two names do not take turns. What cannot be used is left out beside what can. Invariant: a
//! function of the Service alone. Deliberately absent: since when it does (`usable_address.rs`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use truce_api::Reason;

use crate::event::ServiceSeen;
use crate::reason::Problem;
use crate::value::address::{Address, PLACEHOLDER};
use crate::value::dns_name::DnsName;
use crate::value::elb;
use crate::value::ids::ClusterName;
use crate::world::hostnames::Source;

/// Which source, for messages.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The cluster.
    pub cluster: &'a ClusterName,
    /// The source in it.
    pub source: &'a Source,
}

impl std::fmt::Display for About<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Source::Service { namespace, name } = self.source;
        write!(f, "Service {namespace}/{name} in cluster {}", self.cluster)
    }
}

/// The address that a Service publishes, or why there is none: `SourceNotFound`, `NoAddress`, `AddressUnusable`.
/// `seen` is `None` if there is no such Service.
pub fn address_of(about: About<'_>, seen: Option<&ServiceSeen>) -> Result<Address, Problem> {
    let Some(service) = seen else {
        let text = format!("{about} does not exist; create it, or correct source");
        return Err(Problem::new(Reason::SourceNotFound, text));
    };
    if !service.load_balancer {
        let text = format!("{about} is not of type LoadBalancer; set its spec.type, or name another Service in source");
        return Err(Problem::new(Reason::NoAddress, text));
    }
    if service.ips.is_empty() && service.hostnames.is_empty() {
        let text = format!("{about} has no load-balancer address yet; see its events if that does not change");
        return Err(Problem::new(Reason::NoAddress, text));
    }
    let unusable = |text: String| Problem::new(Reason::AddressUnusable, format!("{about} {text}"));
    if service.internal {
        let text = "asks for an internal load balancer, which cannot serve a public zone; remove its internal or \
                    scheme annotation";
        return Err(unusable(text.to_owned()));
    }
    let public = service.ips.iter().copied().filter(|ip| bad_ip(*ip).is_none());
    if let Some(address) = Address::from_ips(public) {
        return Ok(address);
    }
    let mut names: Vec<_> = service
        .hostnames
        .iter()
        .filter_map(|name| usable_name(name).ok())
        .collect();
    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    if let Some(name) = names.into_iter().next() {
        return Ok(Address::from_name(name, service.dual_stack));
    }
    let ips = service
        .ips
        .iter()
        .filter_map(|ip| Some(format!("{ip} ({})", bad_ip(*ip)?)));
    let names = service.hostnames.iter();
    let names = names.filter_map(|name| Some(format!("{name} ({})", usable_name(name).err()?)));
    let all: Vec<_> = ips.chain(names).take(4).collect();
    let all = all.join(", ");
    Err(unusable(format!(
        "has no address that a public zone can use: {all}; make its load balancer public"
    )))
}

/// Why a public zone must not answer with this address; `None` if it may. The documentation ranges (RFC 5737, RFC 3849)
/// are let through but for the placeholder: nothing routes them, and examples need them.
fn bad_ip(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => bad_v4(ip),
        IpAddr::V6(ip) => bad_v6(ip),
    }
}

fn bad_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let [a, b, ..] = ip.octets();
    match (a, b) {
        _ if ip == PLACEHOLDER => Some("the placeholder"),
        _ if ip.is_private() => Some("private, RFC 1918"),
        _ if ip.is_loopback() => Some("loopback"),
        _ if ip.is_link_local() => Some("link-local"),
        (0, _) => Some("unspecified"),
        (100, 64..=127) => Some("shared behind a carrier's NAT, RFC 6598"),
        (224.., _) => Some("not unicast"),
        _ => None,
    }
}

fn bad_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let [first, ..] = ip.segments();
    match first {
        _ if ip.is_loopback() => Some("loopback"),
        _ if ip.is_unspecified() => Some("unspecified"),
        _ if ip.to_ipv4_mapped().is_some() => Some("an IPv4 address in disguise"),
        0xfc00..=0xfdff => Some("private, RFC 4193"),
        0xfe80..=0xfebf => Some("link-local"),
        0xfec0..=0xfeff => Some("site-local, RFC 3879"),
        0xff00.. => Some("not unicast"),
        _ => None,
    }
}

/// A load balancer's name as a target, or why it cannot be one. `.local`, `.localhost` and `.internal` resolve for
/// nobody outside (RFC 6762; RFC 6761; reserved by ICANN in 2024).
fn usable_name(text: &str) -> Result<DnsName, &'static str> {
    let name = DnsName::parse(text).map_err(|_| "not a host name")?;
    let last = name.labels().next_back().unwrap_or_default();
    if name.is_wildcard() {
        return Err("a wildcard");
    }
    if name.parent().is_none() || matches!(last, "local" | "localhost" | "internal") {
        return Err("a name that resolves only inside");
    }
    let of_aws = [".amazonaws.com", ".amazonaws.com.cn"]
        .iter()
        .any(|end| name.as_str().ends_with(end));
    if of_aws && elb::is_internal(&name) {
        return Err("an internal load balancer");
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(ips: &[&str], hostnames: &[&str]) -> ServiceSeen {
        ServiceSeen {
            namespace: "shop".to_owned(),
            name: "gateway".to_owned(),
            load_balancer: true,
            dual_stack: false,
            internal: false,
            ips: ips.iter().map(|ip| ip.parse().unwrap()).collect(),
            hostnames: hostnames.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn read(seen: Option<&ServiceSeen>) -> Result<Vec<String>, Problem> {
        let cluster = ClusterName::parse("east").unwrap();
        let source = Source::Service {
            namespace: "shop".into(),
            name: "gateway".into(),
        };
        let about = About {
            cluster: &cluster,
            source: &source,
        };
        address_of(about, seen).map(|address| address.display())
    }

    #[test]
    fn ips_come_before_names_and_names_in_their_order() {
        let both = service(&["203.0.113.7", "2001:db8::7"], &["lb.example.net"]);
        assert_eq!(read(Some(&both)).unwrap(), ["203.0.113.7", "2001:db8::7"]);
        let names = [
            "nlb-2.elb.us-east-1.amazonaws.com",
            "ALB-1.us-east-1.elb.amazonaws.com.",
        ];
        let first = ["alb-1.us-east-1.elb.amazonaws.com"];
        assert_eq!(read(Some(&service(&[], &names))).unwrap(), first);
        let turned: Vec<_> = names.into_iter().rev().collect();
        assert_eq!(read(Some(&service(&[], &turned))).unwrap(), first);
    }

    #[test]
    fn what_no_public_zone_can_use_is_refused() {
        let ips = [
            "10.20.3.7",
            "172.16.0.1",
            "192.168.1.1",
            "127.0.0.1",
            "169.254.1.1",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::1",
            "::",
            "fd00::1",
            "fe80::1",
            "ff02::1",
            "::ffff:203.0.113.7",
        ];
        for ip in ips {
            let problem = read(Some(&service(&[ip], &[]))).unwrap_err();
            assert_eq!(problem.reason, Reason::AddressUnusable, "{ip}");
            assert!(problem.message.contains(ip), "{}", problem.message);
        }
        let names = [
            "internal-web-1.us-east-1.elb.amazonaws.com",
            "dualstack.internal-web-1.us-east-1.elb.amazonaws.com",
            "web.default.svc.cluster.local",
            "localhost",
            "*.example.net",
            "not a name",
        ];
        for name in names {
            let problem = read(Some(&service(&[], &[name]))).unwrap_err();
            assert_eq!(problem.reason, Reason::AddressUnusable, "{name}");
            assert!(problem.message.contains(name), "{}", problem.message);
        }
        let mut internal = service(&["203.0.113.7"], &[]);
        internal.internal = true;
        assert_eq!(read(Some(&internal)).unwrap_err().reason, Reason::AddressUnusable);
    }

    #[test]
    fn what_may_be_published_is_let_through() {
        for ip in [
            "203.0.113.7",
            "198.51.100.7",
            "192.0.2.10",
            "172.32.0.1",
            "100.128.0.1",
            "2001:db8::7",
        ] {
            assert_eq!(read(Some(&service(&[ip], &[]))).unwrap(), [ip]);
        }
        // Only AWS begins the names of internal load balancers so.
        assert_eq!(
            read(Some(&service(&[], &["internal-tools.example.net"]))).unwrap(),
            ["internal-tools.example.net"]
        );
        assert_eq!(
            read(Some(&service(&["10.0.0.1", "203.0.113.7"], &[]))).unwrap(),
            ["203.0.113.7"]
        );
        assert_eq!(
            read(Some(&service(&["10.0.0.1"], &["lb.example.net"]))).unwrap(),
            ["lb.example.net"]
        );
    }

    #[test]
    fn a_missing_service_and_one_without_address_are_told_apart() {
        let missing = read(None).unwrap_err();
        assert_eq!(missing.reason, Reason::SourceNotFound);
        assert!(
            missing
                .message
                .starts_with("Service shop/gateway in cluster east does not exist")
        );
        assert_eq!(read(Some(&service(&[], &[]))).unwrap_err().reason, Reason::NoAddress);
        let mut inside = service(&["203.0.113.7"], &[]);
        inside.load_balancer = false;
        let problem = read(Some(&inside)).unwrap_err();
        assert_eq!(problem.reason, Reason::NoAddress);
        assert!(problem.message.contains("not of type LoadBalancer"));
    }
}
