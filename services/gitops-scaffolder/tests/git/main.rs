//! The scaffolder and its built-in repository on real Git over real HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod commits;
mod secrets;
mod server;
mod stage;
mod troubles;
