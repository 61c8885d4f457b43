//! Condition types of each kind and the reasons they can have: closed lists, each with the text of the documentation.
//!
//! Invariant: what stands in a condition's `type` or `reason` comes from here, and the documentation is printed from
//! here. Deliberately absent: the messages, which name objects and are the engine's.

use serde::{Deserialize, Serialize};

/// Declares a closed enum whose variants are spelled in the API as in Rust, each with its documentation.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident: $doc:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(#[doc = $doc] $variant,)+
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// As it stands in the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)+ }
            }

            /// What it means, as in the documentation.
            #[must_use]
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Condition types of a GlobalHostname; the text says when each is True.
    GlobalHostnameCondition {
        Accepted: "The spec is valid, a zone is found, a claim allows the name and all its names are held.",
        ResolvedRefs: "In every selected cluster the source exists and has a usable address.",
        Programmed: "The zone is as planned and Route 53 says INSYNC.",
        Ready: "Accepted, and the shared name answers with at least one live address, INSYNC.",
        ClusterHostnamesReady: "Each cluster name is written by its member's ExternalDNS, or by the hub where there is none.",
        MembersFresh: "What is known of every selected member is fresh.",
    }
}

words! {
    /// Condition types of a MemberCluster; the text says when each is True.
    MemberClusterCondition {
        Reachable: "The member's API answers and lets the hub read what it needs.",
        ExternalDNSReady: "Its ExternalDNS can be worked with, and observes its DNSEndpoints.",
        Drained: "It is drained from every hostname and no resolver can hold an old answer; False with reason NotDraining while nobody drains it.",
        Ready: "Reachable, its region is known, and no other member stands in its way.",
    }
}

words! {
    /// Condition types of a ClusterDrain; the text says when each is True.
    ClusterDrainCondition {
        Drained: "The cluster is withdrawn from every hostname and no resolver can hold an old answer.",
    }
}

words! {
    /// Condition types of a DNSZone; the text says when each is True.
    DNSZoneCondition {
        Accessible: "The hosted zone exists, is public, is in the named account, and the hub may read and change it.",
        WithinBudget: "Record sets, requests and changes are within the limits.",
        Ready: "Accessible, and the hub's writes go through.",
    }
}

