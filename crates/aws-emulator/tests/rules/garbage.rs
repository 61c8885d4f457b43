//! Whatever is sent: an answer, never a crash; and a value that is let in is one that another reader of DNS understands.

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::NULL;
use hickory_proto::rr::{Name as WireName, RData, Record, RecordType as WireType};
use proptest::prelude::*;
use truce_aws_emulator::api::xml;
use truce_aws_emulator::core::names::Name;
use truce_aws_emulator::core::record::RecordType;
use truce_aws_emulator::core::values;

/// What values of some type are made of.
const PARTS: [&str; 28] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "10",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    ".",
    "a.example.com",
    "A.example.com.",
    "\"\"",
    "\"issue\"",
    "issue",
    "\"a b\"",
    "\"u\"",
    "alpn=h2,h3",
    "port=8443",
    "no-default-alpn",
    "mandatory=port",
    "ipv4hint=192.0.2.1",
    "key7=x",
    "ech=AAAA",
    "2BB183AF5F22588179A53B0A98631FAD1A292118",
    "0a0b",
];

fn a_type() -> impl Strategy<Value = RecordType> {
    prop::sample::select(&RecordType::ALL[..])
}

/// A message with one record of these bytes, read again.
fn read_again(rtype: RecordType, wire: Vec<u8>) -> Result<Message, String> {
    let data = RData::Unknown {
        code: WireType::Unknown(rtype.number()),
        rdata: NULL::with(wire),
    };
    let mut message = Message::query();
    message.add_answer(Record::from_rdata(WireName::root(), 5, data));
    let bytes = message.to_vec().map_err(|e| e.to_string())?;
    Message::from_vec(&bytes).map_err(|e| e.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_that_are_let_in_are_understood(
        rtype in a_type(),
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 1..7),
    ) {
        // The other reader knows tags of 15 octets at most (RFC 6844); RFC 8659 has no such limit.
        prop_assume!(rtype != RecordType::Caa || parts.iter().all(|part| part.len() <= 15));
        let value = parts.join(" ");
        if let Ok(wire) = values::wire(rtype, &value) {
            let read = read_again(rtype, wire);
            prop_assert!(read.is_ok(), "{rtype} {value}: {read:?}");
        }
    }

    #[test]
    fn any_value(rtype in a_type(), value in any::<String>()) {
        let _ = values::canonical(rtype, &value);
    }

    #[test]
    fn any_name(text in any::<String>()) {
        if let Ok(name) = Name::parse(&text) {
            // A name is its own spelling, and its place in the order is its own.
            prop_assert_eq!(Name::parse(name.as_str()), Ok(name.clone()));
            prop_assert_eq!(Name::from_order(&name.order()), name);
        }
    }

    #[test]
    fn any_document(text in "[<>/a-c =\"&;!\\[\\]-]{0,80}") {
        let _ = xml::parse(text.as_bytes());
    }
}
