//! Counts of attempts to log in.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, DatabaseConnection, ExprTrait, entity::prelude::*, sea_query::OnConflict};
use service_kit::database::{Micros, begin_write};

use super::bounded::make_room;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::Micros;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "login_attempts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub counted: Vec<u8>,
        pub attempts: i64,
        pub since: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use entity::Entity;
use entity::{ActiveModel, Column};

/// Attempts so far, this one included, and when the first was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) attempts: i64,
    pub(crate) since: Timestamp,
}

/// Adds one to each of two counts, forgetting those that began before `forgotten`, in one transaction.
pub(crate) async fn count(
    db: &DatabaseConnection,
    keys: &[&Vec<u8>; 2],
    now: Timestamp,
    forgotten: Timestamp,
) -> Result<[Counted; 2], DbErr> {
    let tx = begin_write(db).await?;
    make_room::<Entity>(&tx, Column::Since, forgotten).await?;
    let [account, address] = keys;
    let counted = [count_one(&tx, account, now).await?, count_one(&tx, address, now).await?];
    tx.commit().await?;
    Ok(counted)
}

async fn count_one(tx: &impl ConnectionTrait, key: &[u8], now: Timestamp) -> Result<Counted, DbErr> {
    let first = ActiveModel { counted: Set(key.to_owned()), attempts: Set(1), since: Set(now.into()) };
    let one_more = OnConflict::column(Column::Counted)
        .value(Column::Attempts, Expr::col((Entity, Column::Attempts)).add(1))
        .to_owned();
    let row = Entity::insert(first).on_conflict(one_more).exec_with_returning(tx).await?;
    Ok(Counted { attempts: row.attempts, since: row.since.timestamp() })
}

/// Clears one count and takes one from the other.
pub(crate) async fn forget(db: &impl ConnectionTrait, cleared: &[u8], reduced: &[u8]) -> Result<(), DbErr> {
    Entity::delete_by_id(cleared.to_owned()).exec(db).await?;
    Entity::update_many()
        .col_expr(Column::Attempts, Expr::col(Column::Attempts).sub(1))
        .filter(Column::Counted.eq(reduced.to_owned()))
        .exec(db)
        .await
        .map(|_| ())
}