words! {
    /// Reasons of conditions and of clusters in a hostname's status; the text says what is the case and the way out.
    Reason {
        // Well, or under way
        Accepted: "The hostname is valid, allowed and holds its names.",
        Resolved: "Every selected cluster has a usable address.",
        Programmed: "The zone is as planned.",
        Serving: "All selected clusters that are to serve do.",
        ServingPartly: "The name answers, but not from every selected cluster; the message names the others.",
        Ready: "Nothing to do.",
        Reachable: "The member's API answers.",
        Accessible: "The hosted zone can be read and changed.",
        WithinBudget: "All budgets are kept.",
        Adopted: "The cluster names are written by the members' ExternalDNS.",
        HubWrites: "The hub writes the cluster names, because there is no ExternalDNS to do it.",
        NoClusterHostnames: "The hostname asks for no cluster names (clusterHostname is empty).",
        Fresh: "What is known of the members is fresh.",
        Pending: "Not looked at yet, or on its way; the message says what is waited for.",
        PlaceholderOnly: "No cluster has an address yet; 192.0.2.1 stands in. Give a selected cluster's source an address.",
        NotInSync: "A change was sent and Route 53 has not yet spread it to all its servers. Wait.",
        Releasing: "Names are being taken back; the message lists what is left.",
        Deleting: "The object is being deleted and waits for what the message lists.",

        // Hostname: spec and claim
        Invalid: "The spec cannot be used; the message names the field and what to write. What was published stays.",
        NoMatchingZone: "No DNSZone's domain contains the name. Create the DNSZone, or correct hostname or zoneRef.",
        ZoneAmbiguous: "Two DNSZones with one domain match. Choose one with zoneRef.",
        ZoneNotReady: "The DNSZone cannot be used now; its own conditions say why.",
        ClaimNotAllowed: "No claim of the DNSZone allows this namespace to declare the name. Have one added to spec.claims.",
        SourceNotAllowed: "The claim does not allow sources in that namespace of the members. Have it added to sourceNamespaces.",
        Protected: "The DNSZone protects the name: nobody may declare it. Choose another, or have it taken off spec.protected.",
        NameTaken: "Another GlobalHostname holds one of the names. Choose another name, or delete the other one.",
        NameAmbiguous: "A name could be read as another cluster's or hostname's. Use the name that the message proposes.",
        LabelTooLong: "A cluster name's first label is too long for its ownership TXT. Shorten hostname, cluster name or clusterHostname.",
        RecordConflict: "A record made by someone else stands in the way. Delete it, or confirm that it may be replaced.",
        AlsoPublishedByMember: "A member's own object publishes the name too. Follow the steps in the message.",
        ZoneFull: "The zone would pass its limit of record sets. Raise limits.recordSets with AWS's own limit, or remove names.",
        CNAMEAtApex: "A cluster's address is a DNS name, which cannot stand at the zone's own name. Use an AWS load balancer or IPs.",

        // Hostname: clusters, routing, drains
        NoClusters: "No MemberCluster is selected. List one in clusters, or label one for clusterSelector.",
        ClusterNotFound: "A listed cluster has no MemberCluster. Create it, or take it off the list.",
        TooManyClusters: "The selector matches more than 100 clusters; the message says which count. Narrow the selector.",
        SourceNotFound: "The source does not exist in the cluster. Create it, or correct source.",
        NoAddress: "The source has no address yet.",
        AddressUnusable: "The source's address is private, internal or a placeholder. Make the load balancer public.",
        AddressSettling: "A new address has to hold for a while before it counts. Wait.",
        AddressGone: "The source lost its address; the cluster is withdrawn. Give the source an address.",
        AddressFamilyMismatch: "Some clusters have IPv4 or IPv6 where others have not; the message names them.",
        PrimaryMissing: "Failover needs a primary: write routing.primary, or mark some of the MemberClusters standby.",
        PolicyNotPossible: "The forced policy does not fit the selected clusters. Write policy: Auto, or select others.",
        FailoverInert: "Nothing of the primary can turn unhealthy, so it never fails over. Use an AWS load balancer with evaluateTargetHealth.",
        StandbyIgnored: "routing.primary is set, so standby has no effect.",
        WeightIgnored: "A weight has no effect under the policy in force.",
        Live: "The cluster is in the answers.",
        LastServing: "The last cluster that serves is never withdrawn. Bring another one, or delete the GlobalHostname.",
        Draining: "The cluster is leaving the answers; safeAt says when nobody can hold an old one.",
        Drained: "The cluster is out of the answers and no resolver can hold an old one.",
        NotDraining: "Nobody drains the cluster.",
        Expired: "The ClusterDrain's expiresAt has passed; it does not count any more.",

        // Cluster names
        AdoptionPending: "The member's ExternalDNS has not yet read its DNSEndpoint; after a while the message names likely causes.",
        MemberNotPublishing: "The member's ExternalDNS read its DNSEndpoint but does not publish it. Look at its log, IAM role and filters.",
        DNSEndpointDeleted: "Somebody deleted a DNSEndpoint of Truce; it is released and made anew.",
        ReleaseBlocked: "A member that cannot be reached still has what the message lists. Bring it back, or set the abandon annotation.",

        // Members
        MemberUnreachable: "The member's API does not answer. What is published stays. Check its endpoint, network and certificate.",
        Unauthorized: "The member's API refuses the credentials. Renew them in the Secret.",
        Forbidden: "The member's API lets the hub in but not do what the message names. Apply the member RBAC.",
        SecretMissing: "The Secret or its key does not exist in the operator's namespace. Create it, or correct access.",
        KubeconfigInvalid: "The kubeconfig cannot be used: it must hold server, CA and token or certificate inline, no program and no path.",
        RegionUnknown: "Route 53 does not know the region and no nearest one is known. Write an AWS region such as us-east-1.",
        ClusterReplaced: "Another cluster answers under this name (its kube-system UID changed). Confirm it, or correct access.",
        ClusterDuplicate: "Two MemberClusters lead to the same cluster. Delete one of them.",
        Unknown: "Not known now, because the member was not seen lately.",
        NoExternalDNS: "The member has no ExternalDNS; the hub writes its cluster names.",
        OwnerIDInUse: "The ownerID is used by another member, or is the hub id. Give each ExternalDNS its own --txt-owner-id.",
        ExternalDNSUnsupported: "The member's ExternalDNS has a version or flag that cannot be worked with; the message names it.",
        ExternalDNSMismatch: "The member's ExternalDNS runs with other flags than the MemberCluster says; the message names them.",
        NamespaceMissing: "The member has no namespace of that name for DNSEndpoints. Create it, or correct externalDNS.namespace.",
        CRDMissing: "The member has no DNSEndpoint CRD. Install the one that ships with ExternalDNS.",
        SeveralReaders: "Two ExternalDNS instances of the member read the same DNSEndpoints. Tell them apart with --label-filter.",

        // Zones
        HostedZoneNotFound: "There is no hosted zone with this id in the account. Correct hostedZoneID.",
        WrongAccount: "The hub's credentials are of another AWS account than accountID. Correct one of them.",
        WrongDomain: "The hosted zone has another name than domain. Correct domain or hostedZoneID.",
        PrivateZone: "The hosted zone is private, which is not supported. Use a public one.",
        AccessDenied: "AWS denies a call; the message names the action to allow.",
        ZoneUnreachable: "Route 53 does not answer. What is published stays.",
        Throttled: "Route 53 throttles the account; changes are late. Lower what else calls it, or the limits.",
        BudgetExceeded: "The planned calls cannot fit into the account's budget; the message shows the sum.",
        ChangeRefused: "Route 53 refused a change; the message is its own.",
        HubIdInUse: "Another hub instance writes under this hub id. Stop it or give it another id, or confirm that this one goes on.",
        HeldWithdrawal: "A large withdrawal that nobody asked for is held. Look at it, then confirm it or repair its cause.",
        ConfirmStale: "What the confirm annotation agreed to has changed. Look again and confirm the new hash.",
        Paused: "The annotation dns.truce.dev/paused is set: nothing is written but drains. Remove it to go on.",
        InUse: "Hostnames still live here; the message lists them.",
    }
}

