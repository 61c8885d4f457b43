//! The double from outside: the AWS SDK, plain HTTP, DNS messages, the binary.

#![expect(clippy::expect_used, reason = "a failed expectation is a failed test")]

mod admin;
mod binary;
mod dns;
mod dns_policy;
mod eks;
mod http;
mod identity;
mod route53_calls;
mod sdk;
mod support;
