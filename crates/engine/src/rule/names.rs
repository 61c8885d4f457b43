//! Which names a hostname reserves, and which are ambiguous.
