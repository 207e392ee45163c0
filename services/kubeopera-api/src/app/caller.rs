//! Who calls, and the one table of who may do what.

use auth_service_contract::{Role, User, Whose};
use jiff::Timestamp;
use uuid::Uuid;
use vocabulary::Secret;

use super::Platform;
use crate::{
    config::Allowance,
    error::AppError,
    store::{
        audit::{self, Action, Actor, Outcome},
        budget,
    },
};

/// Somebody who is logged in.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) user: User,
    /// Where they come from.
    pub(crate) address: String,
    /// What they showed to be let in.
    pub(crate) proof: Proof,
    /// The name of the session or token they showed.
    pub(crate) proof_id: Uuid,
    /// Whether they may do nothing but choose another password.
    pub(crate) must_change_password: bool,
    /// When their session or token ends whatever happens.
    pub(crate) expires_at: Timestamp,
}

/// What somebody shows to be let in.
#[derive(Debug, Clone)]
pub(crate) enum Proof {
    /// A browser's cookie.
    Session(Secret),
    /// A script's personal access token.
    Token(Secret),
}

impl Caller {
    /// Their own, or everybody's if they may do this.
    pub(super) fn whose(&self, to_others: Action) -> Whose {
        if may(self.user.role, to_others) { Whose::Anybodys } else { Whose::Only(self.user.id) }
    }

    /// As the audit log tells it.
    pub(crate) fn actor(&self) -> Actor {
        let User { id, username, role } = self.user.clone();
        Actor::Person { id, username, role, address: self.address.clone() }
    }
}

/// Whether a role allows an action. A new action does not compile until it is in here.
pub(crate) const fn may(role: Role, action: Action) -> bool {
    match action {
        // Sessions, tokens and password are one's own.
        Action::LogIn
        | Action::LogOut
        | Action::SeeClusters
        | Action::SeeCatalogue
        | Action::ChangeOwnPassword
        | Action::SeeSessions
        | Action::EndSession
        | Action::SeeTokens
        | Action::MakeToken
        | Action::RevokeToken => true,
        Action::RegisterCluster
        | Action::CheckKubeconfig
        | Action::TryToConnect
        | Action::ConnectCluster
        | Action::ChangeCluster
        | Action::ReplaceKubeconfig
        | Action::DisconnectCluster
        | Action::RetryCluster
        | Action::SeeProvisioning => {
            matches!(role, Role::PlatformAdministrator | Role::Operator)
        }
        Action::SeeUsers
        | Action::AddUser
        | Action::ChangeUser
        | Action::ResetPassword
        | Action::SeeOthersSessions
        | Action::SeeOthersTokens
        | Action::SeeCredentials
        | Action::AddCredential
        | Action::ChangeCredential
        | Action::CheckCredential
        | Action::DeleteCredential
        | Action::SeeGitSetting
        | Action::ChangeGitSetting
        | Action::CheckGitSetting
        | Action::SeeRegistrySetting
        | Action::ChangeRegistrySetting
        | Action::TryToCreate
        | Action::CreateCluster
        | Action::SeeAudit
        | Action::ExportAudit
        | Action::GiveUpInfrastructure
        | Action::DeleteCluster => matches!(role, Role::PlatformAdministrator),
        // KubeOpera's own: at its start, for a cluster, or when it follows what somebody did in Kubernetes.
        Action::AdoptCluster
        | Action::RemoveCluster
        | Action::AddEnvironmentAdministrator
        | Action::BindCredential
        | Action::ReleaseCredential
        | Action::OpenCredential
        | Action::MakeBackup
        | Action::RestoreBackup
        | Action::RotateEncryptionKey
        | Action::ForgetEncryptionKey => false,
    }
}

impl Platform {
    /// Lets an action pass or writes down that it was refused.
    pub(crate) async fn permit(&self, caller: &Caller, action: Action) -> Result<(), AppError> {
        if may(caller.user.role, action) {
            return Ok(());
        }
        audit::write(&self.db, caller.actor(), action, None, Outcome::Denied).await?;
        Err(AppError::Forbidden)
    }

    /// Some things need a person who logged in: a token that fell into wrong hands must not make others of its kind.
    pub(crate) async fn permit_in_person(&self, caller: &Caller, action: Action) -> Result<(), AppError> {
        self.permit(caller, action).await?;
        match caller.proof {
            Proof::Session(_) => Ok(()),
            Proof::Token(_) => {
                audit::write(&self.db, caller.actor(), action, None, Outcome::Denied).await?;
                Err(AppError::SessionRequired)
            }
        }
    }

    /// Takes one from what a person may do of an action, or says when they may again.
    pub(super) async fn spend(&self, caller: &Caller, action: Action, allowed: Allowance) -> Result<(), AppError> {
        let spent = budget::spend(&self.db, caller.actor(), action, allowed).await?;
        spent.map_err(|retry_after| AppError::TooOften { action, retry_after })
    }

    /// Writes down that something is about to be done to an object elsewhere than in the database. If it cannot be written
    /// down it must not be done.
    pub(super) async fn asked(
        &self,
        caller: &Caller,
        action: Action,
        object: impl ToString + Send,
    ) -> Result<(), AppError> {
        let object = Some(object.to_string());
        Ok(audit::write(&self.db, caller.actor(), action, object, Outcome::Asked).await?)
    }

    /// Has something judged and done, and writes down in one row why it was not: `denied` for a refusal, `failed` for a
    /// trouble of ours. What was done writes its own row with the change.
    pub(super) async fn judged<T>(
        &self,
        caller: &Caller,
        action: Action,
        object: Option<String>,
        doing: impl Future<Output = Result<T, AppError>> + Send,
    ) -> Result<T, AppError> {
        let done = doing.await;
        if let Some(outcome) = done.as_ref().err().and_then(AppError::outcome) {
            audit::write(&self.db, caller.actor(), action, object, outcome).await?;
        }
        done
    }

    /// Has something done elsewhere than in the database: it is written down before, and what came of it after.
    pub(super) async fn told<T>(
        &self,
        caller: &Caller,
        action: Action,
        object: impl ToString + Send,
        doing: impl Future<Output = Result<T, AppError>> + Send,
    ) -> Result<T, AppError> {
        let object = object.to_string();
        self.asked(caller, action, &object).await?;
        let done = self.judged(caller, action, Some(object.clone()), doing).await?;
        audit::write(&self.db, caller.actor(), action, Some(object), Outcome::Done).await?;
        Ok(done)
    }
}
