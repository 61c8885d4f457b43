//! An EKS token on a real API server: the AWS double is its TokenReview webhook, the token is presigned by `aws-sigv4`
//! with the credentials of an assumed role, and address and certificate authority come from DescribeCluster.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
use aws_sigv4::sign::v4;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use truce_aws_emulator::identity::cluster::ClusterConfig;
use truce_aws_emulator::{Config, Handle, config, serve};
use truce_e2e::apiserver::ApiServer;
use truce_e2e::etcd::Etcd;
use truce_e2e::kubectl::Kubectl;
use truce_e2e::pki::Authority;
use truce_e2e::tools::Tools;

const ACCOUNTS: &str = r#"
accounts:
  "111111111111":
    users:
      hub:
        accessKeys: {AKIAHUB0000000000000: hub-secret}
        policies: [{Statement: {Effect: Allow, Action: "sts:AssumeRole", Resource: "*"}}]
    roles:
      truce: &role
        path: /truce/
        trust: {Statement: {Effect: Allow, Principal: {AWS: "111111111111"}, Action: "sts:AssumeRole"}}
        policies: [{Statement: {Effect: Allow, Action: "eks:DescribeCluster", Resource: "arn:aws:eks:us-east-1:111111111111:cluster/east"}}]
      stranger: *role
"#;

const REGION: &str = "us-east-1";
const STS: &str = "https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15";

/// A cluster with its double. Fields are dropped in this order.
struct World {
    double: Handle,
    endpoint: String,
    authority: String,
    kubectl: PathBuf,
    admin: Kubectl,
    run: PathBuf,
    _server: ApiServer,
    _etcd: Etcd,
    _dir: tempfile::TempDir,
}

async fn assume(double: &Handle, role: &str) -> Result<Credentials> {
    let settings = aws_sdk_sts::Config::builder()
        .behavior_version(aws_sdk_sts::config::BehaviorVersion::latest())
        .region(aws_sdk_sts::config::Region::new(REGION))
        .endpoint_url(double.endpoint())
        .credentials_provider(Credentials::new(
            "AKIAHUB0000000000000",
            "hub-secret",
            None,
            None,
            "e2e",
        ))
        .build();
    let call = aws_sdk_sts::Client::from_conf(settings)
        .assume_role()
        .role_arn(format!("arn:aws:iam::111111111111:role/truce/{role}"))
        .role_session_name("hub");
    let answer = call.send().await.context("AssumeRole")?;
    let made = answer.credentials().context("credentials")?;
    let token = Some(made.session_token().to_owned());
    Ok(Credentials::new(
        made.access_key_id(),
        made.secret_access_key(),
        token,
        None,
        "e2e",
    ))
}

/// Names and values.
type Pairs = Vec<(String, String)>;

/// Signs a GET and gives what the signer adds: headers and query parameters.
fn signed(
    credentials: &Credentials,
    service: &str,
    url: &str,
    headers: &[(&str, &str)],
    at: SystemTime,
    presign: bool,
) -> Result<(Pairs, Pairs)> {
    let mut settings = SigningSettings::default();
    if presign {
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(Duration::from_secs(60));
    }
    let identity = credentials.clone().into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(REGION)
        .name(service)
        .time(at)
        .settings(settings)
        .build()?
        .into();
    let request = SignableRequest::new("GET", url, headers.iter().copied(), SignableBody::Bytes(&[]))?;
    let (instructions, _) = sign(request, &params)?.into_parts();
    let headers = instructions.headers().map(|(n, v)| (n.to_owned(), v.to_owned()));
    let query = instructions
        .params()
        .iter()
        .map(|(n, v)| ((*n).to_owned(), v.to_string()));
    Ok((headers.collect(), query.collect()))
}

/// The presigned URL inside a token.
fn presigned(credentials: &Credentials, cluster: &str, at: SystemTime) -> Result<String> {
    let (_, query) = signed(credentials, "sts", STS, &[("x-k8s-aws-id", cluster)], at, true)?;
    let pairs: Vec<String> = query
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)))
        .collect();
    Ok(format!("{STS}&{}", pairs.join("&")))
}

fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    let byte = |b: u8| {
        if plain(b) {
            char::from(b).to_string()
        } else {
            format!("%{b:02X}")
        }
    };
    text.bytes().map(byte).collect()
}

fn token(url: &str) -> String {
    format!("k8s-aws-v1.{}", BASE64_URL_SAFE_NO_PAD.encode(url))
}

