//! Which clusters are watched, and by which way.

use std::{sync::Arc, time::Duration};

use base64::Engine as _;
use k8s_monitor_contract::{Glance, Monitor};
use kube::{Client, Config};
use kube_kit::{KubeconfigOptions, Limits, guarded};
use serde_json::{Value, json};
use testkit_hostile_api_server::{Cluster, Server};
use tokio_util::sync::{CancellationToken, DropGuard};
use vocabulary::ClusterId;

use super::scene::{glance, healthy, score, served};
use crate::{Context, Engine, run};

const HOST_CLUSTERS: &str = "/apis/kubeopera.io/v1alpha1/namespaces/kubeopera-system/hostclusters";
const SECRETS: &str = "/api/v1/namespaces/kubeopera-system/secrets";
/// What a page of a person would be open for.
const A_MOMENT: Duration = Duration::from_secs(10);

/// A management cluster and a monitor that follows it.
struct Management {
    cluster: Cluster,
    engine: Engine,
    _server: Server,
    _running: DropGuard,
}

impl Management {
    async fn start() -> Self {
        let cluster = healthy();
        cluster.collection(HOST_CLUSTERS);
        cluster.collection(SECRETS);
        let server = served(&cluster).await;
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client: Client = guarded(Config::new(server.url().parse().unwrap()), Limits::default()).unwrap();
        let (engine, shutdown) = (Engine::default(), CancellationToken::new());
        let context = Context { client, kubeconfigs: KubeconfigOptions::default(), engine: engine.clone() };
        tokio::spawn(run(context, shutdown.clone()));
        Self { cluster, engine, _server: server, _running: shutdown.drop_guard() }
    }

    fn host_cluster(&self, id: ClusterId, kubeconfig: Option<&str>, status: Value) {
        self.cluster.put(HOST_CLUSTERS, host_cluster(id, kubeconfig, status));
    }

    fn secret(&self, name: &str, cluster: ClusterId, kubeconfig: &str) {
        let text = base64::engine::general_purpose::STANDARD.encode(kubeconfig);
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": "kubeopera-system", "uid": "u",
                "labels": {"kubeopera.io/cluster-id": cluster.to_string()}},
            "data": {"kubeconfig": text},
        });
        self.cluster.put(SECRETS, secret.clone());
        self.cluster.say(&format!("{SECRETS}/{name}"), 200, secret.to_string());
    }

    /// Waits until exactly these clusters are watched.
    async fn watched(&self, expected: &[ClusterId]) {
        let mut expected = expected.to_vec();
        expected.sort();
        let mut revision = self.engine.revision();
        let until = async {
            loop {
                revision.borrow_and_update();
                let mut seen: Vec<_> = self.engine.fleet().iter().map(|glance| glance.cluster).collect();
                seen.sort();
                if seen == expected {
                    return;
                }
                revision.changed().await.unwrap();
            }
        };
        assert!(tokio::time::timeout(A_MOMENT, until).await.is_ok(), "not exactly {expected:?} are watched");
    }

    async fn refused(&self, id: ClusterId, words: &str) -> Arc<Glance> {
        glance(&self.engine, id, |glance| {
            glance.freshness.unreachable.as_ref().is_some_and(|unreachable| unreachable.reason.contains(words))
        })
        .await
    }
}

fn host_cluster(id: ClusterId, kubeconfig: Option<&str>, status: Value) -> Value {
    json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": {"name": id.to_string(), "namespace": "kubeopera-system", "uid": id.to_string()},
        "spec": {"clusterID": id.to_string(), "mode": "connect_existing", "provider": "aws", "region": "eu-north-1",
            "connectKubeconfigSecretRef": kubeconfig, "gitOpsRepoURL": "https://git.acme.com/iac.git",
            "gitOpsPath": "fluxcd/clusters/one", "gitCredentialsSecretRef": "git"},
        "status": status,
    })
}

#[tokio::test]
async fn the_cluster_kubeopera_runs_on_is_watched_from_registering_to_letting_go() {
    let management = Management::start().await;
    let id = ClusterId::random();
    management.host_cluster(id, None, json!({}));
    management.watched(&[id]).await;
    score(&management.engine, id, 100.0).await;

    let mut leaving = host_cluster(id, None, json!({}));
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    management.cluster.put(HOST_CLUSTERS, leaving);
    management.watched(&[]).await;
}

#[tokio::test]
async fn a_connected_cluster_is_watched_as_soon_as_its_kubeconfig_is_there_and_anew_when_that_changes() {
    let management = Management::start().await;
    let (host, id) = (ClusterId::random(), ClusterId::random());
    management.host_cluster(host, None, json!({}));
    management.host_cluster(id, Some("input"), json!({"phase": "ValidatingAccess"}));
    management.watched(&[host]).await;
    management.host_cluster(id, Some("input"), json!({"kubeconfigSecret": "kept"}));
    management.watched(&[host]).await;

    management.secret("kept", id, "not: a kubeconfig CANARY");
    management.watched(&[host, id]).await;
    let seen = management.refused(id, "Secret kubeopera-system/kept is not used").await;
    assert!(!format!("{seen:?}").contains("CANARY"));
    let exec = "apiVersion: v1\nkind: Config\nusers: [{name: u, user: {exec: {command: CANARY}}}]\n";
    management.secret("kept", id, exec);
    management.refused(id, "runs a program").await;

    management.cluster.delete(HOST_CLUSTERS, "kubeopera-system", &id.to_string());
    management.watched(&[host]).await;
}

#[tokio::test]
async fn a_secret_of_another_cluster_is_not_used() {
    let management = Management::start().await;
    let (id, other) = (ClusterId::random(), ClusterId::random());
    management.secret("theirs", other, "apiVersion: v1");
    management.host_cluster(id, Some("input"), json!({"kubeconfigSecret": "theirs"}));
    management.watched(&[id]).await;

    management.refused(id, "is not this cluster's own").await;
}

#[tokio::test]
async fn a_resource_that_cannot_be_read_does_not_stop_the_others() {
    let management = Management::start().await;
    let id = ClusterId::random();
    let mut broken = host_cluster(ClusterId::random(), None, json!({}));
    broken["spec"] = json!("broken");
    management.cluster.put(HOST_CLUSTERS, broken);
    management.host_cluster(id, None, json!({}));
    management.watched(&[id]).await;
    score(&management.engine, id, 100.0).await;
}
