//! When 192.0.2.1 may stand.