/// DescribeCluster as its role may call it.
fn describe(double: &Handle, credentials: &Credentials) -> Result<Value> {
    let url = format!("{}/clusters/east", double.endpoint());
    let (headers, _) = signed(credentials, "eks", &url, &[], SystemTime::now(), false)?;
    let mut request = ureq::get(&url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let text = request.call().context("DescribeCluster")?.body_mut().read_to_string()?;
    Ok(serde_json::from_str(&text)?)
}

impl World {
    async fn start(tools: &Tools) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("truce-e2e-").tempdir()?;
        let run = dir.path().to_owned();
        let double = serve(Config {
            file: config::parse(ACCOUNTS)?,
            ..Config::default()
        })
        .await?;
        let webhook = format!("{}/_emulator/tokenreview/111111111111/{REGION}/east", double.endpoint());
        let authority = Authority::new()?;
        let etcd = Etcd::start(&tools.etcd, &run, &run.join("logs"))?;
        let mut server = ApiServer::launch_asking(Some(&webhook), "east", tools, &etcd, &authority, &run)?;
        let cluster: ClusterConfig = serde_json::from_value(json!({
            "name": "east", "region": REGION, "endpoint": server.url, "certificateAuthority": authority.pem(),
            "accessEntries": [{ "principalARN": "arn:aws:iam::111111111111:role/truce/truce", "groups": ["truce"] }],
        }))?;
        double.set_cluster(cluster)?;
        server.ready()?;
        let described = describe(&double, &assume(&double, "truce").await?)?;
        let text = |path: &str| described.pointer(path).and_then(Value::as_str).context(path.to_owned());
        Ok(Self {
            endpoint: text("/cluster/endpoint")?.to_owned(),
            authority: text("/cluster/certificateAuthority/data")?.to_owned(),
            kubectl: tools.kubectl.clone(),
            admin: server.kubectl()?,
            double,
            run,
            _server: server,
            _etcd: etcd,
            _dir: dir,
        })
    }

    /// kubectl with this token.
    fn bearer(&self, token: &str) -> Result<Kubectl> {
        let file = self.run.join("bearer.kubeconfig");
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: east\n\
             clusters:\n- name: east\n  cluster:\n    server: {}\n    certificate-authority-data: {}\n\
             users:\n- name: bearer\n  user:\n    token: {token}\n\
             contexts:\n- name: east\n  context:\n    cluster: east\n    user: bearer\n",
            self.endpoint, self.authority
        );
        fs::write(&file, config)?;
        Ok(Kubectl::new(
            "east",
            &self.kubectl,
            &file,
            Path::new(&self.run.join("cache")),
        ))
    }

    /// The API server lets nobody in with this token, and this is why.
    fn refuses(&self, what: &str, url: &str, why: &str) -> Result<()> {
        let answer = self.bearer(&token(url))?.run(&["get", "namespaces"]);
        let Err(error) = answer else { bail!("{what}: let in") };
        let error = format!("{error:#}");
        ensure!(error.contains("Unauthorized"), "{what}: not a 401, but: {error}");
        let journal = self.double.journal(0);
        let review = journal.iter().rfind(|entry| entry.action == "TokenReview");
        let review = review.with_context(|| format!("{what}: the webhook was not asked"))?;
        ensure!(
            review.status == 403 && review.message.contains(why),
            "{what}: {}",
            review.message
        );
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_takes_the_token_of_a_mapped_role_and_no_other() -> Result<()> {
    let tools = Tools::get()?;
    let world = World::start(&tools).await?;
    let now = SystemTime::now();
    let truce = assume(&world.double, "truce").await?;
    let good = presigned(&truce, "east", now)?;

    let bearer = world.bearer(&token(&good))?;
    let me: Value = serde_json::from_str(&bearer.run(&["auth", "whoami", "-o", "json"])?)?;
    let user = &me["status"]["userInfo"];
    ensure!(
        user["username"] == "arn:aws:sts::111111111111:assumed-role/truce/hub",
        "{user}"
    );
    let groups = user["groups"].as_array().context("groups")?;
    ensure!(
        groups.contains(&json!("truce")) && groups.contains(&json!("system:authenticated")),
        "{user}"
    );

    // Its rights are those of its groups: 403 before there is a binding, not 401.
    let error = bearer
        .run(&["get", "namespaces"])
        .err()
        .context("nothing is bound yet")?;
    ensure!(format!("{error:#}").contains("Forbidden"), "{error:#}");
    world
        .admin
        .run(&["create", "clusterrole", "look", "--verb=list", "--resource=namespaces"])?;
    world.admin.run(&[
        "create",
        "clusterrolebinding",
        "look",
        "--clusterrole=look",
        "--group=truce",
    ])?;
    truce_e2e::wait::until("the binding to count", Duration::from_secs(10), || {
        bearer.run(&["get", "namespaces"]).map(drop)
    })?;

    let long_ago = now - Duration::from_secs(16 * 60);
    world.refuses(
        "expired",
        &presigned(&truce, "east", long_ago)?,
        "is expired (15 minute expiration)",
    )?;
    let west = presigned(&truce, "west", now)?;
    world.refuses("another cluster's", &west, "SignatureDoesNotMatch")?;
    let changed = good.replace("X-Amz-Expires=60", "X-Amz-Expires=61");
    world.refuses("a changed parameter", &changed, "SignatureDoesNotMatch")?;
    let stranger = assume(&world.double, "stranger").await?;
    let unmapped = presigned(&stranger, "east", now)?;
    world.refuses(
        "an unmapped role's",
        &unmapped,
        "ARN is not mapped: arn:aws:iam::111111111111:role/truce/stranger",
    )?;
    let dead = presigned(&truce, "east", now - Duration::from_secs(1))?;
    world.double.expire_sessions(None);
    world.refuses("of a session that is over", &dead, "ExpiredToken")
}
