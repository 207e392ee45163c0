//! Another attempt at once.

use host_cluster_controller_crd::ANNOTATION_RETRY_REQUESTED;
use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube_kit::{Attempt, is_not_found, trouble};
use vocabulary::ClusterId;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    resources::resources,
    store::{audit::Action, clusters, outbox},
    view::Cluster,
};

impl Platform {
    /// Asks host-cluster-controller for another attempt now instead of when the next one is due.
    pub(crate) async fn retry(&self, caller: &Caller, id: ClusterId) -> Result<Cluster, AppError> {
        self.permit(caller, Action::RetryCluster).await?;
        let check = async {
            let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
            if record.removing_since.is_some() { Err(AppError::BeingRemoved) } else { Ok(()) }
        };
        self.judged(caller, Action::RetryCluster, Some(id.to_string()), check).await?;
        let now = Timestamp::now();
        let asked = serde_json::json!({"metadata": {"annotations": {ANNOTATION_RETRY_REQUESTED: now.to_string()}}});
        let params = PatchParams { field_manager: Some("kubeopera-api".to_owned()), ..PatchParams::default() };
        // In a box, as what it waits for is large.
        let ask = Box::pin(async {
            match resources(&self.client).patch(&id.to_string(), &params, &Patch::Merge(asked)).await {
                Ok(_) => Ok(()),
                // What is to be tried again is to make the resource.
                Err(error) if is_not_found(&error) => Ok(outbox::ask(&self.db, id, now).await?),
                Err(error) => Err(trouble(Attempt("ask for another attempt"), &error).into()),
            }
        });
        self.told(caller, Action::RetryCluster, id, ask).await?;
        self.outbox_filled.notify_one();
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }
}
