//! EKS and Elastic Load Balancing over HTTP, and the webhook.

use serde_json::{Value, json};
use truce_aws_emulator::Handle;

use crate::support::*;

const WORLD: &str = r#"
clusters:
  - name: east
    region: us-east-1
    endpoint: https://127.0.0.1:6443
    certificateAuthority: "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
    accessEntries: [{principalARN: "arn:aws:iam::111111111111:role/truce", groups: [truce]}]
  - {name: west, region: us-west-2, endpoint: "https://127.0.0.1:6444", certificateAuthority: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="}
loadBalancers:
  k8s-app-0123456789.us-east-1.elb.amazonaws.com: [192.0.2.10]
  internal-k8s-db-1.us-east-1.elb.amazonaws.com: {addresses: [10.0.0.1]}
  k8s-net-abcdef.elb.us-east-1.amazonaws.com: {}
  k8s-other-1.us-east-1.elb.amazonaws.com: {account: "222222222222"}
  k8s-far-1.eu-west-1.elb.amazonaws.com: {}
"#;

async fn get(handle: &Handle, path: &str) -> (u16, String, Value) {
    let (status, head, body) = http(handle.aws(), "GET", path, true, "").await;
    (status, head, serde_json::from_str(&body).expect("JSON"))
}

#[tokio::test]
async fn describe_cluster() {
    let handle = start_with(WORLD).await;
    let (status, head, body) = get(&handle, "/clusters/east").await;
    assert!(
        status == 200 && head.contains("content-type: application/json"),
        "{head}"
    );
    let cluster = &body["cluster"];
    assert_eq!(cluster["arn"], "arn:aws:eks:us-east-1:111111111111:cluster/east");
    assert_eq!(cluster["endpoint"], "https://127.0.0.1:6443");
    assert_eq!(cluster["status"], "ACTIVE");
    assert_eq!(cluster["accessConfig"]["authenticationMode"], "API");
    assert_eq!(
        cluster["certificateAuthority"]["data"],
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
    );
    // eksctl-io/eksctl#715. The region is that of the signature, and west is not in it.
    for name in ["nowhere", "west"] {
        let (status, head, body) = get(&handle, &format!("/clusters/{name}")).await;
        assert_eq!(status, 404);
        assert!(head.contains("x-amzn-errortype: resourcenotfoundexception"), "{head}");
        assert_eq!(body["message"], format!("No cluster found for name: {name}."));
    }
    let (status, _, body) = get(&handle, "/clusters/east/access-entries").await;
    assert_eq!(
        (status, body),
        (200, json!({"accessEntries": ["arn:aws:iam::111111111111:role/truce"]}))
    );
    let entry = "/clusters/east/access-entries/arn%3Aaws%3Aiam%3A%3A111111111111%3Arole%2Ftruce";
    let (status, _, body) = get(&handle, entry).await;
    assert_eq!(status, 200);
    assert_eq!(body["accessEntry"]["kubernetesGroups"], json!(["truce"]));
    let (status, _, _) = http(handle.aws(), "POST", "/clusters", true, "{}").await;
    assert_eq!(status, 404, "what is not known is never a 200");
    let (status, head, _) = http(handle.aws(), "GET", "/clusters/east", false, "").await;
    assert!(
        status == 403 && head.contains("x-amzn-errortype: missingauthenticationtokenexception"),
        "{head}"
    );
}

#[tokio::test]
async fn a_cluster_is_set_while_it_runs() {
    let handle = start_with(WORLD).await;
    let put = async |body: Value| http(handle.aws(), "PUT", "/_emulator/clusters", false, &body.to_string()).await;
    let mut cluster =
        json!({"name": "new", "region": "us-east-1", "endpoint": "https://127.0.0.1:1", "certificateAuthority": "x"});
    let (status, _, body) = put(cluster.clone()).await;
    assert!(
        status == 400 && body.contains("cluster.certificateAuthority: write a PEM certificate"),
        "{body}"
    );
    cluster["certificateAuthority"] = json!("-----BEGIN CERTIFICATE-----\nMA==\n");
    let (status, _, body) = put(cluster.clone()).await;
    assert_eq!(
        (status, body.as_str()),
        (200, r#"{"arn":"arn:aws:eks:us-east-1:111111111111:cluster/new"}"#)
    );
    let (status, _, _) = get(&handle, "/clusters/new").await;
    assert_eq!(status, 200);
    cluster["endpoints"] = json!("x");
    let (status, _, body) = put(cluster).await;
    assert!(status == 400 && body.contains("endpoints"), "{body}");
}

#[tokio::test]
async fn the_webhook_refuses_as_the_authenticator_does() {
    let handle = start_with(WORLD).await;
    let path = "/_emulator/tokenreview/111111111111/us-east-1/east";
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "abc"}});
    let (status, _, body) = http(handle.aws(), "POST", path, false, &review.to_string()).await;
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(status, 403);
    assert_eq!(body["apiVersion"], "authentication.k8s.io/v1");
    assert_eq!(body["status"], json!({"authenticated": false}));
    let journal = handle.journal(0);
    let last = journal.last().expect("an entry");
    assert_eq!(last.action, "TokenReview");
    assert!(last.message.contains("token is missing expected"), "{}", last.message);
    let (status, _, _) = http(handle.aws(), "POST", path, false, "{").await;
    assert_eq!(status, 400);
    let (status, _, _) = http(handle.aws(), "GET", path, false, "").await;
    assert_eq!(status, 405);
    let nowhere = "/_emulator/tokenreview/111111111111/us-east-1/nowhere";
    let (status, _, _) = http(handle.aws(), "POST", nowhere, false, &review.to_string()).await;
    assert_eq!(status, 404);
}

