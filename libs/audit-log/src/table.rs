//! The table.

#![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

use sea_orm::entity::prelude::*;
use service_kit::database::Micros;
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_entries")]
pub struct Model {
    /// 1, 2, 3 and so on without a gap.
    #[sea_orm(primary_key, auto_increment = false)]
    pub position: i64,
    pub happened_at: Micros,
    pub actor_kind: String,
    pub actor_id: Option<Uuid>,
    pub actor_name: Option<String>,
    pub actor_role: Option<String>,
    pub address: String,
    pub action: String,
    pub object: Option<String>,
    pub object_name: Option<String>,
    pub outcome: String,
    /// Names of fields with commas between them.
    pub changed: String,
    pub request_id: String,
    /// SHA-256 of this row and of the hash before it.
    pub hash: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
