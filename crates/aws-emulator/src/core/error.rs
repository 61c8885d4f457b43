//! Errors as the service words them: a closed set of codes, each with its HTTP status (route53.md 1.1).

/// Error codes of the calls served here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The caller may not do this.
    AccessDenied,
    /// The same over JSON.
    AccessDeniedException,
    /// The session of the credentials is over.
    ExpiredToken,
    /// The same over JSON.
    ExpiredTokenException,
    /// A second zone with the same caller reference.
    HostedZoneAlreadyExists,
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
    /// A signature that does not verify, over JSON.
    InvalidSignatureException,
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
    /// No health check with this id.
    NoSuchHealthCheck,
    /// No hosted zone with this id.
    NoSuchHostedZone,
    /// A session policy over the limit.
    PackedPolicyTooLarge,
    /// Body over the limit.
    RequestEntityTooLarge,
    /// EKS: no such cluster or access entry.
    ResourceNotFoundException,
    /// A signature that is not that of the key, or not of this time, region or service.
    SignatureDoesNotMatch,
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
            Self::ExpiredToken => "ExpiredToken",
            Self::ExpiredTokenException | Self::WebIdentityExpired => "ExpiredTokenException",
            Self::HostedZoneAlreadyExists => "HostedZoneAlreadyExists",
            Self::IncompleteSignature => "IncompleteSignature",
            Self::IncompleteSignatureException => "IncompleteSignatureException",
            Self::InvalidAction => "InvalidAction",
            Self::InvalidChangeBatch => "InvalidChangeBatch",
            Self::InvalidClientTokenId => "InvalidClientTokenId",
            Self::InvalidDomainName => "InvalidDomainName",
            Self::InvalidIdentityToken => "InvalidIdentityToken",
            Self::InvalidInput => "InvalidInput",
            Self::InvalidSignatureException => "InvalidSignatureException",
            Self::LoadBalancerNotFound => "LoadBalancerNotFound",
            Self::MalformedInput => "MalformedInput",
            Self::MalformedPolicyDocument => "MalformedPolicyDocument",
            Self::MissingAuthenticationToken => "MissingAuthenticationToken",
            Self::MissingAuthenticationTokenException => "MissingAuthenticationTokenException",
            Self::NoSuchChange => "NoSuchChange",
            Self::NoSuchHealthCheck => "NoSuchHealthCheck",
            Self::NoSuchHostedZone => "NoSuchHostedZone",
            Self::PackedPolicyTooLarge => "PackedPolicyTooLarge",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::ResourceNotFoundException => "ResourceNotFoundException",
            Self::SignatureDoesNotMatch => "SignatureDoesNotMatch",
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
            Self::HostedZoneAlreadyExists => 409,
            Self::NoSuchChange
            | Self::NoSuchHealthCheck
            | Self::NoSuchHostedZone
            | Self::ResourceNotFoundException
            | Self::UnknownOperationException => 404,
            Self::RequestEntityTooLarge => 413,
            Self::IncompleteSignature
            | Self::IncompleteSignatureException
            | Self::InvalidAction
            | Self::InvalidChangeBatch
            | Self::InvalidDomainName
            | Self::InvalidIdentityToken
            | Self::InvalidInput
            | Self::LoadBalancerNotFound
            | Self::MalformedInput
            | Self::MalformedPolicyDocument
            | Self::PackedPolicyTooLarge
            | Self::ValidationError
            | Self::WebIdentityExpired => 400,
        }
    }
}

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct ApiError {
    /// Code.
    pub code: Code,
    /// Text.
    pub message: String,
}

impl ApiError {
    /// An error with this code and text.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
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
}
