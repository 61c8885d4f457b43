//! The operator.
fn main() {}
