//! Several processes of one KubeOpera: all of them serve, one drives clusters.

use std::{fmt::Write, fs};

use host_cluster_controller_crd::NAMESPACE;
use kube_kit::{Lease, LeaseTimes};

/// Name of the Lease that the leader holds, in the namespace of the HostClusters.
const LEASE: &str = "kubeopera-leader";

/// The Lease that the processes on one cluster share. Its holder is named after its machine or Pod, and differs from start
/// to start.
pub(crate) fn lease(client: kube::Client) -> Lease {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let mut holder = machine.trim().to_owned();
    let _ = write!(holder, "_{:016x}", rand::random::<u64>());
    Lease::new(client, NAMESPACE, LEASE, holder, LeaseTimes::default())
}
