//! Errors as the service words them: a closed set of codes, each with its HTTP status (route53.md 1.1).

/// Error codes of the calls served here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The caller may not do this.
    AccessDenied,
    /// The session of the credentials is over.
    ExpiredToken,
    /// A second zone with the same caller reference.
    HostedZoneAlreadyExists,
    /// A signature with a part missing or malformed.
    IncompleteSignature,
    /// STS: no such action.
    InvalidAction,
    /// Semantic errors of a batch.
    InvalidChangeBatch,
    /// No such access key, or a session token that is not its own.
    InvalidClientTokenId,
    /// A name that is no domain name.
    InvalidDomainName,
    /// The shape of the request.
    InvalidInput,
    /// XML that is none, or has the wrong root.
    MalformedInput,
    /// A session policy that is none.
    MalformedPolicyDocument,
    /// No credentials in the request.
    MissingAuthenticationToken,
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
    /// A signature that is not that of the key, or not of this time, region or service.
    SignatureDoesNotMatch,
    /// No such operation.
    UnknownOperationException,
    /// Parameters of STS.
    ValidationError,
}

impl Code {
    /// The code on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "AccessDenied",
            Self::ExpiredToken => "ExpiredToken",
            Self::HostedZoneAlreadyExists => "HostedZoneAlreadyExists",
            Self::IncompleteSignature => "IncompleteSignature",
            Self::InvalidAction => "InvalidAction",
            Self::InvalidChangeBatch => "InvalidChangeBatch",
            Self::InvalidClientTokenId => "InvalidClientTokenId",
            Self::InvalidDomainName => "InvalidDomainName",
            Self::InvalidInput => "InvalidInput",
            Self::MalformedInput => "MalformedInput",
            Self::MalformedPolicyDocument => "MalformedPolicyDocument",
            Self::MissingAuthenticationToken => "MissingAuthenticationToken",
            Self::NoSuchChange => "NoSuchChange",
            Self::NoSuchHealthCheck => "NoSuchHealthCheck",
            Self::NoSuchHostedZone => "NoSuchHostedZone",
            Self::PackedPolicyTooLarge => "PackedPolicyTooLarge",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::SignatureDoesNotMatch => "SignatureDoesNotMatch",
            Self::UnknownOperationException => "UnknownOperationException",
            Self::ValidationError => "ValidationError",
        }
    }

    /// HTTP status that goes with it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::AccessDenied
            | Self::ExpiredToken
            | Self::InvalidClientTokenId
            | Self::MissingAuthenticationToken
            | Self::SignatureDoesNotMatch => 403,
            Self::HostedZoneAlreadyExists => 409,
            Self::NoSuchChange | Self::NoSuchHealthCheck | Self::NoSuchHostedZone | Self::UnknownOperationException => {
                404
            }
            Self::RequestEntityTooLarge => 413,
            Self::IncompleteSignature
            | Self::InvalidAction
            | Self::InvalidChangeBatch
            | Self::InvalidDomainName
            | Self::InvalidInput
            | Self::MalformedInput
            | Self::MalformedPolicyDocument
            | Self::PackedPolicyTooLarge
            | Self::ValidationError => 400,
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
