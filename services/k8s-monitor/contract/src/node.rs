//! A node.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vocabulary::Money;

use crate::Resources;

/// How a cloud sells a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
pub enum CapacityType {
    OnDemand,
    Spot,
}

/// A node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[allow(clippy::struct_excessive_bools, reason = "these are the conditions Kubernetes gives a node")]
#[schema(as = ClusterNode)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether its Ready condition is True.
    pub ready: bool,
    /// Whether its `MemoryPressure` condition is True.
    pub memory_pressure: bool,
    /// Whether its `DiskPressure` condition is True.
    pub disk_pressure: bool,
    /// Whether its `PIDPressure` condition is True.
    pub pid_pressure: bool,
    /// Whether its `NetworkUnavailable` condition is True.
    pub network_unavailable: bool,
    /// Whether pods may be scheduled to it: it is not cordoned.
    pub schedulable: bool,
    /// What it has.
    pub capacity: Resources,
    /// What pods can have of that.
    pub allocatable: Resources,
    /// What the pods on it request. Null if pods cannot be read.
    #[schema(required)]
    pub requested: Option<Resources>,
    /// What is used on it. Null if the metrics API does not tell.
    #[schema(required)]
    pub used: Option<Resources>,
    /// Version of its kubelet.
    pub version: String,
    /// `linux` or `windows`. Null if no label says so.
    #[schema(required)]
    pub operating_system: Option<String>,
    /// Such as `m6i.large`. Null if no label says so.
    #[schema(required)]
    pub instance_type: Option<String>,
    /// Null if no label says so.
    #[schema(required)]
    pub region: Option<String>,
    /// Null if no label says so.
    #[schema(required)]
    pub zone: Option<String>,
    /// On demand unless a label says that it is spot; null where no cloud sells it.
    #[schema(required)]
    pub capacity_type: Option<CapacityType>,
    /// What it costs. Null if it is not priced; why, is in the cost's `not_priced`.
    #[schema(required)]
    pub price: Option<NodePrice>,
    /// Since when it is part of the cluster. Null if it does not say.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
}

/// What a node costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodePrice {
    /// US dollars in a month of 730 hours.
    #[schema(value_type = f64, minimum = 0)]
    pub monthly: Money,
    /// What kind of price it is, such as `list price, on demand`.
    pub basis: String,
}
