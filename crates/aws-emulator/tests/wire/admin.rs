//! The double's own pages, which tests of other crates read.

use serde_json::Value;

use crate::support::*;

async fn page(handle: &truce_aws_emulator::Handle, path: &str) -> Value {
    let (status, _, body) = http(handle.aws(), "GET", &format!("/_emulator/{path}"), false, "").await;
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).expect("JSON")
}

#[tokio::test]
async fn the_journal_has_every_request() {
    let handle = start().await;
    let client = route53(&handle.endpoint(), "AKIDONE");
    client.list_hosted_zones().send().await.expect("listed");
    let sets = [("a.example.com".to_owned(), "192.0.2.1")];
    let send = |action| {
        client
            .change_resource_record_sets()
            .hosted_zone_id(ZONE)
            .change_batch(batch(&action, &sets))
            .send()
    };
    send(aws_sdk_route53::types::ChangeAction::Create)
        .await
        .expect("created");
    send(aws_sdk_route53::types::ChangeAction::Create)
        .await
        .expect_err("exists");

    let journal = page(&handle, "journal").await;
    let entries = journal.as_array().expect("a list");
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0]["action"], "ListHostedZones");
    let change = &entries[1];
    assert_eq!(change["accessKey"], "AKIDONE");
    assert_eq!(change["zone"], ZONE);
    assert_eq!(change["code"], "OK");
    assert_eq!(change["version"], 2);
    assert_eq!(change["changes"][0]["action"], "CREATE");
    assert_eq!(change["changes"][0]["recordSet"]["name"], "a.example.com");
    assert_eq!(entries[2]["code"], "InvalidChangeBatch");
    assert!(
        entries[2]["message"]
            .as_str()
            .is_some_and(|m| m.ends_with("but it already exists]"))
    );

    assert_eq!(page(&handle, "journal?since=2").await.as_array().map(Vec::len), Some(1));
    let counts = page(&handle, "requests").await;
    assert_eq!(counts["AKIDONE"]["ChangeResourceRecordSets"]["OK"], 1);
    assert_eq!(counts["AKIDONE"]["ChangeResourceRecordSets"]["InvalidChangeBatch"], 1);
}

#[tokio::test]
async fn zones_and_their_versions() {
    let handle = start().await;
    create(
        &handle,
        &[
            set("b.example.com", "A", 60, &["192.0.2.1"]),
            set("a.example.com", "A", 60, &["192.0.2.1"]),
        ],
    );
    change(&handle, "UPSERT", &[set("a.example.com", "A", 60, &["192.0.2.2"])]);
    let zone = page(&handle, &format!("zones/{ZONE}")).await;
    assert_eq!(zone["version"], 3);
    let names: Vec<_> = zone["recordSets"]
        .as_array()
        .expect("sets")
        .iter()
        .map(|s| s["name"].clone())
        .collect();
    assert_eq!(
        names,
        ["example.com.", "example.com.", "a.example.com.", "b.example.com."]
    );

    let versions = page(&handle, &format!("zones/{ZONE}/versions?since=1")).await;
    assert_eq!(versions.as_array().map(Vec::len), Some(2));
    assert_eq!(versions[0]["added"].as_array().map(Vec::len), Some(2));
    assert_eq!(versions[1]["removed"][0]["values"][0], "192.0.2.1");
    assert_eq!(versions[1]["added"][0]["values"][0], "192.0.2.2");
    assert_eq!(page(&handle, "zones").await[0]["id"], ZONE);
}

#[tokio::test]
async fn the_time_to_insync_can_be_set() {
    let handle = start().await;
    let (status, _, body) = http(handle.aws(), "POST", "/_emulator/insync-ms", false, "3600000").await;
    assert_eq!((status, body.as_str()), (200, "{\"insyncMs\":3600000}"));
    create(&handle, &[set("a.example.com", "A", 60, &["192.0.2.1"])]);
    let answer = ask(&handle, &query("a.example.com", hickory_proto::rr::RecordType::A)).await;
    assert!(answer.answers.is_empty());
    let (status, _, body) = http(handle.aws(), "POST", "/_emulator/insync-ms", false, "soon").await;
    assert_eq!(status, 400);
    assert!(body.contains("'soon' is not a number of milliseconds"), "{body}");
}

#[tokio::test]
async fn an_unknown_page_lists_those_there_are() {
    let handle = start().await;
    let (status, _, body) = http(handle.aws(), "GET", "/_emulator/zone", false, "").await;
    assert_eq!(status, 404);
    assert!(body.contains("GET zones/ID/versions?since=N"), "{body}");
}
