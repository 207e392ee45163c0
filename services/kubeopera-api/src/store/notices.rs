//! What the web hook was told of each cluster last, so that whoever goes on telling, another process or the same after a
//! restart, repeats nothing and leaves nothing out.

use std::collections::HashMap;

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, entity::prelude::*, sea_query::OnConflict};
use service_kit::database::Micros;
use uuid::Uuid;
use vocabulary::ClusterId;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "notices")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub cluster_id: Uuid,
        pub told: String,
        pub told_at: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// What was told last, and when, by cluster.
pub(crate) async fn told(db: &impl ConnectionTrait) -> Result<HashMap<ClusterId, (String, Timestamp)>, DbErr> {
    let rows = Entity::find().all(db).await?;
    Ok(rows.into_iter().map(|row| (row.cluster_id.into(), (row.told, row.told_at.timestamp()))).collect())
}

/// Writes down that a cluster was told of. One that was let go of meanwhile is nobody's concern any more.
pub(crate) async fn tell(
    db: &impl ConnectionTrait,
    cluster: ClusterId,
    told: &str,
    at: Timestamp,
) -> Result<(), DbErr> {
    let row = ActiveModel { cluster_id: Set(cluster.uuid()), told: Set(told.to_owned()), told_at: Set(at.into()) };
    let again = OnConflict::column(Column::ClusterId).update_columns([Column::Told, Column::ToldAt]).to_owned();
    match Entity::insert(row).on_conflict(again).exec_without_returning(db).await {
        Err(error) if matches!(error.sql_err(), Some(SqlErr::ForeignKeyConstraintViolation(_))) => Ok(()),
        done => done.map(drop),
    }
}
