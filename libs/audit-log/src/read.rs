//! Reading.

use futures::{Stream, StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, ExprTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use service_kit::database::Micros;
use uuid::Uuid;
use vocabulary::hex;

use crate::{
    Action, Outcome,
    table::{Column, Entity, Model},
};

/// Rows read in one go. At about 400 bytes each.
const CHUNK: u64 = 500;

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// 1 for the first row, one more for each next.
    pub position: i64,
    /// When.
    pub happened_at: Timestamp,
    /// person, stranger, cluster or kubeopera.
    pub actor_kind: String,
    /// Identity of a person or a cluster.
    pub actor_id: Option<Uuid>,
    /// Name a person logs in with.
    pub actor_name: Option<String>,
    /// Role a person had then.
    pub actor_role: Option<String>,
    /// Where they came from.
    pub address: String,
    /// What was done: the word of an [`Action`] of this or an older version.
    pub action: String,
    /// To which object: its identity.
    pub object: Option<String>,
    /// What people called the object then.
    pub object_name: Option<String>,
    /// What came of it: the word of an [`Outcome`].
    pub outcome: String,
    /// Names of the fields that were changed.
    pub changed: Vec<String>,
    /// The request in which it was done; the nil UUID if it was in none.
    pub request_id: String,
    /// SHA-256 of the row and of the hash before it, in hexadecimal.
    pub hash: String,
}

impl From<Model> for Row {
    fn from(row: Model) -> Self {
        Self {
            position: row.position,
            happened_at: row.happened_at.timestamp(),
            actor_kind: row.actor_kind,
            actor_id: row.actor_id,
            actor_name: row.actor_name,
            actor_role: row.actor_role,
            address: row.address,
            action: row.action,
            object: row.object,
            object_name: row.object_name,
            outcome: row.outcome,
            changed: row.changed.split(',').filter(|field| !field.is_empty()).map(str::to_owned).collect(),
            request_id: row.request_id,
            hash: hex(&row.hash),
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The person or cluster with this identity.
    Id(Uuid),
    /// Whoever had this name then.
    Name(String),
}

/// Which rows. What is `None` is any.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Who did it.
    pub who: Option<Who>,
    /// What was done.
    pub action: Option<Action>,
    /// To which object.
    pub object: Option<String>,
    /// What came of it.
    pub outcome: Option<Outcome>,
    /// Not before.
    pub from: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
}

impl Filter {
    fn apply(&self, mut rows: Select<Entity>) -> Select<Entity> {
        rows = match &self.who {
            None => rows,
            Some(Who::Id(id)) => rows.filter(Column::ActorId.eq(*id)),
            Some(Who::Name(name)) => rows.filter(Column::ActorName.eq(name)),
        };
        if let Some(action) = self.action {
            rows = rows.filter(Column::Action.eq(action.as_str()));
        }
        if let Some(object) = &self.object {
            rows = rows.filter(Column::Object.eq(object));
        }
        if let Some(outcome) = self.outcome {
            rows = rows.filter(Column::Outcome.eq(outcome.as_str()));
        }
        if let Some(from) = self.from {
            rows = rows.filter(Column::HappenedAt.gte(Micros::from(from)));
        }
        if let Some(until) = self.until {
            rows = rows.filter(Column::HappenedAt.lt(Micros::from(until)));
        }
        rows
    }
}

/// At most `limit` rows, the newest first, beginning before a position.
pub async fn page(
    db: &impl ConnectionTrait,
    filter: &Filter,
    before: Option<i64>,
    limit: u64,
) -> Result<Vec<Row>, DbErr> {
    let mut rows = filter.apply(Entity::find()).order_by_desc(Column::Position).limit(limit);
    if let Some(before) = before {
        rows = rows.filter(Column::Position.lt(before));
    }
    Ok(rows.all(db).await?.into_iter().map(Row::from).collect())
}

/// Every row there is at this moment, the oldest first. They are read as they are taken: a few hundred are in memory at a
/// time, and no transaction is open meanwhile.
pub fn rows(db: DatabaseConnection, filter: Filter) -> impl Stream<Item = Result<Row, DbErr>> + Send {
    models(db, filter).map_ok(Row::from)
}

pub(crate) fn models(db: DatabaseConnection, filter: Filter) -> impl Stream<Item = Result<Model, DbErr>> + Send {
    struct Reading {
        after: i64,
        last: Option<i64>,
    }
    let begin = Reading { after: 0, last: None };
    let chunks = stream::try_unfold((db, filter, begin), async |(db, filter, mut reading)| {
        // What is added meanwhile is left out, or a busy log would have no end.
        let last = match reading.last {
            Some(last) => last,
            None => end(&db).await?,
        };
        reading.last = Some(last);
        let within = Column::Position.gt(reading.after).and(Column::Position.lte(last));
        let rows = filter.apply(Entity::find()).filter(within).order_by_asc(Column::Position).limit(CHUNK);
        let rows: Vec<Model> = rows.all(&db).await?;
        let Some(newest) = rows.last() else { return Ok(None) };
        reading.after = newest.position;
        Ok::<_, DbErr>(Some((rows, (db, filter, reading))))
    });
    chunks.map_ok(|rows| stream::iter(rows.into_iter().map(Ok))).try_flatten().boxed()
}

/// Position of the last row; 0 if there is none.
async fn end(db: &impl ConnectionTrait) -> Result<i64, DbErr> {
    let last = Entity::find().select_only().column(Column::Position).order_by_desc(Column::Position).limit(1);
    Ok(last.into_tuple().one(db).await?.unwrap_or(0))
}

/// When somebody did something the last time but `n` - 1, if they did it that often since a time.
pub async fn nth_latest(
    db: &impl ConnectionTrait,
    who: Uuid,
    action: Action,
    n: u64,
    since: Timestamp,
) -> Result<Option<Timestamp>, DbErr> {
    let theirs = Column::ActorId.eq(who).and(Column::Action.eq(action.as_str()));
    let row = Entity::find()
        .filter(theirs.and(Column::Outcome.ne(Outcome::Denied.as_str())))
        .filter(Column::HappenedAt.gte(Micros::from(since)))
        .order_by_desc(Column::Position)
        .offset(n.saturating_sub(1))
        .one(db)
        .await?;
    Ok(row.map(|row| row.happened_at.timestamp()))
}
