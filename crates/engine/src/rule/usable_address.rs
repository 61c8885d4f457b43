//! Which observed address counts.
