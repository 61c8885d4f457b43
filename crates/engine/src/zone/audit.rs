//! What to read next, and what a read proves.
