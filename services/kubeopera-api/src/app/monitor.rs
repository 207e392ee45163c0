//! Looking at how clusters are.

use std::sync::Arc;

use k8s_monitor_contract::Snapshot;
use vocabulary::ClusterId;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    fleet::Drawing,
    store::{audit::Action, clusters},
};

impl Platform {
    /// All clusters side by side; `anew` asks every one of them first.
    pub(crate) async fn compare(&self, caller: &Caller, anew: bool) -> Result<Arc<Drawing>, AppError> {
        self.permit(caller, Action::SeeClusters).await?;
        Ok(if anew { self.refreshed_multi_cluster().await? } else { self.multi_cluster().await? })
    }

    /// One cluster with everything.
    pub(crate) async fn monitored(&self, caller: &Caller, id: ClusterId) -> Result<Arc<Snapshot>, AppError> {
        self.permit(caller, Action::SeeClusters).await?;
        // What is off the record is not shown, though it may still be watched for a moment.
        clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        Ok(self.monitor.cluster(id).unwrap_or_else(|| Arc::new(Snapshot::unread(id))))
    }
}
