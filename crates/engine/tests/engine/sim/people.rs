//! What people do in the small world: objects applied, annotated and deleted; and what they then see.

use serde_json::{Value, json};
use truce_engine::time::Wall;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::record::{RecordData, RecordSet, Routing};

use super::member::member_spec;
use super::{ObjectKey, Sim};

impl Sim {
    /// Creates or replaces the spec of an object, as `kubectl apply` does.
    pub(crate) fn apply(&mut self, kind: &str, namespace: &str, name: &str, spec: Value) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.created += 1;
        let created = Wall::from_second(1_700_000_000 + self.created).unwrap().to_string();
        let object = self.objects.entry(key.clone()).or_insert_with(|| {
            json!({"apiVersion": "dns.truce.dev/v1alpha1", "kind": kind, "metadata": {
                "name": name, "namespace": namespace, "uid": format!("uid-{name}"), "generation": 0,
                "creationTimestamp": created, "labels": {}}, "status": null})
        });
        if object["spec"] != spec {
            object["spec"] = spec;
            object["metadata"]["generation"] = json!(object["metadata"]["generation"].as_i64().unwrap() + 1);
        }
        self.echo(&key);
    }

    /// Merge-patches the spec of an object.
    pub(crate) fn patch(&mut self, kind: &str, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let mut spec = self.objects[&key]["spec"].clone();
        change(&mut spec);
        self.apply(kind, namespace, name, spec);
    }

    /// Sets an annotation.
    pub(crate) fn annotate(&mut self, kind: &str, namespace: &str, name: &str, annotation: &str, value: &str) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        self.annotations(&key, json!({annotation: value}));
    }

    /// Sets an object's annotations, if it exists.
    pub(crate) fn annotations(&mut self, key: &ObjectKey, annotations: Value) {
        if let Some(object) = self.objects.get_mut(key) {
            object["metadata"]["annotations"] = annotations;
            self.echo(key);
        }
    }

    /// Deletes an object; it stays while it has finalizers.
    pub(crate) fn delete(&mut self, kind: &str, namespace: &str, name: &str) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let object = self.objects.get_mut(&key).unwrap();
        object["metadata"]["deletionTimestamp"] = json!("2027-01-01T00:00:00Z");
        let generation = object["metadata"]["generation"].as_i64().unwrap();
        object["metadata"]["generation"] = json!(generation + 1);
        self.collect(&key);
    }

    pub(crate) fn exists(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.objects
            .contains_key(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
    }

    /// A DNSZone for example.com that lets the namespace shop declare everything.
    pub(crate) fn zone_object(&mut self) {
        let spec = json!({"domain": "example.com", "hostedZoneID": "Z1", "accountID": "111111111111",
            "claims": [{"namespaces": ["shop"], "hostnames": ["*.example.com"]}],
            "limits": {"requestsPerSecond": 1000, "changesPerSecond": 100000}});
        self.apply("DNSZone", "", "example-com", spec);
    }

    /// A GlobalHostname shop/app for app.example.com over these clusters.
    pub(crate) fn app(&mut self, clusters: &[&str]) {
        let clusters: Vec<Value> = clusters.iter().map(|name| json!({"name": name})).collect();
        let spec = json!({"hostname": "app.example.com", "ttl": 5, "source": {"service": {"name": "gateway"}}, "clusters": clusters});
        self.apply("GlobalHostname", "shop", "app", spec);
    }

    /// The MemberCluster of a cluster that still runs is created anew, without ExternalDNS' help if it had none.
    pub(crate) fn member_back(&mut self, name: &str, region: &str) {
        let external_dns = self.members[name].external_dns.clone();
        let spec = member_spec(
            name,
            region,
            external_dns.as_ref().map(|(owner, sync)| (owner.as_str(), *sync)),
        );
        self.apply("MemberCluster", "", name, spec);
    }

    /// The zone in lines: name, type, routing, answer. The fence is left out.
    pub(crate) fn lines(&self) -> Vec<String> {
        let fence = |set: &&RecordSet| !set.name.as_str().starts_with("_truce-hub-");
        self.zone.sets.values().filter(fence).map(line).collect()
    }

    /// The lines of one name.
    pub(crate) fn at(&self, name: &str) -> Vec<String> {
        self.zone.at(&RecordName::listed(name)).iter().map(line).collect()
    }

    pub(crate) fn status(&self) -> Value {
        let key = ("GlobalHostname".to_owned(), "shop".to_owned(), "app".to_owned());
        self.objects
            .get(&key)
            .map_or(Value::Null, |object| object["status"].clone())
    }

    /// `Status/Reason` of a condition.
    pub(crate) fn condition(&self, kind: &str, namespace: &str, name: &str, type_: &str) -> String {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let Some(object) = self.objects.get(&key) else {
            return "gone".to_owned();
        };
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|condition| condition["type"] == type_);
        found.map_or("none".to_owned(), |c| {
            format!("{}/{}", c["status"].as_str().unwrap(), c["reason"].as_str().unwrap())
        })
    }

    /// The state of a cluster in the status of shop/app.
    pub(crate) fn state(&self, cluster: &str) -> String {
        let status = self.status();
        let clusters = status["clusters"].as_array().cloned().unwrap_or_default();
        let found = clusters.iter().find(|c| c["name"] == cluster);
        found
            .and_then(|c| c["state"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

fn line(set: &RecordSet) -> String {
    let routing = match &set.routing {
        Routing::Simple => String::new(),
        Routing::Weighted { id, weight } => format!(" [{id} w{weight}]"),
        Routing::Latency { id, region } => format!(" [{id} {region}]"),
        Routing::Failover { id, role } => format!(" [{id} {role:?}]"),
        Routing::Foreign { id } => format!(" [{id} ?]"),
    };
    let answer = match &set.data {
        RecordData::Values { ttl, values } => format!("{} ttl {ttl}", values.join(" ")),
        RecordData::Alias { target, .. } => format!("alias {target}"),
        RecordData::Opaque => "?".to_owned(),
    };
    format!("{} {}{routing} {answer}", set.name, set.record_type)
}
