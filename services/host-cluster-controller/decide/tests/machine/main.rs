//! The machine from outside: facts in, steps and statuses out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test that goes wrong should stop there"
)]

mod clocks;
mod matrix;
mod phases_page;
mod scene;
mod statuses;
mod world;
mod worlds;
