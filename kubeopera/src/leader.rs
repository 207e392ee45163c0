//! Several processes of one KubeOpera: all of them serve, one drives clusters.

use std::fs;

use host_cluster_controller_crd::NAMESPACE;
use kube_kit::{Holder, Lease, LeaseTimes};

use crate::data_folder::DataFolder;

/// Name of the Lease that the leader holds, in the namespace of the HostClusters.
const LEASE: &str = "kubeopera-leader";

/// The Lease that the processes on one cluster share. Its holder is named after its machine or Pod and the lock of its data
/// folder, which no two processes hold at once.
pub(crate) fn lease(client: kube::Client, data: &DataFolder) -> anyhow::Result<Lease> {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let seat = format!("{}_{}", machine.trim(), data.lock_id()?);
    let start = format!("{:016x}", rand::random::<u64>());
    Ok(Lease::new(client, NAMESPACE, LEASE, Holder::new(seat, start), LeaseTimes::default()))
}
