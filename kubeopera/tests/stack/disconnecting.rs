//! Disconnect: KubeOpera lets go of a cluster, and what runs there goes on.

use std::{collections::BTreeMap, time::Duration};

use host_cluster_controller_crd::{HostCluster, NAMESPACE};
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams},
};
use stack::commits_of_path;

use crate::{
    World,
    flux::{git_repositories, kustomizations},
    host_clusters, names,
};

/// How long letting go of a cluster that answers may take.
const TO_GONE: Duration = Duration::from_mins(1);

#[tokio::test]
#[ignore = "starts a cluster"]
async fn a_cluster_that_was_let_go_of_can_be_registered_again_and_keeps_its_workloads() {
    let world = World::fresh("stack-disconnect").await;
    world.dashboard.register().await.unwrap();
    let before = world.ready().await;
    let running = workloads(&world.client).await;
    assert!(running.len() > 10, "an environment is more than {running:?}");

    Api::<HostCluster>::namespaced(world.client.clone(), NAMESPACE)
        .delete(&before.name_any(), &DeleteParams::default())
        .await
        .unwrap();
    stack::until("an end of the HostCluster", TO_GONE, || async {
        let left = host_clusters(&world.client).await?;
        anyhow::ensure!(left.is_empty(), "{:?}", left[0].status.as_ref().map(|status| &status.message));
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(names(kustomizations(&world.client)).await, [""; 0]);
    assert_eq!(names(git_repositories(&world.client)).await, [""; 0]);
    assert_eq!(workloads(&world.client).await, running);

    world.dashboard.register().await.unwrap();
    let again = world.ready().await;

    assert_ne!(again.spec.cluster_id, before.spec.cluster_id, "an entry of its own");
    assert_eq!(again.spec.git_ops_path, before.spec.git_ops_path, "in the folder it had");
    let commits = commits_of_path(&world.program.repository(), "main", &again.spec.git_ops_path).await.unwrap();
    assert_eq!(commits.len(), 2, "one commit for each time it was registered: {commits:?}");
    assert_eq!(workloads(&world.client).await, running);
}

/// UIDs of everything that runs, down to the pods: what was deleted and made again, or rolled out again, has another.
pub(crate) async fn workloads(client: &kube::Client) -> BTreeMap<String, String> {
    let mut uids = BTreeMap::new();
    for (group, kind) in [("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("", "Pod")] {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        for object in api.list(&ListParams::default()).await.unwrap() {
            let name = format!("{kind} {}/{}", object.namespace().unwrap(), object.name_any());
            uids.insert(name, object.uid().unwrap());
        }
    }
    uids
}
