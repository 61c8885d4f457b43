//! Members: how the hub gets into one, and its session while it is in.

pub mod connect;
pub mod kubeconfig;
pub mod session;
