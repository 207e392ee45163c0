//! Which root keys have sealed something here, each with a value that only it opens.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, DbBackend, QueryOrder, Statement, entity::prelude::*};
use service_kit::database::Micros;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::Micros;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "root_keys")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub check_value: Vec<u8>,
        pub first_used_at: Micros,
        pub forgotten_at: Option<Micros>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use entity::Model;
use entity::{ActiveModel, Column, Entity};

/// All of them, the first used first.
pub(crate) async fn all(db: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find().order_by_asc(Column::FirstUsedAt).order_by_asc(Column::Id).all(db).await
}

/// Until the transaction ends nobody else adds one: of two that start with different keys the second finds the first.
/// (SQLite has but one writer.)
pub(crate) async fn hold(tx: &impl ConnectionTrait) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Postgres {
        let lock = "LOCK TABLE root_keys IN SHARE ROW EXCLUSIVE MODE";
        tx.execute_raw(Statement::from_string(DbBackend::Postgres, lock)).await?;
    }
    Ok(())
}

pub(crate) async fn insert(
    db: &impl ConnectionTrait,
    id: String,
    check_value: Vec<u8>,
    now: Timestamp,
) -> Result<(), DbErr> {
    let row = ActiveModel {
        id: Set(id),
        check_value: Set(check_value),
        first_used_at: Set(now.into()),
        forgotten_at: Set(None),
    };
    Entity::insert(row).exec(db).await.map(|_| ())
}

/// Since when a key is lost and done without, if it is.
pub(crate) async fn set_forgotten(db: &impl ConnectionTrait, id: &str, at: Option<Timestamp>) -> Result<(), DbErr> {
    let changed = Entity::update_many().col_expr(Column::ForgottenAt, Expr::value(at.map(Micros::from)));
    changed.filter(Column::Id.eq(id)).exec(db).await.map(|_| ())
}
