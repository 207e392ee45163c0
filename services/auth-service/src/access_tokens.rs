//! Personal access tokens: what a script shows instead of a password.

use async_trait::async_trait;
use audit_log::{Action, Entry, Outcome};
use auth_service_contract::{
    AccessToken, AccessTokens, ActiveToken, AuthError, MadeToken, PeopleError, TOKEN_PREFIX, Way, Whose,
};
use jiff::{SignedDuration, Timestamp};
use sea_orm::{ConnectionTrait, DbErr};
use service_kit::database::{Micros, begin_write};
use uuid::Uuid;
use vocabulary::{Actor, Label, Secret};

use crate::{
    AuthService,
    people::{failed, only},
    session::SEEN_EVERY,
    store::{
        access_tokens::{self, Model},
        users,
    },
    token, unavailable,
};

/// No token is good for longer.
pub(crate) const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);
/// Tokens of who comes by way of the identity provider rest when it has not vouched for them for this long: nobody tells
/// KubeOpera that somebody has left.
pub(crate) const VOUCHED_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);
/// More tokens than this nobody keeps apart.
pub(crate) const MOST: u64 = 100;

/// The tokens of a person, or of everybody, that have not ended.
pub(crate) async fn live(
    db: &impl ConnectionTrait,
    user: Option<Uuid>,
    now: Timestamp,
) -> Result<Vec<AccessToken>, DbErr> {
    let tokens = access_tokens::of(db, user).await?.into_iter();
    tokens.filter(|token| now < token.expires_at.timestamp()).map(AccessToken::try_from).collect()
}

#[async_trait]
impl AccessTokens for AuthService {
    async fn tokens(&self, whose: Whose) -> Result<Vec<AccessToken>, PeopleError> {
        live(&self.db, only(whose), (self.clock)()).await.map_err(failed)
    }

    async fn make_token(
        &self,
        by: &Actor,
        user: Uuid,
        label: &Label,
        expires_at: Timestamp,
    ) -> Result<MadeToken, PeopleError> {
        let now = (self.clock)();
        if expires_at <= now || expires_at > now + LONGEST {
            return Err(PeopleError::ExpiryNotAcceptable);
        }
        let tx = begin_write(&self.db).await.map_err(failed)?;
        // Held, so that nobody disables the owner, or counts along, in between.
        let owner = users::held(&tx, user).await.map_err(failed)?;
        if owner.is_none_or(|owner| owner.disabled_at.is_some()) {
            return Err(PeopleError::NoSuchUser);
        }
        access_tokens::delete_ended(&tx, now).await.map_err(failed)?;
        if access_tokens::of(&tx, Some(user)).await.map_err(failed)?.len() as u64 >= MOST {
            return Err(PeopleError::TooManyTokens { most: MOST });
        }
        let secret = token::random(TOKEN_PREFIX);
        let row = Model {
            id: Uuid::now_v7(),
            token_hash: token::hash_of(&secret),
            user_id: user,
            label: label.to_string(),
            created_at: now.into(),
            expires_at: expires_at.into(),
            last_used_at: None,
        };
        access_tokens::insert(&tx, row.clone()).await.map_err(failed)?;
        let entry = Entry::new(by, Action::MakeToken, Outcome::Done).on(row.id).named(label);
        audit_log::append(&tx, entry).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        Ok(MadeToken { token: row.try_into().map_err(failed)?, secret })
    }

    async fn revoke_token(&self, by: &Actor, token: Uuid, whose: Whose) -> Result<(), PeopleError> {
        let tx = begin_write(&self.db).await.map_err(failed)?;
        if !access_tokens::delete(&tx, token, only(whose)).await.map_err(failed)? {
            return Err(PeopleError::NoSuchToken);
        }
        let entry = Entry::new(by, Action::RevokeToken, Outcome::Done).on(token);
        audit_log::append(&tx, entry).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn token(&self, secret: &Secret) -> Result<ActiveToken, AuthError> {
        if !secret.reveal().starts_with(TOKEN_PREFIX) {
            return Err(AuthError::NoSession);
        }
        let now = (self.clock)();
        let found = access_tokens::find(&self.db, token::hash_of(secret)).await.map_err(unavailable)?;
        let Some((token, owner)) = found else { return Err(AuthError::NoSession) };
        let expires_at = token.expires_at.timestamp();
        let vouched_at = owner.vouched_at.map_or(Timestamp::MIN, Micros::timestamp);
        let rests = owner.way() == Way::Provider && now.duration_since(vouched_at) >= VOUCHED_FOR;
        if now >= expires_at || rests || !self.lets_in(&owner) {
            return Err(AuthError::NoSession);
        }
        let is_recent = |used: Micros| now.duration_since(used.timestamp()) < SEEN_EVERY;
        if !token.last_used_at.is_some_and(is_recent) {
            access_tokens::used(&self.db, token.id, now).await.map_err(unavailable)?;
        }
        Ok(ActiveToken { id: token.id, user: owner.person(), expires_at })
    }
}

impl TryFrom<Model> for AccessToken {
    type Error = DbErr;
    fn try_from(token: Model) -> Result<Self, DbErr> {
        Ok(Self {
            id: token.id,
            user: token.user_id,
            label: token.label.parse().map_err(|_| DbErr::Type("a token's label is no label".to_owned()))?,
            created_at: token.created_at.timestamp(),
            expires_at: token.expires_at.timestamp(),
            last_used_at: token.last_used_at.map(Micros::timestamp),
        })
    }
}
