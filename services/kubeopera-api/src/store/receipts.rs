//! What became of clusters that were let go of. One row for each, written once with the end of its record.

use sea_orm::{ActiveValue::Set, entity::prelude::*};
use service_kit::database::Micros;
use uuid::Uuid;
use vocabulary::ClusterId;

use crate::app::Receipt;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "receipts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub cluster_id: Uuid,
        pub ended_at: Micros,
        pub receipt: Json,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// Keeps a receipt. That there is one already is fine: the first one counts.
pub(crate) async fn keep(db: &impl ConnectionTrait, receipt: &Receipt) -> Result<(), DbErr> {
    let json = serde_json::to_value(receipt).map_err(|why| DbErr::Json(why.to_string()))?;
    let row = ActiveModel {
        cluster_id: Set(receipt.cluster.uuid()),
        ended_at: Set(receipt.ended_at.into()),
        receipt: Set(json),
    };
    Entity::insert(row).on_conflict_do_nothing_on([Column::ClusterId]).exec(db).await.map(drop)
}

/// The receipt for a cluster, if it was let go of.
pub(crate) async fn of(db: &impl ConnectionTrait, cluster: ClusterId) -> Result<Option<Receipt>, DbErr> {
    let Some(row) = Entity::find_by_id(cluster.uuid()).one(db).await? else { return Ok(None) };
    serde_json::from_value(row.receipt).map(Some).map_err(|why| DbErr::Json(why.to_string()))
}
