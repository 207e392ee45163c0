//! The scaffolder and its built-in repository on real Git over real HTTP and SSH.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    missing_docs
)]

mod checks;
mod commits;
mod looks;
mod networks;
mod proposals;
mod secrets;
mod server;
mod ssh;
mod stage;
mod troubles;
