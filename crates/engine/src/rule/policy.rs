//! Auto's table, and forced policies.
