//! DNSZone to checked input.
