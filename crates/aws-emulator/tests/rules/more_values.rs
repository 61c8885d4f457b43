//! E21 for CAA, DS, HTTPS, MX, NAPTR, PTR, SPF, SRV, SSHFP, SVCB, TLSA ("Supported DNS record types" of the guide).

use truce_aws_emulator::core::record::RecordType;
use truce_aws_emulator::core::values;

use crate::support::*;

/// Each bad value is refused with these words, each good one is allowed.
#[track_caller]
fn values_rule(rtype: &str, bad: &[(&str, &str)], good: &[&str]) {
    for (value, what) in bad {
        let text = match what.strip_prefix("WARNING ") {
            Some(what) => format!("WARNING problem: {what}"),
            None => format!("FATAL problem: {what}"),
        };
        let text = format!("Invalid Resource Record: '{text} encountered with '{value}''");
        let refused = [create(set("x.example.com", rtype, &[value]))];
        let allowed = [create(set("x.example.com", rtype, good))];
        rule(&[], &refused, &batch(&[&text]), &allowed);
    }
}

const QUOTES: &str = "InvalidCharacterString (Value should be enclosed in quotation marks)";

/// The code of the first is quoted by users of the API; RFC 1035, 3.3.9; RFC 7505.
#[test]
fn e21_mx() {
    values_rule(
        "MX",
        &[
            (
                "mail.example.com",
                "MXRRDATANotTwoFields (MX record doesn't have 2 fields)",
            ),
            (
                "65536 mail.example.com",
                "MXRRDATAIllegalPriority (Priority is not a number from 0 to 65535)",
            ),
            (
                "-1 mail.example.com",
                "MXRRDATAIllegalPriority (Priority is not a number from 0 to 65535)",
            ),
        ],
        &["10 mail.example.com", "0 ."],
    );
}

/// service-discovery-ecs-dns issue 23; RFC 2782.
#[test]
fn e21_srv() {
    values_rule(
        "SRV",
        &[
            (
                "1 1 32769 host.a. b.example.",
                "SRVRRDATANotFourFields (SRV record doesn't have 4 fields)",
            ),
            (
                "1 1 x host.example.",
                "SRVRRDATAIllegalPort (Port is not a number from 0 to 65535)",
            ),
        ],
        &["1 10 5269 xmpp.example.com.", "0 0 0 ."],
    );
}

/// RFC 1035, 3.3.12.
#[test]
fn e21_ptr() {
    values_rule(
        "PTR",
        &[("a..example.com", "DomainLabelEmpty (Domain label is empty)")],
        &["host.example.com"],
    );
}

/// SPF format of the guide: as TXT.
#[test]
fn e21_spf() {
    values_rule("SPF", &[("v=spf1 -all", QUOTES)], &["\"v=spf1 ip4:192.0.2.0/24 -all\""]);
}

/// CAA format of the guide; RFC 8659, 4.1.
#[test]
fn e21_caa() {
    values_rule(
        "CAA",
        &[
            (
                "issue \"ca.example.net\"",
                "CAARRDATANotThreeFields (CAA record doesn't have 3 fields)",
            ),
            ("0 issue ca.example.net", QUOTES),
            (
                "256 issue \"ca.example.net\"",
                "CAARRDATAIllegalFlags (Flags are not a number from 0 to 255)",
            ),
            (
                "0 is-sue \"ca.example.net\"",
                "CAARRDATAIllegalTag (Tag is not made of letters and digits)",
            ),
        ],
        &["0 issue \"ca.example.net\"", "128 iodef \"mailto:me@example.com\""],
    );
}

/// external-dns issue 3979; NAPTR format of the guide.
#[test]
fn e21_naptr() {
    values_rule(
        "NAPTR",
        &[
            (
                "1 1 \"U\" \"123\" \"regular\" myentry.example.com",
                "WARNING NAPTRRRDATARegexpAndReplacementError (NAPTR record can have only one field in regexp and replacement)",
            ),
            (
                "1 1 \"U\" \"123\" .",
                "NAPTRRRDATANotSixFields (NAPTR record doesn't have 6 fields)",
            ),
            ("1 1 U \"123\" \"regular\" .", QUOTES),
        ],
        &[
            "100 50 \"u\" \"E2U+sip\" \"!^(\\\\+441632960083)$!sip:\\\\1@example.com!\" .",
            "100 51 \"u\" \"E2U+h323\" \"\" host.example.com",
        ],
    );
}

