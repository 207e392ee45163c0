//! Sessions: 256 random bits in a cookie, their SHA-256 in the database.

use auth_service_contract::{ActiveSession, AuthError, Session, User};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use sea_orm::DatabaseConnection;
use service_kit::database::Micros;
use sha2::{Digest, Sha256};
use vocabulary::Secret;

use crate::{store::sessions, unavailable};

/// A session that nobody uses ends after this.
pub(crate) const IDLE: SignedDuration = SignedDuration::from_mins(30);
/// Every session ends after this.
pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(12);
/// The last use is written down at most this often, so that a page full of requests is not a page full of writes.
const SEEN_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// Opens a session with a new token. Sessions that ended are swept away on the occasion.
pub(crate) async fn begin(db: &DatabaseConnection, user: User, now: Timestamp) -> Result<Session, AuthError> {
    let token = Secret::new(URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()));
    // As exact as the database keeps it, so that everybody tells the same.
    let expires_at = Micros::from(now + LONGEST).timestamp();
    sessions::delete_ended(db, now, now - IDLE).await.map_err(unavailable)?;
    sessions::insert(db, hash_of(&token), user.id, now, expires_at).await.map_err(unavailable)?;
    Ok(Session { user, token, expires_at })
}

/// Whose session this is, if it has not ended and its user is not disabled. The role is the user's of this moment.
pub(crate) async fn find(db: &DatabaseConnection, token: &Secret, now: Timestamp) -> Result<ActiveSession, AuthError> {
    let hash = hash_of(token);
    let Some((session, user)) = sessions::find(db, hash.clone()).await.map_err(unavailable)? else {
        return Err(AuthError::NoSession);
    };
    let (last_seen, expires_at) = (session.last_seen_at.timestamp(), session.expires_at.timestamp());
    if now >= expires_at || now.duration_since(last_seen) >= IDLE || user.disabled_at.is_some() {
        sessions::delete(db, hash).await.map_err(unavailable)?;
        return Err(AuthError::NoSession);
    }
    if now.duration_since(last_seen) >= SEEN_EVERY {
        sessions::seen(db, hash, now).await.map_err(unavailable)?;
    }
    Ok(ActiveSession { user: user.person(), expires_at })
}

/// Ends a session; one that is gone already is fine.
pub(crate) async fn end(db: &DatabaseConnection, token: &Secret) -> Result<(), AuthError> {
    sessions::delete(db, hash_of(token)).await.map_err(unavailable)
}

fn hash_of(token: &Secret) -> Vec<u8> {
    Sha256::digest(token.reveal().as_bytes()).to_vec()
}
