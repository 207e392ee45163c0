//! Administering people.

use async_trait::async_trait;
use audit_log::{Action, Entry, Outcome};
use auth_service_contract::{
    AuthError, OpenSession, PasswordChanged, People, PeopleError, Person, PersonChange, Role, Way, Whose,
};
use sea_orm::DbErr;
use service_kit::database::{Micros, begin_write, is_unique_violation};
use uuid::Uuid;
use vocabulary::{Actor, AdminUsername, Secret};

use crate::{
    AuthService,
    access_tokens::live,
    password, session,
    store::{PasswordHash, access_tokens, sessions, users},
    throttle, unavailable,
};

#[async_trait]
impl People for AuthService {
    async fn people(&self) -> Result<Vec<Person>, PeopleError> {
        let mut people: Vec<_> = users::all(&self.db).await.map_err(failed)?.iter().map(users::Model::known).collect();
        people.sort_by(|one, other| one.user.username.cmp(&other.user.username));
        Ok(people)
    }

    async fn add_user(
        &self,
        by: &Actor,
        username: &AdminUsername,
        role: Role,
        password: &Secret,
    ) -> Result<Person, PeopleError> {
        let hash = self.hash_of_new(password, username.as_str()).await?;
        let added = async {
            let tx = begin_write(&self.db).await?;
            let user = users::insert(&tx, username.as_str(), role, hash, (self.clock)()).await?;
            // Whoever else knows a password must not be able to act under its owner's name for long.
            if matches!(by, Actor::Person { .. }) {
                users::make_password_one_time(&tx, user.id).await?;
            }
            let entry = Entry::new(by, Action::AddUser, Outcome::Done).on(user.id).named(username);
            audit_log::append(&tx, entry).await?;
            tx.commit().await.map(|()| user.known())
        };
        let taken = |error| if is_unique_violation(&error) { PeopleError::NameTaken } else { failed(error) };
        added.await.map_err(taken)
    }

    async fn change_user(&self, by: &Actor, user: Uuid, change: PersonChange) -> Result<Person, PeopleError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        // Administrators first and in one order: two who change each other wait for each other instead of deadlocking.
        let administrators = users::administrators(&tx).await.map_err(failed)?;
        let Some(mut person) = users::held(&tx, user).await.map_err(failed)? else {
            return Err(PeopleError::NoSuchUser);
        };
        let (role, was_disabled) = (person.role.0, person.disabled_at.is_some());
        let (new_role, is_disabled) = (change.role.unwrap_or(role), change.is_disabled.unwrap_or(was_disabled));
        let mut changed = Vec::new();
        changed.extend((new_role != role).then_some("role"));
        changed.extend((is_disabled != was_disabled).then_some("is_disabled"));
        if changed.is_empty() {
            return Ok(person.known());
        }
        if new_role != role && person.way() == Way::Provider {
            return Err(PeopleError::RoleOfProvider);
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
        let entry = Entry::new(by, Action::ChangeUser, Outcome::Done).on(user).named(person.person().username);
        audit_log::append(&tx, entry.changing(&changed)).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        Ok(person.known())
    }

    async fn change_password(
        &self,
        by: &Actor,
        user: Uuid,
        current: &Secret,
        new: &Secret,
    ) -> Result<PasswordChanged, PeopleError> {
        let address = by.address();
        let now = (self.clock)();
        let Some(person) = users::by_id(&self.db, user).await.map_err(failed)? else {
            return Err(PeopleError::NoSuchUser);
        };
        let Some(present) = person.password() else { return Err(PeopleError::NoPassword) };
        // Whoever finds a screen unlocked guesses the password no faster than from outside.
        let attempt = throttle::Attempt::of(&person.username, address);
        throttle::admit(&self.db, &attempt, now).await?;
        if !self.passwords.verify(current, Some(present)).await? || person.disabled_at.is_some() {
            return self.refuse_change(by, user).await;
        }
        throttle::forgive(&self.db, &attempt).await?;
        if new == current {
            return Err(PeopleError::PasswordNotAcceptable("Use another one than the present password."));
        }
        let hash = self.hash_of_new(new, &person.username).await?;

        let tx = begin_write(&self.db).await.map_err(failed)?;
        let held = users::held(&tx, user).await.map_err(failed)?;
        if held.is_none_or(|held| held.disabled_at.is_some() || held.password_hash != person.password_hash) {
            drop(tx);
            return self.refuse_change(by, user).await;
        }
        users::set_password(&tx, user, hash, false).await.map_err(failed)?;
        // Who changes a password may have lost it, and whoever found it may have made tokens.
        sessions::delete_all_of(&tx, user).await.map_err(failed)?;
        let ended = live(&tx, Some(user), now).await.map_err(failed)?;
        let ended_tokens = ended.into_iter().map(|token| token.label).collect();
        access_tokens::delete_all_of(&tx, user).await.map_err(failed)?;
        let person = users::Model { password_is_one_time: false, ..person };
        let session = session::begin(&tx, &person, address, now).await.map_err(failed)?;
        let entry = Entry::new(by, Action::ChangeOwnPassword, Outcome::Done).on(user).changing(&["password"]);
        audit_log::append(&tx, entry).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        Ok(PasswordChanged { session, ended_tokens })
    }

    async fn reset_password(&self, by: &Actor, user: Uuid, new: &Secret) -> Result<(), PeopleError> {
        let Some(person) = users::by_id(&self.db, user).await.map_err(failed)? else {
            return Err(PeopleError::NoSuchUser);
        };
        if person.way() == Way::Provider {
            return Err(PeopleError::NoPassword);
        }
        let hash = self.hash_of_new(new, &person.username).await?;
        let tx = begin_write(&self.db).await.map_err(failed)?;
        if !users::set_password(&tx, user, hash, true).await.map_err(failed)? {
            return Err(PeopleError::NoSuchUser);
        }
        sessions::delete_all_of(&tx, user).await.map_err(failed)?;
        access_tokens::delete_all_of(&tx, user).await.map_err(failed)?;
        let entry = Entry::new(by, Action::ResetPassword, Outcome::Done).on(user).named(&person.username);
        audit_log::append(&tx, entry.changing(&["password"])).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn sessions(&self, whose: Whose) -> Result<Vec<OpenSession>, PeopleError> {
        session::open(&self.db, only(whose), (self.clock)()).await.map_err(failed)
    }

    async fn end_session(&self, by: &Actor, session: Uuid, whose: Whose) -> Result<(), PeopleError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        if !sessions::delete_named(&tx, session, only(whose)).await.map_err(failed)? {
            return Err(PeopleError::NoSuchSession);
        }
        let entry = Entry::new(by, Action::EndSession, Outcome::Done).on(session);
        audit_log::append(&tx, entry).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }
}

impl AuthService {
    /// The present password is wrong.
    async fn refuse_change<T>(&self, by: &Actor, user: Uuid) -> Result<T, PeopleError> {
        let entry = Entry::new(by, Action::ChangeOwnPassword, Outcome::Denied).on(user);
        audit_log::note(&self.db, entry).await.map_err(failed)?;
        Err(AuthError::WrongCredentials.into())
    }

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
