//! The AWS SDK for Rust against the double.

use std::time::{Duration, Instant};

use aws_sdk_route53::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_route53::types::{ChangeAction, ChangeStatus, RrType, TagResourceType};
use truce_aws_emulator::{Config, serve};

use crate::support::*;

#[tokio::test]
async fn create_list_change_wait_delete() {
    let handle = serve(Config {
        insync_ms: 100,
        ..Config::default()
    })
    .await
    .expect("served");
    let client = route53(&handle.endpoint(), "AKIDTEST");

    let created = client
        .create_hosted_zone()
        .name("example.com")
        .caller_reference("1")
        .send()
        .await
        .expect("created");
    let zone = created.hosted_zone.expect("a zone");
    assert_eq!(zone.name, "example.com.");
    assert_eq!(created.delegation_set.expect("public").name_servers.len(), 4);

    let sets = [("app.example.com".to_owned(), "192.0.2.1")];
    let change = client
        .change_resource_record_sets()
        .hosted_zone_id(&zone.id)
        .change_batch(batch(&ChangeAction::Create, &sets));
    let info = change.send().await.expect("changed").change_info.expect("info");
    assert_eq!(info.status, ChangeStatus::Pending);
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = client
            .get_change()
            .id(&info.id)
            .send()
            .await
            .expect("found")
            .change_info
            .expect("info");
        if found.status == ChangeStatus::Insync {
            break;
        }
        assert!(Instant::now() < deadline, "never INSYNC");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    let listed = client
        .list_resource_record_sets()
        .hosted_zone_id(&zone.id)
        .send()
        .await
        .expect("listed");
    let names: Vec<_> = listed
        .resource_record_sets
        .iter()
        .map(|s| (s.name.as_str(), s.r#type.clone()))
        .collect();
    assert_eq!(
        names,
        [
            ("example.com.", RrType::Ns),
            ("example.com.", RrType::Soa),
            ("app.example.com.", RrType::A)
        ]
    );
    let delete = client
        .change_resource_record_sets()
        .hosted_zone_id(&zone.id)
        .change_batch(batch(&ChangeAction::Delete, &sets));
    delete.send().await.expect("deleted");
    let zone = client
        .get_hosted_zone()
        .id(&zone.id)
        .send()
        .await
        .expect("found")
        .hosted_zone
        .expect("a zone");
    assert_eq!(zone.resource_record_set_count, Some(2));
}

#[tokio::test]
async fn errors_have_their_codes_and_texts() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), "AKIDTEST");
    let sets = [
        ("a.example.com".to_owned(), "192.0.2.1"),
        ("b.example.org".to_owned(), "192.0.2.1"),
    ];

    let error = client
        .change_resource_record_sets()
        .hosted_zone_id(ZONE)
        .change_batch(batch(&ChangeAction::Delete, &sets))
        .send()
        .await;
    let SdkError::ServiceError(error) = error.expect_err("refused") else {
        panic!("not a service error")
    };
    assert_eq!(error.raw().status().as_u16(), 400);
    assert!(error.err().is_invalid_change_batch());
    assert_eq!(
        error.err().message(),
        Some(
            "[Tried to delete resource record set [name='a.example.com.', type='A'] but it was not found, RRSet with DNS name b.example.org. is not permitted in zone example.com.]"
        )
    );

    let error = client
        .get_hosted_zone()
        .id("ZNONE")
        .send()
        .await
        .expect_err("unknown")
        .into_service_error();
    assert!(error.is_no_such_hosted_zone());
    assert_eq!(error.message(), Some("No hosted zone found with ID: ZNONE"));
    let error = client
        .get_change()
        .id("C1")
        .send()
        .await
        .expect_err("unknown")
        .into_service_error();
    assert!(error.is_no_such_change());
}

