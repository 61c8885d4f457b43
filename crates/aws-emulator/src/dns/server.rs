//! The DNS front: messages in and out over UDP and TCP on one port.
//!
//! Deliberately absent: recursion, zone transfers, DNSSEC; they are refused.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_proto::op::{Edns, Header, HeaderCounts, MessageType, Metadata, OpCode, ResponseCode};
use hickory_proto::rr::rdata::opt::{ClientSubnet, EdnsCode, EdnsOption};
use hickory_proto::rr::rdata::{self, NULL, TXT};
use hickory_proto::rr::{self, RData, RecordType as WireType};
use hickory_server::Server;
use hickory_server::net::runtime::Time;
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use tokio::net::{TcpListener, UdpSocket};

use super::answer::{Answer, Kind, Rdata, Record, Resolver};
use crate::core::names::Name;
use crate::core::record::RecordType;
use crate::emulator::Emulator;

/// A TCP connection without a query for this long is closed.
const TCP_TIMEOUT: Duration = Duration::from_secs(10);
/// Answers that may wait on one TCP connection.
const TCP_BUFFER: usize = 64;
/// Largest UDP answer offered to clients with EDNS, in bytes (DNS flag day 2020).
const MAX_PAYLOAD: u16 = 1232;
/// Tries to find a port that is free for both UDP and TCP.
const BIND_TRIES: usize = 50;

/// Binds UDP and TCP to one address and starts answering.
pub(crate) async fn start(
    emulator: Arc<Emulator>,
    address: SocketAddr,
) -> std::io::Result<(SocketAddr, Server<Front>)> {
    let (udp, tcp) = bind(address).await?;
    let address = udp.local_addr()?;
    let mut server = Server::new(Front { emulator });
    server.register_socket(udp);
    server.register_listener(tcp, TCP_TIMEOUT, TCP_BUFFER);
    Ok((address, server))
}

async fn bind(address: SocketAddr) -> std::io::Result<(UdpSocket, TcpListener)> {
    let mut tries = 0;
    loop {
        tries += 1;
        let udp = UdpSocket::bind(address).await?;
        match TcpListener::bind(udp.local_addr()?).await {
            Ok(tcp) => return Ok((udp, tcp)),
            // A port chosen for UDP may be taken for TCP; a port that was asked for is an error at once.
            Err(error) if address.port() != 0 || tries >= BIND_TRIES => return Err(error),
            Err(_) => {}
        }
    }
}

/// Answers requests from the double's state.
pub(crate) struct Front {
    emulator: Arc<Emulator>,
}

#[async_trait::async_trait]
impl RequestHandler for Front {
    async fn handle_request<R: ResponseHandler, T: Time>(&self, request: &Request, mut handle: R) -> ResponseInfo {
        let mut metadata = Metadata::response_from_request(&request.metadata);
        let subnet = client_subnet(request);
        let edns = request.edns.as_ref().map(|_| answer_edns(subnet));
        let question = question(request);
        let answer = match &question {
            Ok((name, rtype)) => {
                let address = subnet.map(|s| s.addr());
                self.answer(name, *rtype, address, request.src().ip())
            }
            Err(code) => {
                metadata.response_code = *code;
                Answer {
                    kind: Kind::Refused,
                    answers: Vec::new(),
                    authority: Vec::new(),
                }
            }
        };
        if question.is_ok() {
            metadata.authoritative = matches!(answer.kind, Kind::Found | Kind::NoSuchName);
            metadata.response_code = match answer.kind {
                Kind::Found | Kind::Referral => ResponseCode::NoError,
                Kind::NoSuchName => ResponseCode::NXDomain,
                Kind::Refused => ResponseCode::Refused,
            };
        }
        let answers: Vec<rr::Record> = answer.answers.iter().filter_map(wire_record).collect();
        let authority: Vec<rr::Record> = answer.authority.iter().filter_map(wire_record).collect();
        let (soa, ns): (Vec<_>, Vec<_>) = authority.iter().partition(|r| r.record_type() == WireType::SOA);
        let mut builder = MessageResponseBuilder::from_message_request(request);
        if let Some(edns) = &edns {
            builder.edns(edns);
        }
        let response = builder.build(metadata, &answers, ns, soa, []);
        match handle.send_response(response).await {
            Ok(info) => info,
            Err(error) => {
                tracing::warn!(%error, client = %request.src(), "Sending a DNS answer failed");
                ResponseInfo::from(Header {
                    metadata,
                    counts: HeaderCounts::default(),
                })
            }
        }
    }
}

