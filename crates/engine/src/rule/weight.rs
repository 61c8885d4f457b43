//! What a cluster weighs for a hostname, and who drains it.
