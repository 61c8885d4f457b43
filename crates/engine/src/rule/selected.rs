//! Which clusters a hostname selects.
