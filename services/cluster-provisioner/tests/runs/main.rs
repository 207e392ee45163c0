//! Whole runs: the real Terraform, from an order to a kubeconfig and away again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod aws;
mod google;
mod noted_down;
mod world;
