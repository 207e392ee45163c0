//! Sessions by the SHA-256 of their token.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, Condition, entity::prelude::*};
use service_kit::database::Micros;
use uuid::Uuid;

use super::users;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid, users};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "sessions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub token_hash: Vec<u8>,
        pub user_id: Uuid,
        pub created_at: Micros,
        pub last_seen_at: Micros,
        pub expires_at: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter)]
    pub enum Relation {
        User,
    }

    impl RelationTrait for Relation {
        fn def(&self) -> RelationDef {
            Entity::belongs_to(users::Entity).from(Column::UserId).to(users::Column::Id).into()
        }
    }

    impl Related<users::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::User.def()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity, Model};

pub(crate) async fn insert(
    db: &impl ConnectionTrait,
    token_hash: Vec<u8>,
    user_id: Uuid,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), DbErr> {
    let session = ActiveModel {
        token_hash: Set(token_hash),
        user_id: Set(user_id),
        created_at: Set(now.into()),
        last_seen_at: Set(now.into()),
        expires_at: Set(expires_at.into()),
    };
    Entity::insert(session).exec(db).await.map(|_| ())
}

pub(crate) async fn find(
    db: &impl ConnectionTrait,
    token_hash: Vec<u8>,
) -> Result<Option<(Model, users::Model)>, DbErr> {
    let found = Entity::find_by_id(token_hash).find_also_related(users::Entity).one(db).await?;
    Ok(found.and_then(|(session, user)| Some((session, user?))))
}

pub(crate) async fn seen(db: &impl ConnectionTrait, token_hash: Vec<u8>, now: Timestamp) -> Result<(), DbErr> {
    let seen = Entity::update_many().col_expr(Column::LastSeenAt, Micros::from(now).into());
    seen.filter(Column::TokenHash.eq(token_hash)).exec(db).await.map(|_| ())
}

pub(crate) async fn delete(db: &impl ConnectionTrait, token_hash: Vec<u8>) -> Result<(), DbErr> {
    Entity::delete_by_id(token_hash).exec(db).await.map(|_| ())
}

pub(crate) async fn delete_ended(
    db: &impl ConnectionTrait,
    now: Timestamp,
    unseen_since: Timestamp,
) -> Result<(), DbErr> {
    let ended = Condition::any()
        .add(Column::ExpiresAt.lte(Micros::from(now)))
        .add(Column::LastSeenAt.lte(Micros::from(unseen_since)));
    Entity::delete_many().filter(ended).exec(db).await.map(|_| ())
}
