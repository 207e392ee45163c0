//! Who asked for which secret and what came of it. Rows are added and never touched again; the database itself refuses
//! to change or remove one.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, entity::prelude::*};
use service_kit::database::Micros;
use uuid::Uuid;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "credential_openings")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub happened_at: Micros,
        pub credential_id: Uuid,
        pub cluster_id: Uuid,
        pub outcome: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Entity};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Opened,
    /// The cluster was never given the credential.
    Denied,
    /// What is stored was altered, or its root key is not there.
    Unreadable,
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Denied => "denied",
            Self::Unreadable => "unreadable",
        }
    }
}

pub(crate) async fn write(
    db: &impl ConnectionTrait,
    credential: Uuid,
    cluster: Uuid,
    outcome: Outcome,
    now: Timestamp,
) -> Result<(), DbErr> {
    let row = ActiveModel {
        id: Set(Uuid::now_v7()),
        happened_at: Set(now.into()),
        credential_id: Set(credential),
        cluster_id: Set(cluster),
        outcome: Set(outcome.as_str().to_owned()),
    };
    Entity::insert(row).exec(db).await.map(|_| ())
}
