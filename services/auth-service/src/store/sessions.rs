//! Sessions by the SHA-256 of their token.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, Condition, QueryOrder, entity::prelude::*};
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
        #[sea_orm(unique)]
        pub id: Uuid,
        pub user_id: Uuid,
        pub address: String,
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

pub(crate) use entity::Model;
use entity::{ActiveModel, Column, Entity};

pub(crate) async fn insert(db: &impl ConnectionTrait, session: Model) -> Result<(), DbErr> {
    let Model { token_hash, id, user_id, address, created_at, last_seen_at, expires_at } = session;
    let row = ActiveModel {
        token_hash: Set(token_hash),
        id: Set(id),
        user_id: Set(user_id),
        address: Set(address),
        created_at: Set(created_at),
        last_seen_at: Set(last_seen_at),
        expires_at: Set(expires_at),
    };
    Entity::insert(row).exec(db).await.map(|_| ())
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

/// Sessions of one user or of everybody, the last used first; those that ended may be among them.
pub(crate) async fn of(db: &impl ConnectionTrait, user: Option<Uuid>) -> Result<Vec<Model>, DbErr> {
    let mut sessions = Entity::find().order_by_desc(Column::LastSeenAt).order_by_asc(Column::Id);
    if let Some(user) = user {
        sessions = sessions.filter(Column::UserId.eq(user));
    }
    sessions.all(db).await
}

/// Ends one by its name, if it is that user's; says whether it was there.
pub(crate) async fn delete_named(db: &impl ConnectionTrait, id: Uuid, user: Option<Uuid>) -> Result<bool, DbErr> {
    let mut named = Entity::delete_many().filter(Column::Id.eq(id));
    if let Some(user) = user {
        named = named.filter(Column::UserId.eq(user));
    }
    Ok(named.exec(db).await?.rows_affected > 0)
}

pub(crate) async fn delete_all_of(db: &impl ConnectionTrait, user: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::UserId.eq(user)).exec(db).await.map(|_| ())
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
