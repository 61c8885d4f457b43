//! Errors as the service words them: a closed set of codes, each with its HTTP status (route53.md 1.1; for the others
//! the service model of the API, in which a code without a status of its own has 400).

/// Error codes of the calls served here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The caller may not do this.
    AccessDenied,
    /// The same over JSON.
    AccessDeniedException,
    /// A network that is in another location of the collection.
    CidrBlockInUseException,
    /// A second collection of one name.
    CidrCollectionAlreadyExistsException,
    /// A collection that is not empty.
    CidrCollectionInUseException,
    /// Another version of the collection.
    CidrCollectionVersionMismatchException,
    /// A zone that shares name servers or a VPC with one of the same or a related name.
    ConflictingDomainExists,
    /// The session of the credentials is over.
    ExpiredToken,
    /// The same over JSON.
    ExpiredTokenException,
    /// A second health check with the same caller reference.
    HealthCheckAlreadyExists,
    /// Another version of the health check.
    HealthCheckVersionMismatch,
    /// A second zone with the same caller reference.
    HostedZoneAlreadyExists,
    /// A zone with more than its NS and SOA.
    HostedZoneNotEmpty,
    /// A question that makes sense for a private zone only.
    HostedZoneNotPrivate,
    /// A signature with a part missing or malformed.
    IncompleteSignature,
    /// The same over JSON.
    IncompleteSignatureException,
    /// STS: no such action.
    InvalidAction,
    /// Semantic errors of a batch.
    InvalidChangeBatch,
    /// No such access key, or a session token that is not its own.
    InvalidClientTokenId,
    /// A name that is no domain name.
    InvalidDomainName,
    /// STS: a web identity token that is none, or not of a known provider.
    InvalidIdentityToken,
    /// The shape of the request.
    InvalidInput,
    /// A token that no answer gave.
    InvalidPaginationToken,
    /// Entries of a protection batch that cannot be done.
    InvalidResourceRecordSetProtectionBatch,
    /// A signature that does not verify, over JSON.
    InvalidSignatureException,
    /// A VPC that is none.
    InvalidVPCId,
    /// A quota.
    LimitsExceeded,
    /// ELB: no load balancer of this name or ARN.
    LoadBalancerNotFound,
    /// XML that is none, or has the wrong root.
    MalformedInput,
    /// A session policy that is none.
    MalformedPolicyDocument,
    /// No credentials in the request.
    MissingAuthenticationToken,
    /// The same over JSON.
    MissingAuthenticationTokenException,
    /// No change with this id.
    NoSuchChange,
    /// No collection with this id.
    NoSuchCidrCollectionException,
    /// No location of this name.
    NoSuchCidrLocationException,
    /// No health check with this id.
    NoSuchHealthCheck,
    /// No hosted zone with this id.
    NoSuchHostedZone,
    /// A session policy over the limit.
    PackedPolicyTooLarge,
    /// An earlier change of the zone is still processed.
    PriorRequestNotComplete,
    /// Every name and type of the request is protected already.
    ProtectionAlreadyExists,
    /// Body over the limit.
    RequestEntityTooLarge,
    /// EKS: no such cluster or access entry.
    ResourceNotFoundException,
    /// A signature that is not that of the key, or not of this time, region or service.
    SignatureDoesNotMatch,
    /// A token bucket is empty.
    Throttling,
    /// The account's quota of health checks.
    TooManyHealthChecks,
    /// The account's quota of zones.
    TooManyHostedZones,
    /// No such operation.
    UnknownOperationException,
    /// No such access key, over JSON.
    UnrecognizedClientException,
    /// Parameters of STS and ELB.
    ValidationError,
    /// STS: a web identity token that is over.
    WebIdentityExpired,
}

