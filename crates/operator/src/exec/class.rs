//! Any error of Kubernetes or AWS as the engine's five classes.
//!
//! Invariant: an answer that was lost, cut or late on a write is `ambiguous`; nothing else is. Messages carry no
//! secrets: they are what servers and TLS say. Deliberately absent: what to do about it.

use std::error::Error as StdError;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_route53::config::http::HttpResponse;
use aws_sdk_route53::error::{ProvideErrorMetadata, SdkError};
use kube::core::Status;
use truce_api::Reason;
use truce_engine::event::{Class, Failure};

/// Longest message of a failure, in characters (`Failure::message`).
const MESSAGE: usize = 1024;

/// Whether a call changes something; only then can a lost answer matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// It only reads.
    Read,
    /// It changes something.
    Write,
}

/// Whose API server did not answer: the reason to show if it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The hub's.
    Hub,
    /// A member's.
    Member,
}

impl Server {
    fn unreachable(self) -> &'static str {
        match self {
            Self::Hub => "HubUnreachable",
            Self::Member => Reason::MemberUnreachable.as_str(),
        }
    }
}

/// A failure in the executor's own words.
#[must_use]
pub fn failure(class: Class, code: impl Into<String>, message: impl AsRef<str>) -> Failure {
    Failure {
        class,
        code: code.into(),
        message: shorten(message.as_ref(), MESSAGE),
        ambiguous: false,
    }
}

/// A call that was not answered in time.
#[must_use]
pub fn late(call: Call, code: &str, message: impl AsRef<str>) -> Failure {
    Failure {
        ambiguous: call == Call::Write,
        ..failure(Class::Retry, code, message)
    }
}

/// An error of a Kubernetes client.
#[must_use]
pub fn kubernetes(error: &kube::Error, server: Server, call: Call) -> Failure {
    match error {
        kube::Error::Api(status) => status_failure(status, call),
        kube::Error::SerdeError(_) | kube::Error::BuildRequest(_) => {
            failure(Class::Permanent, "Undecodable", error.to_string())
        }
        kube::Error::Service(error) => late(call, server.unreachable(), chain(error.as_ref())),
        // What is left is TLS, and answers that were cut.
        _ => late(call, server.unreachable(), chain(error)),
    }
}

/// What an API server answered instead of doing it.
#[must_use]
pub fn status_failure(status: &Status, call: Call) -> Failure {
    let code = |default: &str| match status.reason.as_str() {
        "" => default.to_owned(),
        reason => reason.to_owned(),
    };
    let (class, code) = match status.code {
        401 => (Class::Denied, Reason::Unauthorized.to_string()),
        403 => (Class::Denied, Reason::Forbidden.to_string()),
        404 => (Class::Permanent, code("NotFound")),
        409 => (Class::Conflict, code("Conflict")),
        410 => (Class::Retry, code("Expired")),
        429 => (Class::Throttled, code("TooManyRequests")),
        500.. => (Class::Retry, code("InternalError")),
        _ => (Class::Permanent, code("Invalid")),
    };
    let message = match status.message.as_str() {
        "" => format!("the API server answered {}", status.code),
        message => message.to_owned(),
    };
    Failure {
        ambiguous: call == Call::Write && status.code >= 500,
        ..failure(class, code, message)
    }
}

/// An error of the AWS SDK, with AWS's own code and message.
#[must_use]
pub fn aws<E>(error: &SdkError<E, HttpResponse>, call: Call) -> Failure
where
    E: StdError + ProvideErrorMetadata + 'static,
{
    match error {
        SdkError::ServiceError(service) => {
            let (code, message) = (service.err().code(), service.err().message());
            let status = service.raw().status().as_u16();
            aws_answer(status, code, message, &chain(service.err()), call)
        }
        SdkError::ConstructionFailure(_) => failure(Class::Permanent, "NotSent", chain(error)),
        // Nothing was sent. All other failures to send count as lost answers, a cut connection among them.
        SdkError::DispatchFailure(_) if lacks_credentials(error) => {
            failure(Class::Denied, "NoCredentials", chain(error))
        }
        SdkError::TimeoutError(_) => late(call, "Timeout", chain(error)),
        _ => late(call, "Unreachable", chain(error)),
    }
}

