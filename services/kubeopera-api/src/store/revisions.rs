//! A number that grows with every change of a cluster's record, so that whoever keeps the records in mind reads only what
//! is new, whichever process wrote it.
//!
//! The number is one row. A transaction that changes a record takes the next number first and keeps the row until it
//! ends, so that numbers become visible in their order: what a reader has seen up to one number is all there is up to it.

use sea_orm::{DatabaseTransaction, ExprTrait, entity::prelude::*};

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "cluster_revisions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub last: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{Column, Entity};

/// Key of the only row.
const ONE: i32 = 1;

/// The number of the last change.
pub(crate) async fn last(db: &impl ConnectionTrait) -> Result<i64, DbErr> {
    let row = Entity::find_by_id(ONE).one(db).await?;
    row.map(|row| row.last).ok_or_else(|| DbErr::RecordNotFound("the row of the revisions".to_owned()))
}

/// The number of the change that this transaction is about to make.
pub(super) async fn next(tx: &DatabaseTransaction) -> Result<i64, DbErr> {
    let grown = Entity::update_many().col_expr(Column::Last, Expr::col(Column::Last).add(1));
    grown.filter(Column::Id.eq(ONE)).exec(tx).await?;
    last(tx).await
}
