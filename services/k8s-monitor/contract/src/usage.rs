//! CPU and memory.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An amount of CPU and of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Resources {
    /// Thousandths of a core.
    pub cpu_millicores: u64,
    /// Bytes.
    pub memory_bytes: u64,
}

impl Resources {
    /// Both together.
    pub const fn plus(self, more: Self) -> Self {
        Self {
            cpu_millicores: self.cpu_millicores.saturating_add(more.cpu_millicores),
            memory_bytes: self.memory_bytes.saturating_add(more.memory_bytes),
        }
    }
}

/// How much of a cluster's CPU or memory is in use. Millicores or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ResourceUsage)]
pub struct Resource {
    /// Used on the measured nodes. Null if no node is measured.
    #[schema(required)]
    pub used: Option<u64>,
    /// What `used` is a part of: allocatable on the measured nodes. Null if no node is measured.
    #[schema(required)]
    pub measured_allocatable: Option<u64>,
    /// Requested by all pods on all nodes. Null if pods cannot be read.
    #[schema(required)]
    pub requested: Option<u64>,
    /// Allocatable on all nodes.
    pub allocatable: u64,
}

impl Resource {
    /// Used, in percent of the measured nodes. `None` if no node is measured or they have nothing to allocate.
    #[allow(clippy::cast_precision_loss, reason = "a percentage for people")]
    pub fn percent_used(&self) -> Option<f64> {
        let (used, allocatable) = self.used.zip(self.measured_allocatable.filter(|all| *all > 0))?;
        Some(used as f64 * 100.0 / allocatable as f64)
    }
}

/// A cluster's CPU and memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterUsage)]
pub struct Usage {
    /// In millicores.
    pub cpu: Resource,
    /// In bytes.
    pub memory: Resource,
    /// Nodes that the metrics API tells the usage of.
    pub measured_nodes: u64,
    /// All nodes.
    pub nodes: u64,
    /// Why not all nodes are measured, as sentences. Null if all are.
    #[schema(required)]
    pub not_measured: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_of_nothing_is_unknown_and_never_infinite() {
        let resource = |used, measured_allocatable| Resource { used, measured_allocatable, ..Resource::default() };
        assert_eq!(resource(Some(1), Some(4)).percent_used(), Some(25.0));
        assert_eq!(resource(Some(1), Some(0)).percent_used(), None);
        assert_eq!(resource(Some(0), Some(0)).percent_used(), None);
        assert_eq!(resource(None, None).percent_used(), None);
    }
}
