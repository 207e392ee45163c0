//! Makes a HostCluster go, which is how host-cluster-controller is told to let go of its cluster.

use host_cluster_controller_crd::{ANNOTATION_REMOVAL, REMOVAL_DESTROY};
use kube::{
    Client,
    api::{DeleteParams, Patch, PatchParams},
};
use kube_kit::{Attempt, is_not_found, trouble, unless_gone};
use vocabulary::{ClusterId, Trouble};

use super::{MANAGER, input_kubeconfig, resources};

/// What became of a resource that had to go.
pub(super) enum Gone {
    /// It was not there.
    Already,
    /// Its deletion was accepted, and will be seen.
    WillBe,
}

/// Deletes the resource. Only with the annotation that is set first does that destroy anything.
pub(super) async fn remove(client: &Client, cluster: ClusterId, destroys: bool) -> Result<Gone, Trouble> {
    let attempt = Attempt("delete the HostCluster resource");
    let (api, name) = (resources(client), cluster.to_string());
    if destroys {
        let annotation = serde_json::json!({"metadata": {"annotations": {ANNOTATION_REMOVAL: REMOVAL_DESTROY}}});
        let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        unless_gone(api.patch(&name, &params, &Patch::Merge(annotation)).await, attempt)?;
    }
    let gone = match api.delete(&name, &DeleteParams::default()).await {
        Ok(deleted) if deleted.is_left() => return Ok(Gone::WillBe),
        Ok(_) => Gone::WillBe,
        Err(error) if is_not_found(&error) => Gone::Already,
        Err(error) => return Err(trouble(attempt, &error)),
    };
    // Nobody had taken care of the cluster so far, so nobody else deletes its kubeconfig.
    input_kubeconfig::delete(client, cluster).await?;
    Ok(gone)
}
