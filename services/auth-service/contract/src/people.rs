//! People, their open sessions and their tokens for scripts.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;
use vocabulary::{Actor, AdminUsername, Label, Secret};

use crate::{AuthError, Role, Session, User};

/// How somebody logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// With a password that is known here.
    Password,
    /// At the identity provider, which also says what they may do.
    Provider,
}

/// Somebody who may log in, as a platform administrator sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Who.
    pub user: User,
    /// How they log in.
    pub way: Way,
    /// Since when they are known.
    pub created_at: Timestamp,
    /// Since when they may not log in, if they may not.
    pub disabled_at: Option<Timestamp>,
}

/// What is to be different about a person; `None` leaves it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PersonChange {
    /// What they may do.
    pub role: Option<Role>,
    /// Whether they are kept from logging in.
    pub is_disabled: Option<bool>,
}

/// Whose sessions or tokens are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of one person; all others are as good as not there.
    Only(Uuid),
    /// Everybody's.
    Anybodys,
}

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSession {
    /// Names it without giving it away.
    pub id: Uuid,
    /// Whose it is.
    pub user: Uuid,
    /// Where it was opened from.
    pub address: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_seen_at: Timestamp,
    /// When it ends whatever happens.
    pub expires_at: Timestamp,
}

/// What every personal access token begins with, so that scanners find one that was committed by mistake.
pub const TOKEN_PREFIX: &str = "ko_pat_";

/// A token with which a script acts for a person. The token itself is known only to who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Names it without giving it away.
    pub id: Uuid,
    /// For whom it acts.
    pub user: Uuid,
    /// What it is for.
    pub label: Label,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A token just made: the one time that it is seen.
#[derive(Debug)]
pub struct MadeToken {
    /// About it.
    pub token: AccessToken,
    /// `ko_pat_` and 256 random bits. Only their SHA-256 is stored.
    pub secret: Secret,
}

/// A token that was presented and is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveToken {
    /// Which.
    pub id: Uuid,
    /// For whom it acts, with the role they have at this moment.
    pub user: User,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// Somebody has another password.
#[derive(Debug)]
pub struct PasswordChanged {
    /// The session that takes the place of all others.
    pub session: Session,
    /// The personal access tokens that ended with the old password, by label.
    pub ended_tokens: Vec<Label>,
}

/// Why something about people was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeopleError {
    /// Another user has the name.
    #[error("another user has this name")]
    NameTaken,
    /// Nobody has this id.
    #[error("there is no such user")]
    NoSuchUser,
    /// No session of who was meant has this id.
    #[error("there is no such session")]
    NoSuchSession,
    /// No token of who was meant has this id.
    #[error("there is no such token")]
    NoSuchToken,
    /// Without this person nobody could administer KubeOpera. Who comes by way of an identity provider does not count:
    /// it may be away.
    #[error("this is the last platform administrator who can log in with a password")]
    LastAdministrator,
    /// The person comes by way of the identity provider: their role follows their groups there.
    #[error("this person's role follows their groups at the identity provider")]
    RoleOfProvider,
    /// The person comes by way of the identity provider, which is where their password is.
    #[error("this person has no password here")]
    NoPassword,
    /// The new password breaks a rule, which is a whole sentence.
    #[error("this password is not acceptable. {0}")]
    PasswordNotAcceptable(&'static str),
    /// A token cannot end when it was asked to.
    #[error("a token ends within a year and not in the past")]
    ExpiryNotAcceptable,
    /// The person has as many tokens as anybody can have.
    #[error("there are {most} tokens already")]
    TooManyTokens {
        /// How many one person can have.
        most: u64,
    },
    /// The present password is wrong, or guessed too often; or the service is away.
    #[error(transparent)]
    Auth(#[from] AuthError),
}

/// Administering people. Who may do what is for the caller to decide.
#[async_trait]
pub trait People: Send + Sync {
    /// Everybody, by name.
    async fn people(&self) -> Result<Vec<Person>, PeopleError>;

    /// Adds somebody who can log in from now on. A password that another person chose is good for choosing one of their
    /// own.
    async fn add_user(
        &self,
        by: &Actor,
        username: &AdminUsername,
        role: Role,
        password: &Secret,
    ) -> Result<Person, PeopleError>;

    /// Changes role and standing. Either ends all sessions of the person; to disable also ends their tokens for good.
    /// The last platform administrator who can log in with a password stays one.
    async fn change_user(&self, by: &Actor, user: Uuid, change: PersonChange) -> Result<Person, PeopleError>;

    /// Changes one's own password. All sessions and tokens end, and the session that is returned begins. A wrong present
    /// password counts as an attempt to log in.
    async fn change_password(
        &self,
        by: &Actor,
        user: Uuid,
        current: &Secret,
        new: &Secret,
    ) -> Result<PasswordChanged, PeopleError>;

    /// Gives somebody another password, good for choosing one of their own. It ends all their sessions and tokens.
    async fn reset_password(&self, by: &Actor, user: Uuid, new: &Secret) -> Result<(), PeopleError>;

    /// Open sessions, the last used first.
    async fn sessions(&self, whose: Whose) -> Result<Vec<OpenSession>, PeopleError>;

    /// Ends a session.
    async fn end_session(&self, by: &Actor, session: Uuid, whose: Whose) -> Result<(), PeopleError>;
}

/// Personal access tokens. They die with their owner and never do more than their owner may do.
#[async_trait]
pub trait AccessTokens: Send + Sync {
    /// Tokens that have not ended, the youngest first.
    async fn tokens(&self, whose: Whose) -> Result<Vec<AccessToken>, PeopleError>;

    /// Makes a token that ends within a year.
    async fn make_token(
        &self,
        by: &Actor,
        user: Uuid,
        label: &Label,
        expires_at: Timestamp,
    ) -> Result<MadeToken, PeopleError>;

    /// Ends a token.
    async fn revoke_token(&self, by: &Actor, token: Uuid, whose: Whose) -> Result<(), PeopleError>;

    /// For whom a token acts. [`AuthError::NoSession`] if it is none, has ended, or its owner may not log in.
    async fn token(&self, secret: &Secret) -> Result<ActiveToken, AuthError>;
}
