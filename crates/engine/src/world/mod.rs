//! What is known, in checked values.

pub mod drains;
pub mod hostnames;
pub mod members;
pub mod seen;
pub mod zones;
