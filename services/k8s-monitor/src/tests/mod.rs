//! The monitor and API servers that behave well, ill, and not at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod hostile;
mod managed;
mod scene;
mod well;
