//! Values that carry proof. They import nothing else of this crate but time; whoever holds one need not check it again.

pub mod address;
pub mod dns_name;
pub mod elb;
pub mod ids;
pub mod observed;
pub mod owned;
pub mod ownership;
pub mod record;
pub mod region;
pub mod shared_name;
pub mod short_hash;
