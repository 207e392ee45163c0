//! What host-cluster-controller sees of runs: Jobs and Secrets, on an API server in memory. How a real one behaves is the
//! subject of the stack's tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod api_server;
mod life;
mod lost;
mod renewal;
mod shown;
mod world;