/// The documentation of all condition types and reasons, as Markdown.
#[must_use]
pub fn conditions_table() -> String {
    let mut page = String::from(
        "# Conditions\n\nPrinted by `truce conditions`. All conditions are positive: True is good. Each carries the generation that it\nspeaks of.\n",
    );
    let kinds: [(&str, Vec<(&str, &str)>); 4] = [
        (
            "GlobalHostname",
            rows(GlobalHostnameCondition::ALL, |c| (c.as_str(), c.doc())),
        ),
        (
            "MemberCluster",
            rows(MemberClusterCondition::ALL, |c| (c.as_str(), c.doc())),
        ),
        (
            "ClusterDrain",
            rows(ClusterDrainCondition::ALL, |c| (c.as_str(), c.doc())),
        ),
        ("DNSZone", rows(DNSZoneCondition::ALL, |c| (c.as_str(), c.doc()))),
    ];
    for (kind, types) in &kinds {
        section(&mut page, kind, ["type", "True when"], types);
    }
    let reasons = rows(Reason::ALL, |r| (r.as_str(), r.doc()));
    section(&mut page, "Reasons", ["reason", "meaning and way out"], &reasons);
    page
}

fn rows<T: Copy>(all: &[T], row: impl Fn(T) -> (&'static str, &'static str)) -> Vec<(&'static str, &'static str)> {
    all.iter().map(|word| row(*word)).collect()
}

fn section(page: &mut String, title: &str, head: [&str; 2], rows: &[(&str, &str)]) {
    page.push_str(&format!(
        "\n## {title}\n\n| {} | {} |\n| --- | --- |\n",
        head[0], head[1]
    ));
    for (word, doc) in rows {
        page.push_str(&format!("| `{word}` | {doc} |\n"));
    }
}
