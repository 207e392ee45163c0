//! A cluster is managed by one KubeOpera at a time: another is told whose it is, and has it once that one lets go.

use std::time::Duration;

use host_cluster_controller_crd::{Installation, Phase};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::DynamicObject};
use serde_json::json;
use stack::LocalCluster;

use crate::{
    TO_READY, World,
    flux::{FLUX, git_repositories, kustomizations},
    options,
};

#[tokio::test]
#[ignore = "starts two clusters"]
async fn a_second_kubeopera_is_refused_with_the_owners_name_and_has_the_cluster_once_it_is_let_go_of() {
    let owner = World::fresh("stack-owner").await;
    let elsewhere = LocalCluster::up("stack-another", &["--control-plane-only"]).await.unwrap();
    let another = World::on(elsewhere, options()).await;
    let (_, registered) = owner.dashboard.register().await.unwrap();
    owner.ready().await;
    let before = owner.marks().await;

    let kubeconfig = std::fs::read_to_string(owner.cluster.kubeconfig()).unwrap();
    let wanted = json!({ "name": "wanted", "provider": "other", "region": "here", "kubeconfig": kubeconfig });
    let (status, _) = another.dashboard.post("connect", &wanted).await.unwrap();
    assert!(status.is_success(), "{status}");
    let refusal =
        another.message("a refusal", Duration::from_mins(2), |message| message.contains("Another KubeOpera")).await;

    assert!(refusal.contains(&owner.program.address()) && refusal.contains("Disconnect it there first"), "{refusal}");
    let refused = another.host_cluster().await.unwrap();
    assert_eq!(refused.status.unwrap().phase, Some(Phase::Failed));
    assert_eq!(owner.marks().await, before, "something was written");

    let id = registered["id"].as_str().unwrap();
    owner.dashboard.post(&format!("{id}/disconnect"), &json!({})).await.unwrap();
    stack::until("Ready at the other", TO_READY, || async {
        let resource = another.host_cluster().await?;
        let status = resource.status.unwrap_or_default();
        anyhow::ensure!(status.phase == Some(Phase::Ready), "{:?}: {:?}", status.phase, status.message);
        Ok(())
    })
    .await
    .unwrap();
    let after = owner.marks().await;
    assert_eq!(after.len(), before.len());
    assert!(after.iter().all(|(_, url, _)| url.as_deref() == Some(&*another.program.address())), "{after:?}");
}

impl World {
    /// Whose mark KubeOpera's objects on this cluster have, and in which version they are.
    async fn marks(&self) -> Vec<(String, Option<String>, Option<String>)> {
        let marked = |metadata: kube::api::ObjectMeta| {
            let Installation { id, url } = Installation::of(&metadata).expect("a mark");
            (id, url, metadata.generation.map(|generation| generation.to_string()))
        };
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), FLUX);
        let secret = secrets.get("kubeopera-git").await.unwrap();
        let source: DynamicObject = git_repositories(&self.client).get("kubeopera").await.unwrap();
        let root: DynamicObject = kustomizations(&self.client).get("kubeopera").await.unwrap();
        let version = secret.metadata.resource_version.clone();
        let (id, url, _) = marked(secret.metadata);
        vec![(id, url, version), marked(source.metadata), marked(root.metadata)]
    }
}
