//! TestDNSAnswer: what DNS would answer from one public zone (the API reference of TestDNSAnswer).

use std::net::{IpAddr, Ipv4Addr};

use crate::core::error::ApiError;
use crate::core::names::Name;
use crate::core::record::RecordType;
use crate::dns::answer::{Kind, Resolver};
use crate::dns::server::spread;

use super::Reply;
use super::requests::{NAMESPACE, not_in_list};
use super::route53::Context;
use super::xml::Writer;

/// Runs the call; the answer is that of a client in EDNS0ClientSubnetIP, else of the resolver.
pub(crate) fn run(context: &mut Context<'_>) -> Result<Reply, ApiError> {
    let parameter = |name: &str| context.query.get(name).map(String::as_str);
    let missing = |name: &str| ApiError::invalid_input(format!("The parameter {name} is missing."));
    let id = parameter("hostedzoneid")
        .ok_or_else(|| missing("hostedzoneid"))?
        .trim_start_matches("/hostedzone/");
    let text = parameter("recordname").ok_or_else(|| missing("recordname"))?;
    let rtype = parameter("recordtype").ok_or_else(|| missing("recordtype"))?;
    let name = Name::parse(text).map_err(|e| ApiError::invalid_input(e.to_string()))?;
    let rtype = RecordType::from_api(rtype).ok_or_else(|| {
        let all = RecordType::ALL.map(RecordType::as_str).join(", ");
        not_in_list(rtype, &format!("[{all}]"))
    })?;
    let resolver = address(parameter("resolverip"))?;
    let subnet = address(parameter("edns0clientsubnetip"))?;
    context.note.zone = Some(id.to_owned());
    context.service.zone_of(context.caller, id)?;
    for zone in context.service.zones_mut().filter(|zone| zone.id == id) {
        zone.advance(context.now_ms);
    }
    let zone = context.service.zone_of(context.caller, id)?;
    if zone.private || !name.is_within(&zone.name) {
        return Err(ApiError::invalid_input(format!(
            "The record {name} is not one of a public hosted zone with ID: {id}"
        )));
    }
    let mut draws = *context.draws;
    let answer = Resolver {
        service: context.service,
        load_balancers: &context.emulator.load_balancers,
        client: context
            .emulator
            .clients
            .client(subnet, resolver.unwrap_or(Ipv4Addr::LOCALHOST.into())),
        draw: |below: u64| {
            draws = draws.wrapping_add(1);
            spread(draws) % below.max(1)
        },
    }
    .answer_in(zone, &name, rtype);
    let code = match answer.kind {
        Kind::Found | Kind::Referral => "NOERROR",
        Kind::NoSuchName => "NXDOMAIN",
        Kind::Refused => "REFUSED",
    };
    let server = zone.name_servers.first().map_or("", String::as_str);
    let body = Writer::document("TestDNSAnswerResponse", NAMESPACE, |w| {
        w.leaf("Nameserver", server);
        w.leaf("RecordName", name.as_str());
        w.leaf("RecordType", rtype.as_str());
        w.nest("RecordData", |w| {
            for record in &answer.answers {
                w.leaf("RecordDataEntry", &record.data.to_string());
            }
        });
        w.leaf("ResponseCode", code);
        w.leaf("Protocol", "UDP");
    });
    *context.draws = draws;
    Ok(Reply::ok(body))
}

fn address(text: Option<&str>) -> Result<Option<IpAddr>, ApiError> {
    let parse = |text: &str| {
        text.parse()
            .map_err(|_| ApiError::invalid_input(format!("{text} is not an IP address.")))
    };
    text.map(parse).transpose()
}
