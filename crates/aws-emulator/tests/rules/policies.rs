//! Geolocation, geoproximity, multivalue and IP-based sets, and the types that policies take (route53.md 1.2, 1.5; the
//! API reference of ResourceRecordSet).

use truce_aws_emulator::core::cidr::BlockChange;
use truce_aws_emulator::core::error::Code;
use truce_aws_emulator::core::shape::{RawCoordinates, RawGeoproximity};

use crate::support::*;

fn app() -> truce_aws_emulator::core::shape::RawSet {
    a("app.example.com", "192.0.2.1")
}

/// cert-manager issue 5388.
#[test]
fn multivalue_beside_another_policy() {
    rule(
        &[create(app().weight("a", 1))],
        &[create(app().multivalue("b"))],
        &batch(&[
            "RRSet with DNS name app.example.com., type A, SetIdentifier b cannot be created because a non multivalue answer rrset exists with the same name and type.",
        ]),
        &[
            delete(app().weight("a", 1)),
            create(app().multivalue("b")),
            create(app().multivalue("c")),
        ],
    );
}

/// API reference: You can't create multivalue answer alias records.
#[test]
fn multivalue_is_no_alias() {
    let target = alias("app.example.com", "A", ZONE, "t.example.com");
    rule(
        &[create(a("t.example.com", "192.0.2.1"))],
        &[create(target.clone().multivalue("a"))],
        &batch(&["RRSet of type A with DNS name app.example.com. cannot be a multivalue answer alias."]),
        &[create(target.weight("a", 1))],
    );
}

/// route53.md 1.5: one policy field MultiValueAnswer=true.
#[test]
fn multivalue_means_true() {
    let mut no = app().id("a");
    no.multi_value_answer = Some(false);
    rule(
        &[],
        &[create(no)],
        &input("Invalid request: The value of 'MultiValueAnswer' must be true."),
        &[create(app().multivalue("a"))],
    );
}

/// API reference of Type: values for multivalue answer resource record sets.
#[test]
fn types_that_multivalue_takes() {
    let cname = |id| set("app.example.com", "CNAME", &["x.example.org"]).multivalue(id);
    rule(
        &[],
        &[create(cname("a"))],
        &batch(&["RRSet of type CNAME with DNS name app.example.com. cannot be a multivalue answer RRSet."]),
        &[create(set("app.example.com", "TXT", &["\"x\""]).multivalue("a"))],
    );
}

/// API reference of Type: values for weighted, latency, geolocation, and failover resource record sets.
#[test]
fn types_that_policies_take() {
    rule(
        &[],
        &[create(set("sub.example.com", "NS", &["ns.example.org"]).weight("a", 1))],
        &batch(&["RRSet of type NS with DNS name sub.example.com. cannot be a weighted RRSet."]),
        &[create(
            set("sub.example.com", "MX", &["10 mail.example.org"]).weight("a", 1),
        )],
    );
}

/// API reference: You can't create two geolocation resource record sets that specify the same geographic location.
#[test]
fn one_geolocation_set_per_place() {
    rule(
        &[create(app().country("a", "DE"))],
        &[create(app().country("b", "DE"))],
        &batch(&[
            "RRSet with DNS name app.example.com., type A, SetIdentifier b, and GeoLocation=DE cannot be created because a geolocation RRSet with the same name, type and location already exists.",
        ]),
        &[
            create(app().country("b", "FR")),
            create(app().continent("c", "EU")),
            create(app().country("d", "*")),
        ],
    );
}

/// API reference: Specifying ContinentCode with either CountryCode or SubdivisionCode returns an InvalidInput error.
#[test]
fn a_continent_stands_alone() {
    let mut both = app().continent("a", "EU");
    if let Some(location) = &mut both.geo_location {
        location.country_code = Some("DE".to_owned());
    }
    rule(
        &[],
        &[create(both)],
        &input("Invalid request: ContinentCode cannot be given with CountryCode or SubdivisionCode in GeoLocation"),
        &[create(app().continent("a", "EU"))],
    );
}

/// API reference: Route 53 doesn't support any other values for SubdivisionCode (Ukraine: sous-chefs/aws pull 437).
#[test]
fn subdivisions_are_those_of_the_united_states() {
    let place = |country: &str, code: &str| {
        let mut set = app().country("a", country);
        if let Some(location) = &mut set.geo_location {
            location.subdivision_code = Some(code.to_owned());
        }
        set
    };
    rule(
        &[],
        &[create(place("DE", "BY"))],
        &input("Invalid request: The geolocation DE/BY does not exist"),
        &[create(place("US", "CA"))],
    );
}

/// API reference of GeoLocation: ISO 3166-1 alpha-2.
#[test]
fn places_exist() {
    rule(
        &[],
        &[create(app().country("a", "XX"))],
        &input("Invalid request: The geolocation XX does not exist"),
        &[create(app().country("a", "UA"))],
    );
}

fn in_region(region: &str) -> RawGeoproximity {
    RawGeoproximity {
        aws_region: Some(region.to_owned()),
        ..RawGeoproximity::default()
    }
}

