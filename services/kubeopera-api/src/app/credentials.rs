//! Cloud credentials.

use auth_service_contract::{CheckOutcome, Credential, CredentialError, CredentialId, NewSecret, SavedCredential};
use vocabulary::Label;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::{audit::Action, clusters},
};

impl Platform {
    /// All, by label.
    pub(crate) async fn credentials(&self, caller: &Caller) -> Result<Vec<Credential>, AppError> {
        self.permit(caller, Action::SeeCredentials).await?;
        Ok(self.auth.credentials().await?)
    }

    /// Saves one.
    pub(crate) async fn add_credential(
        &self,
        caller: &Caller,
        label: &Label,
        secret: NewSecret,
    ) -> Result<SavedCredential, AppError> {
        self.permit(caller, Action::AddCredential).await?;
        let by = caller.actor();
        let add = async { Ok(self.auth.add_credential(&by, label, secret).await?) };
        self.judged(caller, Action::AddCredential, None, add).await
    }

    /// Gives one another label or another secret; what is `None` stays.
    pub(crate) async fn change_credential(
        &self,
        caller: &Caller,
        credential: CredentialId,
        label: Option<&Label>,
        secret: Option<NewSecret>,
    ) -> Result<Credential, AppError> {
        self.permit(caller, Action::ChangeCredential).await?;
        let by = caller.actor();
        let change = async { Ok(self.auth.change_credential(&by, credential, label, secret).await?) };
        self.judged(caller, Action::ChangeCredential, Some(credential.to_string()), change).await
    }

    /// Asks the cloud who one is.
    pub(crate) async fn check_credential(
        &self,
        caller: &Caller,
        credential: CredentialId,
    ) -> Result<CheckOutcome, AppError> {
        self.permit(caller, Action::CheckCredential).await?;
        Ok(self.auth.check_credential(&caller.actor(), credential).await?)
    }

    /// Forgets one that nothing uses.
    pub(crate) async fn delete_credential(&self, caller: &Caller, credential: CredentialId) -> Result<(), AppError> {
        self.permit(caller, Action::DeleteCredential).await?;
        match self.auth.delete_credential(&caller.actor(), credential).await {
            Ok(()) => Ok(()),
            Err(CredentialError::InUse { clusters, credentials }) => {
                let mut by = Vec::new();
                for id in clusters {
                    // Bound before it was on record, or no longer on record: its id is all there is to say.
                    let record = clusters::by_id(&self.db, id).await?;
                    by.push(record.map_or_else(|| format!("the cluster {id}"), |record| record.name.to_string()));
                }
                by.extend(credentials.iter().map(|label| format!("the credential {label}")));
                Err(AppError::CredentialInUse { by })
            }
            Err(error) => Err(error.into()),
        }
    }
}
