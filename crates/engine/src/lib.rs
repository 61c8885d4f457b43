//! Every decision of Truce.
