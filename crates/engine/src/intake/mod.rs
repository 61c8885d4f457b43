//! API objects to checked input, or what is wrong with them: the only place that knows `truce_api`'s specs.

pub mod drain;
pub mod hostname;
pub mod member;
pub mod zone;
