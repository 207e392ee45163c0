//! HostClusters as they are when clusters are managed.

use std::time::Instant;

use futures::{StreamExt, TryStreamExt, stream};
use host_cluster_controller_crd::{HostCluster, NAMESPACE};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use testkit_bench::figure;
use vocabulary::ClusterId;

/// Writes so many of them, with their status.
pub(crate) async fn write(client: &Client, count: usize) -> anyhow::Result<()> {
    host_cluster_controller::install(client).await?;
    let api: Api<HostCluster> = Api::namespaced(client.clone(), NAMESPACE);
    let began = Instant::now();
    let writes = (0..count).map(|number| {
        let api = &api;
        async move {
            let (resource, status) = host_cluster(number)?;
            let name = resource.metadata.name.clone().unwrap_or_default();
            api.create(&PostParams::default(), &resource).await?;
            let status = Patch::Merge(json!({ "status": status }));
            api.patch_status(&name, &PatchParams::default(), &status).await?;
            anyhow::Ok(())
        }
    });
    stream::iter(writes).buffer_unordered(32).try_collect::<()>().await?;
    figure(&format!("{count} HostClusters written, with their status"), began.elapsed().as_secs_f64(), "s", None);
    Ok(())
}

fn host_cluster(number: usize) -> anyhow::Result<(HostCluster, Value)> {
    let id = ClusterId::random();
    let name = format!("cluster-{number:05}");
    let provider = ["aws", "gcp", "on-premises", "unknown"][number % 4];
    let region = ["eu-north-1", "europe-west1", "berlin", "unknown"][number % 4];
    let spec = json!({
        "clusterID": id, "mode": "connect_existing", "provider": provider, "region": region,
        "connectKubeconfigSecretRef": id.input_kubeconfig_secret(),
        "gitOpsRepoURL": "https://git.acme.com/gitops-iac.git", "gitOpsPath": format!("fluxcd/clusters/{name}"),
        "gitCredentialsSecretRef": "gitops-iac-credentials", "domain": format!("{name}.acme.com"),
    });
    let phase = ["Ready", "Ready", "Ready", "Failed", "InstallingKubeOpera", "Ready", "ValidatingAccess"][number % 7];
    let conditions: Vec<_> = [
        "AccessValidated",
        "FluxBootstrapped",
        "TreeGenerated",
        "PlatformInstalled",
        "Ready",
        "Reachable",
        "FluxHealthy",
    ]
    .iter()
    .map(|type_| {
        json!({"type": type_, "status": "True", "reason": "Met", "lastTransitionTime": "2026-11-30T08:00:00Z",
                    "message": "The API server answers to the kubeconfig and grants cluster-admin."})
    })
    .collect();
    let status = json!({
        "phase": phase, "phaseStartedAt": "2026-11-30T08:00:00Z", "observedGeneration": 1, "fluxHealthy": true,
        "message": format!("Flux healthy and reconciling fluxcd/clusters/{name}."),
        "kubeconfigSecret": id.kubeconfig_secret(), "clusterUID": ClusterId::random(),
        "kubernetesVersion": format!("1.{}.{}", 30 + number % 6, number % 10),
        "nodes": {"total": number % 100, "ready": number % 100},
        "flux": {"version": "v2.9.4", "managedBy": "kubeopera"},
        "gitOps": {"branch": "main", "commit": "0123456789abcdef0123456789abcdef01234567",
            "treeHash": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "appliedRevision": "main@sha1:0123456789abcdef0123456789abcdef01234567"},
        "fingerprints": {"AccessValidated": "0123456789abcdef0123456789abcdef", "TreeGenerated": "0123456789abcdef0123456789abcdef"},
        "conditions": conditions,
    });
    let resource = HostCluster::named(id, &name.parse()?, false, serde_json::from_value(spec)?);
    Ok((resource, status))
}
