//! What people call a cluster and mark it with.
//!
//! The resource follows by way of the outbox. The cluster's folder in Git does not: it keeps the path it was given.

use host_cluster_controller_crd::Mode;
use jiff::Timestamp;
use service_kit::database::{begin_write, is_unique_violation};
use vocabulary::{ClusterId, ClusterLabels, ClusterName};

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::{
        audit::{self, Action, Outcome},
        clusters::{self, Record},
        outbox,
    },
    view::Cluster,
};

/// What is to be different about a cluster; what is `None` stays.
#[derive(Debug, Default)]
pub(crate) struct Description {
    pub(crate) name: Option<ClusterName>,
    /// All of them.
    pub(crate) labels: Option<ClusterLabels>,
}

impl Platform {
    /// Gives a cluster another name or other labels, if it still is what somebody saw of it.
    pub(crate) async fn describe(
        &self,
        caller: &Caller,
        id: ClusterId,
        seen: Option<&str>,
        wanted: Description,
    ) -> Result<Cluster, AppError> {
        self.permit(caller, Action::ChangeCluster).await?;
        let describe = async {
            match self.describe_at_once(caller, id, seen, wanted).await {
                Err(AppError::Database(error)) if is_unique_violation(&error) => Err(AppError::NameTaken),
                described => described,
            }
        };
        self.judged(caller, Action::ChangeCluster, Some(id.to_string()), describe).await?;
        self.outbox_filled.notify_one();
        self.events.mark(id);
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }

    /// One transaction: either record, outbox entry and audit row are all changed or none is.
    async fn describe_at_once(
        &self,
        caller: &Caller,
        id: ClusterId,
        seen: Option<&str>,
        wanted: Description,
    ) -> Result<(), AppError> {
        let tx = begin_write(&self.db).await?;
        let record = clusters::by_id(&tx, id).await?.ok_or(AppError::NoSuchCluster)?;
        if record.removing_since.is_some() {
            return Err(AppError::BeingRemoved);
        }
        if seen.is_some_and(|seen| seen != record.description_tag()) {
            return Err(AppError::ChangedMeanwhile);
        }
        let Record { name, labels, .. } = &record;
        let (new_name, new_labels) = (wanted.name.unwrap_or_else(|| name.clone()), wanted.labels);
        let new_labels = new_labels.unwrap_or_else(|| labels.clone());
        let outcome = if (&new_name, &new_labels) == (name, labels) {
            Outcome::Unchanged
        } else {
            if new_name != *name {
                refuse_name(&tx, &record, &new_name).await?;
            }
            if !clusters::describe(&tx, &record, &new_name, &new_labels).await? {
                return Err(AppError::ChangedMeanwhile);
            }
            outbox::ask(&tx, id, Timestamp::now()).await?;
            Outcome::Done
        };
        audit::write(&tx, caller.actor(), Action::ChangeCluster, Some(id.to_string()), outcome).await?;
        Ok(tx.commit().await?)
    }
}

async fn refuse_name(tx: &sea_orm::DatabaseTransaction, record: &Record, name: &ClusterName) -> Result<(), AppError> {
    // Terraform would replace what it made under the old name.
    if record.spec.mode != Mode::ConnectExisting {
        return Err(AppError::NameIsInCloud);
    }
    match clusters::by_name(tx, name).await? {
        Some(_) => Err(AppError::NameTaken),
        None => Ok(()),
    }
}
