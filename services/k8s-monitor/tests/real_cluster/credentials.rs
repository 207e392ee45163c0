//! Kubeconfigs with tokens that are renewed while they are used, and that end.

use std::time::Duration;

use host_cluster_controller_crd::{HostCluster, NAMESPACE, marks};
use k8s_monitor::{Context, Engine, run};
use k8s_monitor_contract::{Monitor, Points};
use k8s_openapi::{
    api::{
        authentication::v1::TokenRequest,
        core::v1::{Secret, ServiceAccount},
        rbac::v1::ClusterRoleBinding,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    config::Kubeconfig,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use vocabulary::ClusterId;

use crate::{PATIENCE, Real};

const SECRET: &str = "kept-kubeconfig";

/// The cluster as one that it manages itself, by tokens of its own service accounts.
struct Managed<'r> {
    real: &'r Real,
    accounts: Api<ServiceAccount>,
    engine: Engine,
    id: ClusterId,
}

impl Managed<'_> {
    /// A token of a service account of its own, which ends with it.
    async fn token(&self, account: &str) -> String {
        let made = serde_json::from_value(json!({"metadata": {"name": account}})).unwrap();
        self.accounts.create(&PostParams::default(), &made).await.unwrap();
        let binding = json!({
            "metadata": {"name": account},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "namespace": NAMESPACE, "name": account}],
        });
        let bindings: Api<ClusterRoleBinding> = Api::all(self.real.client.clone());
        bindings.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
        let asked: TokenRequest = serde_json::from_value(json!({"spec": {"audiences": []}})).unwrap();
        let answer = self.accounts.create_token_request(account, &PostParams::default(), &asked).await.unwrap();
        answer.status.unwrap().token
    }

    /// Puts a kubeconfig with this token where the controller keeps it.
    async fn keep(&self, token: &str) {
        let file = Kubeconfig::read_from(self.real.cluster.kubeconfig()).unwrap();
        let cluster = serde_json::to_value(&file.clusters[0]).unwrap();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "clusters": [cluster], "current-context": "c",
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": file.clusters[0].name, "user": "u"}}],
        });
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "labels": marks(self.id)},
            "stringData": {"kubeconfig": kubeconfig.to_string()},
        });
        let secrets: Api<Secret> = Api::namespaced(self.real.client.clone(), NAMESPACE);
        secrets.patch(SECRET, &PatchParams::apply("test").force(), &Patch::Apply(secret)).await.unwrap();
    }

    /// The account is gone, and with it every token of it.
    async fn end(&self, account: &str) {
        self.accounts.delete(account, &DeleteParams::default()).await.unwrap();
    }

    async fn is_watched_well(&self) {
        stack::until("a score by this credential", PATIENCE, || async {
            let glance = self.engine.glance(self.id);
            let glance = glance.ok_or_else(|| anyhow::anyhow!("it is not watched"))?;
            let is_well = glance.freshness.unreachable.is_none();
            anyhow::ensure!(is_well && glance.health.is_some_and(|health| health.score == Points::FULL), "{glance:?}");
            Ok(())
        })
        .await
        .unwrap();
    }
}

pub(crate) async fn that_are_renewed_and_that_end(real: &Real) {
    real.namespace(NAMESPACE).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(real.client.clone());
    definitions.create(&PostParams::default(), &HostCluster::crd()).await.unwrap();
    let accounts = Api::namespaced(real.client.clone(), NAMESPACE);
    let managed = Managed { real, accounts, engine: Engine::default(), id: ClusterId::random() };
    let first = managed.token("first").await;
    managed.keep(&first).await;
    host_cluster(&managed).await;
    let shutdown = CancellationToken::new();
    let _running = shutdown.clone().drop_guard();
    let context = Context {
        client: real.client.clone(),
        kubeconfigs: kube_kit::KubeconfigOptions::default(),
        engine: managed.engine.clone(),
    };
    tokio::spawn(run(context, shutdown));
    managed.is_watched_well().await;

    // Renewed in time: the first token is of no use any more, and nobody notices.
    managed.keep(&managed.token("second").await).await;
    managed.end("first").await;
    for _ in 0..4 {
        let late = managed.engine.refresh(Duration::from_secs(10)).await;
        assert_eq!(late, [], "the renewed token is used");
        let glance = managed.engine.glance(managed.id).unwrap();
        assert_eq!(glance.freshness.unreachable, None);
        // So long the API server may take an answer about a token for another.
        tokio::time::sleep(Duration::from_secs(3)).await;
    }

    // It ends: what is known is kept, and the reason is told.
    managed.end("second").await;
    stack::until("the end of the token", PATIENCE, || async {
        let glance = managed.engine.glance(managed.id).unwrap();
        let reason = glance.freshness.unreachable.as_ref().map(|unreachable| unreachable.reason.clone());
        let is_told = reason.as_ref().is_some_and(|reason| reason.contains("does not accept the credential"));
        anyhow::ensure!(is_told && glance.health.is_some(), "{glance:?}");
        Ok(())
    })
    .await
    .unwrap();

    // Another one heals it, and nothing has to be started again.
    managed.keep(&managed.token("third").await).await;
    managed.is_watched_well().await;
}

/// A HostCluster that leads to the kubeconfig, as the controller leaves it.
async fn host_cluster(managed: &Managed<'_>) {
    let resources: Api<HostCluster> = Api::namespaced(managed.real.client.clone(), NAMESPACE);
    let name = managed.id.to_string();
    let resource = json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster", "metadata": {"name": name},
        "spec": {"clusterID": name, "mode": "connect_existing", "provider": "aws", "region": "eu-north-1",
            "connectKubeconfigSecretRef": "input", "gitOpsRepoURL": "https://git.acme.com/iac.git",
            "gitOpsPath": "fluxcd/clusters/one", "gitCredentialsSecretRef": "git"},
    });
    // A definition takes a moment until it is served.
    stack::until("the HostCluster", PATIENCE, || async {
        Ok(resources.create(&PostParams::default(), &serde_json::from_value(resource.clone())?).await?)
    })
    .await
    .unwrap();
    let status = Patch::Merge(json!({"status": {"phase": "Ready", "kubeconfigSecret": SECRET}}));
    resources.patch_status(&name, &PatchParams::default(), &status).await.unwrap();
}
