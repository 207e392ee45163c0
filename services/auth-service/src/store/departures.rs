//! Browsers on the way to the identity provider, by the SHA-256 of what their cookie holds.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, DatabaseConnection, entity::prelude::*};
use service_kit::database::{Micros, begin_write};

use super::bounded::make_room;

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
    make_room::<Entity>(&tx, Column::At, forgotten).await?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use jiff::SignedDuration;

    use super::*;

    #[tokio::test]
    async fn a_full_table_loses_its_oldest_tenth_and_what_is_too_old_goes_anyway() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("kubeopera.db").display());
        let db = service_kit::database::open(&url).await.unwrap();
        crate::store::migrate(&db).await.unwrap();
        let begin = Timestamp::from_second(1_000_000).unwrap();
        let at = |second: u32| begin + SignedDuration::from_secs(second.into());
        let row = |second: u32| ActiveModel {
            browser_hash: Set(second.to_be_bytes().to_vec()),
            return_to: Set("/".to_owned()),
            at: Set(at(second).into()),
        };
        for first in (0..20_000).step_by(1000) {
            Entity::insert_many((first..first + 1000).map(row)).exec(&db).await.unwrap();
        }

        insert(&db, vec![1], "/".to_owned(), at(20_000), begin - SignedDuration::from_secs(1)).await.unwrap();
        let after_full = Entity::find().count(&db).await.unwrap();
        insert(&db, vec![2], "/".to_owned(), at(20_001), at(19_989)).await.unwrap();

        assert_eq!(after_full, 20_000 - 2001 + 1);
        assert_eq!(Entity::find().count(&db).await.unwrap(), 10 + 1 + 1);
    }
}
