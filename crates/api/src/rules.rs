//! What a single field may hold: CEL rules with a sentence for the person who wrote the manifest, and bounds.
//!
//! Invariant: every message says what to write instead, and every list, map and string has a bound, because the API
//! server refuses a schema whose rules could cost too much. Deliberately absent: rules over several fields, which
//! stand on the struct they belong to.

use kube_core::Rule;
use schemars::{Schema, json_schema};
use serde_json::{Value, json};

/// Longest DNS name in text form, with a trailing dot (RFC 1035 2.3.4: 255 octets on the wire).
pub(crate) const NAME_MAX: u64 = 254;

/// How CEL spells a DNS name in one way: lower case, no trailing dot.
macro_rules! one_spelling {
    ($name:literal) => {
        concat!(
            "(",
            $name,
            ".endsWith('.') ? ",
            $name,
            ".substring(0, ",
            $name,
            ".size() - 1) : ",
            $name,
            ").lowerAscii()"
        )
    };
}

/// A field that keeps its value. `way_out` says what to do instead of changing it.
pub(crate) fn immutable(way_out: &str) -> Rule {
    Rule::new("self == oldSelf").message(way_out)
}

/// A DNS name that stays the same name; another case or a trailing dot is no change.
pub(crate) fn immutable_name(way_out: &str) -> Rule {
    Rule::new(concat!(one_spelling!("self"), " == ", one_spelling!("oldSelf"))).message(way_out)
}

/// Letters, digits and inner hyphens between single dots. The wildcard counts as a letter here: where it may stand
/// is [`wildcard`]'s to say, so that one mistake gets one message.
pub(crate) fn name_characters() -> Rule {
    Rule::new("self.matches('^([A-Za-z0-9*]([A-Za-z0-9*-]*[A-Za-z0-9*])?([.]|$))+$')")
    .message(
        "not a legal DNS name: write labels of letters, digits and inner hyphens with single dots between them, such as \
         app.example.com; write other scripts in their xn-- form",
    )
}

/// At most 63 octets a label and 253 a name (RFC 1035 2.3.4).
pub(crate) fn name_lengths() -> Rule {
    Rule::new(r"!self.matches('[^.]{64}') && (self.size() <= 253 || self.endsWith('.'))").message(
        "too long for DNS: write a name of at most 253 characters whose labels (the parts between dots) have at most 63",
    )
}

/// A wildcard is the whole leftmost label, and there is more behind it.
pub(crate) fn wildcard() -> Rule {
    Rule::new(r"!self.contains('*') || self.matches('^[*][.][^*]+$')").message(
        "a wildcard is the whole leftmost label: write *.example.com, not app-*.example.com or app.*.example.com",
    )
}

/// No wildcard at all.
pub(crate) fn no_wildcard() -> Rule {
    Rule::new("!self.contains('*')").message("a zone's domain has no wildcard: write example.com")
}

/// The name of a member cluster: one DNS label.
pub(crate) fn cluster_name() -> Rule {
    Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message(
        "not the name of a MemberCluster: write one DNS label of at most 40 characters (a-z, 0-9, inner hyphens), such as east",
    )
}

/// The name of a Kubernetes object or namespace that is one DNS label.
pub(crate) fn label() -> Rule {
    Rule::new("self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')")
        .message("not a Kubernetes name: write at most 63 of a-z, 0-9 and inner hyphens")
}

/// The name of a Kubernetes object that may hold dots.
pub(crate) fn object_name() -> Rule {
    Rule::new("self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')")
        .message("not a Kubernetes name: write at most 253 of a-z, 0-9, inner hyphens and dots")
}

/// A duration of 1 second to 24 hours.
pub(crate) fn interval() -> Rule {
    Rule::new(
        "self.matches('^([0-9]{1,5}(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",
    )
    .message("write a duration from 1s to 24h in h, m, s and ms, such as 30s, 1m or 1h30m")
}

/// A duration of 0 to 24 hours.
pub(crate) fn cache_time() -> Rule {
    Rule::new("self.matches('^([0-9]{1,5}(ms|s|m|h))+$') && duration(self) <= duration('24h')")
        .message("write a duration from 0s to 24h in h, m, s and ms, such as 0s, 30s or 1h30m")
}

/// The schema of a string of `1..=max` characters with rules, for items of lists.
fn string(max: u64, rules: &[Rule]) -> Value {
    let mut schema = json!({"type": "string", "minLength": 1, "maxLength": max});
    if !rules.is_empty() {
        schema["x-kubernetes-validations"] = json!(rules);
    }
    schema
}

/// Items are DNS names, a leading wildcard allowed.
pub(crate) fn items_are_names(list: &mut Schema) {
    list.insert(
        "items".into(),
        string(NAME_MAX, &[name_characters(), name_lengths(), wildcard()]),
    );
}

/// Items are namespaces.
pub(crate) fn items_are_namespaces(list: &mut Schema) {
    list.insert("items".into(), string(63, &[label()]));
}

/// Items are names of Kubernetes objects.
pub(crate) fn items_are_objects(list: &mut Schema) {
    list.insert("items".into(), string(253, &[object_name()]));
}

/// Items are short texts.
pub(crate) fn items_are_texts(list: &mut Schema) {
    list.insert("items".into(), string(NAME_MAX, &[]));
}

/// A map from cluster to weight: at most 100 keys, each value a Route 53 weight.
pub(crate) fn map_of_weights(map: &mut Schema) {
    map.insert("maxProperties".into(), json!(100));
    map.insert(
        "additionalProperties".into(),
        json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 255}),
    );
}

/// A map from cluster to reason: at most 100 keys, each value 1 to 256 characters.
pub(crate) fn map_of_reasons(map: &mut Schema) {
    map.insert("maxProperties".into(), json!(100));
    map.insert("additionalProperties".into(), string(256, &[]));
}

/// A map of labels, bounded as Kubernetes bounds a label's value.
pub(crate) fn map_of_labels(map: &mut Schema) {
    map.insert("maxProperties".into(), json!(32));
    map.insert(
        "additionalProperties".into(),
        json!({"type": "string", "maxLength": 63}),
    );
}

/// A label selector as Kubernetes has it, with bounds.
pub(crate) fn selector(_: &mut schemars::SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "matchLabels": {
                "type": "object",
                "maxProperties": 32,
                "additionalProperties": {"type": "string", "maxLength": 63},
            },
            "matchExpressions": {
                "type": "array",
                "maxItems": 32,
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": {"type": "string", "minLength": 1, "maxLength": 317},
                        "operator": {"type": "string", "enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
                        "values": {
                            "type": "array",
                            "maxItems": 64,
                            "x-kubernetes-list-type": "atomic",
                            "items": {"type": "string", "maxLength": 63},
                        },
                    },
                },
            },
        },
    })
}
