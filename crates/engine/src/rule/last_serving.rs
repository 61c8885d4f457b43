//! Who may not be withdrawn.