#[tokio::test]
async fn pages_are_walked_with_the_three_part_cursor() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), "AKIDTEST");
    let sets: Vec<_> = (0..650)
        .map(|n| (format!("n{n:03}.example.com"), "192.0.2.1"))
        .collect();
    client
        .change_resource_record_sets()
        .hosted_zone_id(ZONE)
        .change_batch(batch(&ChangeAction::Create, &sets))
        .send()
        .await
        .expect("created");

    let (mut names, mut pages) = (Vec::new(), 0);
    let mut next = client.list_resource_record_sets().hosted_zone_id(ZONE);
    loop {
        let page = next.send().await.expect("a page");
        pages += 1;
        names.extend(page.resource_record_sets.iter().map(|s| s.name.clone()));
        if !page.is_truncated {
            break;
        }
        next = client
            .list_resource_record_sets()
            .hosted_zone_id(ZONE)
            .set_start_record_name(page.next_record_name)
            .set_start_record_type(page.next_record_type)
            .set_start_record_identifier(page.next_record_identifier);
    }
    assert_eq!(pages, 3);
    let expected: Vec<_> = ["example.com.".to_owned(), "example.com.".to_owned()]
        .into_iter()
        .chain((0..650).map(|n| format!("n{n:03}.example.com.")))
        .collect();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn zones_are_listed_by_id_and_by_name() {
    let handle = start_with(
        "zones: [{name: b.com, id: Z1}, {name: a.com, id: Z2}, {name: x.a.com, id: Z3}, {name: a.com, id: Z4}]",
    )
    .await;
    let client = route53(&handle.endpoint(), "AKIDTEST");
    let ids = |zones: &[aws_sdk_route53::types::HostedZone]| zones.iter().map(|z| z.id.clone()).collect::<Vec<_>>();

    let page = client.list_hosted_zones().max_items(3).send().await.expect("listed");
    assert_eq!(
        ids(&page.hosted_zones),
        ["/hostedzone/Z1", "/hostedzone/Z2", "/hostedzone/Z3"]
    );
    let rest = client
        .list_hosted_zones()
        .set_marker(page.next_marker)
        .send()
        .await
        .expect("listed");
    assert_eq!(ids(&rest.hosted_zones), ["/hostedzone/Z4"]);
    assert!(!rest.is_truncated);

    // Starts at the name in reversed order and goes on past it.
    let page = client
        .list_hosted_zones_by_name()
        .dns_name("a.com")
        .max_items(2)
        .send()
        .await
        .expect("listed");
    assert_eq!(ids(&page.hosted_zones), ["/hostedzone/Z2", "/hostedzone/Z4"]);
    let rest = client
        .list_hosted_zones_by_name()
        .set_dns_name(page.next_dns_name)
        .set_hosted_zone_id(page.next_hosted_zone_id)
        .send()
        .await
        .expect("listed");
    assert_eq!(ids(&rest.hosted_zones), ["/hostedzone/Z3", "/hostedzone/Z1"]);

    let tags = client
        .list_tags_for_resources()
        .resource_type(TagResourceType::Hostedzone)
        .resource_ids("Z1")
        .resource_ids("Z2");
    let tags = tags.send().await.expect("listed");
    assert_eq!(tags.resource_tag_sets.len(), 2);
}

#[tokio::test]
async fn clients_are_told_apart_by_access_key() {
    let handle = start_with(
        "{zones: [{name: a.com, id: Z1}, {name: b.com, id: Z2, account: '222222222222'}], accessKeys: {AKIDOTHER: '222222222222'}}",
    )
    .await;
    for (key, account, zone) in [
        ("AKIDONE", "111111111111", "/hostedzone/Z1"),
        ("AKIDOTHER", "222222222222", "/hostedzone/Z2"),
    ] {
        let identity = sts(&handle.endpoint(), key)
            .get_caller_identity()
            .send()
            .await
            .expect("known");
        assert_eq!(identity.account(), Some(account));
        assert_eq!(
            identity.arn(),
            Some(format!("arn:aws:iam::{account}:user/{key}").as_str())
        );
        let zones = route53(&handle.endpoint(), key)
            .list_hosted_zones()
            .send()
            .await
            .expect("listed");
        assert_eq!(
            zones.hosted_zones.iter().map(|z| z.id.as_str()).collect::<Vec<_>>(),
            [zone]
        );
    }
    let denied = route53(&handle.endpoint(), "AKIDONE")
        .get_hosted_zone()
        .id("Z2")
        .send()
        .await
        .expect_err("denied");
    assert_eq!(denied.code(), Some("AccessDenied"));
    let keys: Vec<_> = handle
        .journal(0)
        .iter()
        .map(|e| format!("{} {}", e.access_key, e.action))
        .collect();
    assert_eq!(keys.first().map(String::as_str), Some("AKIDONE GetCallerIdentity"));
    assert_eq!(keys.last().map(String::as_str), Some("AKIDONE GetHostedZone"));
}

#[tokio::test]
async fn what_is_not_served_is_an_error() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), "AKIDTEST");
    let error = client.list_traffic_policies().send().await.expect_err("not served");
    assert_eq!(error.raw_response().map(|r| r.status().as_u16()), Some(404));
    let error = sts(&handle.endpoint(), "AKIDTEST")
        .get_session_token()
        .send()
        .await
        .expect_err("not served");
    assert_eq!(error.code(), Some("InvalidAction"));
}

#[test]
fn the_regions_are_those_of_the_sdk() {
    use truce_aws_emulator::core::regions::REGIONS;
    let mut theirs = aws_sdk_route53::types::ResourceRecordSetRegion::values().to_vec();
    theirs.sort_unstable();
    let ours: Vec<_> = REGIONS.iter().map(|r| r.name).collect();
    assert_eq!(ours, theirs);
}
