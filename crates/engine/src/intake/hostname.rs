//! GlobalHostname to checked input.
