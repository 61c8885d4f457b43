//! The calls beside record sets over HTTP, as the AWS SDK makes them; pace and health from outside.

use aws_sdk_route53::error::ProvideErrorMetadata;
use aws_sdk_route53::types::{
    AccountLimitType, CidrCollectionChange, CidrCollectionChangeAction, HealthCheckConfig, HealthCheckType,
    HostedZoneConfig, HostedZoneLimitType, RrType, Tag, TagResourceType, Vpc, VpcRegion,
};
use hickory_proto::rr::RecordType;
use truce_aws_emulator::core::pace::Limits;

use crate::support::*;

const KEY: &str = "AKIDTEST";

#[tokio::test]
async fn a_zone_from_creation_to_deletion() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), KEY);
    let config = HostedZoneConfig::builder().comment("inside").private_zone(true).build();
    let vpc = Vpc::builder()
        .vpc_region(VpcRegion::EuWest1)
        .vpc_id("vpc-0123456789abcdef0")
        .build();
    let made = client
        .create_hosted_zone()
        .name("internal.example.com")
        .caller_reference("once")
        .hosted_zone_config(config)
        .vpc(vpc)
        .send()
        .await
        .expect("created");
    let id = made.hosted_zone().expect("a zone").id().to_owned();
    let got = client.get_hosted_zone().id(&id).send().await.expect("there");
    assert_eq!(got.vpcs()[0].vpc_id(), Some("vpc-0123456789abcdef0"));
    let count = client.get_hosted_zone_count().send().await.expect("counted");
    assert_eq!(count.hosted_zone_count(), 2);
    let limit = client
        .get_hosted_zone_limit()
        .hosted_zone_id(&id)
        .r#type(HostedZoneLimitType::MaxRrsetsByZone);
    let limit = limit.send().await.expect("known");
    assert_eq!((limit.count(), limit.limit().expect("a limit").value()), (2, 10_000));
    let limit = client
        .get_account_limit()
        .r#type(AccountLimitType::MaxHostedZonesByOwner)
        .send()
        .await
        .expect("known");
    assert_eq!(limit.count(), 2);
    let named = client.update_hosted_zone_comment().id(&id).comment("still inside");
    let named = named.send().await.expect("changed");
    let config = named.hosted_zone().and_then(|z| z.config()).expect("a config");
    assert_eq!((config.comment(), config.private_zone()), (Some("still inside"), true));
    let gone = client.delete_hosted_zone().id(&id).send().await.expect("deleted");
    assert!(gone.change_info().is_some());
    let error = client.get_hosted_zone().id(&id).send().await.expect_err("gone");
    assert_eq!(error.code(), Some("NoSuchHostedZone"));
}

#[tokio::test]
async fn tags_come_and_go() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), KEY);
    let tag = |key: &str, value: &str| Tag::builder().key(key).value(value).build();
    let change = || {
        client
            .change_tags_for_resource()
            .resource_type(TagResourceType::Hostedzone)
            .resource_id(ZONE)
    };
    let add = change().add_tags(tag("team", "shop")).add_tags(tag("env", "prod"));
    add.send().await.expect("added");
    let edit = change().add_tags(tag("team", "ops")).remove_tag_keys("env");
    edit.send().await.expect("edited");
    let tags = client
        .list_tags_for_resource()
        .resource_type(TagResourceType::Hostedzone)
        .resource_id(ZONE)
        .send()
        .await
        .expect("listed");
    let tags = tags.resource_tag_set().expect("a set").tags().to_vec();
    assert_eq!(tags, [tag("team", "ops")]);
    let error = client
        .list_tags_for_resource()
        .resource_type(TagResourceType::Healthcheck)
        .resource_id("none")
        .send()
        .await
        .expect_err("no such health check");
    assert_eq!(error.code(), Some("NoSuchHealthCheck"));
}

