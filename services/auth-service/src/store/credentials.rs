//! Cloud credentials, their secrets sealed.

use auth_service_contract::CredentialKind;
use sea_orm::{ActiveValue::Set, QueryOrder, QuerySelect, entity::prelude::*, sea_query::ValueTypeErr};
use service_kit::database::Micros;
use uuid::Uuid;

use crate::sealing::Sealed;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, StoredKind, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "credentials")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        #[sea_orm(unique)]
        pub label: String,
        pub kind: StoredKind,
        pub last_four: String,
        pub source_id: Option<Uuid>,
        pub version: i64,
        pub root_key_id: String,
        pub secret: Vec<u8>,
        pub created_at: Micros,
        pub changed_at: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use entity::Model;
use entity::{ActiveModel, Column, Entity};

/// A kind as the column spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sea_orm::DeriveValueType)]
#[sea_orm(value_type = "String")]
pub struct StoredKind(pub(crate) CredentialKind);

impl StoredKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self.0 {
            CredentialKind::AwsAccessKey => "aws_access_key",
            CredentialKind::AwsAssumeRole => "aws_assume_role",
            CredentialKind::GcpServiceAccountKey => "gcp_service_account_key",
        }
    }
}

impl std::fmt::Display for StoredKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for StoredKind {
    type Err = ValueTypeErr;
    fn from_str(text: &str) -> Result<Self, ValueTypeErr> {
        match text {
            "aws_access_key" => Ok(Self(CredentialKind::AwsAccessKey)),
            "aws_assume_role" => Ok(Self(CredentialKind::AwsAssumeRole)),
            "gcp_service_account_key" => Ok(Self(CredentialKind::GcpServiceAccountKey)),
            _ => Err(ValueTypeErr),
        }
    }
}

/// By label.
pub(crate) async fn all(db: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find().order_by_asc(Column::Label).all(db).await
}

pub(crate) async fn by_id(db: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// A credential whose row stays as it is until the transaction ends.
pub(crate) async fn held(tx: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).lock_exclusive().one(tx).await
}

/// Roles that are assumed with a credential, by label.
pub(crate) async fn assumed_with(db: &impl ConnectionTrait, source: Uuid) -> Result<Vec<Model>, DbErr> {
    Entity::find().filter(Column::SourceId.eq(source)).order_by_asc(Column::Label).all(db).await
}

pub(crate) async fn insert(db: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    Entity::insert(active(row)).exec(db).await.map(|_| ())
}

/// Writes everything but the identity.
pub(crate) async fn update(db: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    let mut row = active(row);
    let id = row.id.take().unwrap_or_default();
    row.id = sea_orm::ActiveValue::NotSet;
    Entity::update_many().set(row).filter(Column::Id.eq(id)).exec(db).await.map(|_| ())
}

pub(crate) async fn delete(db: &impl ConnectionTrait, id: Uuid) -> Result<(), DbErr> {
    Entity::delete_by_id(id).exec(db).await.map(|_| ())
}

/// Puts the same secret under another root key, unless the secret was replaced meanwhile.
pub(crate) async fn set_sealed(db: &impl ConnectionTrait, row: &Model, sealed: Sealed) -> Result<(), DbErr> {
    let rewrapped = Entity::update_many()
        .col_expr(Column::Secret, sealed.bytes.into())
        .col_expr(Column::RootKeyId, sealed.root_key.to_string().into());
    let same = rewrapped.filter(Column::Id.eq(row.id)).filter(Column::Version.eq(row.version));
    same.filter(Column::RootKeyId.eq(&row.root_key_id)).exec(db).await.map(|_| ())
}

fn active(row: Model) -> ActiveModel {
    let Model { id, label, kind, last_four, source_id, version, root_key_id, secret, created_at, changed_at } = row;
    ActiveModel {
        id: Set(id),
        label: Set(label),
        kind: Set(kind),
        last_four: Set(last_four),
        source_id: Set(source_id),
        version: Set(version),
        root_key_id: Set(root_key_id),
        secret: Set(secret),
        created_at: Set(created_at),
        changed_at: Set(changed_at),
    }
}
