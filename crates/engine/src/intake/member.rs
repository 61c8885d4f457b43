//! MemberCluster to checked input.
