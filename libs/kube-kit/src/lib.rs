//! How KubeOpera talks to any Kubernetes API server: a guarded client, what a cluster is, server-side apply, and a Lease
//! that one process at a time holds.
//!
//! A cluster may belong to somebody else, so every answer is limited in time and size, no answer's text is passed on to
//! people, and a kubeconfig from outside is read by an allow-list before anything acts on it.

mod access;
mod apply;
mod client;
mod discovery;
mod kubeconfig;
mod lease;
mod own_ranges;
mod provider_id;
mod read;
mod trouble;

pub use access::is_cluster_admin;
pub use apply::{Applier, wait_until};
pub use client::{Limits, guarded};
pub use discovery::{Discovery, NodeCount, cluster_uid, discover};
pub use kubeconfig::{
    Context, HOW_TO_MAKE_A_TOKEN, Kubeconfig, KubeconfigOptions, KubeconfigProblem, LARGEST_KUBECONFIG,
    ValidKubeconfig, Validity, is_forbidden_address, is_forbidden_host,
};
pub use lease::{Holder, Leadership, Lease, LeaseTimes};
pub use own_ranges::OwnRanges;
pub use provider_id::provider_of;
pub use read::{View, null_as_empty, read, read_all};
pub use trouble::{Attempt, is_not_found, printable, trouble, unless_gone, word};
