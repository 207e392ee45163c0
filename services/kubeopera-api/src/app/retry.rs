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
    store::{
        audit::{self, Action, Outcome},
        clusters, outbox,
    },
    view::Cluster,
};

impl Platform {
    /// Asks host-cluster-controller for another attempt now instead of when the next one is due.
    pub(crate) async fn retry(&self, caller: &Caller, id: ClusterId) -> Result<Cluster, AppError> {
        self.permit(caller, Action::RetryCluster).await?;
        let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        if record.removing_since.is_some() {
            return Err(AppError::BeingRemoved);
        }
        self.asked(caller, Action::RetryCluster, id).await?;
        let now = Timestamp::now();
        let asked = serde_json::json!({"metadata": {"annotations": {ANNOTATION_RETRY_REQUESTED: now.to_string()}}});
        let params = PatchParams { field_manager: Some("kubeopera-api".to_owned()), ..PatchParams::default() };
        match resources(&self.client).patch(&id.to_string(), &params, &Patch::Merge(asked)).await {
            Ok(_) => {}
            // What is to be tried again is to make the resource.
            Err(error) if is_not_found(&error) => outbox::ask(&self.db, id, now).await?,
            Err(error) => {
                let object = Some(id.to_string());
                audit::write(&self.db, caller.actor(), Action::RetryCluster, object, Outcome::Failed).await?;
                return Err(trouble(Attempt("ask for another attempt"), &error).into());
            }
        }
        self.outbox_filled.notify_one();
        self.done(caller, Action::RetryCluster, id).await?;
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }
}
