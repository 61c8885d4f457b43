//! The hub's record: lost answers and other writers.