impl Front {
    fn answer(&self, name: &Name, rtype: Option<RecordType>, subnet: Option<IpAddr>, source: IpAddr) -> Answer {
        let mut inner = self.emulator.lock();
        let now_ms = self.emulator.now_ms();
        for zone in inner.service.zones_mut() {
            zone.advance(now_ms);
        }
        let mut draws = inner.draws;
        let answer = Resolver {
            service: &inner.service,
            load_balancers: &self.emulator.load_balancers,
            client: self.emulator.clients.client(subnet, source),
            draw: |below: u64| {
                draws = draws.wrapping_add(1);
                spread(draws) % below.max(1)
            },
        }
        .answer(name, rtype);
        inner.draws = draws;
        answer
    }
}

/// SplitMix64's output function: successive inputs give numbers that look random and repeat with the seed.
pub(crate) fn spread(input: u64) -> u64 {
    let mut z = input.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The one question of a request that is a query.
fn question(request: &Request) -> Result<(Name, Option<RecordType>), ResponseCode> {
    if request.metadata.message_type != MessageType::Query || request.metadata.op_code != OpCode::Query {
        return Err(ResponseCode::NotImp);
    }
    let info = request.request_info().map_err(|_| ResponseCode::FormErr)?;
    let rtype = match info.query.query_type() {
        WireType::ANY | WireType::AXFR | WireType::IXFR => return Err(ResponseCode::NotImp),
        other => RecordType::from_number(other.into()),
    };
    let name = Name::from_wire_labels(info.query.original().name().iter()).map_err(|_| ResponseCode::Refused)?;
    Ok((name, rtype))
}

fn client_subnet(request: &Request) -> Option<ClientSubnet> {
    match request.edns.as_ref()?.option(EdnsCode::Subnet)? {
        EdnsOption::Subnet(subnet) => Some(*subnet),
        _ => None,
    }
}

/// EDNS of the answer; a client subnet comes back with its own prefix as scope (RFC 7871).
fn answer_edns(subnet: Option<ClientSubnet>) -> Edns {
    let mut edns = Edns::new();
    edns.set_max_payload(MAX_PAYLOAD);
    if let Some(mut subnet) = subnet {
        subnet.set_scope_prefix(subnet.source_prefix());
        edns.options_mut().insert(EdnsOption::Subnet(subnet));
    }
    edns
}

fn wire_name(name: &Name) -> Option<rr::Name> {
    let labels = name.wire_labels();
    let mut wire = rr::Name::from_labels(labels.iter().map(Vec::as_slice)).ok()?;
    wire.set_fqdn(true);
    Some(wire)
}

fn wire_record(record: &Record) -> Option<rr::Record> {
    let data = match &record.data {
        Rdata::Address(IpAddr::V4(ip)) => RData::A(rdata::A(*ip)),
        Rdata::Address(IpAddr::V6(ip)) => RData::AAAA(rdata::AAAA(*ip)),
        Rdata::Cname(name) => RData::CNAME(rdata::CNAME(wire_name(name)?)),
        Rdata::Ns(name) => RData::NS(rdata::NS(wire_name(name)?)),
        Rdata::Txt(strings) => RData::TXT(TXT::from_bytes(strings.iter().map(Vec::as_slice).collect())),
        Rdata::Other { rtype, wire, .. } => RData::Unknown {
            code: WireType::Unknown(rtype.number()),
            rdata: NULL::with(wire.clone()),
        },
        Rdata::Soa(soa) => {
            let [serial, refresh, retry, expire, minimum] = soa.numbers;
            let signed = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
            RData::SOA(rdata::SOA::new(
                wire_name(&soa.mname)?,
                wire_name(&soa.rname)?,
                serial,
                signed(refresh),
                signed(retry),
                signed(expire),
                minimum,
            ))
        }
    };
    Some(rr::Record::from_rdata(wire_name(&record.name)?, record.ttl, data))
}
