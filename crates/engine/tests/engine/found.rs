//! The smallest worlds in which a law did not hold once, each told by what went wrong.
//!
//! The random worlds of `laws.rs` found them. Deliberately absent: what a case of `others.rs` or of a rule tells better.

use crate::laws::{live, rest};
use crate::worlds::{Cluster, Declared, Op, Step, Story, World};

/// A cluster without ExternalDNS in us-east-1; `address` is one of `worlds::ADDRESSES`.
fn cluster(address: Option<usize>) -> Cluster {
    Cluster {
        region: 0,
        standby: false,
        external_dns: 0,
        weight: 100,
        address,
    }
}

/// A hostname over the first cluster; `name` is one of `worlds::HOSTNAMES`.
fn declared(name: usize) -> Declared {
    Declared {
        name,
        clusters: 1,
        selector: false,
        policy: 0,
        primary: 0,
        ttl: 1,
        placeholder: false,
        cluster_hostnames: false,
    }
}

fn story(clusters: Vec<Cluster>, hostnames: Vec<Declared>, foreign: Vec<usize>, steps: Vec<Step>) -> Story {
    Story {
        world: World {
            clusters,
            hostnames,
            foreign,
        },
        steps,
    }
}

/// The names that keep a wildcard from answering for a hostname may be another hostname's cluster names.
#[test]
fn a_wildcard_answers_once_another_hostname_has_left() {
    let first = Declared {
        policy: 4,
        primary: 3,
        clusters: 3,
        placeholder: true,
        cluster_hostnames: true,
        ..declared(1)
    };
    let clusters = vec![cluster(None), cluster(None)];
    let story = story(
        clusters,
        vec![first, declared(1)],
        vec![5],
        vec![Step(Op::Delete(0), 1)],
    );
    live(&story, true).unwrap();
}

/// A set in the way of one family of the shared name once kept a deselected cluster's name until the next restart.
#[test]
fn a_conflict_in_one_family_does_not_hold_the_name_of_a_cluster_that_left() {
    let hostname = Declared {
        selector: true,
        cluster_hostnames: true,
        ..declared(4)
    };
    let standby = Cluster {
        standby: true,
        ..cluster(None)
    };
    let steps = vec![
        Step(Op::Address(0, 0), 0),
        Step(Op::Foreign(5), 2),
        Step(Op::Select(0, 5), 0),
    ];
    let story = story(vec![standby, cluster(Some(3))], vec![hostname], vec![], steps);
    let (mut sim, facts) = live(&story, false).unwrap();
    rest(&mut sim, &facts).unwrap();
}

/// The ownership TXT of a name that is given up is reserved by nobody, and still read.
#[test]
fn the_txt_of_a_name_that_is_given_up_marks_its_hostname() {
    let hostname = Declared {
        clusters: 7,
        placeholder: true,
        cluster_hostnames: true,
        ..declared(0)
    };
    let adopting = Cluster {
        external_dns: 1,
        ..cluster(Some(0))
    };
    let steps = vec![
        Step(Op::Wait, 14),
        Step(Op::ClusterHostnames(1, false), 4),
        Step(Op::EndpointGone(1), 1),
    ];
    let clusters = vec![cluster(None), adopting];
    live(&story(clusters, vec![declared(2), hostname], vec![], steps), true).unwrap();
}

/// Sets of simple routing carry no identifier; the claim alone does not make somebody else's ours.
#[test]
fn a_simple_record_that_somebody_puts_under_a_claim_is_theirs() {
    let hostname = Declared {
        policy: 5,
        ..declared(0)
    };
    let story = story(
        vec![cluster(None)],
        vec![hostname],
        vec![],
        vec![Step(Op::Foreign(2), 0)],
    );
    let (mut sim, facts) = live(&story, false).unwrap();
    rest(&mut sim, &facts).unwrap();
}

/// The only family that a new address has may be taken by somebody else.
#[test]
fn what_answers_stays_while_the_family_of_the_new_address_is_taken() {
    let steps = vec![Step(Op::Wait, 5), Step(Op::Foreign(12), 1), Step(Op::Address(0, 3), 60)];
    let story = story(vec![cluster(Some(0))], vec![declared(0)], vec![], steps);
    let (sim, _) = live(&story, false).unwrap();
    assert_eq!(sim.at("app.example.com").len(), 2, "{:?}", sim.at("app.example.com"));
}

/// Under simple routing a cluster that is kept in one family must stay there beside the new one.
#[test]
fn a_family_that_only_a_deselected_cluster_has_is_kept_under_simple_routing() {
    let clusters = vec![cluster(None), cluster(None), cluster(Some(0)), cluster(Some(5))];
    let hostname = Declared {
        clusters: 8,
        ..declared(0)
    };
    let steps = vec![
        Step(Op::Policy(0, 5, 0), 2),
        Step(Op::Select(0, 4), 0),
        Step(Op::Wait, 4),
    ];
    live(&story(clusters, vec![hostname], vec![], steps), false).unwrap();
}
