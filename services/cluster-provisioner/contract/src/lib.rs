//! What cluster-provisioner promises to the controller: one run per cluster, known by the cluster's id alone.
//!
//! The controller knows runs, not clouds. Each method may be called any number of times.

mod view;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use vocabulary::{ClusterId, ClusterName, KubernetesVersion, Provider, Region, Secret, Trouble};

pub use view::{LogPart, Price, Provisioning, Resource, RunState};

/// What KubeOpera builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// EC2 instances and kubeadm, this many control-plane nodes (odd).
    VanillaKubeadm {
        /// 1, 3, 5 or 7. More than one adds a Network Load Balancer.
        control_planes: u8,
    },
    /// Amazon EKS with a managed node group.
    ManagedEks,
    /// Google GKE with a node pool.
    ManagedGke,
}

/// A cluster to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Identity of the run and of everything it creates.
    pub cluster: ClusterId,
    /// Name people gave the cluster; part of cloud names and tags.
    pub name: ClusterName,
    /// Cloud.
    pub provider: Provider,
    /// Region in that cloud.
    pub region: Region,
    /// What to build.
    pub topology: Topology,
    /// Worker nodes.
    pub nodes: u16,
    /// Instance type of each node.
    pub instance_type: String,
    /// Kubernetes version.
    pub kubernetes_version: KubernetesVersion,
    /// Which stored cloud credential to use.
    pub credential: String,
}

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Nothing was ever asked for under this cluster's name.
    Absent,
    /// A run was asked for, and its Job is not there: not yet, or not any more.
    Vanished {
        /// The Job's name.
        job: String,
    },
    /// Working.
    Running {
        /// The Job's name.
        job: String,
        /// What it is doing, as a sentence for people.
        progress: String,
    },
    /// The infrastructure exists.
    Succeeded {
        /// The Job's name.
        job: String,
    },
    /// It stopped short. What exists is kept for the next attempt.
    Failed {
        /// The Job's name.
        job: String,
        /// Why, and what to change.
        trouble: Trouble,
    },
    /// The infrastructure was made to go away, and it is gone.
    Destroyed,
}

impl std::fmt::Debug for dyn ClusterProvisioner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClusterProvisioner")
    }
}

/// cluster-provisioner as the controller sees it.
#[async_trait]
pub trait ClusterProvisioner: Send + Sync {
    /// Makes the cluster's one run exist; `attempt` above the last one starts a failed run anew.
    async fn ensure_run(&self, request: &RunRequest, attempt: u32) -> Result<(), Trouble>;
    /// Where the cluster's run is.
    async fn run_status(&self, cluster: ClusterId) -> Result<RunStatus, Trouble>;
    /// A kubeconfig for the finished cluster.
    async fn kubeconfig(&self, cluster: ClusterId) -> Result<Secret, Trouble>;
    /// Makes the cluster's infrastructure go away; [`RunStatus::Destroyed`] afterwards means it is gone, and
    /// [`RunStatus::Absent`] that there never was any.
    async fn ensure_destroyed(&self, cluster: ClusterId) -> Result<RunStatus, Trouble>;
    /// Stops looking after the cluster's infrastructure, which stays where it is. What is left of it is written down.
    async fn give_up(&self, cluster: ClusterId) -> Result<(), Trouble>;
    /// What its runs made and took away, also after it is gone; none if there never was a run.
    async fn provisioning(&self, cluster: ClusterId) -> Result<Option<Provisioning>, Trouble>;
    /// What its runs said from a byte of their log on, also after their end; none if there never was a run.
    async fn log(&self, cluster: ClusterId, from: u64) -> Result<Option<LogPart>, Trouble>;
}
