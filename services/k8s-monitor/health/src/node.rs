//! What of a node the score depends on.

use std::num::NonZeroU32;

use k8s_monitor_contract::{Node, Resources};

/// The number that whoever watches a cluster gave a node's name, so that pods need not keep the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeRef(pub NonZeroU32);

/// A node as it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "these are the conditions Kubernetes gives a node")]
pub struct NodeFacts {
    /// The Ready condition is True. Unknown and missing are not.
    pub ready: bool,
    /// `MemoryPressure` is True. Unknown, as when the kubelet stopped, is not: that the node is not ready is counted.
    pub memory_pressure: bool,
    /// `DiskPressure` is True.
    pub disk_pressure: bool,
    /// `PIDPressure` is True.
    pub pid_pressure: bool,
    /// `NetworkUnavailable` is True.
    pub network_unavailable: bool,
    /// What pods can have of it.
    pub allocatable: Resources,
}

impl From<&Node> for NodeFacts {
    fn from(node: &Node) -> Self {
        Self {
            ready: node.ready,
            memory_pressure: node.memory_pressure,
            disk_pressure: node.disk_pressure,
            pid_pressure: node.pid_pressure,
            network_unavailable: node.network_unavailable,
            allocatable: node.allocatable,
        }
    }
}
