//! Users, and what they log in with.

use auth_service_contract::{AuthError, PeopleError, Person, PersonChange, Role, Session};
use uuid::Uuid;
use vocabulary::{AdminUsername, Secret};

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::audit::{self, Action, Outcome},
};

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
        let person = self.auth.add_user(username, role, password).await?;
        self.done(caller, Action::AddUser, person.user.id).await?;
        Ok(person)
    }

    /// Gives somebody another role, or keeps them from logging in.
    pub(crate) async fn change_user(
        &self,
        caller: &Caller,
        user: Uuid,
        change: PersonChange,
    ) -> Result<Person, AppError> {
        self.permit(caller, Action::ChangeUser).await?;
        let person = self.auth.change_user(user, change).await?;
        self.done(caller, Action::ChangeUser, user).await?;
        Ok(person)
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
        let (user, action) = (caller.user.id, Action::ChangeOwnPassword);
        match self.auth.change_password(user, current, new, &caller.address).await {
            Ok(session) => {
                self.done(caller, action, user).await?;
                Ok(session)
            }
            Err(error) => {
                if error == PeopleError::Auth(AuthError::WrongCredentials) {
                    audit::write(&self.db, caller.actor(), action, Some(user.to_string()), Outcome::Denied).await?;
                }
                Err(error.into())
            }
        }
    }

    /// Gives somebody else another password.
    pub(crate) async fn reset_password(&self, caller: &Caller, user: Uuid, new: &Secret) -> Result<(), AppError> {
        self.permit(caller, Action::ResetPassword).await?;
        self.auth.reset_password(user, new).await?;
        self.done(caller, Action::ResetPassword, user).await
    }
}
