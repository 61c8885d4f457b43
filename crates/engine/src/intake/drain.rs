//! ClusterDrain to checked input.
