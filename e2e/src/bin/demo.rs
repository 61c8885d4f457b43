//! `make demo`.

fn main() {}