#[tokio::test]
async fn a_health_check_decides_an_answer() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), KEY);
    let config = HealthCheckConfig::builder()
        .r#type(HealthCheckType::Https)
        .fully_qualified_domain_name("app.example.com")
        .build()
        .expect("a config");
    let made = client
        .create_health_check()
        .caller_reference("once")
        .health_check_config(config)
        .send()
        .await
        .expect("created");
    let check = made.health_check().expect("a check");
    let id = check.id().to_owned();
    let config = check.health_check_config().expect("a config");
    assert_eq!(
        (config.port(), config.request_interval(), config.enable_sni()),
        (Some(443), Some(30), Some(true))
    );
    let mut primary = set("app.example.com", "A", 5, &["192.0.2.1"]);
    primary.set_identifier = Some("p".to_owned());
    primary.failover = Some("PRIMARY".to_owned());
    primary.health_check_id = Some(id.clone());
    let mut secondary = set("app.example.com", "A", 5, &["192.0.2.2"]);
    secondary.set_identifier = Some("s".to_owned());
    secondary.failover = Some("SECONDARY".to_owned());
    create(&handle, &[primary, secondary]);
    assert_eq!(resolve(&handle, "app.example.com", RecordType::A).await, ["192.0.2.1"]);
    let (status, _, _) = http(
        handle.aws(),
        "PUT",
        &format!("/_emulator/health-checks/{id}"),
        false,
        "unhealthy",
    )
    .await;
    assert_eq!(status, 200);
    assert_eq!(resolve(&handle, "app.example.com", RecordType::A).await, ["192.0.2.2"]);
    let status = client
        .get_health_check_status()
        .health_check_id(&id)
        .send()
        .await
        .expect("known");
    let first = status.health_check_observations()[0].status_report().expect("a report");
    assert!(first.status().expect("a status").starts_with("Failure"));
    let test = client
        .test_dns_answer()
        .hosted_zone_id(ZONE)
        .record_name("app.example.com")
        .record_type(RrType::A)
        .send()
        .await
        .expect("answered");
    assert_eq!(
        (test.response_code(), test.record_data()),
        ("NOERROR", &["192.0.2.2".to_owned()][..])
    );
    let update = client
        .update_health_check()
        .health_check_id(&id)
        .disabled(true)
        .health_check_version(1);
    let update = update.send().await.expect("updated");
    assert_eq!(update.health_check().map(|c| c.health_check_version()), Some(2));
    assert_eq!(resolve(&handle, "app.example.com", RecordType::A).await, ["192.0.2.1"]);
    let list = client.list_health_checks().send().await.expect("listed");
    assert_eq!(list.health_checks().len(), 1);
    client
        .delete_health_check()
        .health_check_id(&id)
        .send()
        .await
        .expect("deleted");
    let count = client.get_health_check_count().send().await.expect("counted");
    assert_eq!(count.health_check_count(), 0);
}

#[tokio::test]
async fn cidr_collections() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), KEY);
    let made = client.create_cidr_collection().name("offices").caller_reference("once");
    let made = made.send().await.expect("created");
    let id = made.collection().and_then(|c| c.id()).expect("an id").to_owned();
    let change = |action, network: &str| {
        CidrCollectionChange::builder()
            .location_name("berlin")
            .action(action)
            .cidr_list(network)
            .build()
            .expect("a change")
    };
    let put = client
        .change_cidr_collection()
        .id(&id)
        .collection_version(1)
        .changes(change(CidrCollectionChangeAction::Put, "203.0.113.0/24"));
    put.send().await.expect("changed");
    let blocks = client
        .list_cidr_blocks()
        .collection_id(&id)
        .send()
        .await
        .expect("listed");
    assert_eq!(blocks.cidr_blocks()[0].cidr_block(), Some("203.0.113.0/24"));
    let locations = client
        .list_cidr_locations()
        .collection_id(&id)
        .send()
        .await
        .expect("listed");
    assert_eq!(locations.cidr_locations()[0].location_name(), Some("berlin"));
    let error = client
        .delete_cidr_collection()
        .id(&id)
        .send()
        .await
        .expect_err("not empty");
    assert_eq!(error.code(), Some("CidrCollectionInUseException"));
    let empty = client
        .change_cidr_collection()
        .id(&id)
        .changes(change(CidrCollectionChangeAction::DeleteIfExists, "203.0.113.0/24"));
    empty.send().await.expect("changed");
    client.delete_cidr_collection().id(&id).send().await.expect("deleted");
    let list = client.list_cidr_collections().send().await.expect("listed");
    assert!(list.cidr_collections().is_empty());
}

