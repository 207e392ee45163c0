//! Which cluster this database belongs to, and which KubeOpera it is of. One row, written once.

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
        pub installation_id: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// Key of the only row.
const ONE: i32 = 1;

/// What a database is bound to.
pub(crate) struct Bound {
    /// UID of the kube-system namespace of the cluster that it belongs to.
    pub(crate) kube_system_uid: String,
    /// The KubeOpera whose records it holds.
    pub(crate) installation_id: String,
}

/// What the database is bound to: the given cluster, and an id made from it, unless it was bound before.
pub(crate) async fn bound(db: &impl ConnectionTrait, kube_system_uid: &str) -> Result<Bound, DbErr> {
    let uid = kube_system_uid.to_owned();
    let row = ActiveModel { id: Set(ONE), kube_system_uid: Set(uid.clone()), installation_id: Set(uid) };
    Entity::insert(row).on_conflict_do_nothing_on([Column::Id]).exec(db).await?;
    let row = Entity::find_by_id(ONE).one(db).await?;
    row.map(|row| Bound { kube_system_uid: row.kube_system_uid, installation_id: row.installation_id })
        .ok_or_else(|| DbErr::RecordNotFound("the row of the installation".to_owned()))
}
