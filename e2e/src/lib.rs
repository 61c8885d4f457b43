//! The end-to-end harness: real control planes, real ExternalDNS, the AWS double and the operator, as processes.
//!
//! Invariant: whatever is started here ends with the process that started it, however that ends (`process`).
//! Nothing needs root, a container engine or a fixed port. Deliberately absent: anything that Truce decides; the
//! harness plays users, cloud controllers and resolvers, and looks from outside.

pub mod actor;
pub mod apiserver;
pub mod binaries;
pub mod dns;
pub mod emulator;
pub mod etcd;
pub mod external_dns;
pub mod kubectl;
pub mod operator;
pub mod pki;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod shell;
pub mod short_story;
pub mod story;
pub mod tools;
pub mod wait;
pub mod world;
pub mod zone;
