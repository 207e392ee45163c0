//! The machine from outside: facts in, steps and statuses out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    unreachable_pub,
    reason = "a test that goes wrong should stop there, and a table is long"
)]

mod attempts;
mod clocks;
mod credential;
mod matrix;
mod phases_page;
mod scene;
mod statuses;
mod world;
mod worlds;
