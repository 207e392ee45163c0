//! Which cluster this database belongs to. One row, written once.

use sea_orm::{ActiveValue::Set, entity::prelude::*};

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "installation")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub kube_system_uid: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// Key of the only row.
const ONE: i32 = 1;

/// UID of the kube-system namespace of the cluster the database belongs to: the given one, unless it had one before.
pub(crate) async fn belongs_to(db: &impl ConnectionTrait, kube_system_uid: &str) -> Result<String, DbErr> {
    let row = ActiveModel { id: Set(ONE), kube_system_uid: Set(kube_system_uid.to_owned()) };
    Entity::insert(row).on_conflict_do_nothing_on([Column::Id]).exec(db).await?;
    let row = Entity::find_by_id(ONE).one(db).await?;
    row.map(|row| row.kube_system_uid).ok_or_else(|| DbErr::RecordNotFound("the row of the installation".to_owned()))
}
