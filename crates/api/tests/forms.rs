//! How objects look as JSON: statuses as merge patches, and the samples read into the types.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::{fs, path::Path};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use truce_api::{
    ClusterDrain, ClusterDrainStatus, ClusterStatus, DNSZone, DNSZoneStatus, ExternalDNSPolicy, GlobalHostname,
    GlobalHostnameStatus, MemberCluster, MemberClusterStatus, Policy,
};

fn sample<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../config/samples")
        .join(file);
    serde_saphyr::from_multiple(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What is absent must erase what stood there before; only a null does that in a merge patch (RFC 7396).
#[test]
fn absent_fields_of_a_status_are_written_as_null() {
    let default = [
        serde_json::to_value(GlobalHostnameStatus::default()).unwrap(),
        serde_json::to_value(MemberClusterStatus::default()).unwrap(),
        serde_json::to_value(ClusterDrainStatus::default()).unwrap(),
        serde_json::to_value(DNSZoneStatus::default()).unwrap(),
    ];
    for (status, crd) in default
        .iter()
        .zip(["globalhostname", "membercluster", "clusterdrain", "dnszone"])
    {
        let all = truce_api::crds();
        let crd = all
            .iter()
            .find(|c| c.spec.names.singular.as_deref() == Some(crd))
            .unwrap();
        let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
        let fields = &schema["openAPIV3Schema"]["properties"]["status"]["properties"];
        let fields: Vec<_> = fields.as_object().unwrap().keys().collect();
        assert_eq!(status.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
        assert!(
            status
                .as_object()
                .unwrap()
                .values()
                .all(|v| *v == Value::Null || *v == json!([]))
        );
    }
}

#[test]
fn absent_fields_of_a_list_item_are_left_out() {
    let east = ClusterStatus {
        name: "east".to_owned(),
        ..ClusterStatus::default()
    };
    assert_eq!(serde_json::to_value(east).unwrap(), json!({"name": "east"}));
}

#[test]
fn samples_are_read_with_the_defaults_of_the_schema() {
    let hostname = &sample::<GlobalHostname>("globalhostname.yaml")[0].spec;
    assert_eq!(
        (hostname.ttl, hostname.placeholder, hostname.cluster_hostname.as_str()),
        (60, true, "{name}-{cluster}")
    );
    assert_eq!(
        (hostname.routing.policy, hostname.routing.evaluate_target_health),
        (Policy::Auto, true)
    );

    let members = sample::<MemberCluster>("memberclusters.yaml");
    let east = &members[0].spec;
    assert_eq!((members.len(), east.weight, east.standby), (2, 100, false));
    let external_dns = &east.external_dns[0];
    assert_eq!(external_dns.policy, ExternalDNSPolicy::UpsertOnly);
    assert_eq!(
        (external_dns.namespace.as_str(), external_dns.interval.as_str()),
        ("truce-system", "1m")
    );
    assert_eq!(east.access.kubeconfig.as_ref().unwrap().secret_ref.key, "value");

    let zone = &sample::<DNSZone>("dnszone.yaml")[0].spec;
    assert_eq!(
        (
            zone.limits.requests_per_second,
            zone.limits.record_sets,
            zone.guard.max_withdraw_percent
        ),
        (5, 9500, 50)
    );
    assert_eq!(sample::<ClusterDrain>("clusterdrain.yaml")[0].spec.cluster, "east");
}
