//! What the programs that measure have in common: figures beside their goals, what a process takes, a real control plane,
//! a metrics API with figures of one's own, and a server that plays hundreds of clusters.
#![allow(clippy::print_stdout, reason = "figures are printed")]

mod control_plane;
mod figures;
mod metrics_api;
mod objects;
mod process;
mod replay;

pub use control_plane::{ControlPlane, client};
pub use figures::{figure, figure_of_at_least, heading, milliseconds, percentile, times};
pub use metrics_api::MetricsApi;
pub use objects::Template;
pub use process::{Process, this_program};
pub use replay::{AskedSoFar, Replay, serve_replay};
