//! The rules of a HostCluster are the same in the API server (CEL, patterns) and in KubeOpera's own code.

use std::time::Duration;

use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase, ValidSpec};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use stack::{LocalCluster, Program};

use crate::options;

const ID: &str = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11";

fn connected() -> Value {
    json!({
        "apiVersion": "kubeopera.io/v1alpha1",
        "kind": "HostCluster",
        "metadata": { "name": ID, "namespace": NAMESPACE, "labels": { "kubeopera.io/cluster-name": "my-cluster" } },
        "spec": {
            "clusterID": ID,
            "mode": "connect_existing",
            "provider": "aws",
            "region": "eu-north-1",
            "connectKubeconfigSecretRef": "hostcluster-7e9d3a1b-input-kubeconfig",
            "gitOpsRepoURL": "https://github.com/acme/gitops-iac.git",
            "gitOpsPath": "fluxcd/clusters/my-cluster",
            "gitCredentialsSecretRef": "gitops-iac-credentials",
            "domain": "my-cluster.acme.com"
        }
    })
}

fn provisioned() -> Value {
    let mut resource = connected();
    let spec = resource["spec"].as_object_mut().unwrap();
    spec.remove("connectKubeconfigSecretRef");
    spec.insert("mode".into(), json!("provision_vanilla"));
    spec.insert(
        "provisioning".into(),
        json!({
            "topology": "vanilla_kubeadm",
            "controlPlaneCount": 1,
            "nodeCount": 2,
            "instanceType": "t3.medium",
            "kubernetesVersion": "1.31.0",
            "credentialRef": "acme-platform"
        }),
    );
    resource
}

/// Sets one field by its pointer; `null` removes it.
fn with(mut resource: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let object = resource.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        object.remove(key);
    } else {
        object.insert(key.to_owned(), value);
    }
    resource
}

