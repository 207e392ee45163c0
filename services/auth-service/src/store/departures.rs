//! Browsers on the way to the identity provider, by the SHA-256 of what their cookie holds. The table is bounded like
//! that of attempts.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, DatabaseConnection, QueryOrder, QuerySelect, entity::prelude::*};
use service_kit::database::{Micros, begin_write};

/// More than this are not under way at once.
pub(crate) const MOST: u64 = 20_000;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::Micros;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "departures")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub browser_hash: Vec<u8>,
        pub return_to: String,
        pub at: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// Writes one down and forgets those from before `forgotten`.
pub(crate) async fn insert(
    db: &DatabaseConnection,
    browser_hash: Vec<u8>,
    return_to: String,
    now: Timestamp,
    forgotten: Timestamp,
) -> Result<(), DbErr> {
    let tx = begin_write(db).await?;
    Entity::delete_many().filter(Column::At.lte(Micros::from(forgotten))).exec(&tx).await?;
    if Entity::find().count(&tx).await? >= MOST {
        let nth = Entity::find().order_by_asc(Column::At).offset(MOST / 10).limit(1).one(&tx).await?;
        if let Some(nth) = nth {
            Entity::delete_many().filter(Column::At.lte(nth.at)).exec(&tx).await?;
        }
    }
    let row = ActiveModel { browser_hash: Set(browser_hash), return_to: Set(return_to), at: Set(now.into()) };
    Entity::insert(row).exec(&tx).await?;
    tx.commit().await
}

/// Takes one off, once: of two who ask for the same at the same time one gets it. What it was to return to, if it departed
/// after `since`.
pub(crate) async fn take(
    db: &DatabaseConnection,
    browser_hash: Vec<u8>,
    since: Timestamp,
) -> Result<Option<String>, DbErr> {
    let Some(row) = Entity::find_by_id(browser_hash.clone()).one(db).await? else { return Ok(None) };
    let taken = Entity::delete_by_id(browser_hash).exec(db).await?.rows_affected > 0;
    Ok((taken && row.at.timestamp() > since).then_some(row.return_to))
}
