//! The product on a real cluster, a chapter of its description each.
//!
//! These tests start local clusters of their own (root, containerd and a built `local-cluster` are needed) and are
//! therefore ignored by default: `make test-stack` runs them, one at a time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test says what it expects and stops where it is not so"
)]

mod another_kubeopera;
mod black_holes;
mod canaries;
mod canary_sweep;
mod connect_existing;
mod creating;
mod credential_expiry;
mod disconnecting;
mod failures;
mod flux;
mod generated_tree;
mod killed;
mod kubeconfigs;
mod multi_cluster_view;
mod processes;
mod register_this_cluster;
mod resource_rules;
mod someone_elses_flux;

use std::{path::PathBuf, time::Duration};

use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase};
use kube::{Api, ResourceExt, api::ListParams};
use stack::{Dashboard, LocalCluster, Program, ProgramOptions, Way};

/// How long the way from Register to Ready may take on a busy machine.
const TO_READY: Duration = Duration::from_mins(5);

/// A cluster, a KubeOpera on it, and somebody logged in.
struct World {
    program: Program,
    dashboard: Dashboard,
    client: kube::Client,
    // Last, so that the program ends before the cluster does.
    cluster: LocalCluster,
}

impl World {
    /// From nothing, as `make up` does it: KubeOpera starts the cluster itself.
    async fn from_nothing(name: &str, options: ProgramOptions) -> Self {
        let cluster = LocalCluster::expected(name).await.unwrap();
        Self::on(cluster, ProgramOptions { way: Way::Local, ..options }).await
    }

    /// A fresh cluster and a fresh KubeOpera whose charts and images come from the local mirror.
    async fn fresh(name: &str) -> Self {
        stack::start_mirror().await.unwrap();
        Self::on(LocalCluster::up(name, &[]).await.unwrap(), options()).await
    }

    /// A fresh KubeOpera on a cluster.
    async fn on(cluster: LocalCluster, options: ProgramOptions) -> Self {
        let program = Program::start(&cluster, options).await.unwrap();
        let dashboard = Dashboard::log_in(&program).await.unwrap();
        let client = cluster.client().await.unwrap();
        Self { program, dashboard, client, cluster }
    }

    /// The one HostCluster resource there is.
    async fn host_cluster(&self) -> anyhow::Result<HostCluster> {
        let mut all = host_clusters(&self.client).await?;
        anyhow::ensure!(all.len() == 1, "there are {} HostClusters", all.len());
        Ok(all.remove(0))
    }

    /// Waits for Ready, and makes sure that no secret was seen on the way; the error tells phase and message seen last.
    async fn ready(&self) -> HostCluster {
        let ready = stack::until("Ready", TO_READY, || async {
            let resource = self.host_cluster().await?;
            let status = resource.status.clone().unwrap_or_default();
            anyhow::ensure!(status.phase == Some(Phase::Ready), "{:?}: {:?}", status.phase, status.message);
            Ok(resource)
        })
        .await
        .unwrap();
        canaries::are_nowhere(self).await;
        ready
    }

    /// Waits until the status message satisfies `expected`.
    async fn message(&self, what: &str, limit: Duration, expected: impl Fn(&str) -> bool) -> String {
        stack::until(what, limit, || async {
            let status = self.host_cluster().await?.status.unwrap_or_default();
            let message = status.message.unwrap_or_default();
            anyhow::ensure!(expected(&message), "{:?}: {message}", status.phase);
            Ok(message)
        })
        .await
        .unwrap()
    }
}

async fn host_clusters(client: &kube::Client) -> anyhow::Result<Vec<HostCluster>> {
    let api = Api::<HostCluster>::namespaced(client.clone(), NAMESPACE);
    Ok(api.list(&ListParams::default()).await?.items)
}

/// The executable that this workspace builds.
fn options() -> ProgramOptions {
    ProgramOptions {
        executable: PathBuf::from(env!("CARGO_BIN_EXE_kubeopera")),
        way: Way::Kubeconfig,
        arguments: Vec::new(),
        environment: Vec::new(),
    }
}

/// Names of the objects of one kind that carry KubeOpera's mark, sorted.
async fn names<K>(api: Api<K>) -> Vec<String>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let marked = ListParams::default().labels("app.kubernetes.io/managed-by=kubeopera");
    let mut names: Vec<String> = api.list(&marked).await.unwrap().items.iter().map(ResourceExt::name_any).collect();
    names.sort();
    names
}
