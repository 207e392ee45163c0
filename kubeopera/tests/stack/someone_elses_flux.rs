//! A cluster that already runs Flux keeps it as it is.

use std::collections::BTreeMap;

use host_cluster_controller_crd::Phase;
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams},
};
use stack::{Dashboard, LocalCluster, Program};

use crate::{World, flux::FLUX, options};

/// Everything an installation of Flux consists of, with what would show a change.
async fn flux_objects(client: &kube::Client) -> BTreeMap<String, String> {
    let kinds = [
        ("apps", "v1", "Deployment", true),
        ("", "v1", "Service", true),
        ("", "v1", "ServiceAccount", true),
        ("networking.k8s.io", "v1", "NetworkPolicy", true),
        ("rbac.authorization.k8s.io", "v1", "ClusterRole", false),
        ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", false),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", false),
    ];
    let mut objects = BTreeMap::new();
    for (group, version, kind, namespaced) in kinds {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<DynamicObject> = if namespaced {
            Api::namespaced_with(client.clone(), FLUX, &resource)
        } else {
            Api::all_with(client.clone(), &resource)
        };
        for object in api.list(&ListParams::default().labels("app.kubernetes.io/part-of=flux")).await.unwrap() {
            // Status moves by itself; labels, annotations and spec do not.
            let seen = serde_json::json!([
                object.labels(),
                object.annotations(),
                object.data.get("spec"),
                object.data.get("rules")
            ]);
            objects.insert(format!("{kind} {}", object.name_any()), seen.to_string());
        }
    }
    objects
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn a_flux_that_was_there_before_is_used_and_not_touched() {
    let cluster = LocalCluster::up("stack-flux", &[]).await.unwrap();
    let client = cluster.client().await.unwrap();
    let (manifest, _) = stack::flux_manifest().await.unwrap();
    stack::run(cluster.kubectl().args(["apply", "--server-side", "--field-manager", "flux", "-f"]).arg(manifest))
        .await
        .unwrap();
    stack::run(cluster.kubectl().args([
        "-n",
        FLUX,
        "wait",
        "deployment",
        "--all",
        "--for=condition=Available",
        "--timeout=120s",
    ]))
    .await
    .unwrap();
    let before = flux_objects(&client).await;
    assert!(before.len() > 20, "an installation has more than {} objects", before.len());

    let program = Program::start(&cluster, options()).await.unwrap();
    let dashboard = Dashboard::log_in(&program).await.unwrap();
    dashboard.register().await.unwrap();
    let world = World { program, dashboard, client, cluster };
    let resource = world.ready().await;

    let flux = resource.status.unwrap().flux.unwrap();
    assert_ne!(flux.managed_by.as_deref(), Some("kubeopera"));
    assert_eq!(flux_objects(&world.client).await, before);
    assert_eq!(world.host_cluster().await.unwrap().status.unwrap().phase, Some(Phase::Ready));
}
