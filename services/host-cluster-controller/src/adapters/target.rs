//! A managed cluster as such.

use std::sync::Arc;

use async_trait::async_trait;
use gitops_scaffolder_contract::Present;
use host_cluster_controller_crd::NodeCount;
use host_cluster_controller_decide::{ClusterSeen, Target};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::{Api, Client, api::PostParams};
use kube_kit::{Attempt, discover, trouble};
use vocabulary::Trouble;

use super::{Connections, presence};
use crate::ports::TargetCluster;

/// Managed clusters, reached through their connections.
pub struct Clusters(pub Arc<Connections>);

#[async_trait]
impl TargetCluster for Clusters {
    async fn look(&self, at: &Target) -> Result<ClusterSeen, Trouble> {
        let connection = self.0.to(at).await?;
        let discovery = discover(connection.client()).await?;
        let may_administer = may_do_everything(connection.client()).await?;
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

/// Whether every verb on every resource of every group is granted, which is what cluster-admin means.
async fn may_do_everything(client: &Client) -> Result<bool, Trouble> {
    let everything = ResourceAttributes {
        verb: Some("*".into()),
        group: Some("*".into()),
        resource: Some("*".into()),
        ..ResourceAttributes::default()
    };
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(everything),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let api: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let answer = api
        .create(&PostParams::default(), &review)
        .await
        .map_err(|error| trouble(Attempt("ask whether the credential has the role cluster-admin"), &error))?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}
