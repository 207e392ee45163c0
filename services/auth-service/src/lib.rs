//! auth-service: who somebody is and what they may do.
//!
//! Passwords are kept as argon2id hashes and tokens as SHA-256; neither can be turned back. Cloud credentials are sealed
//! with a key that is not in the database. Nothing here ever logs a secret.

mod access_tokens;
mod cloud;
mod credentials;
pub mod keys;
mod oidc;
mod outbound;
mod password;
mod people;
mod sealing;
mod session;
mod store;
mod throttle;
mod token;

use std::{io, sync::Arc};

use async_trait::async_trait;
use audit_log::{Action, Entry, Outcome};
use auth_service_contract::{ActiveSession, Auth, AuthError, Role, Session};
use jiff::Timestamp;
use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::{begin_write, take_turn};
use uuid::Uuid;
use vocabulary::{Actor, AdminUsername, ClusterId, Email, Secret};

use crate::{password::Passwords, store::users};
pub use cloud::Clouds;
pub use oidc::{GroupRoles, Issuer, NotAnIssuer, Provider, ProviderSettings};
pub use sealing::{KeyId, NotForBackup, NotRootKeys, RootKeys};

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
    provider: Option<Provider>,
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

/// Brings auth-service's tables up to date.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), service_kit::database::OpenError> {
    store::migrate(db).await
}

impl AuthService {
    /// Brings auth-service's tables up to date and serves from them. Keys that do not fit what is sealed there are
    /// refused, and nothing is changed.
    pub async fn open(db: DatabaseConnection, root_keys: RootKeys) -> Result<Self, SetUpError> {
        Self::open_at(db, root_keys, Arc::new(Timestamp::now)).await
    }

    async fn open_at(db: DatabaseConnection, root_keys: RootKeys, clock: Clock) -> Result<Self, SetUpError> {
        store::migrate(&db).await?;
        keys::admit(&db, &root_keys, clock()).await?;
        Ok(Self { db, passwords: Passwords::new().await?, root_keys, clouds: Clouds::default(), provider: None, clock })
    }

    /// Asks about credentials elsewhere than at the clouds' own addresses.
    pub fn with_clouds(self, clouds: Clouds) -> Self {
        Self { clouds, ..self }
    }

    /// Lets people log in at an identity provider too.
    pub fn with_provider(self, provider: Provider) -> Self {
        Self { provider: Some(provider), ..self }
    }

    /// Whether what somebody has from earlier, a session or a token, is still good. What they have by way of an identity
    /// provider ends with the provider.
    fn lets_in(&self, user: &users::Model) -> bool {
        let provider = self.provider.as_ref();
        let is_vouched_for = user.issuer.as_deref().is_none_or(|issuer| provider.is_some_and(|one| one.is(issuer)));
        is_vouched_for && user.disabled_at.is_none()
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
        // Of two processes that start on an empty database one makes it, and the other finds it made.
        take_turn(&tx, "first administrator").await?;
        if users::any(&tx).await? {
            return Ok(false);
        }
        let now = (self.clock)();
        let user = users::insert(&tx, FIRST_ADMINISTRATOR, Role::PlatformAdministrator, hash, now).await?;
        users::make_password_one_time(&tx, user.id).await?;
        tell(FIRST_ADMINISTRATOR, &password).map_err(SetUpError::NotTold)?;
        let added =
            Entry::new(&Actor::KubeOpera, Action::AddUser, Outcome::Done).on(user.id).named(FIRST_ADMINISTRATOR);
        audit_log::append(&tx, added).await?;
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
        let hash = user.as_ref().and_then(users::Model::password);
        let is_right = self.passwords.verify(password, hash).await?;
        let tried = user.as_ref().map(|user| user.id);
        let Some(user) = user.filter(|user| is_right && user.disabled_at.is_none()) else {
            return self.refuse_log_in(tried, address).await;
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
            let session = session::log_in(&tx, &held, address, now).await?;
            tx.commit().await.map(|()| Some(session))
        };
        let opened: Result<_, DbErr> = opened.await;
        match opened.map_err(unavailable)? {
            Some(session) => Ok(session),
            None => self.refuse_log_in(tried, address).await,
        }
    }

    async fn session(&self, token: &Secret) -> Result<ActiveSession, AuthError> {
        session::find(&self.db, token, |user| self.lets_in(user), (self.clock)()).await
    }

    async fn log_out(&self, token: &Secret, address: &str) -> Result<(), AuthError> {
        session::log_out(&self.db, token, address).await.map_err(unavailable)
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
        let added = async {
            let tx = begin_write(&self.db).await?;
            if administrators::insert_if_absent(&tx, cluster, email, username, hash, (self.clock)()).await? {
                let action = Action::AddEnvironmentAdministrator;
                let entry = Entry::new(&Actor::KubeOpera, action, Outcome::Done).on(cluster).named(username);
                audit_log::append(&tx, entry).await?;
            }
            tx.commit().await
        };
        added.await.map_err(unavailable)
    }
}

impl AuthService {
    /// Somebody could not show that they are who they say. `tried` is who they said they are, if there is such a user: a
    /// name that nobody has may be a password in the wrong box.
    async fn refuse_log_in<T>(&self, tried: Option<Uuid>, address: &str) -> Result<T, AuthError> {
        let stranger = Actor::Stranger { address: address.to_owned() };
        let entry = Entry::new(&stranger, Action::LogIn, Outcome::Denied);
        let entry = tried.into_iter().fold(entry, Entry::on);
        audit_log::note(&self.db, entry).await.map_err(unavailable)?;
        Err(AuthError::WrongCredentials)
    }
}

/// The caller learns that it is not their fault, the log why.
fn unavailable(error: impl std::error::Error) -> AuthError {
    tracing::error!("auth-service cannot answer: {}", service_kit::chain(&error));
    AuthError::Unavailable
}

#[cfg(test)]
mod tests;
