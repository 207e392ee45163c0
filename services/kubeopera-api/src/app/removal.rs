//! Following what somebody deletes in Kubernetes.
//!
//! Deleting a HostCluster there means to disconnect the cluster, so that the record goes with it. A resource that is
//! merely missing is another thing: see `resources::repair`.

use jiff::Timestamp;
use sea_orm::DbErr;
use service_kit::database::begin_write;
use vocabulary::ClusterId;

use super::{Platform, receipt::Receipt};
use crate::store::{
    audit::{self, Action, Actor, Outcome},
    clusters, receipts,
};

impl Platform {
    /// The resource is being deleted: from now on it is not made again.
    pub(crate) async fn begin_removal(&self, cluster: ClusterId) -> Result<(), DbErr> {
        let tx = begin_write(&self.db).await?;
        if clusters::begin_removal(&tx, cluster, Timestamp::now()).await? {
            tx.commit().await?;
            tracing::info!(cluster.id = %cluster, "the HostCluster is being deleted, so its cluster is let go of");
            self.events.mark(cluster);
        }
        Ok(())
    }

    /// The resource is gone because somebody deleted it: the record goes as well.
    pub(crate) async fn finish_removal(&self, cluster: ClusterId) -> Result<(), DbErr> {
        let tx = begin_write(&self.db).await?;
        let Some(record) = clusters::by_id(&tx, cluster).await? else { return Ok(()) };
        clusters::delete(&tx, cluster).await?;
        let receipt = Receipt::of(&record, self.observed.resource(cluster).as_ref(), Timestamp::now());
        receipts::keep(&tx, &receipt).await?;
        let object = Some(cluster.to_string());
        audit::write(&tx, Actor::KubeOpera, Action::RemoveCluster, object, Outcome::Done).await?;
        tx.commit().await?;
        tracing::info!(cluster.id = %cluster, "the cluster is let go of and off the record");
        self.events.mark(cluster);
        if record.spec.provisioning.is_some()
            && let Err(error) = self.auth.release(&Actor::KubeOpera, cluster).await
        {
            // `resources::bindings` does it later.
            tracing::warn!(cluster.id = %cluster, "its credential is not released yet: {}", service_kit::chain(&error));
        }
        Ok(())
    }
}
