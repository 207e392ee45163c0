//! Which cluster is run with which credential, one each.

use sea_orm::{ActiveValue::Set, QueryOrder, entity::prelude::*, sea_query::OnConflict};
use uuid::Uuid;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::Uuid;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "credential_uses")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub cluster_id: Uuid,
        pub credential_id: Uuid,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use entity::Model;
use entity::{ActiveModel, Column, Entity};

pub(crate) async fn all(db: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find().order_by_asc(Column::ClusterId).all(db).await
}

/// The clusters a credential is in use by.
pub(crate) async fn of(db: &impl ConnectionTrait, credential: Uuid) -> Result<Vec<Uuid>, DbErr> {
    let uses = Entity::find().filter(Column::CredentialId.eq(credential)).order_by_asc(Column::ClusterId);
    Ok(uses.all(db).await?.into_iter().map(|one| one.cluster_id).collect())
}

pub(crate) async fn exists(db: &impl ConnectionTrait, credential: Uuid, cluster: Uuid) -> Result<bool, DbErr> {
    Ok(Entity::find_by_id(cluster).one(db).await?.is_some_and(|found| found.credential_id == credential))
}

pub(crate) async fn set(db: &impl ConnectionTrait, credential: Uuid, cluster: Uuid) -> Result<(), DbErr> {
    let row = ActiveModel { cluster_id: Set(cluster), credential_id: Set(credential) };
    let instead = OnConflict::column(Column::ClusterId).update_column(Column::CredentialId).to_owned();
    Entity::insert(row).on_conflict(instead).exec(db).await.map(|_| ())
}

/// Says whether it had one.
pub(crate) async fn delete(db: &impl ConnectionTrait, cluster: Uuid) -> Result<bool, DbErr> {
    Ok(Entity::delete_by_id(cluster).exec(db).await?.rows_affected > 0)
}
