//! cluster-provisioner: creates clusters in a cloud and makes them go away, with Terraform in a Kubernetes Job.
//!
//! Two halves that share a Secret. [`Provisioner`] is what host-cluster-controller asks: it prepares a run, starts its Job and
//! says where it is. [`runner`] is what the Job runs: it has Terraform do the work, and writes the state, how far it is and
//! what came of it into the Secret, which is the [`book`] of the cluster.
//!
//! Whatever is killed at whatever moment, the next run goes on with the last state that the book has.

pub mod book;
mod job;
mod ledger;
mod log;
mod names;
mod order;
mod provisioner;
mod record;
mod renewal;
pub mod runner;
mod seal;

pub use ledger::Ledger;
pub use names::is_order;
pub use order::{Order, OrderError};
pub use provisioner::{Config, Provisioner};
pub use seal::{Content, Key};
