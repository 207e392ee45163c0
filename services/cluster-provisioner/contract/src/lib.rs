//! What cluster-provisioner promises to the controller: one run per cluster, known by the cluster's id alone.
//!
//! The controller knows runs, not clouds. Each method may be called any number of times.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use vocabulary::{ClusterId, ClusterName, KubernetesVersion, Provider, Region, Secret, Trouble};

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
    /// No run under this cluster's name.
    Absent,
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
    /// Makes the cluster's infrastructure go away; [`RunStatus::Absent`] afterwards means it is gone.
    async fn ensure_destroyed(&self, cluster: ClusterId) -> Result<RunStatus, Trouble>;
}
