//! Trees as whole folders, by properties over all inputs, and as kustomize sees them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    missing_docs
)]

mod cases;
mod kustomize;
mod properties;
