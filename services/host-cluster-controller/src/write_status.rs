//! The only place that publishes status.

use host_cluster_controller_crd::{HostCluster, HostClusterStatus};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use kube_kit::{Attempt, is_not_found, trouble};
use serde_json::json;
use vocabulary::Trouble;

use crate::{FIELD_MANAGER, World};

/// Publishes a status, unless it is what is published already.
pub(crate) async fn write_status(
    world: &World,
    resource: &HostCluster,
    previous: &HostClusterStatus,
    status: &HostClusterStatus,
) -> Result<(), Trouble> {
    if previous == status {
        return Ok(());
    }
    world.host_clusters.write_status(resource, status).await
}

/// Server-side apply of the whole status: what is not sent any more goes, and conditions of other managers stay.
///
/// The uid keeps a status from being put on another resource that has come under the same name.
pub(crate) async fn apply(client: &Client, resource: &HostCluster, status: &HostClusterStatus) -> Result<(), Trouble> {
    let name = resource.metadata.name.clone().unwrap_or_default();
    let api: Api<HostCluster> = Api::namespaced(client.clone(), host_cluster_controller_crd::NAMESPACE);
    let body = json!({
        "apiVersion": "kubeopera.io/v1alpha1",
        "kind": "HostCluster",
        "metadata": { "name": name, "uid": resource.metadata.uid },
        "status": status,
    });
    let params = PatchParams::apply(FIELD_MANAGER).force();
    match api.patch_status(&name, &params, &Patch::Apply(&body)).await {
        Err(error) if is_not_found(&error) => Ok(()),
        answer => answer.map(drop).map_err(|error| {
            let attempt = format!("publish the status of HostCluster {name}");
            trouble(Attempt(&attempt), &error)
        }),
    }
}
