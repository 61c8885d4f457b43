//! Wanted against read: changes with their preconditions.
