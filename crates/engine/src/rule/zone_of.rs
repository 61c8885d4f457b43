//! Which zone a hostname lives in, and stays in.
