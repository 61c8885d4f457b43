//! The Kubernetes types of Truce.