/// API reference of GeoProximityLocation.
#[test]
fn geoproximity_has_one_site() {
    let mut both = in_region("us-east-1");
    both.local_zone_group = Some("us-west-2-den-1".to_owned());
    rule(
        &[],
        &[create(app().near("a", both))],
        &input(
            "Invalid request: Expected exactly one of [AWSRegion, LocalZoneGroup, or Coordinates], but found more than one in Change with [Action=CREATE, Name=app.example.com, Type=A, SetIdentifier=a]",
        ),
        &[create(app().near("a", in_region("us-east-1")))],
    );
}

/// service model: Bias -99 to 99.
#[test]
fn geoproximity_bias() {
    let biased = |bias| RawGeoproximity {
        bias: Some(bias),
        ..in_region("us-east-1")
    };
    rule(
        &[],
        &[create(app().near("a", biased(100)))],
        &input(
            "Invalid XML ; cvc-maxInclusive-valid: Value '100' is not facet-valid with respect to maxInclusive '99' for type 'Bias'.",
        ),
        &[create(app().near("a", biased(99)))],
    );
}

/// service model: Latitude; API reference: -90 to 90.
#[test]
fn geoproximity_coordinates() {
    let at = |latitude: &str| RawGeoproximity {
        coordinates: Some(RawCoordinates {
            latitude: latitude.to_owned(),
            longitude: "-122.45".to_owned(),
        }),
        ..RawGeoproximity::default()
    };
    for bad in ["91", "1.234", "x", ""] {
        let text = format!(
            "Invalid XML ; cvc-pattern-valid: Value '{bad}' is not facet-valid with respect to pattern '[-+]?[0-9]{{1,2}}(\\.[0-9]{{0,2}})?' for type 'Latitude'."
        );
        rule(
            &[],
            &[create(app().near("a", at(bad)))],
            &input(&text),
            &[create(app().near("a", at("-45.5")))],
        );
    }
}

/// route53.md 1.2: 30 geoproximity.
#[test]
fn thirty_geoproximity_sets() {
    let sets: Vec<_> = (0..30)
        .map(|n| create(app().near(&format!("s{n}"), in_region("us-east-1"))))
        .collect();
    rule(
        &sets,
        &[create(app().near("more", in_region("us-east-1")))],
        &batch(&["Exceeded limit on number of geoproximity RRSets for app.example.com., type A in this zone."]),
        &[upsert(app().near("s0", in_region("us-west-2")))],
    );
}

/// route53.md 1.5: one policy per (name, type).
#[test]
fn policies_do_not_mix() {
    let text = |policy: &str| {
        format!(
            "RRSet with DNS name app.example.com., type A, SetIdentifier new cannot be created as a non-{policy} set exists with the same name and type."
        )
    };
    for (set, policy) in [
        (app().country("new", "DE"), "geolocation"),
        (app().near("new", in_region("us-east-1")), "geoproximity"),
        (app().region("new", "us-east-1"), "latency"),
    ] {
        rule(
            &[create(app().weight("a", 1))],
            &[create(set.clone())],
            &batch(&[&text(policy)]),
            &[delete(app().weight("a", 1)), create(set)],
        );
    }
}

/// API reference of CidrRoutingConfig; own words.
#[test]
fn ip_based_sets_name_a_location_that_exists() {
    let mut world = World::new();
    let caller = world.caller.clone();
    let id = world
        .service
        .collections
        .create(&caller, "offices", "once")
        .expect("a new collection")
        .id
        .clone();
    let put = BlockChange {
        location: "berlin".to_owned(),
        put: true,
        networks: vec!["203.0.113.0/24".to_owned()],
    };
    world
        .service
        .collections
        .change(&caller, &id, None, &[put])
        .expect("a new network");
    let text = format!("Cannot find location 'paris' in CIDR collection {id}. No changes made.");
    world.refuses(&[create(app().network("a", &id, "paris"))], &[&text]);
    let taken = "RRSet with DNS name app.example.com., type A, SetIdentifier c, and LocationName=berlin cannot be created because an IP-based RRSet with the same name, type and location already exists.";
    world.allows(&[
        create(app().network("a", &id, "berlin")),
        create(app().network("b", &id, "*")),
    ]);
    world.refuses(&[create(app().network("c", &id, "berlin"))], &[taken]);
}

#[test]
fn ip_based_sets_name_a_collection_by_its_id() {
    World::new().refuses_as(
        &[create(app().network("a", "offices", "berlin"))],
        Code::InvalidInput,
        "Invalid XML ; cvc-pattern-valid: Value 'offices' is not facet-valid with respect to pattern '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}' for type 'UUID'.",
    );
}

#[test]
fn every_policy_comes_back_as_it_was_sent() {
    let biased = RawGeoproximity {
        bias: Some(-10),
        ..in_region("us-east-1")
    };
    for sent in [
        app().country("a", "*"),
        app().continent("a", "EU"),
        app().near("a", biased),
        app().multivalue("a"),
    ] {
        let mut world = World::new();
        world.allows(&[create(sent.clone())]);
        let mut stored = world.set("app.example.com.", "A");
        stored.name = sent.name.clone();
        assert_eq!(stored, sent);
        world.allows(&[delete(sent)]);
    }
}
