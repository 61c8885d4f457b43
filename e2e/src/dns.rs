//! A resolver's questions, over UDP, with an EDNS client subnet where the answer depends on where the client is.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::str::FromStr as _;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hickory_proto::op::{Edns, Message, Query, ResponseCode};
use hickory_proto::rr::rdata::opt::{ClientSubnet, EdnsOption};
use hickory_proto::rr::{Name, RecordType};

/// How long one question waits for its answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// A resolver that asks one server.
#[derive(Debug, Clone, Copy)]
pub struct Resolver {
    /// The server.
    pub server: SocketAddr,
    /// Where the client is, if it says so.
    pub subnet: Option<IpAddr>,
}

impl Resolver {
    /// A resolver that says nothing about its client.
    #[must_use]
    pub fn new(server: SocketAddr) -> Self {
        Self { server, subnet: None }
    }

    /// The same for a client at `ip`.
    #[must_use]
    pub fn from_client(self, ip: IpAddr) -> Self {
        Self {
            subnet: Some(ip),
            ..self
        }
    }

    /// Asks for `name` and returns the data of the answers of that type, as text; none if there is no such record.
    ///
    /// # Errors
    /// If no well-formed answer comes in time, or its code is neither NOERROR nor NXDOMAIN.
    pub fn ask(&self, name: &str, kind: RecordType) -> Result<BTreeSet<String>> {
        let mut question = Message::query();
        question.add_query(Query::query(Name::from_str(name).context("the asked name")?, kind));
        if let Some(ip) = self.subnet {
            let bits = if ip.is_ipv4() { 24 } else { 56 };
            let mut edns = Edns::new();
            edns.set_max_payload(1232);
            edns.options_mut()
                .insert(EdnsOption::Subnet(ClientSubnet::new(ip, bits, 0)));
            question.set_edns(edns);
        }
        let socket = UdpSocket::bind(("127.0.0.1", 0)).context("open a UDP socket")?;
        socket.set_read_timeout(Some(TIMEOUT)).context("set the timeout")?;
        socket
            .send_to(&question.to_vec()?, self.server)
            .context("send the question")?;
        let mut buffer = [0_u8; 4096];
        let (size, _) = socket
            .recv_from(&mut buffer)
            .with_context(|| format!("no answer for {name} {kind}"))?;
        let answer = Message::from_vec(&buffer[..size]).context("parse the answer")?;
        ensure!(
            answer.metadata.id == question.metadata.id,
            "an answer to another question"
        );
        match answer.metadata.response_code {
            ResponseCode::NoError | ResponseCode::NXDomain => {}
            code => bail!("{name} {kind}: {code}"),
        }
        Ok(answer
            .answers
            .iter()
            .filter(|record| record.record_type() == kind)
            .map(|record| record.data.to_string())
            .collect())
    }

    /// The IPv4 addresses of `name`.
    ///
    /// # Errors
    /// As [`Resolver::ask`].
    pub fn a(&self, name: &str) -> Result<BTreeSet<String>> {
        self.ask(name, RecordType::A)
    }
}