async fn load_balancers(handle: &Handle, query: &str) -> (u16, String) {
    let path = format!("/?Action=DescribeLoadBalancers&Version=2015-12-01{query}");
    let (status, _, body) = http(handle.aws(), "GET", &path, true, "").await;
    (status, body)
}

fn all<'b>(body: &'b str, element: &str) -> Vec<&'b str> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    body.split(&open)
        .skip(1)
        .filter_map(|rest| rest.split(&close).next())
        .collect()
}

#[tokio::test]
async fn describe_load_balancers() {
    let handle = start_with(WORLD).await;
    let (status, body) = load_balancers(&handle, "").await;
    assert_eq!(status, 200);
    // Those of the caller's account in the signature's region.
    assert_eq!(all(&body, "LoadBalancerName"), ["k8s-app", "k8s-db", "k8s-net"]);
    assert_eq!(all(&body, "Type"), ["application", "application", "network"]);
    assert_eq!(all(&body, "Scheme"), ["internet-facing", "internal", "internet-facing"]);
    // AWS General Reference, "Elastic Load Balancing endpoints and quotas".
    assert_eq!(
        all(&body, "CanonicalHostedZoneId"),
        ["Z35SXDOTRQ7X7K", "Z35SXDOTRQ7X7K", "Z26RNL4JYFTOTI"]
    );
    let arn = "arn:aws:elasticloadbalancing:us-east-1:111111111111:loadbalancer/app/k8s-app/0123456789";
    assert_eq!(all(&body, "LoadBalancerArn")[0], arn);

    let (_, first) = load_balancers(&handle, "&PageSize=2").await;
    let marker = all(&first, "NextMarker")[0].to_owned();
    let (_, second) = load_balancers(&handle, &format!("&PageSize=2&Marker={marker}")).await;
    assert_eq!(
        (all(&first, "LoadBalancerName").len(), all(&second, "LoadBalancerName")),
        (2, vec!["k8s-net"])
    );
    let (_, one) = load_balancers(&handle, "&Names.member.1=k8s-net").await;
    assert_eq!(all(&one, "DNSName"), ["k8s-net-abcdef.elb.us-east-1.amazonaws.com"]);
    let (_, one) = load_balancers(&handle, &format!("&LoadBalancerArns.member.1={arn}")).await;
    assert_eq!(all(&one, "LoadBalancerName"), ["k8s-app"]);
}

/// hashicorp/terraform-provider-aws#10669, aws/aws-cli#3673.
#[tokio::test]
async fn load_balancers_that_do_not_exist() {
    let handle = start_with(WORLD).await;
    let missing = "arn:aws:elasticloadbalancing:us-east-1:111111111111:loadbalancer/app/none/1";
    for (query, code, message) in [
        (
            "&Names.member.1=none",
            "LoadBalancerNotFound",
            "Load balancers '[none]' not found",
        ),
        (
            "&LoadBalancerArns.member.1=none",
            "ValidationError",
            "'none' is not a valid load balancer ARN",
        ),
        (
            &format!("&LoadBalancerArns.member.1={missing}"),
            "LoadBalancerNotFound",
            "One or more load balancers not found",
        ),
    ] {
        let (status, body) = load_balancers(&handle, query).await;
        assert_eq!(
            (status, all(&body, "Code"), all(&body, "Message")),
            (400, vec![code], vec![message])
        );
        assert!(
            body.contains("http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"),
            "{body}"
        );
    }
}