impl Code {
    /// The code on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "AccessDenied",
            Self::AccessDeniedException => "AccessDeniedException",
            Self::CidrBlockInUseException => "CidrBlockInUseException",
            Self::CidrCollectionAlreadyExistsException => "CidrCollectionAlreadyExistsException",
            Self::CidrCollectionInUseException => "CidrCollectionInUseException",
            Self::CidrCollectionVersionMismatchException => "CidrCollectionVersionMismatchException",
            Self::ConflictingDomainExists => "ConflictingDomainExists",
            Self::ExpiredToken => "ExpiredToken",
            Self::ExpiredTokenException | Self::WebIdentityExpired => "ExpiredTokenException",
            Self::HealthCheckAlreadyExists => "HealthCheckAlreadyExists",
            Self::HealthCheckVersionMismatch => "HealthCheckVersionMismatch",
            Self::HostedZoneAlreadyExists => "HostedZoneAlreadyExists",
            Self::HostedZoneNotEmpty => "HostedZoneNotEmpty",
            Self::HostedZoneNotPrivate => "HostedZoneNotPrivate",
            Self::IncompleteSignature => "IncompleteSignature",
            Self::IncompleteSignatureException => "IncompleteSignatureException",
            Self::InvalidAction => "InvalidAction",
            Self::InvalidChangeBatch => "InvalidChangeBatch",
            Self::InvalidClientTokenId => "InvalidClientTokenId",
            Self::InvalidDomainName => "InvalidDomainName",
            Self::InvalidIdentityToken => "InvalidIdentityToken",
            Self::InvalidInput => "InvalidInput",
            Self::InvalidPaginationToken => "InvalidPaginationToken",
            Self::InvalidResourceRecordSetProtectionBatch => "InvalidResourceRecordSetProtectionBatch",
            Self::InvalidSignatureException => "InvalidSignatureException",
            Self::InvalidVPCId => "InvalidVPCId",
            Self::LimitsExceeded => "LimitsExceeded",
            Self::LoadBalancerNotFound => "LoadBalancerNotFound",
            Self::MalformedInput => "MalformedInput",
            Self::MalformedPolicyDocument => "MalformedPolicyDocument",
            Self::MissingAuthenticationToken => "MissingAuthenticationToken",
            Self::MissingAuthenticationTokenException => "MissingAuthenticationTokenException",
            Self::NoSuchChange => "NoSuchChange",
            Self::NoSuchCidrCollectionException => "NoSuchCidrCollectionException",
            Self::NoSuchCidrLocationException => "NoSuchCidrLocationException",
            Self::NoSuchHealthCheck => "NoSuchHealthCheck",
            Self::NoSuchHostedZone => "NoSuchHostedZone",
            Self::PackedPolicyTooLarge => "PackedPolicyTooLarge",
            Self::PriorRequestNotComplete => "PriorRequestNotComplete",
            Self::ProtectionAlreadyExists => "ProtectionAlreadyExists",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::ResourceNotFoundException => "ResourceNotFoundException",
            Self::SignatureDoesNotMatch => "SignatureDoesNotMatch",
            Self::Throttling => "Throttling",
            Self::TooManyHealthChecks => "TooManyHealthChecks",
            Self::TooManyHostedZones => "TooManyHostedZones",
            Self::UnknownOperationException => "UnknownOperationException",
            Self::UnrecognizedClientException => "UnrecognizedClientException",
            Self::ValidationError => "ValidationError",
        }
    }

    /// The code that a JSON service has for the same refusal.
    #[must_use]
    pub fn over_json(self) -> Self {
        match self {
            Self::AccessDenied => Self::AccessDeniedException,
            Self::ExpiredToken => Self::ExpiredTokenException,
            Self::IncompleteSignature => Self::IncompleteSignatureException,
            Self::InvalidClientTokenId => Self::UnrecognizedClientException,
            Self::MissingAuthenticationToken => Self::MissingAuthenticationTokenException,
            Self::SignatureDoesNotMatch => Self::InvalidSignatureException,
            other => other,
        }
    }

    /// HTTP status that goes with it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::RequestEntityTooLarge => 413,
            Self::CidrCollectionVersionMismatchException
            | Self::HealthCheckAlreadyExists
            | Self::HealthCheckVersionMismatch
            | Self::HostedZoneAlreadyExists
            | Self::ProtectionAlreadyExists => 409,
            Self::NoSuchChange
            | Self::NoSuchCidrCollectionException
            | Self::NoSuchCidrLocationException
            | Self::NoSuchHealthCheck
            | Self::NoSuchHostedZone
            | Self::ResourceNotFoundException
            | Self::UnknownOperationException => 404,
            Self::AccessDenied
            | Self::AccessDeniedException
            | Self::ExpiredToken
            | Self::ExpiredTokenException
            | Self::InvalidClientTokenId
            | Self::InvalidSignatureException
            | Self::MissingAuthenticationToken
            | Self::MissingAuthenticationTokenException
            | Self::SignatureDoesNotMatch
            | Self::UnrecognizedClientException => 403,
            Self::CidrBlockInUseException
            | Self::CidrCollectionAlreadyExistsException
            | Self::CidrCollectionInUseException
            | Self::ConflictingDomainExists
            | Self::HostedZoneNotEmpty
            | Self::HostedZoneNotPrivate
            | Self::IncompleteSignature
            | Self::IncompleteSignatureException
            | Self::InvalidAction
            | Self::InvalidChangeBatch
            | Self::InvalidDomainName
            | Self::InvalidIdentityToken
            | Self::InvalidInput
            | Self::InvalidPaginationToken
            | Self::InvalidResourceRecordSetProtectionBatch
            | Self::InvalidVPCId
            | Self::LimitsExceeded
            | Self::LoadBalancerNotFound
            | Self::MalformedInput
            | Self::MalformedPolicyDocument
            | Self::PackedPolicyTooLarge
            | Self::PriorRequestNotComplete
            | Self::Throttling
            | Self::TooManyHealthChecks
            | Self::TooManyHostedZones
            | Self::ValidationError
            | Self::WebIdentityExpired => 400,
        }
    }
}

/// One entry of a batch that cannot be done, for the calls that list them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the record.
    pub name: String,
    /// Type of the record.
    pub rtype: String,
    /// Code of this entry.
    pub code: &'static str,
    /// Text of this entry.
    pub message: String,
}

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct ApiError {
    /// Code.
    pub code: Code,
    /// Text.
    pub message: String,
    /// Entries that failed, for the calls that list them.
    pub entries: Vec<Entry>,
}

impl ApiError {
    /// An error with this code and text.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            entries: Vec::new(),
        }
    }

    /// `InvalidInput` with this text.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// `NoSuchHostedZone` for this id.
    #[must_use]
    pub fn no_such_zone(id: &str) -> Self {
        Self::new(Code::NoSuchHostedZone, format!("No hosted zone found with ID: {id}"))
    }

    /// `NoSuchHealthCheck` for this id.
    #[must_use]
    pub fn no_such_health_check(id: &str) -> Self {
        Self::new(Code::NoSuchHealthCheck, format!("No health check found with ID: {id}"))
    }
}
