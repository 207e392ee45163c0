//! The registry credential that new clusters get, unless they bring their own.

use super::{Caller, Platform};
use crate::{
    error::AppError,
    resources::registry_pull::{self, RegistrySetting},
    settings::registry::RegistryCredential,
    store::audit::{self, Action, Outcome},
};

impl Platform {
    pub(crate) async fn registry_setting(&self, caller: &Caller) -> Result<RegistrySetting, AppError> {
        self.permit(caller, Action::SeeRegistrySetting).await?;
        Ok(registry_pull::setting(&self.client).await?)
    }

    /// Sets it, if it still is what somebody saw of it. Clusters that got it get this one, a moment later.
    pub(crate) async fn set_registry(
        &self,
        caller: &Caller,
        credential: &RegistryCredential,
        seen: Option<&str>,
    ) -> Result<RegistrySetting, AppError> {
        let action = Action::ChangeRegistrySetting;
        self.permit(caller, action).await?;
        let set = registry_pull::set(&self.client, credential, seen);
        self.told(caller, action, &credential.server, set).await?;
        self.repair_wanted.notify_one();
        Ok(registry_pull::setting(&self.client).await?)
    }

    /// Forgets it, if it still is what somebody saw of it. Clusters that got it keep it.
    pub(crate) async fn unset_registry(&self, caller: &Caller, seen: Option<&str>) -> Result<(), AppError> {
        let action = Action::ChangeRegistrySetting;
        self.permit(caller, action).await?;
        audit::write(&self.db, caller.actor(), action, None, Outcome::Asked).await?;
        let unset = registry_pull::unset(&self.client, seen);
        let outcome = if self.judged(caller, action, None, unset).await? { Outcome::Done } else { Outcome::Unchanged };
        Ok(audit::write(&self.db, caller.actor(), action, None, outcome).await?)
    }
}