/// What Route 53 or STS answered (Route 53 API reference, "Common Errors" and the errors of each call).
fn aws_answer(status: u16, code: Option<&str>, message: Option<&str>, text: &str, call: Call) -> Failure {
    let code = code.unwrap_or(if status >= 500 { "ServiceFailure" } else { "Unknown" });
    let class = match code {
        "Throttling" | "ThrottlingException" | "RequestLimitExceeded" | "PriorRequestNotComplete" => Class::Throttled,
        "InvalidChangeBatch" | "InvalidInput" | "NoSuchHealthCheck" => Class::Conflict,
        "AccessDenied"
        | "AccessDeniedException"
        | "AuthFailure"
        | "ExpiredToken"
        | "ExpiredTokenException"
        | "IncompleteSignature"
        | "InvalidClientTokenId"
        | "MissingAuthenticationToken"
        | "NotAuthorized"
        | "OptInRequired"
        | "SignatureDoesNotMatch"
        | "UnrecognizedClientException" => Class::Denied,
        _ if status == 429 => Class::Throttled,
        _ if status >= 500 => Class::Retry,
        _ if status == 401 || status == 403 => Class::Denied,
        _ => Class::Permanent,
    };
    Failure {
        ambiguous: call == Call::Write && class == Class::Retry,
        ..failure(class, code, message.unwrap_or(text))
    }
}

fn lacks_credentials(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<CredentialsError>() {
            return true;
        }
        next = error.source();
    }
    false
}

/// An error with its sources, each said once.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = source.source();
    }
    text
}

/// At most `most` characters, with a mark where it was cut.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, code: &str) -> Failure {
        aws_answer(status, Some(code), Some("said"), "", Call::Write)
    }

    #[test]
    fn route_53_answers_have_the_class_of_their_code() {
        for (status, code, class, ambiguous) in [
            (400, "Throttling", Class::Throttled, false),
            (400, "PriorRequestNotComplete", Class::Throttled, false),
            (400, "InvalidChangeBatch", Class::Conflict, false),
            (400, "InvalidInput", Class::Conflict, false),
            (403, "AccessDenied", Class::Denied, false),
            (404, "NoSuchHostedZone", Class::Permanent, false),
            (500, "InternalFailure", Class::Retry, true),
            (503, "ServiceUnavailable", Class::Retry, true),
        ] {
            let failure = answer(status, code);
            assert_eq!((failure.class, failure.ambiguous), (class, ambiguous), "{code}");
            assert_eq!((failure.code.as_str(), failure.message.as_str()), (code, "said"));
        }
        assert!(!aws_answer(503, None, None, "cut", Call::Read).ambiguous);
    }

    #[test]
    fn kubernetes_answers_have_the_class_of_their_status() {
        for (code, reason, class, said, ambiguous) in [
            (401, "Unauthorized", Class::Denied, "Unauthorized", false),
            (403, "Forbidden", Class::Denied, "Forbidden", false),
            (404, "NotFound", Class::Permanent, "NotFound", false),
            (409, "Conflict", Class::Conflict, "Conflict", false),
            (422, "Invalid", Class::Permanent, "Invalid", false),
            (429, "", Class::Throttled, "TooManyRequests", false),
            (503, "ServiceUnavailable", Class::Retry, "ServiceUnavailable", true),
        ] {
            let status = Status::failure("said", reason).with_code(code);
            let failure = status_failure(&status, Call::Write);
            assert_eq!(
                (failure.class, failure.code.as_str(), failure.ambiguous),
                (class, said, ambiguous),
                "{code}"
            );
        }
    }

    #[test]
    fn messages_are_cut_at_characters() {
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöüäöü", 5), "äö...");
        let long = failure(Class::Retry, "x", "é".repeat(2000));
        assert_eq!(long.message.chars().count(), MESSAGE);
    }
}