/// Examples that both must judge alike, each with the verdict.
#[allow(clippy::too_many_lines, reason = "a table")]
fn corpus() -> Vec<(&'static str, Value, bool)> {
    let long = "x".repeat(254);
    vec![
        ("a connected cluster", connected(), true),
        ("the host cluster", with(connected(), "/spec/connectKubeconfigSecretRef", Value::Null), true),
        ("a provisioned cluster", provisioned(), true),
        ("no domain", with(connected(), "/spec/domain", Value::Null), true),
        ("an SSH repository", with(connected(), "/spec/gitOpsRepoURL", json!("ssh://git@github.com/acme/x.git")), true),
        ("a branch", with(connected(), "/spec/gitOpsBranch", json!("release/2026.11_a+b")), true),
        (
            "a branch with a part that begins with a hyphen",
            with(connected(), "/spec/gitOpsBranch", json!("a/-b")),
            false,
        ),
        ("a branch with two dots", with(connected(), "/spec/gitOpsBranch", json!("a..b")), false),
        ("a branch that ends like a lock", with(connected(), "/spec/gitOpsBranch", json!("a.lock")), false),
        (
            "a branch with a part that ends like a lock",
            with(connected(), "/spec/gitOpsBranch", json!("a.lock/b")),
            false,
        ),
        ("an empty branch", with(connected(), "/spec/gitOpsBranch", json!("")), false),
        ("three control planes", with(provisioned(), "/spec/provisioning/controlPlaneCount", json!(3)), true),
        ("two control planes", with(provisioned(), "/spec/provisioning/controlPlaneCount", json!(2)), false),
        ("no control planes", with(provisioned(), "/spec/provisioning/controlPlaneCount", json!(0)), false),
        ("no nodes", with(provisioned(), "/spec/provisioning/nodeCount", json!(0)), false),
        ("501 nodes", with(provisioned(), "/spec/provisioning/nodeCount", json!(501)), false),
        (
            "a version that is not one",
            with(provisioned(), "/spec/provisioning/kubernetesVersion", json!("latest")),
            false,
        ),
        (
            "an instance type with blanks",
            with(provisioned(), "/spec/provisioning/instanceType", json!("t3 medium")),
            false,
        ),
        ("provisioning without its block", with(provisioned(), "/spec/provisioning", Value::Null), false),
        ("provisioning on the wrong cloud", with(provisioned(), "/spec/provider", json!("gcp")), false),
        (
            "provisioning with the wrong topology",
            with(provisioned(), "/spec/provisioning/topology", json!("managed_gke")),
            false,
        ),
        ("provisioning with a kubeconfig", with(provisioned(), "/spec/connectKubeconfigSecretRef", json!("x")), false),
        (
            "a connected cluster with a block for provisioning",
            {
                let block = provisioned()["spec"]["provisioning"].clone();
                with(connected(), "/spec/provisioning", block)
            },
            false,
        ),
        (
            "EKS with control planes",
            {
                let eks = with(provisioned(), "/spec/mode", json!("provision_eks"));
                with(eks, "/spec/provisioning/topology", json!("managed_eks"))
            },
            false,
        ),
        (
            "an id that is not the name",
            with(connected(), "/spec/clusterID", json!("00000000-0000-4000-8000-000000000000")),
            false,
        ),
        (
            "an id that is no UUID",
            with(with(connected(), "/spec/clusterID", json!("x")), "/metadata/name", json!("x")),
            false,
        ),
        ("a provider in capitals", with(connected(), "/spec/provider", json!("AWS")), false),
        ("a region with a newline", with(connected(), "/spec/region", json!("eu\nnorth")), false),
        ("a domain without a dot", with(connected(), "/spec/domain", json!("acme")), false),
        ("a domain that is a URL", with(connected(), "/spec/domain", json!("https://acme.com")), false),
        ("a domain with a template", with(connected(), "/spec/domain", json!("${x}.acme.com")), false),
        ("a file as repository", with(connected(), "/spec/gitOpsRepoURL", json!("file:///etc/passwd")), false),
        ("a program as repository", with(connected(), "/spec/gitOpsRepoURL", json!("ext::sh -c id")), false),
        (
            "a repository with credentials",
            with(connected(), "/spec/gitOpsRepoURL", json!("https://u:p@github.com/a/b")),
            false,
        ),
        ("a path that climbs out", with(connected(), "/spec/gitOpsPath", json!("fluxcd/../../etc")), false),
        ("an absolute path", with(connected(), "/spec/gitOpsPath", json!("/fluxcd")), false),
        ("a hidden path", with(connected(), "/spec/gitOpsPath", json!("fluxcd/.git")), false),
        ("an empty path", with(connected(), "/spec/gitOpsPath", json!("")), false),
        ("a Secret name that is too long", with(connected(), "/spec/gitCredentialsSecretRef", json!(long)), false),
        ("an administrator without a user name", with(connected(), "/spec/adminEmail", json!("admin@acme.com")), false),
        (
            "an administrator",
            {
                let email = with(connected(), "/spec/adminEmail", json!("admin@acme.com"));
                with(email, "/spec/adminUsername", json!("admin"))
            },
            true,
        ),
        (
            "an administrator whose address is none",
            {
                let email = with(connected(), "/spec/adminEmail", json!("admin"));
                with(email, "/spec/adminUsername", json!("admin"))
            },
            false,
        ),
    ]
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn the_api_server_and_kubeopera_judge_every_example_alike() {
    let cluster = LocalCluster::up("stack-rules", &["--control-plane-only"]).await.unwrap();
    let _program = Program::start(&cluster, options()).await.unwrap();
    let api = Api::<HostCluster>::namespaced(cluster.client().await.unwrap(), NAMESPACE);
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };

    let mut disagreements = Vec::new();
    for (example, resource, acceptable) in corpus() {
        let by_kubeopera = serde_json::from_value::<HostCluster>(resource.clone())
            .map_err(|error| error.to_string())
            .and_then(|resource| ValidSpec::of(&resource).map_err(|problems| format!("{problems:?}")));
        let by_server = match serde_json::from_value::<HostCluster>(resource) {
            Ok(resource) => api.create(&dry_run, &resource).await.map(drop).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if by_kubeopera.is_ok() != acceptable || by_server.is_ok() != acceptable {
            disagreements.push(format!("{example}: KubeOpera {by_kubeopera:?}, API server {by_server:?}"));
        }
    }
    assert!(disagreements.is_empty(), "\n{}", disagreements.join("\n"));

    // What the forms of the dashboard show is taken as it stands. KubeOpera's own judgement of it is among the unit tests.
    let shown = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/tests/unit/manifests");
    let apply = ["apply", "--dry-run=server", "--validate=strict", "--filename", shown];
    let taken = stack::run(cluster.kubectl().args(apply)).await.unwrap();
    assert!(taken.lines().count() >= 8 && taken.lines().all(|line| line.ends_with("(server dry run)")), "{taken}");
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn kubectl_explains_every_field_and_prints_the_columns() {
    let cluster = LocalCluster::up("stack-explain", &["--control-plane-only"]).await.unwrap();
    let _program = Program::start(&cluster, options()).await.unwrap();

    // The server publishes the schema of a new resource some seconds after it serves the resource.
    let explained = stack::until("an explanation", Duration::from_mins(1), || async {
        stack::run(cluster.kubectl().args(["explain", "hc", "--recursive"])).await
    })
    .await
    .unwrap();
    let printed = stack::run(
        cluster
            .kubectl()
            .args(["get", "crd", "hostclusters.kubeopera.io", "--output"])
            .arg("jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}"),
    )
    .await
    .unwrap();

    for field in [
        "clusterID",
        "connectKubeconfigSecretRef",
        "controlPlaneCount",
        "gitOpsRepoURL",
        "adminPasswordSecretRef",
        "fluxHealthy",
    ] {
        assert!(explained.contains(field), "{field} is not explained");
    }
    assert_eq!(printed, "Phase Provider Region Version Flux Age Message");
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn a_status_that_somebody_else_writes_is_put_right_and_a_secret_of_another_cluster_is_not_used() {
    let cluster = LocalCluster::up("stack-forged", &["--control-plane-only"]).await.unwrap();
    let _program = Program::start(&cluster, options()).await.unwrap();
    let client = cluster.client().await.unwrap();
    let api = Api::<HostCluster>::namespaced(client.clone(), NAMESPACE);
    let secrets = Api::<Secret>::namespaced(client, NAMESPACE);
    let anothers = json!({
        "metadata": { "name": "hostcluster-11111111-kubeconfig", "labels": { "kubeopera.io/cluster-id": "another" } },
        "stringData": { "kubeconfig": tokio::fs::read_to_string(cluster.kubeconfig()).await.unwrap() },
    });
    secrets.create(&PostParams::default(), &serde_json::from_value(anothers).unwrap()).await.unwrap();
    let wanted = with(connected(), "/spec/connectKubeconfigSecretRef", json!("hostcluster-11111111-kubeconfig"));
    api.create(&PostParams::default(), &serde_json::from_value(wanted).unwrap()).await.unwrap();
    let refused = || async {
        let status = api.get(ID).await?.status.unwrap_or_default();
        let message = status.message.unwrap_or_default();
        anyhow::ensure!(status.phase == Some(Phase::Failed), "{:?}: {message}", status.phase);
        anyhow::ensure!(message.contains("is not this cluster's own"), "{message}");
        anyhow::ensure!(status.kubeconfig_secret.is_none(), "{:?}", status.kubeconfig_secret);
        Ok(())
    };
    stack::until("a refusal", Duration::from_mins(1), refused).await.unwrap();

    let forged = json!({ "status": { "phase": "Ready", "message": "All is well.", "fluxHealthy": true } });
    api.patch_status(ID, &PatchParams::default(), &Patch::Merge(forged)).await.unwrap();

    stack::until("the true status", Duration::from_mins(1), refused).await.unwrap();
}
