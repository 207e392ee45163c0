//! What auth-service promises to the other services, behind four doors: who somebody is ([`Auth`]), who there is
//! ([`People`]), tokens for scripts ([`AccessTokens`]) and cloud credentials ([`Credentials`]).

mod credentials;
mod people;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use vocabulary::{AdminUsername, ClusterId, Email, Secret};

pub use credentials::{
    AwsAccessKey, CheckOutcome, CloudAccess, Credential, CredentialError, CredentialId, CredentialKind, Credentials,
    NewSecret, SavedCredential,
};
pub use people::{
    AccessToken, AccessTokens, ActiveToken, MadeToken, OpenSession, People, PeopleError, Person, PersonChange,
    TOKEN_PREFIX, Whose,
};

/// All doors of auth-service, for who serves people.
pub trait Authority: Auth + People + AccessTokens + Credentials {}

impl<T: Auth + People + AccessTokens + Credentials> Authority for T {}

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May do everything, credentials and deletion included.
    PlatformAdministrator,
    /// May register and connect clusters; neither sees credentials nor deletes.
    Operator,
    /// May look.
    Viewer,
}

/// A person who has proved who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Stable identity.
    pub id: Uuid,
    /// Name to log in with.
    pub username: String,
    /// What they may do.
    pub role: Role,
}

/// A session just opened.
#[derive(Debug)]
pub struct Session {
    /// Whose it is.
    pub user: User,
    /// The cookie's value: 256 random bits. Only its SHA-256 is stored.
    pub token: Secret,
    /// When it ends whatever happens.
    pub expires_at: Timestamp,
}

/// A session found by its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSession {
    /// Names it without giving it away.
    pub id: Uuid,
    /// Whose it is.
    pub user: User,
    /// When it ends whatever happens.
    pub expires_at: Timestamp,
}

/// Why auth-service did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// Unknown name or wrong password: which of the two is never told.
    #[error("the user name or the password is wrong")]
    WrongCredentials,
    /// Too many attempts for this account or from this address.
    #[error("there were too many attempts to log in. Try again in {} seconds.", .retry_after.as_secs().max(1))]
    TooManyAttempts {
        /// How long to wait.
        retry_after: std::time::Duration,
    },
    /// The session does not exist, has ended or was ended.
    #[error("the session has ended. Log in again.")]
    NoSession,
    /// Database or service out of reach.
    #[error("auth-service is not available at the moment")]
    Unavailable,
}

/// auth-service as the others see it.
#[async_trait]
pub trait Auth: Send + Sync {
    /// Opens a session for a person who knows their password. `address` is where they come from, for throttling.
    async fn log_in(&self, username: &str, password: &Secret, address: &str) -> Result<Session, AuthError>;

    /// Whose session this is.
    async fn session(&self, token: &Secret) -> Result<ActiveSession, AuthError>;

    /// Ends a session; one that is already gone is fine.
    async fn log_out(&self, token: &Secret) -> Result<(), AuthError>;

    /// Makes the first administrator of an environment exist, once. Asked again for the same cluster it changes
    /// nothing: neither the person nor the password. `password` is used only if the administrator is created now.
    async fn ensure_administrator(
        &self,
        cluster: ClusterId,
        email: &Email,
        username: &AdminUsername,
        password: &Secret,
    ) -> Result<(), AuthError>;
}
