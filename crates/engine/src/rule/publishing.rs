//! Whether a member publishes what it read.
