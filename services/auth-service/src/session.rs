//! Sessions: 256 random bits in a cookie, their SHA-256 in the database.

use auth_service_contract::{ActiveSession, AuthError, OpenSession, Session, User};
use jiff::{SignedDuration, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr};
use service_kit::database::Micros;
use uuid::Uuid;
use vocabulary::Secret;

use crate::{
    store::sessions::{self, Model},
    token, unavailable,
};

/// A session that nobody uses ends after this.
pub(crate) const IDLE: SignedDuration = SignedDuration::from_mins(30);
/// Every session ends after this.
pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(12);
/// The last use is written down at most this often, so that a page full of requests is not a page full of writes.
pub(crate) const SEEN_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// Opens a session with a new token. Sessions that ended are swept away on the occasion.
pub(crate) async fn begin(
    db: &impl ConnectionTrait,
    user: User,
    address: &str,
    now: Timestamp,
) -> Result<Session, DbErr> {
    let secret = token::random("");
    // As exact as the database keeps it, so that everybody tells the same.
    let expires_at = Micros::from(now + LONGEST);
    sessions::delete_ended(db, now, now - IDLE).await?;
    let row = Model {
        token_hash: token::hash_of(&secret),
        id: Uuid::now_v7(),
        user_id: user.id,
        address: address.to_owned(),
        created_at: now.into(),
        last_seen_at: now.into(),
        expires_at,
    };
    sessions::insert(db, row).await?;
    Ok(Session { user, token: secret, expires_at: expires_at.timestamp() })
}

/// Whose session this is, if it has not ended and its user is not disabled. The role is the user's of this moment.
pub(crate) async fn find(db: &DatabaseConnection, token: &Secret, now: Timestamp) -> Result<ActiveSession, AuthError> {
    let hash = token::hash_of(token);
    let Some((session, user)) = sessions::find(db, hash.clone()).await.map_err(unavailable)? else {
        return Err(AuthError::NoSession);
    };
    if has_ended(&session, now) || user.disabled_at.is_some() {
        sessions::delete(db, hash).await.map_err(unavailable)?;
        return Err(AuthError::NoSession);
    }
    if now.duration_since(session.last_seen_at.timestamp()) >= SEEN_EVERY {
        sessions::seen(db, hash, now).await.map_err(unavailable)?;
    }
    Ok(ActiveSession { id: session.id, user: user.person(), expires_at: session.expires_at.timestamp() })
}

/// Ends a session; one that is gone already is fine.
pub(crate) async fn end(db: &DatabaseConnection, token: &Secret) -> Result<(), AuthError> {
    sessions::delete(db, token::hash_of(token)).await.map_err(unavailable)
}

/// Sessions that have not ended, of one user or of everybody.
pub(crate) async fn open(
    db: &DatabaseConnection,
    user: Option<Uuid>,
    now: Timestamp,
) -> Result<Vec<OpenSession>, DbErr> {
    let sessions = sessions::of(db, user).await?;
    Ok(sessions.into_iter().filter(|session| !has_ended(session, now)).map(OpenSession::from).collect())
}

fn has_ended(session: &Model, now: Timestamp) -> bool {
    now >= session.expires_at.timestamp() || now.duration_since(session.last_seen_at.timestamp()) >= IDLE
}

impl From<Model> for OpenSession {
    fn from(session: Model) -> Self {
        Self {
            id: session.id,
            user: session.user_id,
            address: session.address,
            created_at: session.created_at.timestamp(),
            last_seen_at: session.last_seen_at.timestamp(),
            expires_at: session.expires_at.timestamp(),
        }
    }
}
