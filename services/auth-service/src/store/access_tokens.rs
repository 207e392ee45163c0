//! Personal access tokens by their SHA-256.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, QueryOrder, entity::prelude::*};
use service_kit::database::Micros;
use uuid::Uuid;

use super::users;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid, users};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "access_tokens")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        #[sea_orm(unique)]
        pub token_hash: Vec<u8>,
        pub user_id: Uuid,
        pub label: String,
        pub created_at: Micros,
        pub expires_at: Micros,
        pub last_used_at: Option<Micros>,
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

pub(crate) async fn insert(db: &impl ConnectionTrait, token: Model) -> Result<(), DbErr> {
    let Model { id, token_hash, user_id, label, created_at, expires_at, last_used_at } = token;
    let row = ActiveModel {
        id: Set(id),
        token_hash: Set(token_hash),
        user_id: Set(user_id),
        label: Set(label),
        created_at: Set(created_at),
        expires_at: Set(expires_at),
        last_used_at: Set(last_used_at),
    };
    Entity::insert(row).exec(db).await.map(|_| ())
}

pub(crate) async fn find(
    db: &impl ConnectionTrait,
    token_hash: Vec<u8>,
) -> Result<Option<(Model, users::Model)>, DbErr> {
    let found =
        Entity::find().filter(Column::TokenHash.eq(token_hash)).find_also_related(users::Entity).one(db).await?;
    Ok(found.and_then(|(token, user)| Some((token, user?))))
}

pub(crate) async fn used(db: &impl ConnectionTrait, id: Uuid, now: Timestamp) -> Result<(), DbErr> {
    let used = Entity::update_many().col_expr(Column::LastUsedAt, Micros::from(now).into());
    used.filter(Column::Id.eq(id)).exec(db).await.map(|_| ())
}

/// Tokens of one user or of everybody, the youngest first; those that ended may be among them.
pub(crate) async fn of(db: &impl ConnectionTrait, user: Option<Uuid>) -> Result<Vec<Model>, DbErr> {
    let mut tokens = Entity::find().order_by_desc(Column::Id);
    if let Some(user) = user {
        tokens = tokens.filter(Column::UserId.eq(user));
    }
    tokens.all(db).await
}

/// Ends one, if it is that user's; says whether it was there.
pub(crate) async fn delete(db: &impl ConnectionTrait, id: Uuid, user: Option<Uuid>) -> Result<bool, DbErr> {
    let mut named = Entity::delete_many().filter(Column::Id.eq(id));
    if let Some(user) = user {
        named = named.filter(Column::UserId.eq(user));
    }
    Ok(named.exec(db).await?.rows_affected > 0)
}

pub(crate) async fn delete_all_of(db: &impl ConnectionTrait, user: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::UserId.eq(user)).exec(db).await.map(|_| ())
}

pub(crate) async fn delete_ended(db: &impl ConnectionTrait, now: Timestamp) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::ExpiresAt.lte(Micros::from(now))).exec(db).await.map(|_| ())
}