/// DS format of the guide; RFC 4034, 5.1, RFC 4509 for the length.
#[test]
fn e21_ds() {
    let sha1 = "2BB183AF5F22588179A53B0A98631FAD1A292118";
    let good = format!("60485 5 1 {sha1}");
    let short = format!("60485 5 2 {sha1}");
    values_rule(
        "DS",
        &[
            ("60485 5 1", "DSRRDATANotFourFields (DS record doesn't have 4 fields)"),
            (&short, "DSRRDATAIllegalDigestLength (Digest doesn't have 32 octets)"),
            (
                "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A29211",
                "DSRRDATAIllegalDigest (Digest is not made of pairs of hexadecimal digits)",
            ),
        ],
        &[&good],
    );
}

/// SSHFP format of the guide; RFC 4255, 3.1.
#[test]
fn e21_sshfp() {
    values_rule(
        "SSHFP",
        &[
            ("1 1", "SSHFPRRDATANotThreeFields (SSHFP record doesn't have 3 fields)"),
            (
                "1 1 09F6A01D",
                "SSHFPRRDATAIllegalDigestLength (Digest doesn't have 20 octets)",
            ),
        ],
        &["1 1 09F6A01D2175742B257C6B98B7C72C44C4040683"],
    );
}

/// TLSA format of the guide; RFC 6698, 2.1.
#[test]
fn e21_tlsa() {
    let good = "3 1 1 0D6FCE3320E1C9BDD9A5C3D2B7F5A8B97F0F35B4AEF2B9C4B1F3D5E7A9B1C3D5";
    values_rule(
        "TLSA",
        &[
            ("3 1 1", "TLSARRDATANotFourFields (TLSA record doesn't have 4 fields)"),
            (
                "3 1 1 0D6F",
                "TLSARRDATAIllegalDigestLength (Digest doesn't have 32 octets)",
            ),
            (
                "256 1 0 0D6F",
                "TLSARRDATAIllegalCertificateUsage (CertificateUsage is not a number from 0 to 255)",
            ),
        ],
        &[good],
    );
}

/// HTTPS and SVCB formats of the guide; RFC 9460, 2.1, 2.4.2, 7, 8.
#[test]
fn e21_svcb_and_https() {
    for rtype in ["SVCB", "HTTPS"] {
        let what = |what: &str| format!("{rtype}RRDATAIllegal{what}");
        let parameters = |why: &str| what(&format!("Parameters ({why})"));
        values_rule(
            rtype,
            &[
                ("1", &what("Format (Value is not a priority, a target and parameters)")),
                ("x .", &what("Priority (Priority is not a number from 0 to 65535)")),
                (
                    "0 a.example.com port=1",
                    &parameters("An alias, with priority 0, has no parameters"),
                ),
                ("1 . prot=1", &parameters("'prot' is not a parameter")),
                ("1 . port=65536", &parameters("'port' has no valid value")),
                ("1 . port=1 port=1", &parameters("'port' stands twice")),
                (
                    "1 . mandatory=port",
                    &parameters("'mandatory' names others that are there, 'no-default-alpn' needs 'alpn'"),
                ),
            ],
            &[
                "0 pool.example.com",
                "1 . alpn=\"h2,h3\" port=8443 ipv4hint=192.0.2.1,192.0.2.2",
            ],
        );
    }
}

/// Example of RFC 9460, D.2, figure 7: `16 foo.example.org. ( alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 )`
#[test]
fn svcb_in_wire_form() {
    let value = "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1";
    let wire = values::wire(RecordType::Svcb, value).expect("a good value");
    let expected = b"\x00\x10\x03foo\x07example\x03org\x00\x00\x00\x00\x04\x00\x01\x00\x04\x00\x01\x00\x09\x02h2\x05h3-19\x00\x04\x00\x04\xc0\x00\x02\x01";
    assert_eq!(wire, expected);
}

/// route53.md 1.4, 10.4: values and names compare by meaning.
#[test]
fn values_are_the_same_by_meaning() {
    let given = set("x.example.com", "MX", &["10 Mail.example.com."]);
    let same = set("x.example.com", "MX", &["10  mail.example.com"]);
    rule(
        &[create(given)],
        &[delete(set("x.example.com", "MX", &["11 mail.example.com"]))],
        &batch(&[
            "Tried to delete resource record set [name='x.example.com.', type='MX'] but the values provided do not match the current values",
        ]),
        &[delete(same)],
    );
}
