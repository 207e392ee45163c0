//! The monitor and API servers that behave well, ill, and not at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::needless_pass_by_value, clippy::float_cmp, reason = "what a test says reads better without either")]

mod hostile;
mod leases;
mod managed;
mod pods;
mod scene;
mod well;
