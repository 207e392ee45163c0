//! Several processes of one KubeOpera: all of them serve, one drives clusters.

use std::fs;

use host_cluster_controller_crd::NAMESPACE;
use kube_kit::{Holder, Lease, LeaseTimes};

use crate::data_folder::DataFolder;

/// Name of the Lease that the leader holds, in the namespace of the HostClusters.
const LEASE: &str = "kubeopera-leader";

/// Another at each start of a kernel, and the same for all that runs on it.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The Lease that the processes on one cluster share. Its holder is named after its machine or Pod, for people, and
/// after the lock of its data folder on the kernel that runs, which no two processes hold at once. Where the kernel
/// does not say which one it is, nobody comes back.
pub(crate) fn lease(client: kube::Client, data: &DataFolder) -> anyhow::Result<Lease> {
    let word = |path| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let start = format!("{:016x}", rand::random::<u64>());
    let seat = match word(BOOT) {
        unknown if unknown.is_empty() => start.clone(),
        boot => format!("{}_{boot}_{}", word("/proc/sys/kernel/hostname"), data.lock_id()?),
    };
    Ok(Lease::new(client, NAMESPACE, LEASE, Holder::new(seat, start), LeaseTimes::default()))
}