#[tokio::test]
async fn protections_over_http() {
    let handle = start().await;
    let body = |name: &str| {
        format!(
            "<{name} xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><Protections><ResourceRecordSetProtectionConfig><RecordName>pay.example.com</RecordName><RecordType>A</RecordType><Comment>ask ops</Comment></ResourceRecordSetProtectionConfig></Protections></{name}>"
        )
    };
    let path = format!("/2013-04-01/hostedzone/{ZONE}/rrsetprotection");
    let create = body("CreateResourceRecordSetProtectionsRequest");
    let (status, _, text) = http(handle.aws(), "POST", &path, true, &create).await;
    assert_eq!(status, 200, "{text}");
    let (status, _, text) = http(handle.aws(), "POST", &path, true, &create).await;
    assert_eq!(status, 409, "{text}");
    assert!(
        text.contains("<ProtectionError><RecordName>pay.example.com</RecordName>"),
        "{text}"
    );
    let (status, _, text) = http(handle.aws(), "GET", &path, true, "").await;
    assert_eq!(status, 200);
    assert!(
        text.contains("<RecordName>pay.example.com.</RecordName><RecordType>A</RecordType><Comment>ask ops</Comment>"),
        "{text}"
    );
    let delete = body("DeleteResourceRecordSetProtectionsRequest").replace("<Comment>ask ops</Comment>", "");
    let (status, _, text) = http(handle.aws(), "POST", &format!("{path}/delete"), true, &delete).await;
    assert_eq!(status, 200, "{text}");
}

#[tokio::test]
async fn throttling_by_a_clock_that_the_test_moves() {
    let handle = start().await;
    handle.hold_clock(Some(1_000_000));
    handle.with_core(|core| core.pace.limits = Limits::aws());
    let client = route53(&handle.endpoint(), KEY);
    for _ in 0..50 {
        client.get_hosted_zone_count().send().await.expect("within the burst");
    }
    let error = client.get_hosted_zone_count().send().await.expect_err("over the burst");
    assert_eq!(
        (error.code(), error.message()),
        (Some("Throttling"), Some("Rate exceeded"))
    );
    assert_eq!(error.raw_response().map(|r| r.status().as_u16()), Some(400));
    handle.hold_clock(Some(1_000_100));
    client.get_hosted_zone_count().send().await.expect("one token is back");
}

#[tokio::test]
async fn every_type_in_dns_messages() {
    let handle = start().await;
    // What an independent reader makes of the bytes.
    for (rtype, value, wire, text) in [
        ("MX", "10 mail.example.com", RecordType::MX, "10 mail.example.com."),
        (
            "SRV",
            "1 2 3 host.example.com",
            RecordType::SRV,
            "1 2 3 host.example.com.",
        ),
        ("PTR", "host.example.com", RecordType::PTR, "host.example.com."),
        (
            "CAA",
            "0 issue \"ca.example.net\"",
            RecordType::CAA,
            "0 issue \"ca.example.net\"",
        ),
        (
            "NAPTR",
            "1 2 \"u\" \"E2U\" \"\" host.example.com",
            RecordType::NAPTR,
            "1 2 \"u\" \"E2U\" \"\" host.example.com.",
        ),
        (
            "SSHFP",
            "1 1 09F6A01D2175742B257C6B98B7C72C44C4040683",
            RecordType::SSHFP,
            "1 1 09F6A01D2175742B257C6B98B7C72C44C4040683",
        ),
        ("TLSA", "3 1 0 0a0b", RecordType::TLSA, "3 1 0 0a0b"),
        (
            "HTTPS",
            "1 . alpn=\"h2\" port=8443",
            RecordType::HTTPS,
            "1 . alpn=h2, port=8443 ",
        ),
    ] {
        create(&handle, &[set("x.example.com", rtype, 5, &[value])]);
        let found = resolve(&handle, "x.example.com", wire).await;
        let plain = |t: &str| t.replace([' ', ',', '"'], "").to_lowercase();
        assert_eq!(
            found.iter().map(|f| plain(f)).collect::<Vec<_>>(),
            [plain(text)],
            "{rtype}"
        );
    }
}
