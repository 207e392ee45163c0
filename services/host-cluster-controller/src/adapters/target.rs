//! A managed cluster as such.

use std::sync::Arc;

use async_trait::async_trait;
use gitops_scaffolder_contract::Present;
use host_cluster_controller_crd::{Installation, NodeCount};
use host_cluster_controller_decide::{ClusterSeen, Target};
use kube_kit::{discover, is_cluster_admin};
use vocabulary::Trouble;

use super::{Connections, flux, presence};
use crate::ports::TargetCluster;

/// Managed clusters, reached through their connections.
pub struct Clusters {
    /// The ways to them.
    pub connections: Arc<Connections>,
    /// Who we are: a mark of ours is no other's.
    pub installation: Installation,
}

#[async_trait]
impl TargetCluster for Clusters {
    async fn look(&self, at: &Target) -> Result<ClusterSeen, Trouble> {
        let connection = self.connections.to(at).await?;
        let looked = async { Ok((discover(connection.client()).await?, is_cluster_admin(connection.client()).await?)) };
        let (discovery, may_administer) = match looked.await {
            Ok(looked) => looked,
            Err(trouble) => return Err(self.connections.explain(at, trouble).await),
        };
        // Whoever may not read it may do nothing else there either, and is told so.
        let installation = if may_administer { flux::installation(connection.client()).await? } else { None };
        let count = |nodes: u32| i32::try_from(nodes).unwrap_or(i32::MAX);
        Ok(ClusterSeen {
            uid: discovery.uid,
            kubernetes_version: discovery.version,
            nodes: NodeCount { total: count(discovery.nodes.total), ready: count(discovery.nodes.ready) },
            may_administer,
            managed_by_other: installation.filter(|other| other.id != self.installation.id),
        })
    }

    async fn present(&self, at: &Target) -> Result<Present, Trouble> {
        presence::look(self.connections.to(at).await?.client()).await
    }
}
