//! What is created for clusters in a cloud: looking at it, and giving it up.

use cluster_provisioner_contract::{ClusterProvisioner, LogPart, Provisioning};
use vocabulary::ClusterId;

use super::{Caller, Platform, parting::told};
use crate::{
    error::AppError,
    store::{audit::Action, clusters},
    view::Cluster,
};

impl Platform {
    /// The infrastructure of a cluster, also of one that is off the record.
    pub(crate) async fn provisioning(&self, caller: &Caller, id: ClusterId) -> Result<Provisioning, AppError> {
        self.permit(caller, Action::SeeProvisioning).await?;
        self.provisioner()?.provisioning(id).await?.ok_or(AppError::NoSuchRun)
    }

    /// What its runs said from a byte of their log on.
    pub(crate) async fn provisioning_log(
        &self,
        caller: &Caller,
        id: ClusterId,
        from: u64,
    ) -> Result<LogPart, AppError> {
        self.permit(caller, Action::SeeProvisioning).await?;
        self.provisioner()?.log(id, from).await?.ok_or(AppError::NoSuchRun)
    }

    /// Lets a cluster that is being deleted go although its infrastructure is not, or is not known to be. `name` has to be
    /// typed for it, as for deleting.
    pub(crate) async fn give_up(&self, caller: &Caller, id: ClusterId, name: &str) -> Result<Cluster, AppError> {
        self.permit(caller, Action::GiveUpInfrastructure).await?;
        let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        let give_up = async {
            if record.name.as_str() != name {
                return Err(AppError::NotConfirmed);
            }
            if record.removing_since.is_none() || !self.is_being_destroyed(id).await? {
                return Err(AppError::NotBeingDeleted);
            }
            Ok(self.provisioner()?.give_up(id).await?)
        };
        self.told(caller, Action::GiveUpInfrastructure, told(&record), give_up).await?;
        self.events.mark(id);
        self.look_at(id).await?.ok_or(AppError::NoSuchCluster)
    }

    fn provisioner(&self) -> Result<&dyn ClusterProvisioner, AppError> {
        self.provisioner.as_deref().ok_or(AppError::NoSuchRun)
    }
}
