//! A cluster as it was seen last: in short and in full.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vocabulary::ClusterId;

use crate::{Cost, CostTotal, Events, Health, HealthScore, Node, Usage};

/// How old what is shown is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Freshness {
    /// When the cluster last answered: what is shown was so then. Null if it never did. While it is watched and silent, all
    /// is as it was; this alone moving on is no change.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub as_of: Option<Timestamp>,
    /// Since when and why the cluster cannot be reached. Null while it can.
    #[schema(required)]
    pub unreachable: Option<Unreachable>,
}

/// A cluster does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unreachable {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// Why, and what to do, as sentences.
    pub reason: String,
}

/// Nodes of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterNodeCount)]
pub struct NodeCount {
    /// All.
    pub total: u64,
    /// Those whose Ready condition is True.
    pub ready: u64,
}

/// A cluster in short: a row of the Multi-Cluster view. `None` is never zero: it is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// Which cluster.
    pub cluster: ClusterId,
    /// The revision of the fleet with which it last changed.
    pub revision: u64,
    /// How old the rest is.
    pub freshness: Freshness,
    /// Score and colour; `None` until the cluster was read completely once.
    pub health: Option<HealthScore>,
    /// Nodes; `None` until they were read or if they may not be read.
    pub nodes: Option<NodeCount>,
    /// CPU and memory; `None` until nodes were read.
    pub usage: Option<Usage>,
    /// Monthly cost; `None` until nodes were read.
    pub cost: Option<CostTotal>,
}

/// A cluster in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterMonitor)]
pub struct Snapshot {
    /// Which cluster.
    #[schema(value_type = uuid::Uuid)]
    pub cluster: ClusterId,
    /// Grows with every change.
    pub revision: u64,
    /// How old the rest is.
    pub freshness: Freshness,
    /// Null until the cluster was read completely once.
    #[schema(required)]
    pub health: Option<Health>,
    /// By name. Null until they were read, or if they may not be read.
    #[schema(required)]
    pub nodes: Option<Vec<Node>>,
    /// Null until nodes were read.
    #[schema(required)]
    pub usage: Option<Usage>,
    /// Null until nodes were read.
    #[schema(required)]
    pub cost: Option<Cost>,
    /// Events of late.
    pub events: Events,
}

impl Snapshot {
    /// A cluster of which nothing is known yet.
    pub fn unread(cluster: ClusterId) -> Self {
        Self {
            cluster,
            revision: 0,
            freshness: Freshness::default(),
            health: None,
            nodes: None,
            usage: None,
            cost: None,
            events: Events::default(),
        }
    }
}

/// A cluster that did not answer in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Late {
    /// Which cluster.
    pub cluster: ClusterId,
    /// Why, as a sentence.
    pub reason: String,
}
