//! The catalogue of semantic errors of a batch, each with its text (route53.md 1.7; the id is in the comment).
//!
//! Texts marked "own words" were not found in any source; the refusal itself is documented.

use super::error::{ApiError, Code};
use super::names::NameError;
use super::policy::Role;
use super::record::RecordType;

/// Name, type and set identifier, as messages show them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Name with its final dot.
    pub name: String,
    /// Type.
    pub rtype: RecordType,
    /// Set identifier.
    pub set_id: Option<String>,
}

impl Subject {
    /// `[name='N', type='T', set-identifier='S']`
    fn bracket(&self) -> String {
        match &self.set_id {
            Some(id) => format!("[name='{}', type='{}', set-identifier='{id}']", self.name, self.rtype),
            None => format!("[name='{}', type='{}']", self.name, self.rtype),
        }
    }

    /// `RRSet with DNS name N, type T, SetIdentifier S`
    fn sentence(&self) -> String {
        match &self.set_id {
            Some(id) => format!(
                "RRSet with DNS name {}, type {}, SetIdentifier {id}",
                self.name, self.rtype
            ),
            None => format!("RRSet with DNS name {}, type {}", self.name, self.rtype),
        }
    }
}

/// One reason to refuse a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// E1
    #[error("Tried to create resource record set {} but it already exists", .0.bracket())]
    AlreadyExists(Subject),
    /// E2
    #[error("Tried to delete resource record set {} but it was not found", .0.bracket())]
    NotFound(Subject),
    /// E3
    #[error(
        "Tried to delete resource record set {} but the values provided do not match the current values",
        .0.bracket()
    )]
    ValuesDoNotMatch(Subject),
    /// E4
    #[error("{} cannot be created as a non-{policy} set exists with the same name and type.", .subject.sentence())]
    OtherPolicyExists {
        /// The set to create.
        subject: Subject,
        /// Its policy's word.
        policy: &'static str,
    },
    /// A multivalue set beside another policy (cert-manager issue 5388).
    #[error(
        "{} cannot be created because a non multivalue answer rrset exists with the same name and type.",
        .0.sentence()
    )]
    NonMultivalueExists(Subject),
    /// E5
    #[error("{} cannot be created as other RRSets exist with the same name and type.", .0.sentence())]
    OtherSetsExist(Subject),
    /// E6
    #[error(
        "{}, and Region Name={region} cannot be created because a latency RRSet with the same name, type and region already exists.",
        .subject.sentence()
    )]
    RegionTaken {
        /// The set to create.
        subject: Subject,
        /// Its region.
        region: String,
    },
    /// Duplicate failover role; own words after E6.
    #[error(
        "{}, and Failover={} cannot be created because a failover RRSet with the same name, type and role already exists.",
        .subject.sentence(), .role.as_str()
    )]
    RoleTaken {
        /// The set to create.
        subject: Subject,
        /// Its role.
        role: Role,
    },
    /// Two geolocation sets of one place; own words after E6.
    #[error(
        "{}, and GeoLocation={place} cannot be created because a geolocation RRSet with the same name, type and location already exists.",
        .subject.sentence()
    )]
    PlaceTaken {
        /// The set to create.
        subject: Subject,
        /// Its place.
        place: String,
    },
    /// Two IP-based sets of one location; own words after E6.
    #[error(
        "{}, and LocationName={location} cannot be created because an IP-based RRSet with the same name, type and location already exists.",
        .subject.sentence()
    )]
    LocationTaken {
        /// The set to create.
        subject: Subject,
        /// Its location.
        location: String,
    },
    /// An IP-based set whose collection or location does not exist; own words.
    #[error("Cannot find location '{location}' in CIDR collection {collection}. No changes made.")]
    UnknownLocation {
        /// Id of the collection.
        collection: String,
        /// Name of the location.
        location: String,
    },
    /// A type that the policy does not take (the API reference of ResourceRecordSet, Type); own words.
    #[error("RRSet of type {rtype} with DNS name {name} cannot be a {policy} RRSet.")]
    TypeWithoutPolicy {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
        /// The policy's word.
        policy: &'static str,
    },
    /// A multivalue set that is an alias (route53.md 1.5); own words.
    #[error("RRSet of type {rtype} with DNS name {name} cannot be a multivalue answer alias.")]
    MultivalueAlias {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
    },
    /// E22, a protected name and type; own words, the API reference says only that the comment is in it.
    #[error("Resource record set [name='{name}', type='{rtype}'] is protected{}", comment_of(.comment))]
    Protected {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
        /// Comment of the protection.
        comment: Option<String>,
    },
    /// E7
    #[error(
        "RRSet with DNS name {} and type {}, SetIdentifier {} cannot be created as weighted sets must contain the same TTL.",
        .0.name, .0.rtype, .0.set_id.as_deref().unwrap_or_default()
    )]
    WeightedTtlDiffers(Subject),
    /// E8
    #[error("A non-alias primary ResourceRecordSet must have an associated health check. No changes made.")]
    PrimaryWithoutHealthCheck,
    /// E9
    #[error("Exceeded limit on number of {policy} RRSets for {name}, type {rtype} in this zone.")]
    GroupFull {
        /// Name of the group.
        name: String,
        /// Type of the group.
        rtype: RecordType,
        /// Its policy's word.
        policy: &'static str,
    },
    /// E10
    #[error(
        "RRSet of type CNAME with DNS name {name} is not permitted as it conflicts with other records with the same DNS name in zone {zone}"
    )]
    CnameBesideOthers {
        /// Name.
        name: String,
        /// Zone name.
        zone: String,
    },
    /// E11
    #[error(
        "RRSet of type {rtype} with DNS name {name} is not permitted because a conflicting RRSet of type CNAME with the same DNS name already exists in zone {zone}"
    )]
    BesideCname {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
        /// Zone name.
        zone: String,
    },
    /// E12
    #[error("RRSet with DNS name {name} is not permitted in zone {zone}")]
    OutsideZone {
        /// Name.
        name: String,
        /// Zone name.
        zone: String,
    },
    /// E13, and SOA below the zone's own name or NS at a wildcard (own words after E13).
    #[error("RRSet of type {rtype} with DNS name {name} is not permitted {place} in zone {zone}")]
    TypeNotPermitted {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
        /// Where it would stand.
        place: &'static str,
        /// Zone name.
        zone: String,
    },
    /// E14
    #[error(
        "Tried to create an alias that targets {target}, type {rtype} in zone {zone_id}, but that target was not found"
    )]
    AliasTargetNotFound {
        /// Target name.
        target: String,
        /// Type.
        rtype: RecordType,
        /// Zone id of the target.
        zone_id: String,
    },
    /// E15
    #[error(
        "Tried to create an alias that targets {target}, type {rtype} in zone {zone_id}, but the alias target name does not lie within the target zone"
    )]
    AliasTargetOutsideZone {
        /// Target name.
        target: String,
        /// Type.
        rtype: RecordType,
        /// Zone id of the target.
        zone_id: String,
    },
    /// NS and SOA cannot be aliases (route53.md 2); own words.
    #[error("RRSet of type {rtype} with DNS name {name} cannot be an alias.")]
    TypeCannotAlias {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
    },
    /// More than three levels of alias (route53.md 2), or a circle; own words.
    #[error(
        "Tried to create an alias {} that is part of a chain of more than 3 aliases",
        .0.bracket()
    )]
    AliasTooDeep(Subject),
    /// A target that an alias of the zone still names at the end of the batch; undocumented, own words, a switch.
    #[error(
        "Tried to delete resource record set {} but it is the target of alias {}",
        .target.bracket(), .alias.bracket()
    )]
    TargetInUse {
        /// What was deleted.
        target: Subject,
        /// An alias that names it.
        alias: Subject,
    },
    /// E16
    #[error("The request contains an invalid set of changes for a resource record set '{rtype} {name}'")]
    InvalidSetOfChanges {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
    },
    /// E17
    #[error("Number of records limit of 1000 exceeded.")]
    TooManyRecords,
    /// E18
    #[error("RDATA character limit of 32000 exceeded.")]
    TooManyCharacters,
    /// E19, first half
    #[error("Exceeded limit MAX_RRSETS_BY_ZONE for zone: {0}")]
    ZoneFull(String),
    /// E19, second half
    #[error("Cannot have more than 400 records in a RRSet.")]
    TooManyValues,
    /// E20
    #[error("Cannot find region '{0}'. No changes made.")]
    UnknownRegion(String),
    /// E21, a record's name
    #[error("{0}")]
    Name(NameError),
    /// E21, a record's value; the text in the quotes is Route 53's.
    #[error("Invalid Resource Record: '{0}'")]
    Value(String),
    /// Two equal values in one set (external-dns issue 1929).
    #[error("Duplicate Resource Record: '{0}'")]
    DuplicateValue(String),
    /// More than one value where the type allows one; own words.
    #[error("RRSet of type {rtype} with DNS name {name} must contain exactly one ResourceRecord.")]
    OneValueOnly {
        /// Name.
        name: String,
        /// Type.
        rtype: RecordType,
    },
    /// The zone's own NS (zonify issue 1).
    #[error("A HostedZone must contain at least one NS record for the zone itself.")]
    ApexNsMissing,
    /// The zone's own SOA.
    #[error("A HostedZone must contain exactly one SOA record.")]
    ApexSoaMissing,
}

fn comment_of(comment: &Option<String>) -> String {
    comment.as_ref().map(|c| format!(": {c}")).unwrap_or_default()
}

/// The one error of a batch: every violation, in a bracketed list (route53.md 1.1).
#[must_use]
pub fn invalid_change_batch(violations: &[Violation]) -> ApiError {
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    ApiError::new(Code::InvalidChangeBatch, format!("[{}]", texts.join(", ")))
}
