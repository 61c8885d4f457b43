//! A cluster name from its member to nobody.
