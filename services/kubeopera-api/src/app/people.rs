//! Users, and what they log in with.

use auth_service_contract::{PasswordChanged, Person, PersonChange, Role};
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

    /// Adds somebody. Like all that decides who gets in, it takes a person: a token that fell into wrong hands must not let
    /// others in.
    pub(crate) async fn add_user(
        &self,
        caller: &Caller,
        username: &AdminUsername,
        role: Role,
        password: &Secret,
    ) -> Result<Person, AppError> {
        self.permit_in_person(caller, Action::AddUser).await?;
        let by = caller.actor();
        let add = async { Ok(self.auth.add_user(&by, username, role, password).await?) };
        self.judged(caller, Action::AddUser, None, add).await
    }

    /// Gives somebody another role, or keeps them from logging in.
    pub(crate) async fn change_user(
        &self,
        caller: &Caller,
        user: Uuid,
        change: PersonChange,
    ) -> Result<Person, AppError> {
        self.permit_in_person(caller, Action::ChangeUser).await?;
        let by = caller.actor();
        let change = async { Ok(self.auth.change_user(&by, user, change).await?) };
        self.judged(caller, Action::ChangeUser, Some(user.to_string()), change).await
    }

    /// Changes one's own password, which needs the present one. It ends all sessions and tokens; the session that is
    /// returned takes their place.
    pub(crate) async fn change_own_password(
        &self,
        caller: &Caller,
        current: &Secret,
        new: &Secret,
    ) -> Result<PasswordChanged, AppError> {
        self.permit_in_person(caller, Action::ChangeOwnPassword).await?;
        let (by, own) = (caller.actor(), caller.user.id);
        let change = async { Ok(self.auth.change_password(&by, own, current, new).await?) };
        self.judged(caller, Action::ChangeOwnPassword, Some(own.to_string()), change).await
    }

    /// Gives somebody else another password, good for choosing one of their own.
    pub(crate) async fn reset_password(&self, caller: &Caller, user: Uuid, new: &Secret) -> Result<(), AppError> {
        self.permit_in_person(caller, Action::ResetPassword).await?;
        let by = caller.actor();
        let reset = async { Ok(self.auth.reset_password(&by, user, new).await?) };
        self.judged(caller, Action::ResetPassword, Some(user.to_string()), reset).await
    }
}
