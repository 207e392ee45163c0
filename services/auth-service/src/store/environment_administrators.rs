//! The first administrator of each environment, one a cluster.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, TryInsertResult, entity::prelude::*};
use service_kit::database::Micros;
use uuid::Uuid;
use vocabulary::{AdminUsername, ClusterId, Email};

use super::PasswordHash;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, PasswordHash, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "environment_administrators")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub cluster_id: Uuid,
        pub email: String,
        pub username: String,
        pub password_hash: PasswordHash,
        pub created_at: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use entity::Entity;
use entity::{ActiveModel, Column};

pub(crate) async fn exists(db: &impl ConnectionTrait, cluster: ClusterId) -> Result<bool, DbErr> {
    Ok(Entity::find_by_id(cluster.uuid()).one(db).await?.is_some())
}

/// The first to come stays: neither person nor password is ever replaced. Says whether this was the first.
pub(crate) async fn insert_if_absent(
    db: &impl ConnectionTrait,
    cluster: ClusterId,
    email: &Email,
    username: &AdminUsername,
    password_hash: PasswordHash,
    now: Timestamp,
) -> Result<bool, DbErr> {
    let administrator = ActiveModel {
        cluster_id: Set(cluster.uuid()),
        email: Set(email.to_string()),
        username: Set(username.to_string()),
        password_hash: Set(password_hash),
        created_at: Set(now.into()),
    };
    let inserted = Entity::insert(administrator).on_conflict_do_nothing_on([Column::ClusterId]);
    Ok(matches!(inserted.exec_without_returning(db).await?, TryInsertResult::Inserted(_)))
}
