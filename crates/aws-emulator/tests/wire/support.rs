//! A running double, and clients for it.

use std::net::SocketAddr;

use aws_sdk_route53::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_route53::types::{Change, ChangeAction, ChangeBatch, ResourceRecord, ResourceRecordSet, RrType};
use hickory_proto::op::{Edns, Message, Query};
use hickory_proto::rr::rdata::opt::{ClientSubnet, EdnsOption};
use hickory_proto::rr::{Name, RData, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use truce_aws_emulator::core::shape::{RawAlias, RawChange, RawSet};
use truce_aws_emulator::{Config, Handle, config, serve};

/// The zone that [`start`] makes.
pub(crate) const ZONE: &str = "ZEXAMPLE0001";

/// A double with the zone `example.com`.
pub(crate) async fn start() -> Handle {
    serve(Config::default().with_zone("example.com", Some(ZONE)))
        .await
        .expect("served")
}

/// A double with the configuration of this YAML.
pub(crate) async fn start_with(yaml: &str) -> Handle {
    let config = Config {
        file: config::parse(yaml).expect("YAML"),
        ..Config::default()
    };
    serve(config).await.expect("served")
}

/// A Route 53 client that does not retry.
pub(crate) fn route53(endpoint: &str, access_key: &str) -> aws_sdk_route53::Client {
    let config = aws_sdk_route53::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new(access_key, "secret", None, None, "test"))
        .retry_config(aws_sdk_route53::config::retry::RetryConfig::disabled())
        .build();
    aws_sdk_route53::Client::from_conf(config)
}

/// An STS client.
pub(crate) fn sts(endpoint: &str, access_key: &str) -> aws_sdk_sts::Client {
    let config = aws_sdk_sts::Config::builder()
        .behavior_version(aws_sdk_sts::config::BehaviorVersion::latest())
        .region(aws_sdk_sts::config::Region::new("us-east-1"))
        .endpoint_url(endpoint)
        .credentials_provider(aws_sdk_sts::config::Credentials::new(
            access_key, "secret", None, None, "test",
        ))
        .build();
    aws_sdk_sts::Client::from_conf(config)
}

/// A batch of one action for simple A sets.
pub(crate) fn batch(action: &ChangeAction, sets: &[(String, &str)]) -> ChangeBatch {
    let changes = sets.iter().map(|(name, value)| {
        let record = ResourceRecord::builder().value(*value).build().expect("value");
        let set = ResourceRecordSet::builder()
            .name(name)
            .r#type(RrType::A)
            .ttl(60)
            .resource_records(record);
        let set = set.build().expect("set");
        Change::builder()
            .action(action.clone())
            .resource_record_set(set)
            .build()
            .expect("change")
    });
    ChangeBatch::builder()
        .set_changes(Some(changes.collect()))
        .build()
        .expect("batch")
}

/// A simple set.
pub(crate) fn set(name: &str, rtype: &str, ttl: i64, values: &[&str]) -> RawSet {
    RawSet {
        name: name.to_owned(),
        rtype: rtype.to_owned(),
        ttl: Some(ttl),
        values: Some(values.iter().map(|v| (*v).to_owned()).collect()),
        ..RawSet::default()
    }
}

/// An alias.
pub(crate) fn alias(name: &str, rtype: &str, zone_id: &str, target: &str) -> RawSet {
    RawSet {
        name: name.to_owned(),
        rtype: rtype.to_owned(),
        alias_target: Some(RawAlias {
            hosted_zone_id: zone_id.to_owned(),
            dns_name: target.to_owned(),
            evaluate_target_health: Some(false),
        }),
        ..RawSet::default()
    }
}

/// Creates record sets as a client would.
#[track_caller]
pub(crate) fn create(handle: &Handle, sets: &[RawSet]) {
    change(handle, "CREATE", sets);
}

/// Makes one change of each set.
#[track_caller]
pub(crate) fn change(handle: &Handle, action: &str, sets: &[RawSet]) {
    let changes: Vec<RawChange> = sets
        .iter()
        .map(|set| RawChange {
            action: action.to_owned(),
            record_set: set.clone(),
        })
        .collect();
    if let Err(error) = handle.change("AKIDTEST", ZONE, &changes) {
        panic!("refused: {error}");
    }
}

/// One plain HTTP request over its own connection: status, head, body.
pub(crate) async fn http(
    address: SocketAddr,
    method: &str,
    path: &str,
    signed: bool,
    body: &str,
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let signature = "authorization: AWS4-HMAC-SHA256 Credential=AKIDTEST/20261130/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=0\r\n";
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n{}\r\n{body}",
        body.len(),
        if signed { signature } else { "" },
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
    (status, head.to_lowercase(), body.to_owned())
}

/// A DNS query.
pub(crate) fn query(name: &str, rtype: RecordType) -> Message {
    let mut message = Message::query();
    let mut name = Name::from_labels(name.split('.').map(str::as_bytes)).expect(name);
    name.set_fqdn(true);
    message.add_query(Query::query(name, rtype));
    message
}

/// The same with a client subnet.
pub(crate) fn from_subnet(mut message: Message, network: &str, prefix: u8) -> Message {
    let mut edns = Edns::new();
    edns.options_mut().insert(EdnsOption::Subnet(ClientSubnet::new(
        network.parse().expect("address"),
        prefix,
        0,
    )));
    message.set_edns(edns);
    message
}

/// Sends a query over UDP.
pub(crate) async fn ask(handle: &Handle, message: &Message) -> Message {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("socket");
    socket
        .send_to(&message.to_vec().expect("encoded"), handle.dns())
        .await
        .expect("sent");
    let mut buffer = [0; 4096];
    let length = socket.recv(&mut buffer).await.expect("answered");
    let answer = Message::from_vec(&buffer[..length]).expect("a message");
    assert_eq!(answer.metadata.id, message.metadata.id);
    answer
}

/// Sends a query over TCP.
pub(crate) async fn ask_tcp(handle: &Handle, message: &Message) -> Message {
    let mut stream = TcpStream::connect(handle.dns()).await.expect("connected");
    let bytes = message.to_vec().expect("encoded");
    stream
        .write_u16(u16::try_from(bytes.len()).expect("short"))
        .await
        .expect("sent");
    stream.write_all(&bytes).await.expect("sent");
    let length = stream.read_u16().await.expect("answered");
    let mut buffer = vec![0; usize::from(length)];
    stream.read_exact(&mut buffer).await.expect("answered");
    Message::from_vec(&buffer).expect("a message")
}

/// Answer section as `TTL TYPE DATA`.
pub(crate) fn answers(message: &Message) -> Vec<String> {
    message
        .answers
        .iter()
        .map(|r| format!("{} {} {}", r.ttl, r.record_type(), text(&r.data)))
        .collect()
}

/// The data of every answer to a UDP query for this name and type.
pub(crate) async fn resolve(handle: &Handle, name: &str, rtype: RecordType) -> Vec<String> {
    let answer = ask(handle, &query(name, rtype)).await;
    answer.answers.iter().map(|r| text(&r.data)).collect()
}

fn text(data: &RData) -> String {
    match data {
        RData::TXT(txt) => txt
            .txt_data
            .iter()
            .map(|s| String::from_utf8_lossy(s).into_owned())
            .collect::<Vec<_>>()
            .join("|"),
        other => other.to_string(),
    }
}
