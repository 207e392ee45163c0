//! An API server that behaves as a test wants it to: well, or in any of the ways in which servers of others do not.
//!
//! [`Cluster`] keeps objects in memory and serves lists, pages and watches of them as Kubernetes does. [`Server`] stands
//! before it, or before nothing, and answers each request by a script: with the cluster's answer, or silence, garbage,
//! endless streams, lies.

mod cluster;
mod server;

pub use cluster::Cluster;
pub use server::{Answer, Asked, Server};
