//! What still has to be done in Kubernetes for the records to be true there.
//!
//! An entry is written in the transaction of the record it is about. It says only *that* something is due: what exactly
//! is read from the record when it is done, so that an entry can never be older than its record.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, ExprTrait, QueryOrder, QuerySelect, entity::prelude::*, sea_query::OnConflict};
use service_kit::database::Micros;
use uuid::Uuid;
use vocabulary::ClusterId;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "outbox")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub cluster_id: Uuid,
        #[sea_orm(primary_key, auto_increment = false)]
        pub kind: String,
        pub attempts: i32,
        pub next_attempt_at: Micros,
        pub trouble: Option<String>,
        pub asked: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// The HostCluster resource has to be there.
    Resource,
    /// It has to go, which disconnects the cluster.
    Removal,
    /// It has to go, and the infrastructure with it.
    Destruction,
}

impl Due {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "ensure_resource",
            Self::Removal => "remove_resource",
            Self::Destruction => "destroy_cluster",
        }
    }
}

/// Something due for a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) cluster: ClusterId,
    pub(crate) due: Due,
    /// Attempts that did not succeed.
    pub(crate) attempts: u32,
    pub(crate) next_attempt_at: Timestamp,
    /// Why the last one did not.
    pub(crate) trouble: Option<String>,
    /// How often it was asked for: whoever asks while it is being done asks for it to be done once more.
    asked: i64,
}

impl TryFrom<entity::Model> for Entry {
    type Error = DbErr;
    fn try_from(row: entity::Model) -> Result<Self, DbErr> {
        let due = [Due::Resource, Due::Removal, Due::Destruction].into_iter().find(|due| due.as_str() == row.kind);
        // Guessing could destroy something.
        let unknown = || DbErr::Custom(format!("the outbox asks for {}, which this version does not know", row.kind));
        Ok(Self {
            cluster: row.cluster_id.into(),
            due: due.ok_or_else(unknown)?,
            attempts: u32::try_from(row.attempts).unwrap_or(0),
            next_attempt_at: row.next_attempt_at.timestamp(),
            trouble: row.trouble,
            asked: row.asked,
        })
    }
}

/// Asks for the cluster's resource to be made, or to follow its record. Asking again is fine.
pub(crate) async fn ask(db: &impl ConnectionTrait, cluster: ClusterId, now: Timestamp) -> Result<(), DbErr> {
    ask_for(db, cluster, Due::Resource, now).await
}

/// Asks for something to be done for a cluster. What is asked for already keeps its attempts and its time.
pub(crate) async fn ask_for(
    db: &impl ConnectionTrait,
    cluster: ClusterId,
    due: Due,
    now: Timestamp,
) -> Result<(), DbErr> {
    let entry = ActiveModel {
        cluster_id: Set(cluster.uuid()),
        kind: Set(due.as_str().to_owned()),
        attempts: Set(0),
        next_attempt_at: Set(now.into()),
        trouble: Set(None),
        asked: Set(1),
    };
    let once_more = OnConflict::columns([Column::ClusterId, Column::Kind])
        .value(Column::Asked, Expr::col((Entity, Column::Asked)).add(1))
        .to_owned();
    Entity::insert(entry).on_conflict(once_more).exec_without_returning(db).await.map(|_| ())
}

/// At most `limit` entries by the time at which they are due.
pub(crate) async fn next(db: &impl ConnectionTrait, limit: u64) -> Result<Vec<Entry>, DbErr> {
    let entries = Entity::find().order_by_asc(Column::NextAttemptAt).limit(limit).all(db).await?;
    entries.into_iter().map(Entry::try_from).collect()
}

/// What is due for some clusters.
pub(crate) async fn of(db: &impl ConnectionTrait, clusters: &[ClusterId]) -> Result<Vec<Entry>, DbErr> {
    let ids = clusters.iter().map(|cluster| cluster.uuid());
    let entries = Entity::find().filter(Column::ClusterId.is_in(ids)).all(db).await?;
    entries.into_iter().map(Entry::try_from).collect()
}

/// An entry as it is now, if it still is there.
pub(crate) async fn again(db: &impl ConnectionTrait, entry: &Entry) -> Result<Option<Entry>, DbErr> {
    let key = (entry.cluster.uuid(), entry.due.as_str().to_owned());
    Entity::find_by_id(key).one(db).await?.map(Entry::try_from).transpose()
}

/// It is done, unless it was asked for once more meanwhile.
pub(crate) async fn done(db: &impl ConnectionTrait, entry: &Entry) -> Result<(), DbErr> {
    let done = Entity::delete_by_id((entry.cluster.uuid(), entry.due.as_str().to_owned()));
    done.filter(Column::Asked.eq(entry.asked)).exec(db).await.map(|_| ())
}

/// It did not succeed; `trouble` is a sentence for people.
pub(crate) async fn postpone(
    db: &impl ConnectionTrait,
    entry: &Entry,
    attempts: u32,
    next_attempt_at: Timestamp,
    trouble: &str,
) -> Result<(), DbErr> {
    Entity::update_many()
        .col_expr(Column::Attempts, Expr::value(i32::try_from(attempts).unwrap_or(i32::MAX)))
        .col_expr(Column::NextAttemptAt, Micros::from(next_attempt_at).into())
        .col_expr(Column::Trouble, Expr::value(trouble))
        .filter(Column::ClusterId.eq(entry.cluster.uuid()).and(Column::Kind.eq(entry.due.as_str())))
        .exec(db)
        .await
        .map(|_| ())
}
