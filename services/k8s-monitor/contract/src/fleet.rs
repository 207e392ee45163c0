//! Every cluster side by side: the Multi-Cluster view.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vocabulary::{ClusterId, Money};

use crate::{Colour, CostTotal, Glance, HealthScore, NodeCount, Resource};

/// In which of four ways a cluster stands. Each cluster stands in exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
#[schema(as = ClusterStanding)]
pub enum Standing {
    Healthy,
    Degraded,
    Unreachable,
    SettingUp,
}

impl Standing {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Unreachable => "unreachable",
            Self::SettingUp => "setting_up",
        }
    }
}

/// How far a cluster is on its way to being managed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    /// On the way.
    Underway,
    /// The cluster is Ready.
    Done,
    /// Something went wrong.
    Failed,
}

/// What is on record of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: ClusterId,
    /// The name people gave it.
    pub name: String,
    /// Cloud or kind of installation, or unknown.
    pub provider: String,
    /// Region of the provider, or unknown.
    pub region: String,
    /// Whether KubeOpera runs on it.
    pub is_host: bool,
    /// Version of its API server, if known.
    pub kubernetes_version: Option<String>,
    /// The phase, by the name that the API gives it.
    pub phase: String,
    /// How far it is.
    pub setup: Setup,
}

/// A cluster in the Multi-Cluster view. Null is never zero: it is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MultiClusterRow)]
pub struct Row {
    /// Identity; the name of its HostCluster resource.
    #[schema(value_type = uuid::Uuid)]
    pub id: ClusterId,
    /// The name people gave it.
    pub name: String,
    /// Cloud or kind of installation, or unknown.
    pub provider: String,
    /// Region of the provider, or unknown.
    pub region: String,
    /// Whether KubeOpera runs on it.
    pub is_host: bool,
    /// Version of its API server. Null until it is known.
    #[schema(required)]
    pub kubernetes_version: Option<String>,
    /// The phase, as in Cluster.
    pub phase: String,
    /// Healthy: it answers and is green. Degraded: it answers and is not, or its setup failed. Unreachable: it does not
    /// answer. Setting up: it is not Ready yet, or is being read for the first time.
    pub standing: Standing,
    /// Score and colour.
    #[schema(required)]
    pub health: Option<HealthScore>,
    /// Nodes.
    #[schema(required)]
    pub nodes: Option<NodeCount>,
    /// CPU, in millicores.
    #[schema(required)]
    pub cpu: Option<RowResource>,
    /// Memory, in bytes.
    #[schema(required)]
    pub memory: Option<RowResource>,
    /// Why CPU and memory are not those of all nodes. Null if they are.
    #[schema(required)]
    pub not_measured: Option<String>,
    /// Monthly cost.
    #[schema(required)]
    pub cost: Option<CostTotal>,
    /// What is shown is old: how old and why. Null while it is that of this moment.
    #[schema(required)]
    pub stale: Option<Stale>,
}

/// CPU or memory of a cluster. Millicores or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MultiClusterResource)]
pub struct RowResource {
    /// Used, in percent of what the measured nodes can allocate, to a tenth. Null if no node is measured.
    #[schema(required, minimum = 0)]
    pub percent: Option<f64>,
    /// Used on the measured nodes. Null if no node is measured.
    #[schema(required)]
    pub used: Option<u64>,
    /// Allocatable on all nodes.
    pub allocatable: u64,
}

/// Why and since when a value is old.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stale {
    /// When the cluster last answered. Null if it never did.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub as_of: Option<Timestamp>,
    /// Why it is old, as sentences.
    pub reason: String,
}

/// All clusters in sum. Healthy, degraded, unreachable and setting up together are always all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = MultiClusterSummary)]
pub struct Summary {
    /// All clusters.
    pub total: u64,
    /// They answer and are green.
    pub healthy: u64,
    /// They answer and are amber or red, or their setup failed.
    pub degraded: u64,
    /// They do not answer.
    pub unreachable: u64,
    /// They are not Ready yet, or are being read for the first time.
    pub setting_up: u64,
    /// Nodes of the clusters that answer.
    pub nodes: NodeCount,
    /// Clusters that `nodes` is the sum of.
    pub nodes_of: u64,
    /// CPU used in percent of what the measured nodes of all clusters that answer can allocate, so that a large cluster
    /// weighs more. Null if none is measured.
    #[schema(required, minimum = 0)]
    pub cpu_percent: Option<f64>,
    /// Clusters that `cpu_percent` is the average of.
    pub cpu_of: u64,
    /// Memory, likewise.
    #[schema(required, minimum = 0)]
    pub memory_percent: Option<f64>,
    /// US dollars a month for all that is priced. Clusters that do not answer are in it as they were: they still cost.
    /// Null if nothing is priced.
    #[schema(required, value_type = Option<f64>, minimum = 0)]
    pub monthly_cost: Option<Money>,
    /// Clusters whose cost is known completely.
    pub priced: u64,
    /// Clusters of which something, or everything, is not priced. With `priced` they are all.
    pub not_priced: u64,
}

