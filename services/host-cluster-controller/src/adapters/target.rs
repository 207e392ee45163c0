//! A managed cluster as such.

use std::sync::Arc;

use async_trait::async_trait;
use gitops_scaffolder_contract::Present;
use host_cluster_controller_crd::NodeCount;
use host_cluster_controller_decide::{ClusterSeen, Target};
use kube_kit::{discover, is_cluster_admin};
use vocabulary::Trouble;

use super::{Connections, presence};
use crate::ports::TargetCluster;

/// Managed clusters, reached through their connections.
pub struct Clusters(pub Arc<Connections>);

#[async_trait]
impl TargetCluster for Clusters {
    async fn look(&self, at: &Target) -> Result<ClusterSeen, Trouble> {
        let connection = self.0.to(at).await?;
        let looked = async { Ok((discover(connection.client()).await?, is_cluster_admin(connection.client()).await?)) };
        let (discovery, may_administer) = match looked.await {
            Ok(looked) => looked,
            Err(trouble) => return Err(self.0.explain(at, trouble).await),
        };
        let count = |nodes: u32| i32::try_from(nodes).unwrap_or(i32::MAX);
        Ok(ClusterSeen {
            uid: discovery.uid,
            kubernetes_version: discovery.version,
            nodes: NodeCount { total: count(discovery.nodes.total), ready: count(discovery.nodes.ready) },
            may_administer,
        })
    }

    async fn present(&self, at: &Target) -> Result<Present, Trouble> {
        presence::look(self.0.to(at).await?.client()).await
    }
}
