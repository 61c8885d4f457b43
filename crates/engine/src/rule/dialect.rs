//! The ownership TXT that a version of ExternalDNS and its flags write.
