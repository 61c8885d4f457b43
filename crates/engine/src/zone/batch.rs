//! Limits, pairs, packing.
