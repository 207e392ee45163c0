//! auth-service: who somebody is and what they may do.
//!
//! Passwords are kept as argon2id hashes and tokens as SHA-256; neither can be turned back. Cloud credentials are sealed
//! with a key that is not in the database. Nothing here ever logs a secret.

mod access_tokens;
mod cloud;
mod credentials;
pub mod keys;
mod password;
mod people;
mod sealing;
mod session;
mod store;
mod throttle;
mod token;

use std::{io, sync::Arc};

use async_trait::async_trait;
use auth_service_contract::{ActiveSession, Auth, AuthError, Role, Session};
use jiff::Timestamp;
use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::begin_write;
use vocabulary::{AdminUsername, ClusterId, Email, Secret};

use crate::{password::Passwords, store::users};
pub use cloud::Clouds;
pub use sealing::{KeyId, NotRootKeys, RootKeys};

/// Name of the first administrator of a KubeOpera.
pub const FIRST_ADMINISTRATOR: &str = "admin";

/// The time, as an argument: tests let it pass at will.
type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// auth-service on a database of its own tables.
pub struct AuthService {
    db: DatabaseConnection,
    passwords: Passwords,
    root_keys: RootKeys,
    clouds: Clouds,
    clock: Clock,
}

/// auth-service cannot start, or the first administrator could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The tables could not be brought up to date.
    #[error(transparent)]
    Database(#[from] service_kit::database::OpenError),
    /// The encryption key is not the right one.
    #[error(transparent)]
    Keys(#[from] keys::KeysError),
    /// A password could not be hashed.
    #[error(transparent)]
    Hash(#[from] password::HashError),
    /// The users could not be read or written.
    #[error("the users cannot be read or written")]
    Users(#[from] DbErr),
    /// Nobody was told the password, so nobody was made administrator.
    #[error("the first administrator's password could not be told")]
    NotTold(#[source] io::Error),
}

impl AuthService {
    /// Brings auth-service's tables up to date and serves from them. Keys that do not fit what is sealed there are
    /// refused, and nothing is changed.
    pub async fn open(db: DatabaseConnection, root_keys: RootKeys) -> Result<Self, SetUpError> {
        Self::open_at(db, root_keys, Arc::new(Timestamp::now)).await
    }

    async fn open_at(db: DatabaseConnection, root_keys: RootKeys, clock: Clock) -> Result<Self, SetUpError> {
        service_kit::database::migrate::<store::Migrator>(&db).await?;
        keys::admit(&db, &root_keys, clock()).await?;
        Ok(Self { db, passwords: Passwords::new().await?, root_keys, clouds: Clouds::default(), clock })
    }

    /// Asks about credentials elsewhere than at the clouds' own addresses.
    pub fn with_clouds(self, clouds: Clouds) -> Self {
        Self { clouds, ..self }
    }

    /// Makes a first administrator with a random password if there is no user at all, and says whether it did.
    ///
    /// `tell` gets name and password before anything is stored: whoever dies in between leaves a KubeOpera without users,
    /// which tells another password at the next start, and never one with an administrator whose password nobody knows.
    pub async fn ensure_first_administrator(
        &self,
        tell: impl FnOnce(&str, &Secret) -> io::Result<()> + Send,
    ) -> Result<bool, SetUpError> {
        if users::any(&self.db).await? {
            return Ok(false);
        }
        let password = password::random();
        let hash = self.passwords.hash(&password).await?;
        let tx = begin_write(&self.db).await?;
        if users::any(&tx).await? {
            return Ok(false);
        }
        let now = (self.clock)();
        users::insert(&tx, FIRST_ADMINISTRATOR, Role::PlatformAdministrator, hash, now).await?;
        tell(FIRST_ADMINISTRATOR, &password).map_err(SetUpError::NotTold)?;
        tx.commit().await?;
        Ok(true)
    }
}

#[async_trait]
impl Auth for AuthService {
    async fn log_in(&self, username: &str, password: &Secret, address: &str) -> Result<Session, AuthError> {
        let now = (self.clock)();
        let attempt = throttle::Attempt::of(username, address);
        throttle::admit(&self.db, &attempt, now).await?;

        let user = users::by_name(&self.db, username).await.map_err(unavailable)?;
        // Without a user a decoy is checked, so that the time does not tell which names exist.
        let hash = user.as_ref().map(|user| user.password_hash.clone());
        let is_right = self.passwords.verify(password, hash).await?;
        let Some(user) = user.filter(|user| is_right && user.disabled_at.is_none()) else {
            return Err(AuthError::WrongCredentials);
        };

        throttle::forgive(&self.db, &attempt).await?;
        // Password or standing may have changed while the password was checked; the session would outlive the change.
        let opened = async {
            let tx = begin_write(&self.db).await?;
            let held = users::held(&tx, user.id).await?;
            let Some(held) = held.filter(|held| held.disabled_at.is_none() && held.password_hash == user.password_hash)
            else {
                return Ok(None);
            };
            let session = session::begin(&tx, held.person(), address, now).await?;
            tx.commit().await.map(|()| Some(session))
        };
        let opened: Result<_, DbErr> = opened.await;
        opened.map_err(unavailable)?.ok_or(AuthError::WrongCredentials)
    }

    async fn session(&self, token: &Secret) -> Result<ActiveSession, AuthError> {
        session::find(&self.db, token, (self.clock)()).await
    }

    async fn log_out(&self, token: &Secret) -> Result<(), AuthError> {
        session::end(&self.db, token).await
    }

    async fn ensure_administrator(
        &self,
        cluster: ClusterId,
        email: &Email,
        username: &AdminUsername,
        password: &Secret,
    ) -> Result<(), AuthError> {
        use store::environment_administrators as administrators;
        if administrators::exists(&self.db, cluster).await.map_err(unavailable)? {
            return Ok(());
        }
        let hash = self.passwords.hash(password).await.map_err(unavailable)?;
        administrators::insert_if_absent(&self.db, cluster, email, username, hash, (self.clock)())
            .await
            .map_err(unavailable)
    }
}

/// The caller learns that it is not their fault, the log why.
fn unavailable(error: impl std::error::Error) -> AuthError {
    tracing::error!("auth-service cannot answer: {}", service_kit::chain(&error));
    AuthError::Unavailable
}

#[cfg(test)]
mod tests;
