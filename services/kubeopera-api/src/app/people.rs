//! Users, and what they log in with.

use auth_service_contract::{Person, PersonChange, Role, Session};
use uuid::Uuid;
use vocabulary::{AdminUsername, Secret};

use super::{Caller, Platform};
use crate::{error::AppError, store::audit::Action};

impl Platform {
    /// Everybody, by name.
    pub(crate) async fn users(&self, caller: &Caller) -> Result<Vec<Person>, AppError> {
        self.permit(caller, Action::SeeUsers).await?;
        Ok(self.auth.people().await?)
    }

    /// Adds somebody.
    pub(crate) async fn add_user(
        &self,
        caller: &Caller,
        username: &AdminUsername,
        role: Role,
        password: &Secret,
    ) -> Result<Person, AppError> {
        self.permit(caller, Action::AddUser).await?;
        Ok(self.auth.add_user(&caller.actor(), username, role, password).await?)
    }

    /// Gives somebody another role, or keeps them from logging in.
    pub(crate) async fn change_user(
        &self,
        caller: &Caller,
        user: Uuid,
        change: PersonChange,
    ) -> Result<Person, AppError> {
        self.permit(caller, Action::ChangeUser).await?;
        Ok(self.auth.change_user(&caller.actor(), user, change).await?)
    }

    /// Changes one's own password, which needs the present one. The session that is returned takes the place of all
    /// others.
    pub(crate) async fn change_own_password(
        &self,
        caller: &Caller,
        current: &Secret,
        new: &Secret,
    ) -> Result<Session, AppError> {
        self.permit_in_person(caller, Action::ChangeOwnPassword).await?;
        Ok(self.auth.change_password(&caller.actor(), caller.user.id, current, new).await?)
    }

    /// Gives somebody else another password.
    pub(crate) async fn reset_password(&self, caller: &Caller, user: Uuid, new: &Secret) -> Result<(), AppError> {
        self.permit(caller, Action::ResetPassword).await?;
        Ok(self.auth.reset_password(&caller.actor(), user, new).await?)
    }
}
