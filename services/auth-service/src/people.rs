//! Administering people.

use async_trait::async_trait;
use auth_service_contract::{AuthError, OpenSession, People, PeopleError, Person, PersonChange, Role, Session, Whose};
use sea_orm::DbErr;
use service_kit::database::{Micros, begin_write, is_unique_violation};
use uuid::Uuid;
use vocabulary::{AdminUsername, Secret};

use crate::{
    AuthService, password, session,
    store::{PasswordHash, access_tokens, sessions, users},
    throttle, unavailable,
};

#[async_trait]
impl People for AuthService {
    async fn people(&self) -> Result<Vec<Person>, PeopleError> {
        Ok(users::all(&self.db).await.map_err(failed)?.iter().map(users::Model::known).collect())
    }

    async fn add_user(&self, username: &AdminUsername, role: Role, password: &Secret) -> Result<Person, PeopleError> {
        let hash = self.hash_of_new(password, username.as_str()).await?;
        match users::insert(&self.db, username.as_str(), role, hash, (self.clock)()).await {
            Ok(user) => Ok(user.known()),
            Err(error) if is_unique_violation(&error) => Err(PeopleError::NameTaken),
            Err(error) => Err(failed(error)),
        }
    }

    async fn change_user(&self, user: Uuid, change: PersonChange) -> Result<Person, PeopleError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        // Administrators first and in one order: two who change each other wait for each other instead of deadlocking.
        let administrators = users::administrators(&tx).await.map_err(failed)?;
        let Some(mut person) = users::held(&tx, user).await.map_err(failed)? else {
            return Err(PeopleError::NoSuchUser);
        };
        let (role, was_disabled) = (person.role.0, person.disabled_at.is_some());
        let (new_role, is_disabled) = (change.role.unwrap_or(role), change.is_disabled.unwrap_or(was_disabled));
        if new_role == role && is_disabled == was_disabled {
            return Ok(person.known());
        }
        let stays_administrator = new_role == Role::PlatformAdministrator && !is_disabled;
        if !stays_administrator && administrators.len() == 1 && administrators.iter().any(|one| one.id == user) {
            return Err(PeopleError::LastAdministrator);
        }
        person.role = users::StoredRole(new_role);
        person.disabled_at = match (is_disabled, was_disabled) {
            (false, _) => None,
            (true, true) => person.disabled_at,
            (true, false) => Some(Micros::from((self.clock)())),
        };
        users::set_standing(&tx, user, new_role, person.disabled_at).await.map_err(failed)?;
        sessions::delete_all_of(&tx, user).await.map_err(failed)?;
        if is_disabled {
            access_tokens::delete_all_of(&tx, user).await.map_err(failed)?;
        }
        tx.commit().await.map_err(failed)?;
        Ok(person.known())
    }

    async fn change_password(
        &self,
        user: Uuid,
        current: &Secret,
        new: &Secret,
        address: &str,
    ) -> Result<Session, PeopleError> {
        let now = (self.clock)();
        let Some(person) = users::by_id(&self.db, user).await.map_err(failed)? else {
            return Err(PeopleError::NoSuchUser);
        };
        // Whoever finds a screen unlocked guesses the password no faster than from outside.
        let attempt = throttle::Attempt::of(&person.username, address);
        throttle::admit(&self.db, &attempt, now).await?;
        if !self.passwords.verify(current, Some(person.password_hash.clone())).await? || person.disabled_at.is_some() {
            return Err(AuthError::WrongCredentials.into());
        }
        throttle::forgive(&self.db, &attempt).await?;
        let hash = self.hash_of_new(new, &person.username).await?;

        let tx = begin_write(&self.db).await.map_err(failed)?;
        let held = users::held(&tx, user).await.map_err(failed)?;
        if held.is_none_or(|held| held.disabled_at.is_some() || held.password_hash != person.password_hash) {
            return Err(AuthError::WrongCredentials.into());
        }
        users::set_password(&tx, user, hash).await.map_err(failed)?;
        sessions::delete_all_of(&tx, user).await.map_err(failed)?;
        let session = session::begin(&tx, person.person(), address, now).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        Ok(session)
    }

    async fn reset_password(&self, user: Uuid, new: &Secret) -> Result<(), PeopleError> {
        let Some(person) = users::by_id(&self.db, user).await.map_err(failed)? else {
            return Err(PeopleError::NoSuchUser);
        };
        let hash = self.hash_of_new(new, &person.username).await?;
        let tx = begin_write(&self.db).await.map_err(failed)?;
        if !users::set_password(&tx, user, hash).await.map_err(failed)? {
            return Err(PeopleError::NoSuchUser);
        }
        sessions::delete_all_of(&tx, user).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn sessions(&self, whose: Whose) -> Result<Vec<OpenSession>, PeopleError> {
        session::open(&self.db, only(whose), (self.clock)()).await.map_err(failed)
    }

    async fn end_session(&self, session: Uuid, whose: Whose) -> Result<(), PeopleError> {
        let was_there = sessions::delete_named(&self.db, session, only(whose)).await.map_err(failed)?;
        if was_there { Ok(()) } else { Err(PeopleError::NoSuchSession) }
    }
}

impl AuthService {
    async fn hash_of_new(&self, password: &Secret, username: &str) -> Result<PasswordHash, PeopleError> {
        password::acceptable(password, username).map_err(PeopleError::PasswordNotAcceptable)?;
        self.passwords.hash(password).await.map_err(|error| unavailable(error).into())
    }
}

/// `None` means anybody's.
pub(crate) fn only(whose: Whose) -> Option<Uuid> {
    match whose {
        Whose::Only(user) => Some(user),
        Whose::Anybodys => None,
    }
}

/// The database did not do it.
pub(crate) fn failed(error: DbErr) -> PeopleError {
    unavailable(error).into()
}
