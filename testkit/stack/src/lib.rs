//! The stack under test: a real local cluster, the real `kubeopera` program, and a person at the dashboard.
//!
//! Everything here waits for conditions with deadlines and cleans up after itself. A test says in its own words what it
//! expects; nothing in this crate asserts.

mod certificate;
mod command;
mod dashboard;
mod git;
mod git_server;
mod job_image;
mod local_cluster;
mod program;
mod wait;
mod watched;

pub use certificate::ClientCertificate;
pub use command::run;
pub use dashboard::Dashboard;
pub use git::commits_of_path;
pub use git_server::GitServer;
pub use job_image::{JOB_IMAGE, JobImage};
pub use local_cluster::{LocalCluster, flux_manifest, start_mirror, stop_mirror};
pub use program::{Program, ProgramOptions, Way};
pub use wait::{eventually, until};
pub use watched::PhaseLog;
