//! What auth-service promises to the other services, behind five doors: who somebody is ([`Auth`]), by way of an identity
//! provider ([`SingleSignOn`]), who there is ([`People`]), tokens for scripts ([`AccessTokens`]) and cloud credentials
//! ([`Credentials`]).

mod credentials;
mod people;
mod single_sign_on;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
pub use vocabulary::Role;
use vocabulary::{AdminUsername, ClusterId, Email, Secret};

pub use credentials::{
    AwsAccessKey, CheckOutcome, CloudAccess, Credential, CredentialError, CredentialId, CredentialKind, Credentials,
    NewSecret, SavedCredential,
};
pub use people::{
    AccessToken, AccessTokens, ActiveToken, MadeToken, OpenSession, PasswordChanged, People, PeopleError, Person,
    PersonChange, TOKEN_PREFIX, Way, Whose,
};
pub use single_sign_on::{Arrival, Departure, ProviderAnswer, SingleSignOn, SingleSignOnError};

/// All doors of auth-service, for who serves people. Whatever changes something takes first on whose behalf, and writes that
/// into the audit log together with the change: either both are there or neither is.
pub trait Authority: Auth + SingleSignOn + People + AccessTokens + Credentials {}

impl<T: Auth + SingleSignOn + People + AccessTokens + Credentials> Authority for T {}

/// A person who has proved who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Stable identity.
    pub id: Uuid,
    /// Name to log in with. For who comes by way of an identity provider it is what the provider calls them, and always
    /// has an `@` in it, which no name with a password has.
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
    /// Whether it is good for nothing but choosing another password.
    pub must_change_password: bool,
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
    /// Whether it is good for nothing but choosing another password.
    pub must_change_password: bool,
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
    /// Opens a session for a person who knows their password. `address` is where they come from, for throttling and for
    /// the audit log, which tells of refusals as well.
    async fn log_in(&self, username: &str, password: &Secret, address: &str) -> Result<Session, AuthError>;

    /// Whose session this is.
    async fn session(&self, token: &Secret) -> Result<ActiveSession, AuthError>;

    /// Ends a session; one that is already gone is fine. `address` is where that is asked from.
    async fn log_out(&self, token: &Secret, address: &str) -> Result<(), AuthError>;

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
