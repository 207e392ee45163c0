//! Tokens of clusters, and what a kubeconfig that somebody else wrote can do when it is its turn.

use base64::{Engine, engine::general_purpose::STANDARD};
use host_cluster_controller_crd::{HostCluster, LABEL_CLUSTER_ID, NAMESPACE};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::world::World;

/// One round of renewing.
async fn renew(world: &World) {
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let ended = CancellationToken::new();
    ended.cancel();
    world.provisioner.keep_tokens_fresh(ended).await;
}

/// A cluster that KubeOpera made, as its resource says, and a Secret with a kubeconfig.
fn put(world: &World, kubeconfig: &Value) {
    let cluster = world.request.cluster;
    let secret = cluster.kubeconfig_secret();
    let resource = json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": { "name": "north", "namespace": NAMESPACE },
        "spec": {
            "clusterID": cluster, "mode": "provision_eks", "provider": "aws", "region": "eu-north-1",
            "gitOpsRepoURL": "https://git.acme.com/iac", "gitOpsPath": "north", "gitCredentialsSecretRef": "git",
        },
        "status": { "kubeconfigSecret": secret },
    });
    serde_json::from_value::<HostCluster>(resource.clone()).expect("a HostCluster as it is on the API server");
    world.api_server.put(&format!("/apis/kubeopera.io/v1alpha1/namespaces/{NAMESPACE}/hostclusters/north"), resource);
    let data = json!({ "kubeconfig": STANDARD.encode(kubeconfig.to_string()) });
    let labels = json!({ LABEL_CLUSTER_ID: cluster });
    let secret_object = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": secret, "namespace": NAMESPACE, "resourceVersion": "7", "labels": labels }, "data": data,
    });
    world.api_server.put(&format!("/api/v1/namespaces/{NAMESPACE}/secrets/{secret}"), secret_object);
}

/// A token of KubeOpera's own, long over.
fn token() -> String {
    let account = "system:serviceaccount:kubeopera-system:kubeopera-manager";
    let claims = json!({ "iat": 1000, "exp": 4600, "sub": account }).to_string();
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(claims);
    format!("e30.{claims}.c2ln")
}

/// A kubeconfig whose current user is `user`, beside one that has a token of ours.
fn kubeconfig(user: &Value) -> Value {
    let authority = rcgen::generate_simple_self_signed([]).unwrap().cert.pem();
    let authority = STANDARD.encode(authority);
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{ "name": "c", "cluster": { "server": "https://203.0.113.1:1", "certificate-authority-data": authority } }],
        "users": [{ "name": "kubeopera-manager", "user": { "token": token() } }, { "name": "u", "user": user }],
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
    })
}

#[tokio::test]
async fn a_kubeconfig_that_names_a_program_starts_nothing() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let exec = json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [mark], "interactiveMode": "Never",
    }});
    put(&world, &kubeconfig(&exec));

    renew(&world).await;

    assert!(!mark.exists(), "it was started");
}