/// The Multi-Cluster view.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct MultiCluster {
    /// All clusters in sum.
    pub summary: Summary,
    /// By name.
    pub clusters: Vec<Row>,
}

impl Row {
    /// Brings together what is on record of a cluster and how it was seen last.
    pub fn of(listed: Listed, glance: Option<&Glance>) -> Self {
        let health = glance.and_then(|glance| glance.health);
        let unreachable = glance.and_then(|glance| glance.freshness.unreachable.as_ref());
        let standing = match (listed.setup, unreachable.is_some(), health.map(|health| health.colour)) {
            (Setup::Underway, ..) | (Setup::Done, false, None) => Standing::SettingUp,
            (Setup::Done | Setup::Failed, true, _) | (Setup::Failed, false, None) => Standing::Unreachable,
            (Setup::Done, false, Some(Colour::Green)) => Standing::Healthy,
            (Setup::Done | Setup::Failed, false, Some(_)) => Standing::Degraded,
        };
        let usage = glance.and_then(|glance| glance.usage.as_ref());
        Self {
            id: listed.id,
            name: listed.name,
            provider: listed.provider,
            region: listed.region,
            is_host: listed.is_host,
            kubernetes_version: listed.kubernetes_version,
            phase: listed.phase,
            standing,
            health,
            nodes: glance.and_then(|glance| glance.nodes),
            cpu: usage.map(|usage| RowResource::from(usage.cpu)),
            memory: usage.map(|usage| RowResource::from(usage.memory)),
            not_measured: usage.and_then(|usage| usage.not_measured.clone()),
            cost: glance.and_then(|glance| glance.cost),
            stale: unreachable.map(|unreachable| Stale {
                as_of: glance.and_then(|glance| glance.freshness.as_of),
                reason: unreachable.reason.clone(),
            }),
        }
    }
}

impl From<Resource> for RowResource {
    fn from(resource: Resource) -> Self {
        Self {
            percent: resource.percent_used().map(to_a_tenth),
            used: resource.used,
            allocatable: resource.allocatable,
        }
    }
}

fn to_a_tenth(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

impl Summary {
    /// The sum over clusters, each with how it was seen last.
    pub fn of<'a>(clusters: impl Iterator<Item = (&'a Row, Option<&'a Arc<Glance>>)>) -> Self {
        let mut summary = Self::default();
        let (mut cpu, mut memory) = (Average::default(), Average::default());
        for (row, glance) in clusters {
            summary.total += 1;
            *match row.standing {
                Standing::Healthy => &mut summary.healthy,
                Standing::Degraded => &mut summary.degraded,
                Standing::Unreachable => &mut summary.unreachable,
                Standing::SettingUp => &mut summary.setting_up,
            } += 1;
            match row.cost {
                Some(cost) if cost.not_priced == 0 => summary.priced += 1,
                _ => summary.not_priced += 1,
            }
            if let Some(monthly) = row.cost.and_then(|cost| cost.monthly) {
                summary.monthly_cost = Some([summary.monthly_cost.unwrap_or_default(), monthly].into_iter().sum());
            }
            if row.stale.is_some() {
                continue;
            }
            if let Some(nodes) = row.nodes {
                summary.nodes.total += nodes.total;
                summary.nodes.ready += nodes.ready;
                summary.nodes_of += 1;
            }
            if let Some(usage) = glance.and_then(|glance| glance.usage.as_ref()) {
                summary.cpu_of += u64::from(cpu.add(usage.cpu));
                memory.add(usage.memory);
            }
        }
        summary.cpu_percent = cpu.percent();
        summary.memory_percent = memory.percent();
        summary
    }
}

/// An average weighted by what can be allocated.
#[derive(Default)]
struct Average {
    used: u64,
    of: u64,
}

impl Average {
    /// Whether the cluster is in the average.
    fn add(&mut self, resource: Resource) -> bool {
        let (Some(used), Some(of)) = (resource.used, resource.measured_allocatable.filter(|of| *of > 0)) else {
            return false;
        };
        self.used = self.used.saturating_add(used);
        self.of = self.of.saturating_add(of);
        true
    }

    fn percent(&self) -> Option<f64> {
        let all = Resource { used: Some(self.used), measured_allocatable: Some(self.of), ..Resource::default() };
        all.percent_used().map(to_a_tenth)
    }
}

#[cfg(test)]
mod tests;
