//! Sessions: 256 random bits in a cookie, their SHA-256 in the database.

use audit_log::{Action, Entry, Outcome};
use auth_service_contract::{ActiveSession, AuthError, OpenSession, Session, User};
use jiff::{SignedDuration, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr};
use service_kit::database::{Micros, begin_write};
use uuid::Uuid;
use vocabulary::{Actor, Secret};

use crate::{
    store::{
        sessions::{self, Model},
        users,
    },
    token, unavailable,
};

/// A session that nobody uses ends after this.
pub(crate) const IDLE: SignedDuration = SignedDuration::from_mins(30);
/// Every session ends after this.
pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(12);
/// The last use is written down at most this often, so that a page full of requests is not a page full of writes.
pub(crate) const SEEN_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// Opens a session for somebody who has just proved who they are, and writes that down as the last thing in the
/// transaction.
pub(crate) async fn log_in(
    tx: &DatabaseTransaction,
    user: &users::Model,
    address: &str,
    now: Timestamp,
) -> Result<Session, DbErr> {
    let session = begin(tx, user, address, now).await?;
    let actor = person_at(user.person(), address);
    audit_log::append(tx, Entry::new(&actor, Action::LogIn, Outcome::Done)).await?;
    Ok(session)
}

fn person_at(user: User, address: &str) -> Actor {
    let User { id, username, role } = user;
    Actor::Person { id, username, role, address: address.to_owned() }
}

/// Opens a session with a new token. Sessions that ended are swept away on the occasion.
pub(crate) async fn begin(
    db: &impl ConnectionTrait,
    user: &users::Model,
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
    Ok(Session {
        user: user.person(),
        token: secret,
        must_change_password: user.password_is_one_time,
        expires_at: expires_at.timestamp(),
    })
}

/// Whose session this is, if it has not ended and its user is let in. The role is the user's of this moment.
pub(crate) async fn find(
    db: &DatabaseConnection,
    token: &Secret,
    is_let_in: impl FnOnce(&users::Model) -> bool + Send,
    now: Timestamp,
) -> Result<ActiveSession, AuthError> {
    let hash = token::hash_of(token);
    let Some((session, user)) = sessions::find(db, hash.clone()).await.map_err(unavailable)? else {
        return Err(AuthError::NoSession);
    };
    if has_ended(&session, now) || !is_let_in(&user) {
        sessions::delete(db, hash).await.map_err(unavailable)?;
        return Err(AuthError::NoSession);
    }
    if now.duration_since(session.last_seen_at.timestamp()) >= SEEN_EVERY {
        sessions::seen(db, hash, now).await.map_err(unavailable)?;
    }
    Ok(ActiveSession {
        id: session.id,
        user: user.person(),
        must_change_password: user.password_is_one_time,
        expires_at: session.expires_at.timestamp(),
    })
}

/// Ends a session; one that is gone already is fine.
pub(crate) async fn log_out(db: &DatabaseConnection, token: &Secret, address: &str) -> Result<(), DbErr> {
    let hash = token::hash_of(token);
    let tx = begin_write(db).await?;
    let Some((session, user)) = sessions::find(&tx, hash.clone()).await? else { return Ok(()) };
    sessions::delete(&tx, hash).await?;
    let actor = person_at(user.person(), address);
    audit_log::append(&tx, Entry::new(&actor, Action::LogOut, Outcome::Done).on(session.id)).await?;
    tx.commit().await
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
